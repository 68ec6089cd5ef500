#include "tensor/transfer.h"

#include "tensor/eager.h"
#include "tensor/grad_mode.h"
#include "tensor/host_view.h"

namespace lucid {
namespace {

const Op& transfer_op() {
  static const Op& op = op_table().at("to_device");
  return op;
}

}  // namespace

bool is_transfer(const Call& call) { return &call.op() == &transfer_op(); }

Values transfer(const Call& call) {
  const GradModeScope no_grad(false);
  const std::vector<TensorType> types = infer_types(call);
  const TensorRef source = contiguous(TensorRef(tensor_of(value_of(call.operand(0)))));
  const Device from = source->device(), to = types.front().device;
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
  const Operand operands[] = {Operand(tensor.get())};
  return TensorRef(tensor_of(eager().emit_one(transfer_op(), operands, {to_string(device)})));
}

}  // namespace lucid
