#include "passes/graph_edit.h"

#include "base/error.h"

namespace lucid {
namespace {

std::set<ValueId> leaves_of(const IRGraph& graph) {
  std::set<ValueId> leaves;
  for (const auto* ids : {&graph.input_ids, &graph.param_ids, &graph.state_ids, &graph.constant_ids})
    leaves.insert(ids->begin(), ids->end());
  return leaves;
}

}  // namespace

std::set<ValueId> results_of(const IRGraph& graph) {
  std::set<ValueId> results(graph.output_ids.begin(), graph.output_ids.end());
  for (const auto& update : graph.updates) results.insert(update.second);
  return results;
}

std::vector<ValueId> effects_of(const IRGraph& graph) {
  std::vector<ValueId> effects;
  for (const IRNode& node : graph.nodes)
    if (node.op->has_effects()) effects.insert(effects.end(), node.outputs.begin(), node.outputs.end());
  return effects;
}

void drop_undefined(IRGraph& graph, ConstantPool& constants) {
  std::set<ValueId> defined = leaves_of(graph);
  for (const IRNode& node : graph.nodes) defined.insert(node.outputs.begin(), node.outputs.end());
  std::erase_if(graph.values, [&](const auto& entry) { return !defined.contains(entry.first); });
  std::erase_if(constants, [&](const auto& entry) { return !defined.contains(entry.first); });
}

Substitution::Substitution(const IRGraph& graph)
    : graph_(graph), results_(results_of(graph)), leaves_(leaves_of(graph)) {}

bool Substitution::allows(ValueId old_id, ValueId new_id) const {
  if (graph_.values.at(old_id) != graph_.values.at(new_id)) return false;
  return !results_.contains(old_id) || (!results_.contains(new_id) && !leaves_.contains(new_id));
}

void Substitution::add(ValueId old_id, ValueId new_id) {
  LUCID_CHECK(allows(old_id, new_id), "%{} cannot replace %{}", new_id, old_id);
  replacements_[old_id] = new_id;
  if (results_.contains(old_id)) results_.insert(new_id);
}

ValueId Substitution::operator()(ValueId id) const {
  const auto found = replacements_.find(id);
  return found == replacements_.end() ? id : found->second;
}

void Substitution::apply(IRNode& node) const {
  for (IROperand& input : node.inputs)
    if (input.id >= 0) input.id = (*this)(input.id);
}

void Substitution::apply_to_results(IRGraph& graph) const {
  for (ValueId& id : graph.output_ids) id = (*this)(id);
  for (auto& update : graph.updates) update.second = (*this)(update.second);
}

}  // namespace lucid
