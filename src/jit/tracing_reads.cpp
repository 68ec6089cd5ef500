// TracingContext: reads of the values and properties of tensors by the recorded function.

#include <algorithm>

#include "base/error.h"
#include "ir/evaluate.h"
#include "jit/tracing_context.h"
#include "tensor/host_view.h"

namespace lucid::jit {
namespace {

/// How often a recorded call may read values of tensors, and how many at a time.
constexpr size_t kMaxGuards = 256;
constexpr int64_t kMaxGuarded = 64;

/// Appends elements of `size` bytes, from `element` on, in row-major order.
void append_elements(const Geometry& geometry, size_t size, size_t axis, const char* element, std::string& bytes) {
  if (axis == geometry.sizes.size()) {
    bytes.append(element, size);
    return;
  }
  const int64_t step = geometry.strides[axis] * static_cast<int64_t>(size);
  for (int64_t i = 0; i < geometry.sizes[axis]; ++i)
    append_elements(geometry, size, axis + 1, element + i * step, bytes);
}

}  // namespace

void TracingContext::values_read(const TensorImpl& tensor, ValuesRead what) {
  record([&] {
    if (tensor.numel() == 0) return;
    static const Op& copy = op_table().at("clone");
    static const Op& differs = op_table().at("ne");
    if (trace_.guards.size() == kMaxGuards) return give_up(fmt::format("reads values more than {} times", kMaxGuards));
    const Operand operands[] = {Operand(const_cast<TensorImpl*>(&tensor)), Operand(Scalar(0))};
    if (what == ValuesRead::kTruth) {
      const bool is_true = element_of(tensor).to_double() != 0;
      return add_guard(tensor, differs, operands, Dtype::kBool, std::string(1, static_cast<char>(is_true)));
    }
    if (is_float(tensor.dtype()))
      return give_up(tensor.numel() == 1 ? "reads a value of a tensor" : "reads values of a tensor");
    if (tensor.numel() > kMaxGuarded) return give_up(fmt::format("reads more than {} values of a tensor", kMaxGuarded));
    std::string expected;
    const Geometry geometry = tensor.geometry();
    const size_t size = size_of(tensor.dtype());
    append_elements(geometry, size, 0, static_cast<const char*>(HostView(tensor).data()), expected);
    add_guard(tensor, copy, {operands, 1}, tensor.dtype(), std::move(expected));
  });
}

void TracingContext::add_guard(const TensorImpl& tensor, const Op& op, std::span<const Operand> operands, Dtype dtype,
                               std::string expected) {
  const Attributes attributes = op.schema.default_attributes();
  const Call call(op, operands, attributes);
  Event& event = add_event(Event::Kind::kComputed, &call);
  const auto cell = static_cast<int32_t>(trace_.cells.size());
  trace_.cells.push_back({.dtype = dtype, .bytes = expected.size(), .device = tensor.device(), .is_defined = true});
  event.results.push_back({cell, 0, dtype, {tensor.sizes(), contiguous_strides(tensor.sizes()), 0}});
  trace_.guards.push_back({cell, std::move(expected)});
}

void TracingContext::escaped(const TensorImpl&, std::string_view how) {
  record([&] { give_up(how); });
}

void TracingContext::acted_outside(std::string_view how) {
  record([&] { give_up(how); });
}

void TracingContext::changed(const TensorImpl& tensor, std::string_view how) {
  record([&] {
    if (!is_own(tensor)) return give_up(how);
    own_leaves_.emplace_back(const_cast<TensorImpl*>(&tensor));
  });
}

void TracingContext::inspected(const TensorImpl& tensor, std::string_view how) {
  record([&] {
    if (!is_own(tensor)) give_up(how);
  });
}

void TracingContext::used(const TensorImpl& tensor) {
  record([&] {
    // A gradient is found by its leaf, and is of the same type.
    if (std::ranges::any_of(gradient_uses_, [&](const auto& use) { return use.initial.get() == &tensor; })) return;
    add_handle(tensor);
    if (known_handles_.contains(&tensor)) used_.insert(&tensor);
  });
}

void TracingContext::hashed(const TensorImpl& tensor) {
  record([&] {
    if (!is_own(tensor)) hashed_.emplace_back(const_cast<TensorImpl*>(&tensor));
  });
}

}  // namespace lucid::jit
