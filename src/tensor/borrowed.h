#pragma once

#include <functional>
#include <string_view>

#include "tensor/tensor_impl.h"

namespace lucid {

/// Memory of another library, with strides in elements.
struct BorrowedMemory {
  void* data = nullptr;
  Dtype dtype = Dtype::kF32;
  Dims sizes;
  Dims strides;
};

/// Throws ValueError naming `op` when no tensor can lie on such memory: negative sizes or strides, more elements or a
/// longer reach than addresses allow, elements at no address. Gives dimensions of one element or none the strides of a
/// contiguous tensor, since theirs mean nothing.
void check_borrowed(std::string_view op, BorrowedMemory& memory);

/// Whether every element lies at a multiple of its size, as kernels expect.
bool is_aligned(const BorrowedMemory& memory);

/// A tensor on checked and aligned memory; `release` runs when nobody uses it any more.
TensorRef borrow_tensor(const BorrowedMemory& memory, std::function<void()> release);

/// A tensor of its own with the values of checked memory.
TensorRef copy_borrowed(const BorrowedMemory& memory);

}  // namespace lucid
