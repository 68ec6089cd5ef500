#pragma once

#include <cstddef>

namespace lucid {

// Some work must not run out of memory halfway. It first reserves address space, and throws MemoryError if that fails.
// If an allocation fails on its thread during the work (operator new anywhere; malloc, calloc and realloc called from
// this library), the reserve is returned to the system and the allocation is retried. Reserves are never touched, so
// they use no physical memory.

/// For work inside LLVM, which is built without exceptions and terminates the process if an allocation fails. Each has
/// its own memory, which is released in parts. Does not nest.
class MemoryReserve {
 public:
  /// Throws MemoryError, naming `purpose`, if the system does not grant `bytes`.
  MemoryReserve(size_t bytes, const char* purpose);
  MemoryReserve(const MemoryReserve&) = delete;
  MemoryReserve& operator=(const MemoryReserve&) = delete;
  ~MemoryReserve();

  /// The bytes that have not been released.
  size_t bytes() const { return bytes_; }
  /// Whether the calling thread holds one.
  static bool is_held();

 private:
  friend bool release_reserve() noexcept;

  char* const data_;
  size_t bytes_;
};

/// For committing the effects of a call: from the first visible write to the last. All threads share one reserve, for
/// small objects only; memory of the size of a tensor is allocated before.
class CommitScope {
 public:
  /// Throws MemoryError if the reserve was released and cannot be acquired again.
  CommitScope();
  CommitScope(const CommitScope&) = delete;
  CommitScope& operator=(const CommitScope&) = delete;
  ~CommitScope();

  /// Whether the calling thread is in one.
  static bool is_active();
};

/// Must be called before throwing an exception because memory is exhausted. The first exception of a thread allocates
/// per-thread memory of the C++ library, and the C library terminates the process if that fails.
void prepare_to_throw() noexcept;

/// Whether malloc can allocate a few KiB. Call it before the C library allocates some bytes and would terminate the
/// process on failure, as on the first use of a thread-local object with a destructor.
bool has_some_memory() noexcept;

/// Releases a part of the calling thread's reserve, or the reserve shared by commits. Returns whether it did.
bool release_reserve() noexcept;

}  // namespace lucid
