#include "passes/common_subexpression.h"

#include <unordered_map>

#include "passes/graph_edit.h"

namespace lucid {
namespace {

/// Traced sizes are the same if they are the same expression, not if they happen to have the same value.
std::string key_of(SymInt dim) { return dim.is_traced() ? fmt::format("#{}", dim.expression()) : to_string(dim); }

std::string key_of(const Attribute& attribute) {
  if (const auto* dim = std::get_if<SymInt>(&attribute)) return key_of(*dim);
  const auto* dims = std::get_if<Dims>(&attribute);
  if (!dims) return to_string(attribute);
  std::string key = "[";
  for (const SymInt dim : *dims) key += key_of(dim) + ',';
  return key + ']';
}

/// A key that is equal for nodes that compute the same. It is text, in which 1, 1.0 and true differ, 0.0 differs from
/// -0.0, and a NaN equals itself.
std::string key_of(const IRGraph& graph, const IRNode& node) {
  std::string key = fmt::format("{} {}", node.op->id, node.has_gradient);
  for (const IROperand& input : node.inputs) {
    if (input.number)
      key += ' ' + (input.number->is_size() ? key_of(input.number->size()) : to_string(*input.number));
    else
      key += fmt::format(" %{}", input.id);
  }
  for (const Attribute& attribute : node.attributes) key += ' ' + key_of(attribute);
  // Nodes without operands may differ in their device only.
  for (const ValueId id : node.outputs) key += " @" + to_string(graph.type(id).device);
  return key;
}

bool can_replace(const Substitution& same, const std::vector<ValueId>& old_ids, const std::vector<ValueId>& new_ids) {
  for (size_t i = 0; i < old_ids.size(); ++i)
    if (!same.allows(old_ids[i], new_ids[i])) return false;
  return true;
}

}  // namespace

bool CommonSubexpressionPass::run(IRGraph& graph, ConstantPool& constants) {
  Substitution same(graph);
  std::unordered_map<std::string, std::vector<ValueId>> seen;
  std::vector<IRNode> kept;
  for (IRNode& node : graph.nodes) {
    same.apply(node);
    if (node.op->has_effects()) {
      kept.push_back(std::move(node));
      continue;
    }
    const auto [first, fresh] = seen.try_emplace(key_of(graph, node), node.outputs);
    if (fresh || !can_replace(same, node.outputs, first->second)) {
      kept.push_back(std::move(node));
      continue;
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) same.add(node.outputs[i], first->second[i]);
  }
  graph.nodes = std::move(kept);
  if (same.empty()) return false;
  same.apply_to_results(graph);
  drop_undefined(graph, constants);
  return true;
}

}  // namespace lucid
