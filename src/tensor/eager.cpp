#include "tensor/eager.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "base/shape.h"
#include "base/warning.h"
#include "ir/decompose.h"
#include "tensor/autograd_meta.h"
#include "tensor/composite.h"
#include "tensor/compute.h"
#include "tensor/deferred_ops.h"
#include "tensor/execute.h"
#include "tensor/grad_mode.h"
#include "tensor/host.h"
#include "tensor/op_node.h"
#include "tensor/transfer.h"

namespace lucid {
namespace {

bool any_requires_grad(std::span<const Operand> operands) {
  for (const Operand& operand : operands)
    if (requires_grad(operand)) return true;
  return false;
}

/// Whether the op returns its operand, because there is nothing to copy.
bool is_identity(const Call& call) {
  const Copies copies = call.op().algebra.copies;
  if (copies == Copies::kNever || copies == Copies::kAlways || !call.operand(0).is_value()) return false;
  if (copies == Copies::kUnlessOfDtype) return call.dtype_of("dtype") == call.dtype(0);
  return tensor_of(call.operand(0))->is_contiguous();
}

bool has_stray_number(const Call& call) {
  for (size_t i = 0; i < call.count(); ++i)
    if (call.operand(i).is_scalar() && !takes_number(call.op(), i)) return true;
  return false;
}

/// Whether this thread emits a call whose numbers were replaced by tensors.
thread_local bool has_numbers_as_tensors = false;

class NumbersAsTensors {
 public:
  NumbersAsTensors() : before_(std::exchange(has_numbers_as_tensors, true)) {}
  NumbersAsTensors(const NumbersAsTensors&) = delete;
  NumbersAsTensors& operator=(const NumbersAsTensors&) = delete;
  ~NumbersAsTensors() { has_numbers_as_tensors = before_; }

 private:
  const bool before_;
};

void warn_of_broadcast(const Call& call) {
  if (!call.operand(0).is_value() || !call.operand(1).is_value() || call.shape(0) == call.shape(1)) [[likely]]
    return;
  // Numbers, which are now tensors, broadcast on purpose.
  if (has_numbers_as_tensors) return;
  const Dims shape = broadcast(call.name(), call.shape(0), call.shape(1));
  const Schema& schema = call.op().schema;
  warn(
      fmt::format("{}: {} {} and {} {} have different shapes and are broadcast to {}, which is likely a mistake; give "
                  "them the same shape",
                  call.name(), schema.parameters[0].name, to_string(call.operand(0).type()), schema.parameters[1].name,
                  to_string(call.operand(1).type()), to_string(shape)));
}

}  // namespace

EagerEmitter& eager() {
  static EagerEmitter& emitter = *new EagerEmitter;  // outlives threads that still run at exit
  return emitter;
}

Values compute(const Call& call) {
  if (DeferredOps::is_deferring()) [[unlikely]] {
    if (!eager_observer() && !call.op().host) return DeferredOps::get().compute(call);
    DeferredOps::get().run();
  }
  Values results = call.op().host ? compute_on_host(call) : execute(call);
  if (EagerObserver* observer = eager_observer()) [[unlikely]]
    observer->computed(call, results);
  return results;
}

void compute_into(const Call& call, std::span<TensorImpl* const> destinations) {
  EagerObserver* const observer = eager_observer();
  if (DeferredOps::is_deferring()) [[unlikely]] {
    if (!observer) return DeferredOps::get().compute_into(call, destinations);
    DeferredOps::get().run();
  }
  if (observer) [[unlikely]]
    observer->writes(call, destinations);
  execute_into(call, destinations);
  if (observer) [[unlikely]]
    observer->written(call, destinations);
}

Values EagerEmitter::emit(const Op& op, std::span<const Operand> operands, const Attributes& attributes) {
  const Call call(op, operands, attributes);
  if (op.warns_of_broadcast) [[unlikely]]
    warn_of_broadcast(call);
  if (is_identity(call)) [[unlikely]]
    return {value_of(operands[0])};
  if (op.view && operands[0].is_value()) return {emit_view(call)};
  if ((op.decompose || op.host || op.view) && has_stray_number(call)) [[unlikely]]
    return emit_with_tensors(call);
  if (op.decompose && must_emit_parts(call)) return decompose(call);
  if (!GradMode::enabled() || !any_requires_grad(operands)) [[likely]]
    return compute(call);
  if (op.ignores_values) return compute(call);
  if (op.decompose && !op.gradient) return decompose(call);
  return record(call);
}

Values EagerEmitter::emit_with_tensors(const Call& call) {
  Values held;
  std::vector<Operand> operands(call.operands().begin(), call.operands().end());
  const Device place = device_of(call);
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i].is_scalar() || takes_number(call.op(), i)) continue;
    const Dtype dtype = operands[i].dtype();
    const DeviceScope device(place);
    held.push_back(full(Dims{}, operands[i], is_float(dtype) ? default_float() : dtype));
    operands[i] = Operand(held.back());
  }
  const NumbersAsTensors scope;
  return emit(call.op(), operands, call.attributes());
}

