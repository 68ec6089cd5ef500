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

/// A handle on a saved tensor; null if another pass has released it. Part of the graph only if the pass creates one.
Value unpack(const Snapshot& saved, const BackwardPass& pass, const Edge& edge) {
  TensorRef tensor = saved.tensor();
  if (tensor && edge && pass.creates_graph()) set_gradient_node(*tensor, edge);
  return tensor;
}

/// Ends the gradient of a view created under no_grad. The view and everything computed from it require grad, but no
/// gradient flows past it.
class DropNode : public GradNode {
 public:
  explicit DropNode(TensorType type) : GradNode({}, {std::move(type)}) {}
  std::string_view name() const override { return "drop"; }
  void run(BackwardPass&, Values) override {}
  bool is_made_of_ops() const override { return true; }
  Ref<GradNode> clone(NodeCloner&) const override { return make_ref<DropNode>(outputs()[0]); }
};

/// A gradient that depends with slope 0 on a value that its rule read. Passes its gradient on, and zeros to that value.
class FlatNode : public GradNode {
 public:
  FlatNode(Edge gradient, Edge read, TensorType type)
      : GradNode({std::move(gradient), std::move(read)}, {std::move(type)}) {}
  std::string_view name() const override { return "flat"; }
  void run(BackwardPass& pass, Values gradients) override {
    if (pass.needs(edges()[1])) pass.add(edges()[1], pass.emitter().zeros_of(gradients.front()));
    pass.add(edges()[0], std::move(gradients.front()));
  }
  bool is_made_of_ops() const override { return true; }
  Ref<GradNode> clone(NodeCloner& cloner) const override {
    const std::vector<Edge> copies = cloner.edges(edges());
    return make_ref<FlatNode>(copies[0], copies[1], outputs()[0]);
  }
};

Value make_flat(const Value& gradient, const Edge& read) {
  const TensorImpl& tensor = *tensor_of(gradient);
  Edge own = requires_grad(tensor) ? gradient_edge(handle_of(Operand(gradient))) : Edge();
  TensorRef flat = alias_of(tensor);
  set_gradient_node(*flat, {make_ref<FlatNode>(std::move(own), read, gradient.type()), 0});
  return flat;
}

}  // namespace

OpNode::OpNode(const Call& call, std::vector<Edge> edges)
    : GradNode(std::move(edges), {}), op_(call.op()), attributes_(call.attributes()) {
  arguments_ = std::make_unique<Argument[]>(call.count());
  uint64_t wanted = 0;
  for (size_t i = 0; i < call.count(); ++i) {
    const Operand& operand = call.operand(i);
    if (operand.is_value())
      arguments_[i].type.emplace(operand.dtype(), operand.shape(), operand.device());
    else if (operand.is_scalar())
      arguments_[i].number = operand.scalar();
    if (this->edges()[i]) wanted |= SavedInput::bit(i);
  }
  is_wanted_ = wanted != 0;
  for (const SavedInput& input : op_.gradient.saved_inputs) {
    const auto i = static_cast<size_t>(input.operand);
    // As in PyTorch, operands that the rule reads for every gradient are saved even if no gradient is needed.
    const bool is_read = ~input.readers == 0 || input.is_read(wanted);
    if (i >= call.count() || !call.operand(i).is_value() || !is_read) continue;
    arguments_[i].saved.take(*tensor_of(call.operand(i)));
    arguments_[i].drops_gradient = !this->edges()[i] && requires_grad(call.operand(i));
    saves_ = true;
  }
}

OpNode::OpNode(const OpNode& original, NodeCloner& cloner)
    : GradNode(cloner.edges(original.edges()), original.outputs()),
      op_(original.op_),
      attributes_(original.attributes_),
      arguments_(std::make_unique<Argument[]>(original.edges().size())),
      is_wanted_(original.is_wanted_),
      saves_(original.saves_) {
  set_released(original.is_released());
  for (size_t i = 0; i < edges().size(); ++i) {
    const Argument& from = original.arguments_[i];
    if (from.type) arguments_[i].type.emplace(from.type->dtype(), from.type->shape(), from.type->device());
    arguments_[i].number = from.number;
    arguments_[i].drops_gradient = from.drops_gradient;
    cloner.save(from.saved, arguments_[i].saved);
  }
  if (!original.results_) return;
  results_ = std::make_unique<Snapshot[]>(outputs().size());
  for (size_t i = 0; i < outputs().size(); ++i) cloner.save(original.results_[i], results_[i]);
}

