#pragma once

#include <cstring>

#include "samples.h"
#include "tensor/tensor_impl.h"

/// Samples of the op table as tensors in memory, with the specified strides.
namespace lucid::test {

inline char* element_at(const TensorImpl& tensor, int64_t row_major) {
  const Dims places = contiguous_strides(tensor.sizes());
  int64_t at = 0;
  for (size_t d = 0; d < places.size(); ++d) at += row_major / places[d] % tensor.sizes()[d] * tensor.strides()[d];
  return static_cast<char*>(tensor.data()) + at * static_cast<int64_t>(size_of(tensor.dtype()));
}

/// A tensor with the elements of `source`, laid out with `strides`, in storage of exactly the size it needs.
inline TensorRef to_tensor(const Value& source, DimsView strides) {
  const HostArray array = Interpreter::array(source);
  const Dims layout = strides.empty() ? contiguous_strides(source.shape()) : Dims(strides);
  const auto [low, high] = element_range({source.shape(), layout, 0});
  const auto bytes = size_of(source.dtype());
  auto cell = make_ref<Cell>(Storage::allocate(static_cast<size_t>(high - low) * bytes));
  auto tensor = make_ref<TensorImpl>(source.dtype(), source.shape(), layout, -low, std::move(cell));
  for (int64_t i = 0; i < array.size(); ++i)
    std::memcpy(element_at(*tensor, i), array.as<char>() + static_cast<size_t>(i) * bytes, bytes);
  return tensor;
}

/// One sample twice: as the interpreter's values and as tensors.
struct TensorSample {
  TensorSample(const Op& op, const Sample& sample, Dtype dtype) : reference(op, sample, dtype) {
    for (size_t i = 0; i < sample.tensors.size(); ++i) {
      const SampleTensor& tensor = sample.tensors[i];
      tensors.push_back(reference.values[i] ? to_tensor(reference.values[i], tensor.strides) : nullptr);
      operands.push_back(SampleCall::operand(tensor, Value(tensors.back())));
    }
  }
  Call call() const { return Call(reference.op, operands, reference.attributes); }

  SampleCall reference;
  std::vector<TensorRef> tensors;
  std::vector<Operand> operands;
};

/// The bits of a tensor's elements in row-major order, with one pattern for all NaNs.
inline std::string bits_of(const TensorImpl& tensor) {
  std::string bits;
  const size_t bytes = size_of(tensor.dtype());
  for (int64_t i = 0; i < tensor.numel(); ++i) {
    const char* element = element_at(tensor, i);
    const Scalar value = Scalar::load(tensor.dtype(), element);
    if (value.is_float() && value.to_double() != value.to_double())
      bits.append(bytes, '\x7f');
    else
      bits.append(element, bytes);
  }
  return bits;
}

}  // namespace lucid::test
