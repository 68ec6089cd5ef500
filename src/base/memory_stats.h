#pragma once

#include <cstdint>

namespace lucid {

/// Statistics of the memory that tensors use on a device.
struct MemoryStats {
  /// Bytes of the blocks in use. A block may be larger than requested.
  int64_t bytes_in_use = 0;
  /// The maximum of bytes_in_use.
  int64_t peak_bytes = 0;
  /// Bytes that were taken from the system or the device and are free for the next allocation.
  int64_t cached_bytes = 0;
  uint64_t allocations = 0;
};

}  // namespace lucid
