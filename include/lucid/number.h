#pragma once

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "lucid/sym_int.h"

#pragma GCC visibility push(default)
namespace lucid {

/// A type of whole numbers. Bools do not count.
template <typename T>
concept WholeNumber = std::integral<T> && !std::same_as<T, bool>;

/// A number among the arguments of a compiled function that may vary: one plan serves all its values.
///
///     const auto scaled = lucid::compile([](const Tensor& x, Number scale) { return x * (1 - scale); });
///     scaled(x, 0.5);
///
/// It is an int64_t or a double, and computes as these do; integers wrap. While a call is recorded, it is traced: what
/// is computed from it is recorded too. A comparison becomes a guard on its outcome, and a conversion to a plain number
/// a guard on the value. A call that fails a guard is recorded again.
class Number {
 public:
  constexpr Number() = default;
  constexpr Number(WholeNumber auto value) : integer_(static_cast<int64_t>(value)) {}                          // NOLINT
  constexpr Number(std::floating_point auto value) : real_(static_cast<double>(value)), is_integer_(false) {}  // NOLINT
  Number(SymInt value) : Number(static_cast<int64_t>(value)) {}                                                // NOLINT

  constexpr bool is_integer() const { return is_integer_; }
  /// The value. The recorded call depends on it.
  template <typename T>
    requires(std::is_arithmetic_v<T> && !std::same_as<T, bool>)
  explicit operator T() const {
    guard_value();
    return is_integer_ ? static_cast<T>(integer_) : static_cast<T>(real_);
  }
  explicit operator bool() const { return *this != 0; }

  friend Number operator+(const Number& a, const Number& b) { return compute(Arithmetic::kAdd, a, b); }
  friend Number operator-(const Number& a, const Number& b) { return compute(Arithmetic::kSubtract, a, b); }
  friend Number operator*(const Number& a, const Number& b) { return compute(Arithmetic::kMultiply, a, b); }
  /// Throws ValueError if an integer is divided by the integer 0.
  friend Number operator/(const Number& a, const Number& b) { return compute(Arithmetic::kDivide, a, b); }
  Number operator-() const { return is_integer_ ? 0 - *this : *this * -1.0; }
  Number& operator+=(const Number& other) { return *this = *this + other; }
  Number& operator-=(const Number& other) { return *this = *this - other; }
  Number& operator*=(const Number& other) { return *this = *this * other; }
  Number& operator/=(const Number& other) { return *this = *this / other; }
  friend bool operator==(const Number& a, const Number& b) { return compare(Arithmetic::kEqual, a, b); }
  friend bool operator<(const Number& a, const Number& b) { return compare(Arithmetic::kLess, a, b); }
  friend bool operator<=(const Number& a, const Number& b) { return compare(Arithmetic::kLessOrEqual, a, b); }
  friend bool operator>(const Number& a, const Number& b) { return compare(Arithmetic::kLess, b, a); }
  friend bool operator>=(const Number& a, const Number& b) { return compare(Arithmetic::kLessOrEqual, b, a); }

  // For the library itself.

  enum class Arithmetic : uint8_t { kAdd, kSubtract, kMultiply, kDivide, kEqual, kLess, kLessOrEqual };
  /// The 64 bits of the value, without a guard: for code that has no influence on what is recorded.
  int64_t bits() const;
  /// Which traced number of a recording it is; 0 if it is not traced.
  constexpr uint32_t traced() const { return traced_; }
  constexpr Number with_trace(uint32_t number) const {
    Number result = *this;
    result.traced_ = number;
    return result;
  }

 private:
  void guard_value() const;
  static Number compute(Arithmetic operation, const Number& a, const Number& b);
  static bool compare(Arithmetic operation, const Number& a, const Number& b);

  union {
    int64_t integer_ = 0;
    double real_;
  };
  uint32_t traced_ = 0;
  bool is_integer_ = true;
};

}  // namespace lucid
#pragma GCC visibility pop
