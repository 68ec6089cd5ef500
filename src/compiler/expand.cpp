#include <map>

#include "base/error.h"
#include "compiler/compile_plan.h"
#include "ir/decompose.h"
#include "ir/graph_emitter.h"
#include "ir/node_call.h"
#include "ir/transfer.h"
#include "ops/precision.h"

namespace lucid {
namespace {

/// Emits primitives only: composites are replaced by their decomposition as they are emitted.
class PrimitiveEmitter : public GraphEmitter {
 public:
  explicit PrimitiveEmitter(IRGraph& graph) : GraphEmitter(graph) {}

  Values emit(const Op& op, std::span<const Operand> operands, const Attributes& attributes) override {
    const Call call(op, operands, attributes);
    if (op.decompose) return emit_widened_decomposition(*this, call, infer_types(call));
    if (accumulates_in_memory(op) && is_half(call.dtype(0))) return {emit_widened(*this, call)};
    LUCID_CHECK(op.is_lowered() || op.view || op.infer, "{} cannot be part of a plan: its result types depend on data",
                op.name());
    return convert_and_emit(call);
  }

 private:
  Values convert_and_emit(const Call& call) {
    std::vector<Operand> operands(call.operands().begin(), call.operands().end());
    std::vector<Value> converted;
    converted.reserve(operands.size());
    for (size_t i = 0; i < operands.size(); ++i) {
      if (!operands[i].is_value()) continue;
      const Dtype wanted = operand_dtype(call, i);
      if (wanted == operands[i].dtype()) continue;
      // A scalar operand of a 16-bit op is in f32, the dtype that kernels compute in: it is not rounded first.
      if (operands[i].rank() == 0 && operands[i].dtype() == compute_dtype(wanted) && call.op().is_pointwise()) continue;
      converted.push_back(cast(Value(Ref<ValueBase>(const_cast<ValueBase*>(operands[i].value()))), wanted));
      operands[i] = Operand(converted.back());
    }
    return GraphEmitter::emit(call.op(), operands, call.attributes());
  }
};

}  // namespace

IRGraph expand_to_primitives(const IRGraph& graph) {
  IRGraph expanded;
  expanded.name = graph.name;
  const Device device = device_of(graph);
  static const Op& copy = op_table().at("contiguous");
  // Never destroyed: used until the process ends.
  static const Attributes& no_attributes = *new Attributes(copy.schema.default_attributes());
  std::map<ValueId, Value> known;
  PrimitiveEmitter emitter(expanded);
  auto copy_leaves = [&](const std::vector<ValueId>& from, std::vector<ValueId>& to) {
    for (ValueId id : from) {
      TensorType type = graph.type(id);
      type.device = device;
      const ValueId leaf = expanded.add_value(type);
      known[id] = emitter.value(leaf);
      to.push_back(leaf);
    }
  };
  copy_leaves(graph.input_ids, expanded.input_ids);
  copy_leaves(graph.param_ids, expanded.param_ids);
  copy_leaves(graph.state_ids, expanded.state_ids);
  copy_leaves(graph.constant_ids, expanded.constant_ids);
  for (const IRNode& node : graph.nodes) {
    std::vector<Operand> operands;
    for (const IROperand& input : node.inputs) {
      if (input.id >= 0)
        operands.emplace_back(known.at(input.id));
      else if (input.number)
        operands.emplace_back(*input.number);
      else
        operands.emplace_back();
    }
    const DeviceScope scope(device);
    Values results = is_transfer(*node.op) ? emitter.emit(copy, operands, no_attributes)
                                           : emitter.emit(*node.op, operands, node.attributes);
    for (size_t i = 0; i < results.size(); ++i) known[node.outputs[i]] = std::move(results[i]);
  }
  for (ValueId id : graph.output_ids) expanded.output_ids.push_back(GraphEmitter::id_of(known.at(id)));
  for (const auto& [state, value] : graph.updates)
    expanded.updates.emplace_back(GraphEmitter::id_of(known.at(state)), GraphEmitter::id_of(known.at(value)));
  return expanded;
}

}  // namespace lucid
