#include "passes/layout_facts.h"

#include <algorithm>

#include "ir/decompose.h"
#include "passes/graph_edit.h"

namespace lucid {
namespace {

/// Whether some dimension has at most one element, so that its stride is arbitrary.
bool has_free_strides(const Dims& shape) {
  return std::ranges::any_of(shape, [](SymInt size) { return size <= 1; });
}

/// Whether the strides of a lowered op's result depend on the strides of its operands. Eager code returns a contiguous
/// tensor instead of copying it, with its arbitrary strides of dimensions of size 1.
bool follows_operands(const Op& op, const Dims& shape) {
  return op.is_pointwise() && (!op.contiguous_result || has_free_strides(shape));
}

class LayoutValue : public ValueBase {
 public:
  LayoutValue(const TensorType& type, LayoutFact fact)
      : ValueBase(type.dtype, type.shape, type.device), fact_(std::move(fact)) {}
  const LayoutFact& fact() const { return fact_; }

 private:
  LayoutFact fact_;
};

const LayoutFact& fact_of(const ValueBase* value) { return static_cast<const LayoutValue*>(value)->fact(); }

/// Applies ops to layouts. Eager calls and plans agree on strides, except for some arbitrary ones, and they copy the
/// results of composites at different points. Where they may differ, nothing is known.
class LayoutEmitter : public Emitter {
 public:
  Values emit(const Op& op, std::span<const Operand> operands, const Attributes& attributes) override {
    const Call call(op, operands, attributes);
    const std::vector<TensorType> types = infer_types(call);
    if (op.decompose) return decomposed(call, types);
    Values results;
    for (const TensorType& type : types) results.push_back(make_ref<LayoutValue>(type, fact(call, type.shape)));
    return results;
  }

 private:
  Values decomposed(const Call& call, const std::vector<TensorType>& types) {
    Values results = emit_widened_decomposition(*this, call, types);
    for (size_t i = 0; i < results.size(); ++i) {
      // Copies are contiguous, so a result that is contiguous without a copy is certain. 16-bit floats are widened,
      // except where the decomposition consists of views only.
      const bool is_certain = fact_of(results[i].get()).strides == contiguous_strides(types[i].shape);
      if (!is_certain || is_half(types[i].dtype)) results[i] = make_ref<LayoutValue>(types[i], LayoutFact{});
    }
    return results;
  }

  static LayoutFact fact(const Call& call, const Dims& shape) {
    if (call.op().view) return viewed(call);
    if (!follows_operands(call.op(), shape)) return {.strides = contiguous_strides(shape)};
    if (call.op().contiguous_result) return copied(call, contiguous_strides(shape));
    LayoutFact result = elementwise(call, shape);
    if (call.op().algebra.copies == Copies::kUnlessOfDtype && call.operand(0).is_value() &&
        call.dtype_of("dtype") == call.dtype(0)) {
      // Eager code has nothing to convert and returns the operand.
      const LayoutFact& operand = fact_of(call.operand(0).value());
      if (!result.strides || result.strides != operand.strides)
        return {.kept_by_elementwise = operand.kept_by_elementwise};
    }
    return result;
  }

  static LayoutFact viewed(const Call& call) {
    const LayoutFact& operand = fact_of(call.operand(0).value());
    if (!operand.strides) return {};
    auto geometry = call.op().view(call, {call.shape(0), *operand.strides, 0});
    // If these strides cannot be viewed, a contiguous copy is.
    if (!geometry) geometry = call.op().view(call, {call.shape(0), contiguous_strides(call.shape(0)), 0});
    return {.strides = geometry->strides};
  }

  static LayoutFact copied(const Call& call, const Dims& contiguous) {
    const auto& strides = fact_of(call.operand(0).value()).strides;
    if (strides && (*strides == contiguous || !is_contiguous(call.shape(0), *strides))) return {.strides = contiguous};
    return {};
  }

