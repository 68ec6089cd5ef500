#include "tensor/refused_values.h"

#include <fmt/format.h>

#include "base/size_trace.h"
#include "base/throw_error.h"
#include "tensor/host_view.h"
#include "tensor/tensor_impl.h"

namespace lucid {
namespace {

/// The message of the last error. A class of its own would hide the error's class from users who compare it.
thread_local std::string refused_message;

/// The first element for which a predicate holds, in row-major order.
struct Found {
  Scalar value;
  Dims position;
};

template <typename F>
std::optional<Found> find_element(const TensorImpl& tensor, F predicate) {
  if (tensor.numel() == 0) return std::nullopt;
  const HostView view(tensor);
  const Dims& sizes = tensor.sizes();
  const Dims& strides = tensor.strides();
  Dims position(sizes.size());
  int64_t at = 0;
  while (true) {
    const int64_t byte = at * static_cast<int64_t>(size_of(tensor.dtype()));
    const Scalar value = Scalar::load(tensor.dtype(), static_cast<const char*>(view.data()) + byte);
    if (predicate(value)) return Found{value, position};
    size_t d = sizes.size();
    while (d > 0) {
      --d;
      at += strides[d];
      if (++position[d] < sizes[d]) break;
      at -= strides[d] * sizes[d];
      position[d] = 0;
      if (d == 0) return std::nullopt;
    }
    if (sizes.empty()) return std::nullopt;
  }
}

/// " at position [2,0]"; empty for a tensor without dimensions.
std::string place_of(const Dims& position) {
  return position.empty() ? "" : " at position " + to_string(DimsView(position));
}

void check(const Call& call, const ValueBounds& bounds) {
  const Operand& operand = call.operand(bounds.operand);
  if (!operand.is_value()) return;
  const TensorImpl& tensor = *tensor_of(operand);
  const std::string& noun = bounds.noun;
  if (is_float(tensor.dtype())) {
    const auto low = static_cast<double>(bounds.lowest);
    const auto high = static_cast<double>(bounds.end);
    const auto found = find_element(
        tensor, [&](const Scalar& value) { return !(value.to_double() >= low && value.to_double() <= high); });
    if (!found) return;
    throw_refused(ErrorClass::kValue,
                  fmt::format("{}: {} {}{} is out of bounds (expected {} <= {} <= {})", call.name(), noun,
                              found->value.to_double(), place_of(found->position), low, noun, high));
  }
  const auto found = find_element(tensor, [&](const Scalar& value) {
    const int64_t number = value.to_int();
    return (number < bounds.lowest || number >= bounds.end) && number != bounds.ignored;
  });
  if (!found) return;
  throw_refused(ErrorClass::kIndex, fmt::format("{}: {} {}{} is out of bounds for {} (expected {} <= {} < {})",
                                                call.name(), noun, found->value.to_int(), place_of(found->position),
                                                bounds.origin, bounds.lowest, noun, bounds.end));
}

}  // namespace

void throw_refused(ErrorClass error_class, const std::string& message) {
  refused_message = message;
  throw_error(error_class, message);
}

bool is_refused(const Error& error) { return refused_message == error.what(); }

void throw_if_out_of_bounds(const Call& call) {
  const SizeTrace::Pause pause;
  if (!call.op().bounds) return;
  for (const ValueBounds& bounds : call.op().bounds(call)) check(call, bounds);
}

}  // namespace lucid
