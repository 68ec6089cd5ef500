#pragma once

#include <functional>
#include <string_view>

#include "tensor/tensor_impl.h"

namespace lucid {

/// Memory that another library owns. Strides are in elements.
struct BorrowedMemory {
  void* data = nullptr;
  Dtype dtype = Dtype::kF32;
  Dims sizes;
  Dims strides;
};

/// Throws ValueError, naming `op`, if the memory cannot hold a tensor: negative sizes or strides, more elements or a
/// larger extent than the address space allows, or elements at a null address. Strides of dimensions with zero or one
/// element are meaningless; they are replaced by those of a contiguous tensor.
void check_borrowed(std::string_view op, BorrowedMemory& memory);

/// Whether the address of every element is a multiple of its size, as kernels require.
bool is_aligned(const BorrowedMemory& memory);

/// A tensor on checked and aligned memory. `release` runs after its last use.
TensorRef borrow_tensor(const BorrowedMemory& memory, std::function<void()> release);

/// A tensor with its own memory and a copy of the values in checked memory.
TensorRef copy_borrowed(const BorrowedMemory& memory);

}  // namespace lucid
