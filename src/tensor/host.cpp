#include "tensor/host.h"

#include <deque>

#include "ir/host_call.h"
#include "tensor/eager.h"
#include "tensor/grad_mode.h"

namespace lucid {

Values compute_on_host(const Call& call) {
  const GradModeScope no_grad(false);
  if (call.op().infer) infer_types(call);  // for its checks
  Values held;
  std::deque<int64_t> numbers;  // addresses stay
  std::vector<HostArray> inputs;
  for (size_t i = 0; i < call.count(); ++i) {
    const Operand& operand = call.operand(i);
    const Dtype dtype = operand.present() ? operand_dtype(call, i) : Dtype::kF32;
    if (operand.is_value()) {
      const TensorRef tensor = contiguous(TensorRef(tensor_of(eager().cast(value_of(operand), dtype))));
      inputs.push_back({tensor->type(), tensor->data()});
      held.emplace_back(tensor);
    } else if (operand.is_scalar()) {
      operand.scalar().store(dtype, &numbers.emplace_back());
      inputs.push_back({{dtype, {}}, &numbers.back()});
    } else {
      inputs.emplace_back();
    }
  }
  Values results;
  HostCall host(call, inputs, [&](const TensorType& type) {
    checked_numel(call.name(), type.shape, size_of(type.dtype));
    TensorRef tensor = make_tensor(type.dtype, type.shape);
    HostArray array{type, tensor->data()};
    results.emplace_back(std::move(tensor));
    return array;
  });
  call.op().host(host);
  return results;
}

}  // namespace lucid
