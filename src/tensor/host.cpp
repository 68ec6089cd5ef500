#include "tensor/host.h"

#include <deque>
#include <optional>

#include "base/blocking.h"
#include "ir/host_call.h"
#include "ir/transfer.h"
#include "tensor/compute.h"
#include "tensor/eager.h"
#include "tensor/grad_mode.h"
#include "tensor/host_view.h"
#include "tensor/own_call.h"
#include "tensor/transfer.h"

namespace lucid {
namespace {

/// From this many elements on, the caller's global lock (Python's GIL) is released while the host computes.
constexpr int64_t kManyElements = 1 << 13;

}  // namespace

Values compute_on_host(const Call& shared) {
  // Casts, copies and the op itself may give up the caller's lock.
  const OwnCall own(shared);
  const Call call = own.call();
  if (is_transfer(call.op())) return transfer(call);
  const GradModeScope no_grad(false);
  if (call.op().infer) infer_types(call);  // for its checks
  std::deque<HostView> views;
  int64_t elements = 0;
  std::deque<int64_t> numbers;  // a deque keeps addresses valid
  std::vector<HostArray> inputs;
  for (size_t i = 0; i < call.count(); ++i) {
    const Operand& operand = call.operand(i);
    const Dtype dtype = operand.present() ? operand_dtype(call, i) : Dtype::kF32;
    if (operand.is_value()) {
      const TensorRef tensor = contiguous(TensorRef(tensor_of(eager().cast(value_of(operand), dtype))));
      inputs.push_back({{tensor->dtype(), tensor->sizes()}, const_cast<void*>(views.emplace_back(*tensor).data())});
      elements += tensor->numel();
    } else if (operand.is_scalar()) {
      operand.scalar().store(dtype, &numbers.emplace_back());
      inputs.push_back({{dtype, {}}, &numbers.back()});
    } else {
      inputs.emplace_back();
    }
  }
  const Device device = device_of(call);
  Values results;
  std::deque<std::vector<char>> copies;  // of results on a gpu
  HostCall host(call, inputs, [&](const TensorType& type) {
    const int64_t count = checked_numel(call.name(), type.shape, size_of(type.dtype));
    TensorRef tensor = make_tensor(type.dtype, type.shape, contiguous_strides(type.shape), device);
    HostArray array{type, tensor->data()};
    if (device.is_gpu()) array.data = copies.emplace_back(static_cast<size_t>(count) * size_of(type.dtype)).data();
    results.emplace_back(std::move(tensor));
    return array;
  });
  std::optional<BlockingScope> running;
  if (elements >= kManyElements) running.emplace();
  call.op().host(host);
  for (size_t i = 0; i < copies.size(); ++i)
    write_bytes(device, tensor_of(results[i])->data(), copies[i].data(), copies[i].size());
  return results;
}

}  // namespace lucid
