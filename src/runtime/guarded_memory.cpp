#include "runtime/guarded_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <mutex>

namespace lucid {
namespace {

struct Mapping {
  void* begin;
  size_t size;
};

struct Registry {
  std::mutex mutex;
  std::map<void*, Mapping> mappings;
};

/// Never destroyed: tensors may outlive static objects.
Registry& registry() {
  static Registry* const instance = new Registry;
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
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  all.mappings.emplace(data, Mapping{mapped, size});
  return data;
}

bool guarded_release(void* data) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  const auto found = all.mappings.find(data);
  if (found == all.mappings.end()) return false;
  munmap(found->second.begin, found->second.size);
  all.mappings.erase(found);
  return true;
}

}  // namespace lucid
