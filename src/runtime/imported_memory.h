#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>

namespace lucid {

/// Ranges of addresses in use, joined where they overlap. A joined range lasts until all of its members are removed.
class AddressRanges {
 public:
  /// Throws std::bad_alloc, without any effect.
  void add(uintptr_t begin, uintptr_t end);
  /// The range must have been added.
  void remove(uintptr_t begin);
  /// Number of joined ranges with several members.
  uint32_t joined() const { return joined_; }
  bool empty() const { return ranges_.empty(); }

 private:
  struct Range {
    uintptr_t end;
    uint32_t members;
  };
  std::map<uintptr_t, Range> ranges_;  // by first address; disjoint
  uint32_t joined_ = 0;
};

namespace imported_detail {
inline constinit std::atomic<uint32_t> g_joined = 0;
}

/// An address that is the same for the same imported memory in all mappings of a file. For other memory, the address
/// itself.
uintptr_t identity_of(const void* data);

/// While memory that may be mapped is borrowed: if it is part of a shared mapping of a file, finds which part. The file
/// may also be mapped at other addresses.
class SharedMappingScope {
 public:
  explicit SharedMappingScope(const void* data);
  SharedMappingScope(const SharedMappingScope&) = delete;
  SharedMappingScope& operator=(const SharedMappingScope&) = delete;
  ~SharedMappingScope();

 private:
  uintptr_t address_ = 0;
};

/// Registers memory of another library that a storage is about to borrow, and removes it again before it is released.
void add_imported_memory(const void* data, size_t bytes);
void remove_imported_memory(const void* data, size_t bytes);

/// False if no two live storages borrow memory that overlaps. A thread that can reach two such storages gets true.
inline bool imports_may_overlap() { return imported_detail::g_joined.load(std::memory_order_relaxed) != 0; }

}  // namespace lucid
