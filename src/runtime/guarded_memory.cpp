#include "runtime/guarded_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <mutex>

#include "base/lock.h"

namespace lucid {
namespace {

struct Mapping {
  void* begin;
  size_t size;
};

/// Never destroyed: tensors may outlive static objects.
std::map<void*, Mapping>& mappings() {
  static auto* const instance = new std::map<void*, Mapping>;
  return *instance;
}

}  // namespace

void* guarded_allocate(size_t bytes, GuardMode mode) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t usable = (bytes + page - 1) / page * page;
  const size_t size = usable + 2 * page;
  void* const mapped = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char* const first = static_cast<char*>(mapped) + page;
  if (usable && mprotect(first, usable, PROT_READ | PROT_WRITE) != 0) {
    munmap(mapped, size);
    return nullptr;
  }
  if (usable) std::memset(first, 0xff, usable);
  void* const data = mode == GuardMode::kGuardAfter ? first + usable - bytes : first;
  const std::lock_guard lock(mutex_of(LockRank::kGuardedMemory));
  mappings().emplace(data, Mapping{mapped, size});
  return data;
}

bool guarded_release(void* data) {
  const std::lock_guard lock(mutex_of(LockRank::kGuardedMemory));
  const auto found = mappings().find(data);
  if (found == mappings().end()) return false;
  munmap(found->second.begin, found->second.size);
  mappings().erase(found);
  return true;
}

}  // namespace lucid
