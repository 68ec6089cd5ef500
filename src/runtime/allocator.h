#pragma once

#include <cstddef>
#include <cstdint>

#include "base/memory_stats.h"

namespace lucid {

/// The alignment of every block, except in guard mode: the size of a cache line and of the widest vector.
inline constexpr size_t kAllocationAlignment = 64;

/// Allocates uninitialised memory for a tensor. Small blocks come from the thread's own free lists, larger ones from a
/// bounded cache of freed blocks. Throws MemoryError with the number of bytes when there is not enough memory. A
/// request that cannot fit in the machine's memory and swap fails without a system call: the system would grant it and
/// later kill the process.
void* allocate(size_t bytes);
/// Frees a block of allocate(bytes), on any thread. `bytes` must be the requested size.
void deallocate(void* data, size_t bytes) noexcept;

/// The size limit in bytes of each memory cache of the process: an eighth of the machine's memory, between 64 MiB and
/// 4 GiB.
size_t cache_limit();

/// Exact when no other thread is allocating. A block may be up to an eighth larger than requested. Each thread may
/// leave up to 64 KiB of small blocks out of the peak.
MemoryStats memory_stats();
/// Sets the peak to the current use.
void reset_peak_memory();
/// Returns the cached blocks above 4 KiB to the system. Small blocks stay on their lists.
void empty_cache();

/// For tests: places each block next to an inaccessible page, so that a kernel that reads or writes outside of its
/// buffers crashes immediately. Sanitizers do not check generated code.
enum class GuardMode {
  kOff,
  /// The block ends where the inaccessible page begins, so it is only as aligned as its size is.
  kGuardAfter,
  /// The block begins where the inaccessible page ends.
  kGuardBefore,
};

/// Applies to later allocations. Blocks of every mode may be freed at any time.
void set_guard_mode(GuardMode mode);

/// For tests: after `successes` more allocations, all others fail until the end of the scope, or only the next one if
/// `only_one`. There may be one scope at a time.
class AllocationFailureScope {
 public:
  explicit AllocationFailureScope(int64_t successes, bool only_one = false);
  /// Whether an allocation has failed.
  bool has_failed() const;
  AllocationFailureScope(const AllocationFailureScope&) = delete;
  AllocationFailureScope& operator=(const AllocationFailureScope&) = delete;
  ~AllocationFailureScope();
};

}  // namespace lucid
