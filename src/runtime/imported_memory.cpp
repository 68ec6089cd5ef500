#include "runtime/imported_memory.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/hash.h"
#include "base/lock.h"

namespace lucid {
namespace {

/// All imported memory of the process.
class ImportedMemory {
 public:
  static ImportedMemory& instance() {
    static auto* const memory = new ImportedMemory;  // never destroyed: used until the process ends
    return *memory;
  }

  void add(uintptr_t address, size_t bytes) {
    const auto place = places_.find(address);
    const uintptr_t identity = place == places_.end() ? address : place->second.identity;
    ranges_.add(identity, identity + bytes);
    if (place != places_.end()) ++place->second.imports;
    imported_detail::g_joined.store(ranges_.joined(), std::memory_order_relaxed);
  }

  void remove(uintptr_t address) {
    const auto place = places_.find(address);
    const bool has_identity = place != places_.end() && place->second.imports > 0;
    ranges_.remove(has_identity ? place->second.identity : address);
    if (has_identity && --place->second.imports == 0) places_.erase(place);
    imported_detail::g_joined.store(ranges_.joined(), std::memory_order_relaxed);
  }

  uintptr_t identity_of(uintptr_t address) const {
    const auto place = places_.find(address);
    return place == places_.end() ? address : place->second.identity;
  }

  /// Sets the identity of the next import at this address, and undoes that. It is constant while there are imports.
  void set_identity(uintptr_t address, uintptr_t identity) { places_.try_emplace(address, Place{identity, 0}); }
  void reset_identity(uintptr_t address) {
    if (const auto place = places_.find(address); place != places_.end() && place->second.imports == 0)
      places_.erase(place);
  }

 private:
  struct Place {
    uintptr_t identity;
    uint32_t imports;
  };
  AddressRanges ranges_;                         // of identities
  std::unordered_map<uintptr_t, Place> places_;  // imports whose identity is not their address
};

Mutex& imported_mutex() { return mutex_of(LockRank::kImportedMemory); }

uintptr_t address_of(const void* data) { return reinterpret_cast<uintptr_t>(data); }

/// The identity of an address in a shared mapping of a file: no address that a process can use. Two files may get the
/// same identities, which only makes calls run eagerly.
std::optional<uintptr_t> identity_in_file(uintptr_t address) {
  constexpr int kOffsetBits = 44;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    // Such as "7f0c1a000000-7f0c1a021000 rw-s 00001000 08:01 1234 /name": addresses, mode, offset, device, inode.
    char* at = nullptr;
    const uintptr_t begin = std::strtoull(line.c_str(), &at, 16);
    if (*at != '-' || address < begin) continue;
    if (address >= std::strtoull(at + 1, &at, 16)) continue;
    if (!std::string_view(at).substr(0, 5).ends_with('s')) return std::nullopt;
    const uint64_t offset = std::strtoull(at + 5, &at, 16);
    const char* const device = at + std::strspn(at, " ");
    const std::string_view device_name(device, std::strcspn(device, " "));
    const uint64_t inode = std::strtoull(device + device_name.size(), &at, 10);
    const uint64_t file = hash_combine(hash_string(device_name), inode);
    const uint64_t place = (offset + (address - begin)) & ((uint64_t{1} << kOffsetBits) - 1);
    return uintptr_t{1} << 63 | file << kOffsetBits | place;
  }
  return std::nullopt;
}

}  // namespace

void AddressRanges::add(uintptr_t begin, uintptr_t end) {
  auto first = ranges_.upper_bound(begin);
  if (first != ranges_.begin() && std::prev(first)->second.end > begin) --first;
  if (first == ranges_.end() || first->first >= end) {
    ranges_.emplace_hint(first, begin, Range{end, 1});
    return;
  }
  // The first range that overlaps is extended, and the others are merged into it. Nothing below allocates.
  auto node = ranges_.extract(first++);
  Range& range = node.mapped();
  joined_ -= range.members > 1;
  ++range.members;
  while (first != ranges_.end() && first->first < end) {
    joined_ -= first->second.members > 1;
    range.members += first->second.members;
    range.end = std::max(range.end, first->second.end);
    first = ranges_.erase(first);
  }
  ++joined_;
  range.end = std::max(range.end, end);
  node.key() = std::min(node.key(), begin);
  ranges_.insert(std::move(node));
}

void AddressRanges::remove(uintptr_t begin) {
  const auto found = std::prev(ranges_.upper_bound(begin));
  Range& range = found->second;
  if (--range.members == 1) --joined_;
  if (range.members == 0) ranges_.erase(found);
}

SharedMappingScope::SharedMappingScope(const void* data) {
  const std::optional<uintptr_t> identity = identity_in_file(address_of(data));
  if (!identity) return;
  const std::lock_guard lock(imported_mutex());
  ImportedMemory::instance().set_identity(address_of(data), *identity);
  address_ = address_of(data);
}

SharedMappingScope::~SharedMappingScope() {
  if (!address_) return;
  const std::lock_guard lock(imported_mutex());
  ImportedMemory::instance().reset_identity(address_);
}

uintptr_t identity_of(const void* data) {
  const std::lock_guard lock(imported_mutex());
  return ImportedMemory::instance().identity_of(address_of(data));
}

void add_imported_memory(const void* data, size_t bytes) {
  if (bytes == 0) return;
  const std::lock_guard lock(imported_mutex());
  ImportedMemory::instance().add(address_of(data), bytes);
}

void remove_imported_memory(const void* data, size_t bytes) {
  if (bytes == 0) return;
  const std::lock_guard lock(imported_mutex());
  ImportedMemory::instance().remove(address_of(data));
}

}  // namespace lucid
