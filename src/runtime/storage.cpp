#include "runtime/storage.h"

#include <utility>

#include "runtime/allocator.h"

namespace lucid {

Storage::Storage(void* data, size_t bytes, std::function<void()> release)
    : data_(data), bytes_(bytes), release_(std::move(release)) {}

Ref<Storage> Storage::allocate(size_t bytes) {
  return Ref<Storage>::adopt(new Storage(lucid::allocate(bytes), bytes, nullptr));
}

Ref<Storage> Storage::borrow(void* data, size_t bytes, std::function<void()> release) {
  if (!release) release = [] {};
  return Ref<Storage>::adopt(new Storage(data, bytes, std::move(release)));
}

Storage::~Storage() {
  if (release_)
    release_();
  else
    deallocate(data_, bytes_);
}

}  // namespace lucid
