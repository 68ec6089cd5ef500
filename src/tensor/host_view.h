#pragma once

#include <memory>

#include "tensor/tensor_impl.h"

namespace lucid {

/// The elements of a tensor in host memory, with the tensor's strides: its own memory, or a copy if it is on a gpu. For
/// reading; valid as long as the object lives. Copying gives up the caller's lock: what is asked of the tensor later
/// may be that of other memory, unless no other thread can reach it.
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

/// The element of a tensor of one element.
Scalar element_of(const TensorImpl& tensor);

}  // namespace lucid
