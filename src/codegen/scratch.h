#pragma once

#include <cstddef>
#include <vector>

#include "loop/kernel.h"

namespace lucid::codegen {

/// Where the scratch buffers of a kernel are stored: in its stack frame if they are small, otherwise in memory that the
/// caller passes. A thread's stack may be as small as 64 KiB. Passed memory is allocated before the kernel runs.
struct ScratchLayout {
  bool on_stack = true;
  /// For each buffer, its offset in the passed memory. Unused if the buffers are on the stack.
  std::vector<size_t> offsets;
  /// Offset of the memory for parts. Parts run one at a time, so they share it.
  size_t parts_offset = 0;
  /// Size of the passed memory, for this kernel and its parts.
  size_t bytes = 0;
};

ScratchLayout scratch_layout(const loop::Kernel& kernel);

}  // namespace lucid::codegen
