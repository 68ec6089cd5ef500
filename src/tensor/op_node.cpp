#include "tensor/op_node.h"

#include <algorithm>

#include "base/error.h"
#include "ir/emitter.h"
#include "tensor/autograd_meta.h"
#include "tensor/engine.h"
#include "tensor/region.h"

namespace lucid {
namespace {

Value zeros(Emitter& e, const TensorType& type) { return e.full(type.shape, 0, type.dtype); }

/// A handle on what was saved. It takes part in the graph only when the pass records.
Value unpack(const Snapshot& saved, const BackwardPass& pass, const Edge& edge) {
  TensorRef tensor = saved.tensor();
  if (edge && pass.creates_graph()) set_gradient_node(*tensor, edge);
  return tensor;
}

}  // namespace

OpNode::OpNode(const Call& call, std::vector<Edge> edges)
    : GradNode(std::move(edges), {}), op_(call.op()), attributes_(call.attributes()) {
  arguments_ = std::make_unique<Argument[]>(call.count());
  for (size_t i = 0; i < call.count(); ++i) {
    const Operand& operand = call.operand(i);
    if (operand.is_value())
      arguments_[i].type.emplace(operand.dtype(), operand.shape());
    else if (operand.is_scalar())
      arguments_[i].number = operand.scalar();
  }
  for (int i : op_.gradient.saved_inputs) {
    if (static_cast<size_t>(i) >= call.count() || !call.operand(static_cast<size_t>(i)).is_value()) continue;
    arguments_[static_cast<size_t>(i)].saved.take(*tensor_of(call.operand(static_cast<size_t>(i))));
    saves_ = true;
  }
}

void OpNode::set_results(std::span<const Value> results) {
  std::vector<TensorType> types;
  types.reserve(results.size());
  for (const Value& result : results) types.push_back(result.type());
  set_outputs(std::move(types));
  const Gradient& gradient = op_.gradient;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!gradient.saves_outputs && !std::ranges::count(gradient.saved_inputs, ~static_cast<int>(i))) continue;
    if (!results_) results_ = std::make_unique<Snapshot[]>(results.size());
    results_[i].take(*tensor_of(results[i]));
    saves_ = true;
  }
}

void OpNode::release_saved() {
  if (!saves_ || released_) return;
  released_ = true;
  results_.reset();
  for (size_t i = 0; i < edges().size(); ++i) arguments_[i].saved.drop();
}

void OpNode::run(BackwardPass& pass, Values gradients) {
  if (released_) fail_released();
  if (!op_.gradient)
    throw NotImplementedError("{}: this op has no gradient; call detach() on its operands if none is wanted", name());
  Emitter& e = pass.emitter();
  const size_t count = edges().size();
  std::vector<Operand> operands(count);
  Values inputs(count);
  std::vector<bool> needed(count);
  for (size_t i = 0; i < count; ++i) {
    operands[i] = arguments_[i].operand();
    needed[i] = pass.needs(edges()[i]);
    if (!arguments_[i].saved.empty()) inputs[i] = unpack(arguments_[i].saved, pass, edges()[i]);
  }
  Values results;
  for (size_t i = 0; results_ && i < outputs().size(); ++i) {
    const Edge edge = is_float(outputs()[i].dtype) ? Edge{Ref<GradNode>(this), static_cast<uint32_t>(i)} : Edge();
    results.push_back(results_[i].empty() ? Value() : unpack(results_[i], pass, edge));
  }
  for (size_t i = 0; i < gradients.size(); ++i)
    if (!gradients[i]) gradients[i] = zeros(e, outputs()[i]);
  const GradientCall call(Call(op_, operands, attributes_), std::move(inputs), std::move(results), needed);
  Values found = op_.gradient.rule(e, call, gradients);
  LUCID_CHECK(found.size() <= count, "the gradient rule of {} returned {} gradients for {} operands", name(),
              found.size(), count);
  // Given up before they are passed on, so that what nobody else holds can be added to where it lies.
  gradients.clear();
  for (size_t i = 0; i < found.size(); ++i)
    if (needed[i]) pass.add(edges()[i], std::move(found[i]));
}

ViewNode::ViewNode(const Call& call, Edge edge, const Dims& view_sizes)
    : GradNode({std::move(edge)}, {{call.dtype(0), view_sizes}}),
      op_(call.op()),
      attributes_(call.attributes()),
      operand_(call.dtype(0), call.shape(0)) {}

void ViewNode::run(BackwardPass& pass, Values gradients) {
  if (!pass.needs(edges()[0])) return;
  const Operand operands[] = {Operand(&operand_)};
  const Call call(op_, operands, attributes_);
  const bool is_part = numel(outputs()[0].shape) < numel(operand_.shape());
  if (op_.gradient && !is_part) {
    Values found = op_.gradient.rule(pass.emitter(), GradientCall(call, {}, {}, {true}), gradients);
    gradients.clear();
    return pass.add(edges()[0], std::move(found.front()));
  }
  Region region{operand_.shape(), contiguous_strides(operand_.shape()), {}};
  const std::optional<Geometry> part = op_.view(call, {region.sizes, region.strides, 0});
  LUCID_CHECK(part.has_value(), "{} cannot view a contiguous tensor", name());
  region.part = *part;
  pass.add_region(edges()[0], region, std::move(gradients.front()));
}

}  // namespace lucid
