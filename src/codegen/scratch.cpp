#include "codegen/scratch.h"

#include <algorithm>

namespace lucid::codegen {
namespace {

constexpr size_t kMaxOnStack = size_t{8} << 10;
/// A cache line, and the widest vector.
constexpr size_t kAlignment = 64;

}  // namespace

ScratchLayout scratch_layout(const loop::Kernel& kernel) {
  ScratchLayout layout;
  size_t own = 0;
  for (const loop::Buffer& buffer : kernel.buffers) {
    layout.offsets.push_back(own);
    if (buffer.kind != loop::Buffer::Kind::kScratch) continue;
    const size_t bytes = static_cast<size_t>(buffer.count) * size_of(buffer.dtype);
    own += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }
  layout.on_stack = own <= kMaxOnStack;
  layout.parts_offset = layout.on_stack ? 0 : own;
  size_t parts = 0;
  for (const loop::Kernel& part : kernel.parts) parts = std::max(parts, scratch_layout(part).bytes);
  layout.bytes = layout.parts_offset + parts;
  return layout;
}

}  // namespace lucid::codegen