Ref<GradNode> OpNode::clone(NodeCloner& cloner) const { return Ref<GradNode>::adopt(new OpNode(*this, cloner)); }

void OpNode::set_results(std::span<const Value> results) {
  std::vector<TensorType> types;
  types.reserve(results.size());
  for (const Value& result : results) types.push_back(result.type());
  set_outputs(std::move(types));
  for (size_t i = 0; i < results.size(); ++i) {
    if (!op_.gradient.saves_output(i)) continue;
    if (!results_) results_ = std::make_unique<Snapshot[]>(results.size());
    results_[i].take(*tensor_of(results[i]));
    saves_ = true;
  }
}

void OpNode::release_saved() {
  if (!saves_ || is_released()) return;
  set_released();
  // The snapshots stay in place, empty: another thread may be running the node.
  for (size_t i = 0; results_ && i < outputs().size(); ++i) results_[i].drop();
  for (size_t i = 0; i < edges().size(); ++i) arguments_[i].saved.drop();
}

void OpNode::run(BackwardPass& pass, Values gradients) {
  if (is_released()) fail_released();
  if (!is_wanted_) return;
  if (!op_.gradient)
    throw NotImplementedError("{}: this op has no gradient; call detach() on its operands if none is wanted", name());
  Emitter& e = pass.emitter();
  const DeviceScope device(outputs().front().device);
  const size_t count = edges().size();
  std::vector<Operand> operands(count);
  Values inputs(count);
  std::vector<bool> needed(count);
  for (size_t i = 0; i < count; ++i) {
    operands[i] = arguments_[i].operand();
    needed[i] = pass.needs(edges()[i]);
    if (arguments_[i].saved.empty()) continue;
    const bool drops = arguments_[i].drops_gradient && pass.creates_graph();
    inputs[i] =
        unpack(arguments_[i].saved, pass, drops ? Edge{make_ref<DropNode>(arguments_[i].type->type()), 0} : edges()[i]);
    if (!inputs[i]) fail_released();
  }
  Values results;
  for (size_t i = 0; results_ && i < outputs().size(); ++i) {
    const Edge edge = is_float(outputs()[i].dtype) ? Edge{Ref<GradNode>(this), static_cast<uint32_t>(i)} : Edge();
    results.push_back(results_[i].empty() ? Value() : unpack(results_[i], pass, edge));
  }
  // Another pass may have released the node meanwhile: a snapshot that looked unused may have been dropped.
  if (is_released()) fail_released();
  for (size_t i = 0; i < gradients.size(); ++i)
    if (!gradients[i]) gradients[i] = zeros(e, outputs()[i]);
  const GradientCall call(Call(op_, operands, attributes_), std::move(inputs), std::move(results), needed);
  Values found = op_.gradient.rule(e, call, gradients);
  LUCID_CHECK(found.size() <= count, "the gradient rule of {} returned {} gradients for {} operands", name(),
              found.size(), count);
  // Released before gradients are passed on, so that a gradient without other references can be added to in place.
  gradients.clear();
  for (size_t i = 0; i < found.size(); ++i) {
    if (!needed[i] || !found[i]) continue;
    if (op_.gradient.has_flat_slope && pass.creates_graph())
      found[i] = make_flat(found[i], results_ ? Edge{Ref<GradNode>(this), 0} : edges()[i]);
    pass.add(edges()[i], std::move(found[i]));
  }
}

ViewNode::ViewNode(const Call& call, Edge edge, const Dims& view_sizes)
    : GradNode({std::move(edge)}, {{call.dtype(0), view_sizes, call.operand(0).device()}}),
      op_(call.op()),
      attributes_(call.attributes()),
      operand_(call.dtype(0), call.shape(0), call.operand(0).device()) {}

ViewNode::ViewNode(const ViewNode& original, NodeCloner& cloner)
    : GradNode(cloner.edges(original.edges()), original.outputs()),
      op_(original.op_),
      attributes_(original.attributes_),
      operand_(original.operand_.dtype(), original.operand_.shape(), original.operand_.device()) {}

Ref<GradNode> ViewNode::clone(NodeCloner& cloner) const { return Ref<GradNode>::adopt(new ViewNode(*this, cloner)); }

void ViewNode::run(BackwardPass& pass, Values gradients) {
  if (!pass.needs(edges()[0])) return;
  const DeviceScope device(operand_.device());
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
