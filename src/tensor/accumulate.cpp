#include "tensor/accumulate.h"

#include "tensor/autograd_meta.h"
#include "tensor/compute.h"
#include "tensor/eager.h"
#include "tensor/grad_mode.h"
#include "tensor/observer.h"

namespace lucid {
namespace {

bool carries_graph(const Value& gradient) { return GradMode::enabled() && requires_grad(*tensor_of(gradient)); }

TensorRef take_ref(Value value) {
  TensorRef tensor(tensor_of(value));
  value = Value();
  return tensor;
}

/// The gradient in a tensor of its own: with a position in the graph if the pass creates one.
TensorRef own_gradient(Value gradient, DimsView strides) {
  TensorRef tensor = take_ref(std::move(gradient));
  const bool fits = strides.empty() || Dims(strides) == tensor->strides();
  if (fits && is_exclusive(tensor)) {
    if (!GradMode::enabled() && tensor->autograd()) return detach(*tensor);
    return tensor;
  }
  TensorRef copy = copy_of(*tensor, fits ? DimsView(tensor->strides()) : strides);
  if (carries_graph(Value(tensor))) set_gradient_node(*copy, gradient_edge(*tensor));
  return copy;
}

}  // namespace

Value add_gradients(Value a, Value b) {
  if (!carries_graph(a) && !carries_graph(b)) {
    TensorRef sum = take_ref(std::move(a));
    if (is_exclusive(sum)) {
      sum->before_write();
      add_into(*tensor_of(b), *sum);
      return sum;
    }
    a = Value(std::move(sum));
  }
  return eager().add(a, b);
}

void accumulate_gradient(GradSlot& slot, Value gradient, DimsView strides, bool create_graph) {
  if (EagerObserver* observer = eager_observer()) [[unlikely]]
    observer->gradient_read(nullptr, &slot);
  const BusyScope adding(slot.adding);
  // If another thread clears or replaces the gradient meanwhile, this adds to the old one or replaces the new one.
  const TensorRef before = slot.grad.load();
  if (!before) {
    slot.grad.store(own_gradient(std::move(gradient), strides));
  } else if (create_graph) {
    slot.grad.store(TensorRef(tensor_of(eager().add(Value(own_handle(before)), gradient))));
  } else {
    const TensorRef sum = alias_of(*before);
    sum->before_write();
    add_into(*tensor_of(gradient), *sum);
  }
}

void retain_gradient(GradSlot& slot, const Value& gradient) {
  on_escape(*tensor_of(gradient), "retains a gradient");
  const TensorRef before = slot.grad.load();
  slot.grad.store(before ? TensorRef(tensor_of(eager().add(Value(own_handle(before)), gradient)))
                         : own_gradient(gradient, {}));
}

}  // namespace lucid
