#pragma once

#include <cstddef>

namespace lucid {

// Some work must not run out of memory halfway. It begins only when a reserve of address space can be had, and throws
// MemoryError otherwise. While it is under way, an allocation that fails on its thread (operator new anywhere; malloc,
// calloc and realloc called from this library) gives the reserve back to the system and is tried again. Reserves are
// never touched, so they cost no memory.

/// For work inside LLVM, which is built without exceptions and ends the process when an allocation fails. Each has
/// memory of its own, which is given back in parts. Does not nest.
class MemoryReserve {
 public:
  /// Throws MemoryError, naming `purpose`, if the system does not grant `bytes`.
  MemoryReserve(size_t bytes, const char* purpose);
  MemoryReserve(const MemoryReserve&) = delete;
  MemoryReserve& operator=(const MemoryReserve&) = delete;
  ~MemoryReserve();

  /// What has not been given back.
  size_t bytes() const { return bytes_; }
  /// Whether the calling thread has one.
  static bool is_held();

 private:
  friend bool give_back_reserve() noexcept;

  char* const data_;
  size_t bytes_;
};

/// For making the effects of a call seen: from the first write to what others see until nothing is missing. All threads
/// share one reserve, for small objects only; whatever is as large as a tensor is allocated before.
class CommitScope {
 public:
  /// Throws MemoryError if the reserve was given back and cannot be had again.
  CommitScope();
  CommitScope(const CommitScope&) = delete;
  CommitScope& operator=(const CommitScope&) = delete;
  ~CommitScope();

  /// Whether the calling thread is in one.
  static bool is_active();
};

/// Must precede whatever throws because there is no memory. The first exception of a thread needs memory that the C++
/// library has for each thread, and the C library ends the process if there is none.
void prepare_to_throw() noexcept;

/// Whether malloc has a few KiB. For use before the C library takes some bytes and ends the process if there are none,
/// as it does for the first use of a thread-local object that has a destructor.
bool has_some_memory() noexcept;

/// Gives back a part of the calling thread's reserve, or the one that commits share. Returns whether it did.
bool give_back_reserve() noexcept;

}  // namespace lucid
