#include "passes/may_raise.h"

#include <algorithm>
#include <set>

#include "ir/decompose.h"
#include "ir/node_call.h"

namespace lucid {
namespace {

/// Whether a kernel with checks has no element to check: those of most ops check an element of the result, those of
/// scatters an element of their source. Sizes of 0 are never traced.
bool checks_nothing(const Call& call, const std::vector<TensorType>& types) {
  const auto is_empty = [](const Dims& shape) {
    return std::ranges::any_of(shape, [](const SymInt& size) { return size.unguarded() == 0; });
  };
  if (const auto* scatter = std::get_if<ScatterLowering>(&call.op().lowering))
    return is_empty(call.shape(static_cast<size_t>(scatter->source)));
  return call.op().is_lowered() && is_empty(types.front().shape);
}

/// Pointwise ops of two operands check that an integer is not divided by zero. A traced number may be zero in later
/// calls.
bool divides_by_number(const Call& call) {
  if (!call.op().is_pointwise() || call.count() != 2 || !call.operand(1).is_scalar()) return false;
  const Scalar& divisor = call.operand(1).scalar();
  return !divisor.traced() && !divisor.is_size() && divisor.to_double() != 0;
}

bool check_may_fail(const Call& call, const std::vector<TensorType>& types) {
  return !call.op().errors.empty() && !checks_nothing(call, types) && !divides_by_number(call);
}

/// Expands decompositions on types alone, and records whether any op could raise.
class RaiseFinder : public Emitter {
 public:
  Values emit(const Op& op, std::span<const Operand> operands, const Attributes& attributes) override {
    const Call call(op, operands, attributes);
    const std::vector<TensorType> types = infer_types(call);
    found_ = found_ || op.host || check_may_fail(call, types);
    if (op.decompose) return emit_widened_decomposition(*this, call, types);
    Values results;
    for (const TensorType& type : types) results.push_back(make_ref<ValueBase>(type.dtype, type.shape, type.device));
    return results;
  }
  bool found() const { return found_; }

 private:
  bool found_ = false;
};

}  // namespace

bool may_raise(const Call& call) {
  if (call.op().host) return call.op().effects != Effects::kOrdered;
  if (!call.op().errors.empty()) return check_may_fail(call, infer_types(call));
  if (!call.op().decompose) return false;
  RaiseFinder finder;
  try {
    finder.emit(call.op(), call.operands(), call.attributes());
  } catch (const NotImplementedError&) {
    return true;  // a part's type depends on data, so it runs on the host
  }
  return finder.found();
}

const IRNode* may_raise_after_effect(const IRGraph& graph) {
  const auto has_effect = [](const IRNode& node) { return node.op->effects == Effects::kOrdered; };
  const auto first = std::ranges::find_if(graph.nodes, has_effect);
  std::set<ValueId> needed;
  const IRNode* found = nullptr;
  for (auto node = graph.nodes.end(); node-- != graph.nodes.begin();) {
    const bool is_needed =
        node == first || std::ranges::any_of(node->outputs, [&](ValueId id) { return needed.contains(id); });
    if (is_needed)
      for (const IROperand& input : node->inputs) needed.insert(input.id);
    else if (first != graph.nodes.end() && may_raise(NodeCall(graph, *node).call()))
      found = &*node;
  }
  return found;
}

}  // namespace lucid
