#pragma once

#include <cstddef>
#include <cstdint>

namespace lucid {

/// Every block begins at a multiple of this, except in guard mode: the width of a cache line and of the widest vector.
inline constexpr size_t kAllocationAlignment = 64;

/// Memory for a tensor, not initialised. Small blocks come from the thread's own free lists, larger ones from a bounded
/// cache of blocks that were given back. Throws MemoryError naming the bytes when there is no such memory; what
/// could never fit in the machine's memory and swap is refused without asking the system, which would promise it and
/// then kill the process.
void* allocate(size_t bytes);
/// Gives back a block of allocate(bytes); the thread may be another one. `bytes` must be what was asked for.
void deallocate(void* data, size_t bytes) noexcept;

struct MemoryStats {
  /// Bytes of the blocks that are handed out. A block may be up to an eighth larger than what was asked for.
  int64_t bytes_in_use = 0;
  /// The most that bytes_in_use has been. Each thread may hold back the news of up to 64 KiB of small blocks.
  int64_t peak_bytes = 0;
  /// Bytes that were taken from the system and lie ready for the next allocation.
  int64_t cached_bytes = 0;
  uint64_t allocations = 0;
};

/// How many bytes a cache of the process may hold back: an eighth of the machine's memory, between 64 MiB and 4
/// GiB.
size_t cache_limit();

/// Exact when no other thread is allocating.
MemoryStats memory_stats();
/// Makes the present use the peak.
void reset_peak_memory();
/// Returns the cached blocks above 4 KiB to the system. Small blocks stay on their lists.
void empty_cache();

/// For tests: places each block against memory that may not be touched, so that a kernel that reads or writes outside
/// of its buffers stops at once. Sanitizers do not see generated code.
enum class GuardMode {
  kOff,
  /// The block ends exactly where the forbidden page begins, so it is only as aligned as its size is.
  kGuardAfter,
  /// The block begins exactly where the forbidden page ends.
  kGuardBefore,
};

/// Applies to allocations from now on. Blocks of every mode may be given back at any time.
void set_guard_mode(GuardMode mode);

/// For tests: after `successes` more allocations, all others, or only the next, fail until the end of the scope. Only
/// one at a time.
class AllocationFailureScope {
 public:
  explicit AllocationFailureScope(int64_t successes, bool only_one = false);
  /// Whether one has failed.
  bool has_failed() const;
  AllocationFailureScope(const AllocationFailureScope&) = delete;
  AllocationFailureScope& operator=(const AllocationFailureScope&) = delete;
  ~AllocationFailureScope();
};

}  // namespace lucid
