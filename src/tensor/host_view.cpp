#include "tensor/host_view.h"

namespace lucid {

HostView::HostView(const TensorImpl& tensor) {
  PinnedMemory memory = tensor.memory();
  data_ = memory.data;
  if (!tensor.device().is_gpu()) {
    held_ = std::move(memory.storage);
    return;
  }
  const auto size = static_cast<int64_t>(size_of(tensor.dtype()));
  const auto [first, last] = element_range({tensor.sizes(), tensor.strides(), 0});
  const auto bytes = static_cast<size_t>((last - first) * size);
  copy_ = std::make_unique_for_overwrite<char[]>(bytes);
  read_bytes(tensor.device(), copy_.get(), static_cast<const char*>(memory.data) + first * size, bytes);
  data_ = copy_.get() - first * size;
}

Scalar element_of(const TensorImpl& tensor) {
  const Dtype dtype = tensor.dtype();
  return Scalar::load(dtype, HostView(tensor).data());
}

}  // namespace lucid
