#include "ops/rules.h"

#include <algorithm>
#include <numbers>
#include <numeric>

namespace lucid {

TensorType requested_type(const Call& call, size_t i) {
  if (!call.has(i))
    throw TypeError("{}: the gradient of operand {} is requested, but the operand is absent", call.name(), i);
  return call.operand(i).type();
}

std::vector<TensorType> same_as_input(const Call& call) { return {call.operand(0).type()}; }

Dims natural_order(int64_t rank) {
  Dims order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

Dims reduced_axes(const Call& call, int64_t rank) {
  const Dims axes = call.axes("dim", rank);
  return rank > 0 && !axes.empty() ? axes : natural_order(rank);
}

Dims reduced_shape(DimsView shape, DimsView axes, bool keepdim) {
  Dims result;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (std::ranges::find(axes, SymInt(i)) == axes.end())
      result.push_back(shape[i]);
    else if (keepdim)
      result.push_back(1);
  }
  return result;
}

SymInt reduced_count(const Call& call) {
  SymInt count = 1;
  for (const int64_t axis : reduced_axes(call, call.rank(0))) count *= call.shape(0)[static_cast<size_t>(axis)];
  return count;
}

Value restored(Emitter& e, const Call& call, const Value& reduced) {
  // The axes are in ascending order, so each dimension is inserted at its original position.
  Value result = reduced;
  if (reduced.rank() != call.rank(0))
    for (const int64_t axis : reduced_axes(call, call.rank(0))) result = e.unsqueeze(result, axis);
  return result;
}

Gradient zero_gradient() {
  return {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value>) {
    Values zeros(call.count());
    for (size_t i = 0; i < zeros.size(); ++i)
      if (call.needs(i)) zeros[i] = e.full(call.shape(i), 0, call.dtype(i));
    return zeros;
  }};
}

Value normal_density(Emitter& e, const Value& x) {
  constexpr double kAtZero = std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  return e.mul(e.exp(e.mul(e.mul(x, x), -0.5)), kAtZero);
}

std::vector<Sample> unary_samples(Fill fill) {
  return {
      {{filled({37}, fill)}},
      {{filled({3, 4}, fill)}},
      {{strided({4, 3}, {1, 4}, fill)}},
      {{strided({3, 5}, {0, 1}, fill)}},
      {{filled({2, 0, 3}, fill)}},
      {{filled({}, fill)}},
  };
}

std::vector<Sample> binary_samples(Fill first, Fill second) {
  const auto number_of = [](Fill fill) { return number(fill == Fill::kNormal ? -2 : 2); };
  return {
      {{filled({37}, first), filled({37}, second)}},
      {{filled({3, 1}, first), filled({1, 4}, second)}},
      {{filled({2, 3, 4}, first), filled({4}, second)}},
      {{strided({4, 3}, {1, 4}, first), filled({4, 3}, second)}},
      {{filled({5}, first), strided({3, 5}, {0, 1}, second)}},
      {{filled({0, 3}, first), filled({1, 3}, second)}},
      {{filled({}, first), filled({}, second)}},
      {{filled({2, 3}, first), filled({}, second)}},
      {{filled({19}, first), number_of(second)}},
      {{number_of(first), filled({19}, second)}},
  };
}

std::vector<Sample> with(std::vector<Sample> samples, std::vector<std::pair<std::string, Attribute>> attributes) {
  for (Sample& sample : samples)
    sample.attributes.insert(sample.attributes.end(), attributes.begin(), attributes.end());
  return samples;
}

std::vector<Sample> operator+(std::vector<Sample> a, std::vector<Sample> b) {
  a.insert(a.end(), std::make_move_iterator(b.begin()), std::make_move_iterator(b.end()));
  return a;
}

}  // namespace lucid