  static LayoutFact elementwise(const Call& call, const Dims& shape) {
    std::vector<Geometry> geometries;
    bool has_number = false;
    for (size_t i = 0; i < call.count(); ++i) {
      const Operand& operand = call.operand(i);
      has_number |= operand.is_scalar();
      if (!operand.is_value()) continue;
      const auto& strides = fact_of(operand.value()).strides;
      if (!strides) {
        // The result is dense, so in one dimension its strides are known.
        if (shape.rank() <= 1) return {.strides = contiguous_strides(shape)};
        return {.kept_by_elementwise = !has_free_strides(shape)};
      }
      geometries.push_back({operand.shape(), *strides, 0});
      if (operand_dtype(call, i) == operand.dtype()) continue;
      // The operand is converted first, by a separate elementwise op.
      geometries.back().strides = strides_from(operand.shape(), {&geometries.back(), 1});
    }
    Dims strides = strides_from(shape, geometries);
    if (!has_number) return {.strides = std::move(strides)};
    // Eager calls pass numbers as tensors without dimensions.
    geometries.emplace_back();
    if (strides_from(shape, geometries) != strides) return {};
    return {.strides = std::move(strides)};
  }

  static Dims strides_from(const Dims& shape, std::span<const Geometry> operands) {
    std::vector<const Geometry*> pointers;
    for (const Geometry& geometry : operands) pointers.push_back(&geometry);
    return elementwise_strides(shape, pointers);
  }
};

}  // namespace

LayoutFacts::LayoutFacts(const IRGraph& graph) : graph_(graph) {
  for (const auto* ids : {&graph.input_ids, &graph.param_ids, &graph.state_ids})
    for (const ValueId id : *ids) facts_[id] = {};
  for (const ValueId id : graph.constant_ids) facts_[id] = {.strides = contiguous_strides(graph.type(id).shape)};
}

void LayoutFacts::define(const IRNode& node) {
  for (const ValueId id : node.outputs) {
    definers_[id] = &node;
    facts_.erase(id);
  }
}

const LayoutFact& LayoutFacts::of(ValueId id) {
  if (!facts_.contains(id)) {
    const IRNode& node = *definers_.at(id);
    std::vector<LayoutFact> facts = of(node);
    for (size_t i = 0; i < facts.size(); ++i) facts_[node.outputs[i]] = std::move(facts[i]);
  }
  return facts_.at(id);
}

std::vector<LayoutFact> LayoutFacts::of(const IRNode& node) {
  find_operands(node);
  return apply(node);
}

void LayoutFacts::find_operands(const IRNode& node) {
  std::vector<const IRNode*> waiting = {&node};
  while (!waiting.empty()) {
    const IRNode* const next = waiting.back();
    const size_t before = waiting.size();
    for (const IROperand& input : next->inputs)
      if (input.id >= 0 && !facts_.contains(input.id)) waiting.push_back(definers_.at(input.id));
    if (waiting.size() > before) continue;
    waiting.pop_back();
    if (next == &node) continue;
    std::vector<LayoutFact> facts = apply(*next);
    for (size_t i = 0; i < facts.size(); ++i) facts_[next->outputs[i]] = std::move(facts[i]);
  }
}

std::vector<LayoutFact> LayoutFacts::apply(const IRNode& node) const {
  std::vector<Value> held;
  held.reserve(node.inputs.size());
  std::vector<Operand> operands;
  for (const IROperand& input : node.inputs) {
    if (input.id >= 0) {
      held.push_back(make_ref<LayoutValue>(graph_.type(input.id), facts_.at(input.id)));
      operands.emplace_back(held.back());
    } else {
      operands.push_back(input.number ? Operand(*input.number) : Operand());
    }
  }
  std::vector<LayoutFact> facts;
  for (const Value& value : LayoutEmitter().emit(*node.op, operands, node.attributes))
    facts.push_back(fact_of(value.get()));
  return facts;
}

std::set<ValueId> values_with_visible_layout(const IRGraph& graph) {
  std::set<ValueId> visible = results_of(graph);
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const IRNode& node = graph.nodes[i];
    const auto shown = std::ranges::find_if(node.outputs, [&](ValueId id) { return visible.contains(id); });
    if (shown == node.outputs.end()) continue;
    // A composite's strides may depend on its operands, so assume that they do.
    const bool follows = node.op->view || node.op->decompose || follows_operands(*node.op, graph.type(*shown).shape);
    if (!follows) continue;
    for (const IROperand& input : node.inputs)
      if (input.id >= 0) visible.insert(input.id);
  }
  return visible;
}

}  // namespace lucid
