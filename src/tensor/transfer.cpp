#include "tensor/transfer.h"

#include "tensor/compute.h"
#include "tensor/eager.h"
#include "tensor/grad_mode.h"
#include "tensor/host_view.h"

namespace lucid {

Values transfer(const Call& call) {
  const GradModeScope no_grad(false);
  const TensorRef source = contiguous(TensorRef(tensor_of(value_of(call.operand(0)))));
  const Device from = source->device(), to = device_of(call);
  TensorRef result = make_tensor(source->dtype(), source->sizes(), contiguous_strides(source->sizes()), to);
  const size_t bytes = static_cast<size_t>(source->numel()) * size_of(source->dtype());
  const PinnedMemory memory = source->memory();
  if (from == to) {
    copy_bytes(to, result->data(), memory.data, bytes);
  } else if (to.is_gpu()) {
    write_bytes(to, result->data(), HostView(*source).data(), bytes);
  } else {
    read_bytes(from, result->data(), memory.data, bytes);
  }
  return {std::move(result)};
}

TensorRef to_device(const TensorRef& tensor, Device device) {
  if (tensor->device() == device) return tensor;
  return TensorRef(tensor_of(eager().to_device(Operand(tensor.get()), to_string(device))));
}

}  // namespace lucid
