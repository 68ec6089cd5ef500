#include "tensor/borrowed.h"

#include <limits>
#include <utility>

#include "base/error.h"
#include "tensor/snapshot.h"

namespace lucid {

void check_borrowed(std::string_view op, BorrowedMemory& memory) {
  const size_t element = size_of(memory.dtype);
  const int64_t count = checked_numel(op, memory.sizes, element);
  const Dims contiguous = contiguous_strides(memory.sizes);
  int64_t last = 0;
  bool fits = true;
  for (size_t i = 0; i < memory.sizes.size(); ++i) {
    if (count == 0 || memory.sizes[i] == 1) {
      memory.strides[i] = contiguous[i];
      continue;
    }
    if (memory.strides[i] < 0)
      throw ValueError("{}: strides {} are negative, which is not supported; copy the data first", op,
                       to_string(DimsView(memory.strides)));
    int64_t reach = 0;
    fits &= !__builtin_mul_overflow(memory.sizes[i].unguarded() - 1, memory.strides[i].unguarded(), &reach) &&
            !__builtin_add_overflow(last, reach, &last);
  }
  if (count == 0) return;
  int64_t bytes = 0;
  uintptr_t end = 0;
  fits = fits && !__builtin_add_overflow(last, 1, &last) &&
         !__builtin_mul_overflow(last, static_cast<int64_t>(element), &bytes) &&
         !__builtin_add_overflow(reinterpret_cast<uintptr_t>(memory.data), static_cast<uintptr_t>(bytes), &end);
  if (!fits)
    throw ValueError("{}: an array of shape {} and strides {} exceeds the address space", op,
                     to_string(DimsView(memory.sizes)), to_string(DimsView(memory.strides)));
  if (!memory.data) throw ValueError("{}: the array has {} elements, but a null address", op, count);
}

bool is_aligned(const BorrowedMemory& memory) {
  return reinterpret_cast<uintptr_t>(memory.data) % size_of(memory.dtype) == 0;
}

TensorRef borrow_tensor(const BorrowedMemory& memory, std::function<void()> release) {
  const auto bytes =
      static_cast<size_t>(element_range({memory.sizes, memory.strides, 0}).second) * size_of(memory.dtype);
  Ref<Storage> storage = Storage::borrow(memory.data, bytes, std::move(release));
  return make_ref<TensorImpl>(memory.dtype, memory.sizes, memory.strides, 0, make_ref<Cell>(std::move(storage)));
}

TensorRef copy_borrowed(const BorrowedMemory& memory) {
  TensorRef copy = make_tensor(memory.dtype, memory.sizes);
  copy_strided(memory.sizes, size_of(memory.dtype), memory.data, memory.strides, copy->data(), copy->strides());
  return copy;
}

}  // namespace lucid
