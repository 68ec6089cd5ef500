#pragma once

#include <memory>

#include "tensor/tensor_impl.h"

namespace lucid {

/// The elements of a tensor in host memory, with the tensor's strides: its own memory, or a copy if it is on a gpu. For
/// reading; valid as long as the object lives.
class HostView {
 public:
  explicit HostView(const TensorImpl& tensor);
  HostView(const HostView&) = delete;
  HostView& operator=(const HostView&) = delete;

  /// The address of the first element.
  const void* data() const { return data_; }

 private:
  Ref<Storage> held_;
  std::unique_ptr<char[]> copy_;
  const void* data_;
};

}  // namespace lucid
