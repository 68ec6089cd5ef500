#pragma once

#include <span>
#include <string>
#include <vector>

#include "loop/kernel.h"

namespace lucid::loop {

/// One of several kernels that run in turn.
struct Turn {
  const Kernel* kernel = nullptr;
  /// For each of its arguments, a buffer of the whole: the arguments first, then the locals.
  std::vector<uint32_t> buffers;
};

/// A buffer that only the turns see: they find the elements of a few units in it instead of those of all.
struct Local {
  Dtype dtype = Dtype::kF32;
  int64_t count = 0;
};

/// One kernel that calls several others. Its items are units, each the same number of items of every turn; it takes
/// some units at a time through all turns, so that what one turn writes the next finds in the cache. Its params are
/// those of the turns, one after another, then how many units it takes at a time, then for each turn its items in a
/// unit, then for each local its elements in a unit.
Kernel in_turn(std::string name, std::span<const Turn> turns, std::span<const Dtype> arguments,
               std::span<const Local> locals);

}  // namespace lucid::loop
