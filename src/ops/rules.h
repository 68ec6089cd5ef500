#pragma once

#include <array>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "ir/emitter.h"
#include "ir/host_call.h"
#include "ir/op.h"
#include "loop/builder.h"
#include "ops/table.h"

/// Shared building blocks for entries of the op table.
namespace lucid {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Operand i for use in a decomposition: its value, or the number given instead of a tensor.
inline Operand argument(const Call& call, std::span<const Value> inputs, size_t i) {
  return i < inputs.size() && inputs[i] ? Operand(inputs[i]) : call.operand(i);
}

/// The type of operand i, for errors: f32[3,4].
inline std::string type_of(const Call& call, size_t i) { return to_string(call.operand(i).type()); }

/// The type of optional operand i, whose gradient an attribute requests. Throws TypeError if the operand is absent.
TensorType requested_type(const Call& call, size_t i);

/// A shape rule: the type of operand 0.
std::vector<TensorType> same_as_input(const Call& call);

/// 0, 1, ..., rank - 1: the dimensions in order.
Dims natural_order(int64_t rank);

/// The axes `dim` of a tensor of this rank, ascending; all of them if it is None or empty.
Dims reduced_axes(const Call& call, int64_t rank);
/// `shape` with `axes` (ascending) removed, or kept with size 1 if `keepdim`.
Dims reduced_shape(DimsView shape, DimsView axes, bool keepdim);

/// The number of elements of operand 0 that are reduced to one element of the result.
SymInt reduced_count(const Call& call);
/// `reduced`, a result of a reduction of operand 0 or its gradient, with the removed dimensions reinserted with size 1.
Value restored(Emitter& e, const Call& call, const Value& reduced);

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

/// The gradient of a unary op whose rule reads the operand: f(e, g, x).
template <typename F>
Gradient gradient_of_input(F f) {
  return {.rule = [f](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
            return {f(e, g[0], call.in(0))};
          },
          .saved_inputs = {0}};
}
/// The gradient of a unary op whose rule reads the result: f(e, g, y).
template <typename F>
Gradient gradient_of_output(F f) {
  return {.rule = [f](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
            return {f(e, g[0], call.out())};
          },
          .saves_outputs = true};
}
/// The gradient of an op whose result is locally constant: zeros.
Gradient zero_gradient();

/// The density of the standard normal distribution at x.
Value normal_density(Emitter& e, const Value& x);

// Products for gradient rules. They use no division, so they and their derivatives are correct where elements are 0.

/// For each element, the product of the elements before it along `axis`.
Value product_before(Emitter& e, const Value& x, int64_t axis);
/// For each element, the product of all other elements along `axis`.
Value product_of_others(Emitter& e, const Value& x, int64_t axis);

// Samples that every pointwise op should have.

/// Vectors with a tail, a matrix, transposed strides, repeated elements, an empty and a 0-d tensor.
std::vector<Sample> unary_samples(Fill fill = Fill::kNormal);
/// The same for two operands, with broadcasting and numbers on either side.
std::vector<Sample> binary_samples(Fill first = Fill::kNormal, Fill second = Fill::kNormal);

// Helpers for writing samples.

inline SampleTensor filled(Dims shape, Fill fill) { return {.shape = std::move(shape), .fill = fill}; }
/// `samples` with `attributes` added to each.
std::vector<Sample> with(std::vector<Sample> samples, std::vector<std::pair<std::string, Attribute>> attributes);
std::vector<Sample> operator+(std::vector<Sample> a, std::vector<Sample> b);

}  // namespace lucid
