#include "compiler/host_step.h"

#include "base/error.h"
#include "ir/host_call.h"
#include "ir/node_call.h"

namespace lucid {
namespace {

/// The type of a copy in host memory.
TensorType on_host(TensorType type) {
  type.device = kCpuDevice;
  return type;
}

/// A node without its graph.
class HostStep {
 public:
  HostStep(const IRGraph& graph, const IRNode& node) : node_(graph, node), numbers_(node.inputs.size()) {
    const Call& call = node_.call();
    for (size_t i = 0; i < call.count(); ++i) {
      const Operand& operand = call.operand(i);
      HostArray& input = inputs_.emplace_back();
      if (operand.is_value()) input.type = on_host(operand.type());
      if (!operand.is_scalar()) continue;
      input = {{operand_dtype(call, i), {}}, &numbers_[i]};
      operand.scalar().store(input.type.dtype, input.data);
    }
    for (ValueId id : node.outputs) outputs_.push_back(on_host(graph.type(id)));
  }
  HostStep(const HostStep&) = delete;
  HostStep& operator=(const HostStep&) = delete;

  void run(void* const* buffers) const {
    std::vector<HostArray> inputs = inputs_;
    for (size_t i = 0; i < inputs.size(); ++i)
      if (node_.call().operand(i).is_value()) inputs[i].data = *buffers++;
    size_t next_output = 0;
    HostCall host(node_.call(), inputs, [&](const TensorType& type) -> HostArray {
      LUCID_CHECK(next_output < outputs_.size() && type == outputs_[next_output], "{} returned {} as result {}",
                  node_.call().name(), to_string(type), next_output);
      return {type, buffers[next_output++]};
    });
    node_.call().op().host(host);
  }

 private:
  NodeCall node_;
  std::vector<int64_t> numbers_;
  std::vector<HostArray> inputs_;
  std::vector<TensorType> outputs_;
};

}  // namespace

PlanStep::HostFunction host_function(const IRGraph& graph, const IRNode& node) {
  return [step = std::make_shared<const HostStep>(graph, node)](void* const* buffers) { step->run(buffers); };
}

}  // namespace lucid
