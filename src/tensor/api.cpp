#include "tensor/api.h"

#include <cstring>

#include "base/error.h"
#include "base/number_trace.h"
#include "tensor/autograd_meta.h"
#include "tensor/compute.h"
#include "tensor/eager.h"
#include "tensor/engine.h"
#include "tensor/grad_mode.h"
#include "tensor/host_view.h"
#include "tensor/item.h"
#include "tensor/observer.h"

namespace lucid {

static_assert(kBool == Dtype::kBool && kUint8 == Dtype::kU8 && kInt8 == Dtype::kI8 && kInt16 == Dtype::kI16 &&
              kInt32 == Dtype::kI32 && kInt64 == Dtype::kI64 && kFloat16 == Dtype::kF16 && kBfloat16 == Dtype::kBF16 &&
              kFloat32 == Dtype::kF32 && kFloat64 == Dtype::kF64);

namespace {

void check_stored_as(const TensorImpl& tensor, Dtype dtype) {
  if (tensor.dtype() != dtype)
    throw TypeError("data: the elements of {} are not stored as {}", to_string(tensor.type()), name_of(dtype));
  if (tensor.device().is_gpu())
    throw TypeError("data: {} is in the memory of a gpu; use cpu() first", to_string(tensor.type()));
}

/// A tensor whose type, sizes or requires_grad the program reads.
const TensorImpl& used(const Tensor& tensor) {
  const TensorImpl& impl = unwrap(tensor);
  on_use(impl);
  return impl;
}

}  // namespace

std::vector<Tensor> wrap(const Values& values) {
  std::vector<Tensor> tensors;
  for (const Value& value : values) tensors.push_back(value ? wrap(value) : Tensor());
  return tensors;
}

TensorImpl& unwrap(const Tensor& tensor) {
  if (!tensor.defined()) throw ValueError("a default-constructed Tensor was used; it refers to no tensor");
  return *tensor.impl();
}

Operand operand_of(const Argument& argument) {
  switch (argument.kind()) {
    case Argument::Kind::kNone:
      return {};
    case Argument::Kind::kTensor:
      return Operand(argument.tensor());
    case Argument::Kind::kBool:
      return Operand(static_cast<int64_t>(argument.number()) != 0);
    case Argument::Kind::kNumber:
      return Operand(scalar_of(argument.number()));
    case Argument::Kind::kSize:
      return Operand(Scalar(argument.size()));
  }
  LUCID_CHECK(false, "unknown kind of argument");
  return {};
}

Dims dims_of(const Ints& list) {
  Dims dims;
  list.for_each([&](SymInt number) { dims.push_back(number); });
  return dims;
}

std::optional<Dims> dims_of(const OptionalInts& list) {
  return list.has_value() ? std::optional(dims_of(static_cast<const Ints&>(list))) : std::nullopt;
}

Tensor::Tensor(TensorImpl* impl) : impl_(impl) {
  if (impl_) impl_->retain();
}
Tensor::Tensor(const Tensor& other) : Tensor(other.impl_) {}
Tensor::~Tensor() {
  if (impl_) Ref<TensorImpl>::adopt(impl_);
}

Shape Tensor::shape() const {
  const Dims& sizes = used(*this).sizes();
  return {sizes.begin(), sizes.end()};
}
Shape Tensor::strides() const {
  const Dims& strides = used(*this).strides();
  return {strides.begin(), strides.end()};
}
int64_t Tensor::dim() const { return used(*this).sizes().rank(); }
SymInt Tensor::numel() const { return used(*this).numel(); }
SymInt Tensor::size(int64_t axis) const {
  const Dims& sizes = used(*this).sizes();
  if (sizes.empty()) throw IndexError("size: a 0-d tensor has no dimension {}", axis);
  return sizes[static_cast<size_t>(normalize_axis("size", axis, sizes.rank()))];
}
Dtype Tensor::dtype() const { return used(*this).dtype(); }
std::string Tensor::device() const { return lucid::to_string(used(*this).device()); }
bool Tensor::is_contiguous() const { return used(*this).is_contiguous(); }

bool Tensor::is_same(const Tensor& other) const {
  for (const Tensor* each : {this, &other})
    if (each->defined()) on_inspection(*each->impl_, "reads whether two tensors are the same");
  return impl_ == other.impl_;
}

void Tensor::read_item(void* value, Dtype dtype) const {
  const TensorImpl& tensor = unwrap(*this);
  const Scalar read = dtype == Dtype::kBool && tensor.numel() == 1 ? Scalar(truth(tensor)) : lucid::item(tensor);
  read.store(dtype, value);
}

void Tensor::read_all(void* values, Dtype dtype) const {
  const GradModeScope no_grad(false);
  const Value converted = eager().cast(Value(alias_of(unwrap(*this))), dtype);
  const TensorRef dense = lucid::contiguous(TensorRef(tensor_of(converted)));
  on_read(*dense, ValuesRead::kAll);
  if (dense->numel() > 0)
    std::memcpy(values, HostView(*dense).data(), static_cast<size_t>(dense->numel()) * size_of(dtype));
}

const void* Tensor::read_pointer(Dtype dtype) const {
  check_stored_as(unwrap(*this), dtype);
  on_escape(*impl_, "reads values of a tensor");
  return impl_->data();
}

void* Tensor::write_pointer(Dtype dtype) {
  check_stored_as(unwrap(*this), dtype);
  on_escape(*impl_, "writes values of a tensor");
  impl_->before_write();
  impl_->cell()->run_deferred();
  // The library cannot know when, or for how long, the caller writes through the pointer.
  impl_->cell()->packed_forms().stop_keeping();
  return impl_->data();
}

bool Tensor::requires_grad() const { return lucid::requires_grad(used(*this)); }
Tensor& Tensor::requires_grad_(bool requires_grad) {
  set_requires_grad(unwrap(*this), requires_grad);
  return *this;
}
bool Tensor::is_leaf() const {
  on_inspection(unwrap(*this), "reads is_leaf of a tensor");
  return lucid::is_leaf(*impl_);
}
Tensor Tensor::grad() const { return wrap(gradient(unwrap(*this))); }
void Tensor::set_grad(const Tensor& gradient) { set_gradient(unwrap(*this), ref_of(gradient)); }

void Tensor::backward(const Tensor& gradient, bool retain_graph, bool create_graph) const {
  const TensorRef outputs[] = {TensorRef(&unwrap(*this))};
  const TensorRef gradients[] = {ref_of(gradient)};
  lucid::backward(outputs, gradients, {.retain_graph = retain_graph, .create_graph = create_graph});
}

void Tensor::retain_grad() { lucid::retain_grad(unwrap(*this)); }
Tensor Tensor::detach() const { return wrap(lucid::detach(unwrap(*this))); }

Tensor from_data(const void* data, size_t count, const Shape& shape, Dtype dtype) {
  if (static_cast<uint64_t>(numel(Dims(shape.begin(), shape.end()))) != count)
    throw ValueError("from_vector: the shape {} does not have {} elements", to_string(Dims(shape.begin(), shape.end())),
                     count);
  return from_data(data, shape, dtype);
}

Tensor from_data(const void* data, const Shape& shape, Dtype dtype) {
  if (!data && std::ranges::find(shape, 0) == shape.end()) throw ValueError("from_data: the pointer is null");
  return wrap(tensor_from(data, dtype, Dims(shape.begin(), shape.end())));
}

}  // namespace lucid
