#include "tensor/host.h"

#include <deque>
#include <optional>

#include "base/blocking.h"
#include "base/ref_list.h"
#include "ir/host_call.h"
#include "tensor/eager.h"
#include "tensor/grad_mode.h"

namespace lucid {
namespace {

/// From this many elements on, the caller's global lock (Python's GIL) is released while the host computes.
constexpr int64_t kManyElements = 1 << 13;

}  // namespace

Values compute_on_host(const Call& call) {
  const GradModeScope no_grad(false);
  if (call.op().infer) infer_types(call);  // for its checks
  RefList<Storage, 4> storages;
  int64_t elements = 0;
  std::deque<int64_t> numbers;  // a deque keeps addresses valid
  std::vector<HostArray> inputs;
  for (size_t i = 0; i < call.count(); ++i) {
    const Operand& operand = call.operand(i);
    const Dtype dtype = operand.present() ? operand_dtype(call, i) : Dtype::kF32;
    if (operand.is_value()) {
      const TensorRef tensor = contiguous(TensorRef(tensor_of(eager().cast(value_of(operand), dtype))));
      PinnedMemory memory = tensor->memory();
      inputs.push_back({tensor->type(), memory.data});
      storages.push_back(std::move(memory.storage));
      elements += tensor->numel();
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
  std::optional<BlockingScope> running;
  if (elements >= kManyElements) running.emplace();
  call.op().host(host);
  return results;
}

}  // namespace lucid
