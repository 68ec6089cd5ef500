#pragma once

#include <cstddef>

#include "runtime/allocator.h"

namespace lucid {

/// A block of exactly `bytes` between two inaccessible pages, adjacent to the one that `mode` selects. It is filled
/// with 0xff, which is a NaN in every float type. Null if the system has no memory.
void* guarded_allocate(size_t bytes, GuardMode mode);
/// False when `data` did not come from guarded_allocate.
bool guarded_release(void* data);

}  // namespace lucid
