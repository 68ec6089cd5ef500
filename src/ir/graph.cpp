#include "ir/graph.h"

#include <tuple>

#include "ir/graph_emitter.h"

namespace lucid {

bool IRGraph::operator==(const IRGraph& other) const {
  // Traced sizes of graphs that were recorded or parsed apart are not the same objects.
  if (sizes != other.sizes) return sizes && other.sizes && to_text(*this) == to_text(other);
  const auto parts = [](const IRGraph& graph) {
    return std::tie(graph.name, graph.input_ids, graph.param_ids, graph.state_ids, graph.constant_ids, graph.nodes,
                    graph.values, graph.output_ids, graph.updates);
  };
  return parts(*this) == parts(other);
}

ValueId IRGraph::add_value(const TensorType& type) {
  const ValueId id = values.empty() ? 0 : values.rbegin()->first + 1;
  values.emplace_hint(values.end(), id, IRValue{type});
  return id;
}

ValueId IRGraph::add_input(const TensorType& type) {
  input_ids.push_back(add_value(type));
  return input_ids.back();
}

Device device_of(const IRGraph& graph) {
  for (const auto& [_, value] : graph.values)
    if (value.type.device.is_gpu()) return value.type.device;
  return kCpuDevice;
}

Values GraphEmitter::emit(const Op& op, std::span<const Operand> operands, const Attributes& attributes) {
  IRNode node{.op = &op, .attributes = attributes};
  for (const Operand& operand : operands) {
    IROperand& input = node.inputs.emplace_back();
    if (operand.is_scalar()) input.number = operand.scalar();
    if (operand.is_value()) input.id = static_cast<const GraphValue*>(operand.value())->id();
  }
  Values results;
  for (const TensorType& type : infer_types(Call(op, operands, attributes))) {
    node.outputs.push_back(graph_.add_value(type));
    results.push_back(value(node.outputs.back()));
  }
  graph_.nodes.push_back(std::move(node));
  return results;
}

Value GraphEmitter::value(ValueId id) const { return make_ref<GraphValue>(graph_.type(id), id); }

}  // namespace lucid
