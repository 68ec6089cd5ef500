#include "runtime/storage.h"

#include <utility>

#include "runtime/allocator.h"
#include "runtime/imported_memory.h"

namespace lucid {

Storage::Storage(void* data, size_t bytes, std::function<void()> release)
    : data_(data), bytes_(bytes), release_(std::move(release)) {}

Ref<Storage> Storage::allocate(size_t bytes) {
  return Ref<Storage>::adopt(new Storage(lucid::allocate(bytes), bytes, nullptr));
}

Ref<Storage> Storage::borrow(void* data, size_t bytes, std::function<void()> release) {
  if (!release) release = [] {};
  add_imported_memory(data, bytes);
  try {
    return Ref<Storage>::adopt(new Storage(data, bytes, std::move(release)));
  } catch (...) {
    remove_imported_memory(data, bytes);
    throw;
  }
}

Storage::~Storage() {
  if (!release_) {
    deallocate(data_, bytes_);
    return;
  }
  // Once released, the same addresses may be borrowed again.
  remove_imported_memory(data_, bytes_);
  release_();
}

}  // namespace lucid
