#pragma once

#include <array>
#include <functional>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "ir/emitter.h"
#include "ir/host_call.h"
#include "ir/op.h"
#include "loop/builder.h"
#include "ops/table.h"

/// What keeps the entries of the op table short.
namespace lucid {

/// Operand i for use in a decomposition: its value, or the number that stands in its place.
inline Operand argument(const Call& call, std::span<const Value> inputs, size_t i) {
  return i < inputs.size() && inputs[i] ? Operand(inputs[i]) : call.operand(i);
}

/// The type of an optional operand that an attribute asks for. Throws TypeError if it is absent.
TensorType type_asked_for(const Call& call, size_t i);

/// A shape rule: the type of operand 0.
std::vector<TensorType> same_as_input(const Call& call);

/// The axes of attribute `name` of a call on a tensor of this rank, sorted; all of them when it is None or empty.
Dims reduced_axes(const Call& call, int64_t rank, std::string_view name = "dim");
/// A shape with `axes` (normalised, sorted) removed, or kept with size 1.
Dims reduced_shape(DimsView shape, DimsView axes, bool keepdim);

/// How many elements of operand 0 make one of the result.
int64_t reduced_count(const Call& call, std::string_view name = "dim");
/// A result of a reduction of operand 0, or its gradient, with the dimensions that were removed put back with size 1.
Value restored(Emitter& e, const Call& call, const Value& reduced, std::string_view name = "dim");

// Pointwise lowerings from functions of one, two or three loop values.

template <typename F>
PointwiseLowering lower_unary(F f) {
  return {.body = [f](loop::Builder&, std::span<const loop::Value> in, const Call&) { return f(in[0]); }};
}
template <typename F>
PointwiseLowering lower_binary(F f) {
  return {.body = [f](loop::Builder&, std::span<const loop::Value> in, const Call&) { return f(in[0], in[1]); }};
}
template <typename F>
PointwiseLowering lower_ternary(F f) {
  return {.body = [f](loop::Builder&, std::span<const loop::Value> in, const Call&) { return f(in[0], in[1], in[2]); }};
}

// Gradient rules.

using GradientRule = std::function<Values(Emitter& e, const GradientCall& call, std::span<const Value> grads)>;

/// Of an op with one operand, reading its value: f(e, g, x).
template <typename F>
Gradient gradient_of_input(F f) {
  return {.rule = [f](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
            return {f(e, g[0], call.in(0))};
          },
          .saved_inputs = {0}};
}
/// Of an op with one operand, reading its result: f(e, g, y).
template <typename F>
Gradient gradient_of_output(F f) {
  return {.rule = [f](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
            return {f(e, g[0], call.out())};
          },
          .saves_outputs = true};
}
/// Of an op whose result does not change with small changes of its operands.
Gradient zero_gradient();

/// The density of the standard normal distribution at x.
Value normal_density(Emitter& e, const Value& x);

// Products for gradient rules, without divisions: right where elements are 0, and so are their derivatives.

/// The product of the elements before each one along an axis.
Value product_before(Emitter& e, const Value& x, int64_t axis);
/// The product of all elements but each one along an axis.
Value product_of_others(Emitter& e, const Value& x, int64_t axis);

// Samples that every pointwise op should have.

/// Vectors with a tail, a matrix, transposed strides, repeated elements, an empty and a 0-d tensor.
std::vector<Sample> unary_samples(Fill fill = Fill::kNormal);
/// The same for two operands, with broadcasting and numbers on either side.
std::vector<Sample> binary_samples(Fill first = Fill::kNormal, Fill second = Fill::kNormal);

// Ways to write down samples.

inline SampleTensor filled(Dims shape, Fill fill) { return {.shape = std::move(shape), .fill = fill}; }
/// `samples` with the same attributes set in each.
std::vector<Sample> with(std::vector<Sample> samples, std::vector<std::pair<std::string, Attribute>> attributes);
std::vector<Sample> operator+(std::vector<Sample> a, std::vector<Sample> b);

}  // namespace lucid
