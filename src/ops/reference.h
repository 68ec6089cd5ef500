#pragma once

#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "ir/host_call.h"

/// Helpers for reference implementations, which define the results of lowered ops in simple, slow C++.
namespace lucid {

/// Calls f.template operator()<T>() with the C++ type that `dtype` computes in; the 16-bit floats compute in float.
template <typename F>
void dispatch_all(Dtype dtype, F f) {
  switch (dtype) {
    case Dtype::kBool:
      return f.template operator()<bool>();
    case Dtype::kU8:
      return f.template operator()<uint8_t>();
    case Dtype::kI8:
      return f.template operator()<int8_t>();
    case Dtype::kI16:
      return f.template operator()<int16_t>();
    case Dtype::kI32:
      return f.template operator()<int32_t>();
    case Dtype::kI64:
      return f.template operator()<int64_t>();
    case Dtype::kF16:
    case Dtype::kBF16:
    case Dtype::kF32:
      return f.template operator()<float>();
    case Dtype::kF64:
      return f.template operator()<double>();
  }
}

/// The dtypes that a reference is instantiated for: those that the op can compute in.
enum class Domain { kAll, kNumbers, kFloats, kIntegers, kBits };

template <Domain kDomain, typename T>
constexpr bool in_domain() {
  constexpr bool is_bool = std::is_same_v<T, bool>;
  switch (kDomain) {
    case Domain::kAll:
      return true;
    case Domain::kNumbers:
      return !is_bool;
    case Domain::kFloats:
      return std::is_floating_point_v<T>;
    case Domain::kIntegers:
      return std::is_integral_v<T> && !is_bool;
    case Domain::kBits:
      return std::is_integral_v<T>;
  }
  return false;
}

template <Domain kDomain, typename F>
void dispatch(Dtype dtype, F f) {
  dispatch_all(dtype, [&]<typename T>() {
    if constexpr (in_domain<kDomain, T>())
      f.template operator()<T>();
    else
      LUCID_CHECK(false, "the reference is not defined for {}", name_of(dtype));
  });
}

/// Loads one element of `dtype` as the type that it computes in.
template <typename T>
T element_as(Dtype dtype, const void* element) {
  const Scalar value = Scalar::load(dtype, element);
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(value.to_double());
  else
    return static_cast<T>(value.to_int());
}

/// Operand i converted to `dtype` and broadcast to `shape`, in row-major order. A 0-d operand that already has the
/// compute dtype of `dtype` is not converted: a number combined with 16-bit floats is not rounded to 16 bits.
template <typename T>
std::vector<T> read_operand(const HostCall& call, size_t i, Dtype dtype, const Dims& shape) {
  const HostArray& array = call.in(i);
  const Dims strides = broadcast_strides(array.type.shape, contiguous_strides(array.type.shape), shape);
  const bool stays = array.type.dtype == compute_dtype(dtype) && array.type.shape.empty();
  const Dtype target = stays ? array.type.dtype : dtype;
  std::vector<T> values;
  Dims index(shape.size());
  for (int64_t left = numel(shape); left > 0; --left) {
    int64_t at = 0;
    for (size_t d = 0; d < index.size(); ++d) at += index[d] * strides[d];
    const char* source = array.as<const char>() + at * static_cast<int64_t>(size_of(array.type.dtype));
    uint64_t converted = 0;
    Scalar::load(array.type.dtype, source).store(target, &converted);
    values.push_back(element_as<T>(target, &converted));
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
  return values;
}

/// Stores element i, rounding to a 16-bit float or wrapping to a narrow integer as the array's dtype requires.
template <typename T>
void write_element(const HostArray& array, int64_t i, T value) {
  char* element = array.as<char>() + i * static_cast<int64_t>(size_of(array.type.dtype));
  if constexpr (std::is_same_v<T, bool>)
    Scalar(value).store(array.type.dtype, element);
  else if constexpr (std::is_floating_point_v<T>)
    Scalar(static_cast<double>(value)).store(array.type.dtype, element);
  else
    Scalar(static_cast<int64_t>(value)).store(array.type.dtype, element);
}

// References of pointwise ops, from a function of one or two elements in the dtype that the op computes in.

template <Domain kDomain, typename F>
auto reference_unary(F f) {
  return [f](HostCall& call) {
    const TensorType type = infer_types(call).front();
    const HostArray out = call.make_output(type);
    const Dtype dtype = operand_dtype(call, 0);
    dispatch<kDomain>(dtype, [&]<typename T>() {
      const auto x = read_operand<T>(call, 0, dtype, type.shape);
      for (size_t i = 0; i < x.size(); ++i) write_element(out, static_cast<int64_t>(i), f(T(x[i])));
    });
  };
}

/// The type in which references of math functions compute. Rounding its values to T nearly always yields the nearest T.
template <typename T>
using Wide = std::conditional_t<std::is_same_v<T, float>, double, long double>;

/// The reference of a function of floats, where `f` computes in the wider type.
template <typename F>
auto reference_in_wide(F f) {
  return reference_unary<Domain::kFloats>([f]<typename T>(T x) { return static_cast<T>(f(Wide<T>(x))); });
}

template <Domain kDomain, typename F>
auto reference_binary(F f) {
  return [f](HostCall& call) {
    const TensorType type = infer_types(call).front();
    const HostArray out = call.make_output(type);
    const Dtype dtype = operand_dtype(call, 0);
    dispatch<kDomain>(dtype, [&]<typename T>() {
      const auto x = read_operand<T>(call, 0, dtype, type.shape);
      const auto y = read_operand<T>(call, 1, dtype, type.shape);
      for (size_t i = 0; i < x.size(); ++i) write_element(out, static_cast<int64_t>(i), f(T(x[i]), T(y[i])));
    });
  };
}

// Wrapping integer arithmetic, without the undefined behaviour of signed overflow in C++.

template <typename T>
T wrapped(uint64_t bits) {
  return static_cast<T>(bits);
}
template <typename T>
uint64_t bits_of(T value) {
  return static_cast<uint64_t>(value);
}

// What sums and products combine elements with. Bools have "or" and "and".

template <typename T>
T sum_of(T x, T y) {
  if constexpr (std::is_same_v<T, bool>)
    return x || y;
  else if constexpr (std::is_integral_v<T>)
    return wrapped<T>(bits_of(x) + bits_of(y));
  else
    return x + y;
}

template <typename T>
T product_of(T x, T y) {
  if constexpr (std::is_same_v<T, bool>)
    return x && y;
  else if constexpr (std::is_integral_v<T>)
    return wrapped<T>(bits_of(x) * bits_of(y));
  else
    return x * y;
}

}  // namespace lucid
