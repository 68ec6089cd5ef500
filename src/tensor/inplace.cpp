#include "tensor/inplace.h"

#include "base/error.h"
#include "base/memory_reserve.h"
#include "tensor/autograd_meta.h"
#include "tensor/composite.h"
#include "tensor/compute.h"
#include "tensor/eager.h"
#include "tensor/engine.h"
#include "tensor/grad_mode.h"
#include "tensor/op_node.h"
#include "tensor/region.h"

namespace lucid {
namespace {

/// The result of copy_: the old value gets a gradient of zeros, the source the whole gradient.
class CopyNode : public GradNode {
 public:
  CopyNode(Edge self, Edge source, TensorType type)
      : GradNode({std::move(self), std::move(source)}, {std::move(type)}) {}
  std::string_view name() const override { return "copy_"; }
  void run(BackwardPass& pass, Values gradients) override {
    if (pass.needs(edges()[0])) pass.add(edges()[0], pass.emitter().zeros_of(gradients.front()));
    pass.add(edges()[1], std::move(gradients.front()));
  }
  bool is_made_of_ops() const override { return true; }
  Ref<GradNode> clone(NodeCloner& cloner) const override {
    const std::vector<Edge> copies = cloner.edges(edges());
    return make_ref<CopyNode>(copies[0], copies[1], outputs()[0]);
  }
};

/// One in-place write: the handle that is written and its position in the graph.
class Write {
 public:
  /// Raises errors before anything changes. Messages use the in-place name of the op.
  Write(std::string_view op, TensorImpl& self, std::span<const Operand> sources, bool allow_overlap)
      : self_(self), root_(self.is_view() ? *self.root() : self) {
    const bool wants = requires_grad(self);
    bool any = wants;
    for (const Operand& source : sources) any |= requires_grad(source);
    recorded_ = any && GradMode::enabled() && is_float(self.dtype());
    if (recorded_) check_recorded(op, wants);
    overlaps_ = has_internal_overlap(self.sizes(), self.strides());
    if (overlaps_ && !allow_overlap)
      throw RuntimeError(
          "{}_: several elements of the written tensor {} share one memory location, because it was expanded; clone() "
          "it first",
          op, to_string(self.type()));
  }

  bool recorded() const { return recorded_; }

  /// The memory to write: self, or for expanded tensors each location once.
  TensorRef target() const {
    if (!overlaps_) return TensorRef(&self_);
    Geometry narrow = self_.geometry();
    for (size_t i = 0; i < narrow.sizes.size(); ++i)
      if (narrow.strides[i] == 0 && narrow.sizes[i] > 1) narrow.sizes[i] = 1;
    return alias_of(self_, narrow);
  }

  /// The position in the graph of the current value. It is always read from the root, never through the view's own
  /// node.
  Edge self_edge() {
    if (requires_grad(root_)) root_edge_ = gradient_edge(root_);
    if (!self_.is_view()) return root_edge_;
    region_ = region_of(root_, *target());
    return root_edge_ ? Edge{make_ref<GatherNode>(root_edge_, root_.type(), region_), 0} : Edge();
  }

  /// Moves the root to its new position; `written` is the position of the new value. Call after self_edge().
  void finish(Edge written) {
    if (!self_.is_view()) return rebase(root_, std::move(written));
    if (!written && !root_edge_) return;
    rebase(root_, {make_ref<WriteRegionNode>(root_edge_, std::move(written), root_.type(), region_), 0});
  }

 private:
  void check_recorded(std::string_view op, bool wants) const {
    if (self_.is_view()) {
      if (self_.view_kind() != ViewKind::kRecorded)
        throw RuntimeError(
            "{}_: a recorded in-place operation writes to a view created under no_grad; create the view with gradients "
            "enabled, or write under no_grad",
            op);
      if (wants && is_leaf(root_))
        throw RuntimeError(
            "{}_: a view of a leaf tensor that requires grad is used in an in-place operation; do it under no_grad or "
            "on a clone",
            op);
      if (self_.cell() != root_.cell())
        throw RuntimeError("{}_: the tensor that this is a view of was bound to other memory through .data", op);
    }
    if (wants && is_leaf(self_))
      throw RuntimeError(
          "{}_: a leaf tensor that requires grad is used in an in-place operation; do it under no_grad or on a clone",
          op);
  }

