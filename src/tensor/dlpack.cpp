#include "tensor/dlpack.h"

#include <utility>

#include "base/error.h"
#include "tensor/borrowed.h"

namespace lucid::dlpack {
namespace {

Dtype dtype_of(const DataType& type) {
  for (int i = 0; i < kDtypeCount; ++i) {
    const auto dtype = static_cast<Dtype>(i);
    const DataType candidate = data_type_of(dtype);
    if (candidate.code == type.code && candidate.bits == type.bits && type.lanes == 1) return dtype;
  }
  throw TypeError("from_dlpack: there is no dtype with type code {}, {} bits and {} lanes", type.code, type.bits,
                  type.lanes);
}

BorrowedMemory memory_of(const Tensor& in) {
  if (in.device.type != kCpu)
    throw ValueError("from_dlpack: the data is on device type {}; only the CPU (1) is supported", in.device.type);
  BorrowedMemory memory;
  memory.dtype = dtype_of(in.dtype);
  if (in.rank < 0 || in.rank > kMaxRank)
    throw ValueError("from_dlpack: the data has {} dimensions; a tensor has 0 to {}", in.rank, kMaxRank);
  const auto rank = static_cast<size_t>(in.rank);
  if (rank != 0 && !in.shape) throw ValueError("from_dlpack: the data has {} dimensions, but no shape", in.rank);
  memory.sizes = Dims(in.shape, in.shape + rank);
  memory.strides = in.strides ? Dims(in.strides, in.strides + rank) : contiguous_strides(memory.sizes);
  uintptr_t address = 0;
  if (__builtin_add_overflow(reinterpret_cast<uintptr_t>(in.data), in.byte_offset, &address))
    throw ValueError("from_dlpack: the byte offset {} exceeds the address space", in.byte_offset);
  // An offset from a null address stays null.
  if (in.data) memory.data = reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
  check_borrowed("from_dlpack", memory);
  return memory;
}

}  // namespace

DataType data_type_of(Dtype dtype) {
  const auto bits = static_cast<uint8_t>(size_of(dtype) * 8);
  if (dtype == Dtype::kBool) return {lucid::dlpack::kBool, 8, 1};
  if (dtype == Dtype::kU8) return {kUnsigned, 8, 1};
  if (dtype == Dtype::kBF16) return {kBfloat, 16, 1};
  return {is_float(dtype) ? kFloat : kInt, bits, 1};
}

TensorRef import_tensor(const Tensor& in, bool read_only, std::function<void()> release) {
  // Runs `release` on every path from here on.
  Ref<Storage> owner = Storage::borrow(nullptr, 0, std::move(release));
  const BorrowedMemory memory = memory_of(in);
  if (read_only || !is_aligned(memory)) return copy_borrowed(memory);
  return borrow_tensor(memory, [owner] {});
}

}  // namespace lucid::dlpack
