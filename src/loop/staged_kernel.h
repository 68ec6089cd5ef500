#pragma once

#include <span>
#include <string>
#include <vector>

#include "loop/kernel.h"

namespace lucid::loop {

/// One of the kernels that a staged kernel calls in order.
struct Stage {
  const Kernel* kernel = nullptr;
  /// For each argument of the stage, a buffer of the staged kernel: arguments first, then locals.
  std::vector<uint32_t> buffers;
};

/// A buffer that only the stages use. It holds the elements of a few tiles instead of all.
struct Local {
  Dtype dtype = Dtype::kF32;
  int64_t count = 0;
};

/// Creates a kernel that calls several others. Its items are tiles, each the same number of items of every stage. It
/// runs a few tiles at a time through all stages, so that the output of one stage is still in the cache for the next.
/// Its params are the params of the stages in order, then the number of tiles at a time, then for each stage its items
/// per tile, then for each local its elements per tile.
Kernel staged_kernel(std::string name, std::span<const Stage> stages, std::span<const Dtype> arguments,
                     std::span<const Local> locals);

}  // namespace lucid::loop