  TensorImpl& self_;
  TensorImpl& root_;
  bool recorded_ = false;
  bool overlaps_ = false;
  Edge root_edge_;
  Region region_;
};

/// PyTorch's rule for in-place results: a float is not stored in an integer tensor, nor a number in a bool tensor.
bool can_store(Dtype from, Dtype to) {
  if (is_float(from)) return is_float(to);
  return !(is_integer(from) && is_bool(to));
}

/// Whether the result has self's type without inferring it: every other operand has that type too, or is a number of no
/// higher category.
bool surely_fits(const Call& call, const TensorImpl& self) {
  if (call.op().promote != Promote::kSame) return false;
  for (const Operand& operand : call.operands()) {
    const bool fits = operand.is_scalar()
                          ? is_float(self.dtype())
                          : operand.present() && operand.dtype() == self.dtype() && operand.shape() == self.sizes();
    if (!fits) return false;
  }
  return true;
}

void check_result(const Call& call, const TensorImpl& self) {
  if (surely_fits(call, self)) return;
  const std::vector<TensorType> types = infer_types(call);
  const std::string name = call.name() + "_";
  if (types.size() != 1) throw RuntimeError("{}: an op with {} results has no in-place form", name, types.size());
  if (types[0].shape != self.sizes())
    throw RuntimeError("{}: the result has shape {}, which does not fit the written tensor {}", name,
                       to_string(DimsView(types[0].shape)), to_string(self.type()));
  if (!can_store(types[0].dtype, self.dtype()))
    throw RuntimeError("{}: a result of dtype {} cannot be stored in the written tensor {}", name,
                       name_of(types[0].dtype), to_string(self.type()));
}

Edge edge_of(const Operand& operand) { return requires_grad(operand) ? gradient_edge(handle_of(operand)) : Edge(); }

/// Applies the op to an alias of self at the given position in the graph, then copies the result. For ops that are not
/// recorded as a single node.
Edge write_by_parts(const Call& call, TensorImpl& self, Edge self_edge) {
  const TensorRef current = alias_of(self);
  if (self_edge) set_gradient_node(*current, std::move(self_edge));
  std::vector<Operand> operands(call.operands().begin(), call.operands().end());
  operands[0] = Operand(current.get());
  const Value result = eager().emit_one(call.op(), operands, call.attributes());
  Edge edge = edge_of(Operand(result));
  // The op may have given up the caller's lock: not `self`, to which another thread may have given another shape.
  current->before_write();
  copy_into(*tensor_of(result), *current);
  return edge;
}

Edge write_recorded(const Call& call, TensorImpl& self, Edge self_edge) {
  std::vector<Edge> edges(call.count());
  edges[0] = std::move(self_edge);
  for (size_t i = 1; i < call.count(); ++i) edges[i] = edge_of(call.operand(i));
  const Ref<OpNode> node = make_ref<OpNode>(call, std::move(edges));
  self.before_write();
  compute_into(call, self);
  const Value result{TensorRef(&self)};
  node->set_results({&result, 1});
  return {node, 0};
}

}  // namespace

void view_in_place(const Op& op, TensorImpl& self, const Attributes& attributes) {
  const Operand operands[] = {Operand(&self)};
  const Call call(op, operands, attributes);
  const Write check(op.name(), self, {}, true);
  const std::optional<Geometry> geometry = op.view(call, self.geometry());
  if (!geometry)
    throw RuntimeError("{}_: {} with strides {} cannot be viewed this way without a copy", op.name(),
                       to_string(self.type()), to_string(DimsView(self.strides())));
  on_change(self, "changes the shape of a tensor from outside");
  // Recorded even under no_grad: the tensor's position in the graph gets the new shape, with the same values.
  Edge node = gradient_node(self);
  if (node) node = {make_ref<ViewNode>(call, std::move(node), geometry->sizes), 0};
  self.rebind(self.dtype(), geometry->sizes, geometry->strides, geometry->offset, self.cell());
  if (node && self.is_view())
    set_gradient_node(self, std::move(node));
  else if (node)
    rebase(self, std::move(node));
  else if (AutogradMeta* meta = self.autograd())
    meta->accumulator.reset();
}

void in_place(const Op& op, TensorImpl& self, std::span<const Operand> others, const Attributes& attributes) {
  if (op.view) return view_in_place(op, self, attributes);
  SmallVector<Operand, 4> operands;
  operands.push_back(Operand(&self));
  for (const Operand& other : others) operands.push_back(other);
  const Call call(op, operands, attributes);
  Write write(op.name(), self, others, false);
  check_result(call, self);
  const bool one_plan = !op.host && !(op.decompose && must_emit_parts(call));
  if (!write.recorded()) {
    if (one_plan) {
      self.before_write();
      return compute_into(call, self);
    }
    const GradModeScope no_grad(false);
    write_by_parts(call, self, {});
    return;
  }
  Edge self_edge = write.self_edge();
  const bool one_node = one_plan && !(op.decompose && !op.gradient);
  // Once values are written, their position in the graph must be updated too.
  const CommitScope commit;
  write.finish(one_node ? write_recorded(call, self, std::move(self_edge))
                        : write_by_parts(call, self, std::move(self_edge)));
}

void copy_(TensorImpl& self, const Operand& source) {
  if (!source.present()) throw TypeError("copy_: the source is undefined");
  if (source.is_scalar()) return fill_(self, source);
  const bool onto_itself = source.value() == &self;
  Write write("copy", self, {&source, 1}, onto_itself);
  if (onto_itself && has_internal_overlap(self.sizes(), self.strides())) return;
  const TensorImpl& from = *tensor_of(source);
  check_broadcasts(from, self);
  Edge node;
  if (write.recorded()) node = {make_ref<CopyNode>(write.self_edge(), edge_of(source), self.type()), 0};
  self.before_write();
  copy_into(from, self);
  if (write.recorded()) write.finish(std::move(node));
}

void fill_(TensorImpl& self, const Operand& value) {
  if (!value.present()) throw TypeError("fill_: the value is undefined");
  if (value.rank() != 0)
    throw RuntimeError("fill_: the value must be a number or a 0-d tensor, got {}", to_string(value.type()));
  Write write("fill", self, {&value, 1}, true);
  const TensorRef target = write.target();
  Edge node;
  if (write.recorded()) {
    // An expanded root is filled whole; through a view, each location is filled once.
    const TensorType type = self.is_view() ? target->type() : self.type();
    node = {make_ref<CopyNode>(write.self_edge(), edge_of(value), type), 0};
  }
  target->before_write();
  if (value.is_scalar())
    fill_into(*target, value.scalar());
  else
    copy_into(*tensor_of(value), *target);
  if (write.recorded()) write.finish(std::move(node));
}

void zero_(TensorImpl& self) { fill_(self, Operand(Scalar(0))); }

}  // namespace lucid
