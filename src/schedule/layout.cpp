#include "base/error.h"
#include "ir/node_call.h"
#include "schedule/schedule.h"

namespace lucid {
namespace {

Geometry contiguous(const Dims& shape) { return {shape, contiguous_strides(shape), 0}; }

Geometry result_geometry(const IRGraph& graph, const IRNode& node, ValueId result,
                         const std::map<ValueId, Layout>& layouts) {
  const Dims& shape = graph.type(result).shape;
  if (!node.op->is_pointwise() || node.op->contiguous_result) return contiguous(shape);
  std::vector<const Geometry*> operands;
  for (const IROperand& input : node.inputs)
    if (input.id >= 0) operands.push_back(&layouts.at(input.id).geometry);
  return {shape, elementwise_strides(shape, operands), 0};
}

}  // namespace

std::map<ValueId, Layout> assign_layouts(IRGraph& graph, const std::map<ValueId, Geometry>& inputs,
                                         const std::map<ValueId, Geometry>& outputs) {
  std::map<ValueId, Layout> layouts;
  for (const auto& [id, geometry] : inputs) layouts[id] = {id, geometry};
  std::vector<IRNode> nodes;
  nodes.reserve(graph.nodes.size());
  const auto copy_operand = [&](const IRNode& node, IROperand& operand) {
    const TensorType type = graph.type(operand.id);
    const Op& copy = op_table().at("contiguous");
    const ValueId copied = graph.add_value(type);
    nodes.push_back({&copy, {operand}, copy.schema.default_attributes(), {copied}, false, node.source});
    layouts[copied] = {copied, contiguous(type.shape)};
    operand = {copied, std::nullopt};
    return copied;
  };
  for (IRNode& node : graph.nodes) {
    if (node.op->view) {
      const NodeCall call(graph, node);
      const Layout operand = layouts.at(node.inputs[0].id);
      auto geometry = node.op->view(call.call(), operand.geometry);
      if (geometry) {
        layouts[node.outputs[0]] = {operand.storage, *geometry};
      } else {
        const ValueId copied = copy_operand(node, node.inputs[0]);
        geometry = node.op->view(call.call(), layouts[copied].geometry);
        LUCID_CHECK(geometry.has_value(), "{} cannot view a contiguous operand", node.op->name());
        layouts[node.outputs[0]] = {copied, *geometry};
      }
    } else {
      for (IROperand& input : node.inputs) {
        if (!node.op->host || input.id < 0) continue;
        const Geometry& geometry = layouts.at(input.id).geometry;
        if (!is_contiguous(geometry.sizes, geometry.strides)) copy_operand(node, input);
      }
      for (ValueId id : node.outputs) {
        const auto imposed = outputs.find(id);
        layouts[id] = {id, imposed != outputs.end() ? imposed->second : result_geometry(graph, node, id, layouts)};
      }
    }
    nodes.push_back(std::move(node));
  }
  graph.nodes = std::move(nodes);
  return layouts;
}

}  // namespace lucid
