#pragma once

#include <cstddef>
#include <vector>

#include "loop/kernel.h"

namespace lucid::codegen {

/// Where the scratch buffers of a kernel lie: in its frame if they are small, else in memory that its caller passes.
/// A thread's stack may have as little as 64 KiB, and memory that is passed was allocated before the kernel ran.
struct ScratchLayout {
  bool on_stack = true;
  /// For each buffer, its place in the memory that is passed; unless the buffers are on the stack.
  std::vector<size_t> offsets;
  /// Where the memory for parts begins: they run one at a time, and all find theirs there.
  size_t parts_offset = 0;
  /// How much memory is passed, for this kernel and its parts.
  size_t bytes = 0;
};

ScratchLayout scratch_layout(const loop::Kernel& kernel);

}  // namespace lucid::codegen