Value EagerEmitter::emit_view(const Call& call) {
  TensorImpl& operand = handle_of(call.operand(0));
  std::optional<Geometry> geometry = call.op().view(call, operand.geometry());
  if (!geometry) {
    const Value copy = Emitter::contiguous(call.operand(0));
    const Operand operands[] = {copy};
    Value view = emit_view(Call(call.op(), operands, call.attributes()));
    tensor_of(view)->become_root();
    return view;
  }
  TensorRef view = alias_of(operand, *geometry);
  ViewKind kind = ViewKind::kRecorded;
  if (!GradMode::enabled())
    kind = ViewKind::kNoGrad;
  else if (operand.is_view() && operand.view_kind() != ViewKind::kRecorded)
    kind = ViewKind::kChildOfNoGrad;
  view->set_view_of(operand.is_view() ? operand.root() : TensorRef(&operand), kind);
  if (kind != ViewKind::kNoGrad && requires_grad(operand)) {
    Edge edge = kind == ViewKind::kRecorded ? gradient_edge(operand) : gradient_node(operand);
    set_gradient_node(*view, {make_ref<ViewNode>(call, std::move(edge), view->sizes()), 0});
  }
  if (EagerObserver* observer = eager_observer()) [[unlikely]]
    observer->viewed(call, *view);
  return view;
}

Values EagerEmitter::record(const Call& call) {
  std::vector<Edge> edges(call.count());
  for (size_t i = 0; i < call.count(); ++i)
    if (requires_grad(call.operand(i))) edges[i] = gradient_edge(handle_of(call.operand(i)));
  const Ref<OpNode> node = make_ref<OpNode>(call, std::move(edges));
  Values results = compute(call);
  node->set_results(results);
  for (size_t i = 0; i < results.size(); ++i)
    if (is_float(results[i].dtype())) set_gradient_node(*tensor_of(results[i]), {node, static_cast<uint32_t>(i)});
  return results;
}

TensorRef copy_of(const TensorImpl& source, DimsView strides) {
  TensorRef copy = make_tensor(source.dtype(), source.sizes(), Dims(strides), source.device());
  copy_into(source, *copy);
  return copy;
}

void check_broadcasts(const TensorImpl& source, const TensorImpl& destination) {
  const Dims &from = source.sizes(), &to = destination.sizes();
  bool fits = from.size() <= to.size();
  for (size_t i = 0; fits && i < from.size(); ++i) fits = from[i] == to[to.size() - from.size() + i] || from[i] == 1;
  if (!fits)
    throw RuntimeError("copy_: the source {} does not broadcast to the written tensor {}", to_string(source.type()),
                       to_string(destination.type()));
}

void copy_into(const TensorImpl& source, TensorImpl& destination) {
  if (source.device() != destination.device()) [[unlikely]] {
    // The transfer gives up the caller's lock. Meanwhile other threads may take snapshots.
    const TensorRef own = alias_of(destination);
    const TensorRef moved = to_device(TensorRef(const_cast<TensorImpl*>(&source)), own->device());
    own->before_write();
    return copy_into(*moved, *own);
  }
  static const Op& to = op_table().at("to");
  const Attributes attributes = {destination.dtype()};
  if (source.sizes() == destination.sizes()) {
    const Operand operands[] = {Operand(&source)};
    return compute_into(Call(to, operands, attributes), destination);
  }
  check_broadcasts(source, destination);
  const Dims strides = broadcast_strides(source.sizes(), source.strides(), destination.sizes());
  const TensorRef stretched = alias_of(source, {destination.sizes(), strides, source.offset()});
  const Operand operands[] = {Operand(stretched.get())};
  compute_into(Call(to, operands, attributes), destination);
}

void add_into(const TensorImpl& source, TensorImpl& destination) {
  static const Op& add = op_table().at("add");
  const Operand operands[] = {Operand(&destination), Operand(&source)};
  compute_into(Call(add, operands, {}), destination);
}

void fill_into(TensorImpl& destination, const Scalar& value) {
  static const Op& full = op_table().at("full");
  const Operand operands[] = {Operand(value)};
  const DeviceScope device(destination.device());
  const Attributes attributes = {destination.sizes(), destination.dtype()};
  compute_into(Call(full, operands, attributes), destination);
}

Value view_of(TensorImpl& tensor, const Dims& shape) {
  const Dims sizes = infer_shape("view", shape, tensor.numel());
  if (!view_strides(tensor.sizes(), tensor.strides(), sizes))
    throw RuntimeError("view: {} with strides {} cannot be viewed as {} without a copy; use reshape()",
                       to_string(tensor.type()), to_string(DimsView(tensor.strides())), to_string(DimsView(sizes)));
  return eager().reshape(Value(TensorRef(&tensor)), sizes);
}

TensorRef contiguous(const TensorRef& tensor) {
  return tensor->is_contiguous() ? tensor : TensorRef(tensor_of(eager().contiguous(Value(tensor))));
}

}  // namespace lucid
