#pragma once

#include "lucid/ops.h"
#include "lucid/tensor.h"
#include "math_reference.h"
#include "runtime/float_mode.h"

/// Activations that are compositions of other ops, with their default attributes, and their references.
namespace lucid::math_reference {

struct Composition {
  /// `build` is null, because the composition has no loop of its own.
  Unary truth;
  Tensor (*op)(const Tensor& x);
};

template <typename T>
T softplus(T x) {
  return x > 20 ? x : std::log1p(std::exp(x));
}
template <typename T>
T logsigmoid(T x) {
  return x < 0 ? x - std::log1p(std::exp(x)) : -std::log1p(std::exp(-x));
}
template <typename T>
T elu(T x) {
  return x > 0 ? x : std::expm1(x);
}
template <typename T>
T selu(T x) {
  constexpr T kScale = 1.0507009873554804934193349852946L, kAlpha = 1.6732632423543772848170429916717L;
  return kScale * (x > 0 ? x : kAlpha * std::expm1(x));
}
template <typename T>
T softsign(T x) {
  return x / (1 + std::fabs(x));
}
template <typename T>
T hardsigmoid(T x) {
  return x < -3 ? 0 : x > 3 ? 1 : (x + 3) / 6;
}
template <typename T>
T hardswish(T x) {
  return x * hardsigmoid(x);
}
template <typename T>
T leaky_relu(T x) {
  return x > 0 ? x : x / 100;
}
template <typename T>
T rrelu(T x) {
  return x > 0 ? x : x * 11 / 48;
}
template <typename T>
T softshrink(T x) {
  return x > T(0.5) ? x - T(0.5) : x < T(-0.5) ? x + T(0.5) : x * 0;
}

inline const std::vector<Composition>& compositions() {
  static const std::vector<Composition> all = {
      {{"softplus", nullptr, softplus<double>, softplus<long double>, 4},
       [](const Tensor& x) { return lucid::softplus(x); }},
      {{"logsigmoid", nullptr, logsigmoid<double>, logsigmoid<long double>, 4},
       [](const Tensor& x) { return lucid::logsigmoid(x); }},
      {{"elu", nullptr, elu<double>, elu<long double>, 4}, [](const Tensor& x) { return lucid::elu(x); }},
      {{"celu", nullptr, elu<double>, elu<long double>, 4}, [](const Tensor& x) { return lucid::celu(x); }},
      {{"selu", nullptr, selu<double>, selu<long double>, 4}, [](const Tensor& x) { return lucid::selu(x); }},
      {{"softsign", nullptr, softsign<double>, softsign<long double>, 2},
       [](const Tensor& x) { return lucid::softsign(x); }},
      {{"hardsigmoid", nullptr, hardsigmoid<double>, hardsigmoid<long double>, 2},
       [](const Tensor& x) { return lucid::hardsigmoid(x); }},
      {{"hardswish", nullptr, hardswish<double>, hardswish<long double>, 2},
       [](const Tensor& x) { return lucid::hardswish(x); }},
      {{"leaky_relu", nullptr, leaky_relu<double>, leaky_relu<long double>, 2},
       [](const Tensor& x) { return lucid::leaky_relu(x); }},
      {{"rrelu", nullptr, rrelu<double>, rrelu<long double>, 2}, [](const Tensor& x) { return lucid::rrelu(x); }},
      {{"softshrink", nullptr, softshrink<double>, softshrink<long double>, 2},
       [](const Tensor& x) { return lucid::softshrink(x); }},
  };
  return all;
}

/// Applies the op to every element, with or without flushing.
template <typename T>
void apply(const Composition& composition, const T* x, T* out, size_t count, bool flush) {
  const bool flushed_before = flush_denormal();
  set_flush_denormal(flush);
  const Tensor result = composition.op(from_data(x, {static_cast<int64_t>(count)}, kDtypeOf<T>));
  set_flush_denormal(flushed_before);
  std::copy_n(result.data<T>(), count, out);
}

}  // namespace lucid::math_reference
