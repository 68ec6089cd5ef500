#pragma once

#include <algorithm>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <ranges>
#include <utility>

namespace lucid {

/// An integer of 63 bits and a sign whose arithmetic may overflow: sizes, strides and offsets that a file contains.
/// Once a result does not fit, or a divisor is zero, it has no value, nor has anything that is computed from it.
/// Every comparison with a number without a value is false, so a condition that must hold fails.
class CheckedInt {
 public:
  constexpr CheckedInt() = default;
  template <std::integral T>
  constexpr CheckedInt(T value)  // NOLINT: integers are checked integers
      : value_(static_cast<int64_t>(value)), has_value_(std::in_range<int64_t>(value)) {}
  static constexpr CheckedInt none() {
    CheckedInt result;
    result.has_value_ = false;
    return result;
  }

  constexpr bool has_value() const { return has_value_; }
  constexpr std::optional<int64_t> value() const { return has_value_ ? std::optional(value_) : std::nullopt; }

  constexpr CheckedInt& operator+=(CheckedInt other) {
    return combine(other, !__builtin_add_overflow(value_, other.value_, &value_));
  }
  constexpr CheckedInt& operator-=(CheckedInt other) {
    return combine(other, !__builtin_sub_overflow(value_, other.value_, &value_));
  }
  constexpr CheckedInt& operator*=(CheckedInt other) {
    return combine(other, !__builtin_mul_overflow(value_, other.value_, &value_));
  }
  /// Rounds towards zero.
  constexpr CheckedInt& operator/=(CheckedInt other) {
    if (!divides(other)) return *this = none();
    value_ /= other.value_;
    return *this;
  }
  constexpr CheckedInt& operator%=(CheckedInt other) {
    if (!divides(other)) return *this = none();
    value_ %= other.value_;
    return *this;
  }
  friend constexpr CheckedInt operator+(CheckedInt a, CheckedInt b) { return a += b; }
  friend constexpr CheckedInt operator-(CheckedInt a, CheckedInt b) { return a -= b; }
  friend constexpr CheckedInt operator*(CheckedInt a, CheckedInt b) { return a *= b; }
  friend constexpr CheckedInt operator/(CheckedInt a, CheckedInt b) { return a /= b; }
  friend constexpr CheckedInt operator%(CheckedInt a, CheckedInt b) { return a %= b; }

  friend constexpr bool operator==(CheckedInt a, CheckedInt b) {
    return a.has_value_ && b.has_value_ && a.value_ == b.value_;
  }
  friend constexpr std::partial_ordering operator<=>(CheckedInt a, CheckedInt b) {
    if (!a.has_value_ || !b.has_value_) return std::partial_ordering::unordered;
    return a.value_ <=> b.value_;
  }

 private:
  constexpr CheckedInt& combine(CheckedInt other, bool fits) {
    has_value_ = has_value_ && other.has_value_ && fits;
    return *this;
  }
  constexpr bool divides(CheckedInt divisor) const {
    const bool overflows = value_ == std::numeric_limits<int64_t>::min() && divisor.value_ == -1;
    return has_value_ && divisor.has_value_ && divisor.value_ != 0 && !overflows;
  }

  int64_t value_ = 0;
  bool has_value_ = true;
};

/// The bytes of contiguous elements of a shape. It has no value if a size is negative, or if the product does not fit
/// even when zeros are left out, so that the strides of an empty tensor fit too.
template <std::ranges::input_range Sizes>
constexpr CheckedInt checked_bytes(const Sizes& sizes, size_t element_bytes) {
  CheckedInt bytes = element_bytes;
  bool is_empty = false;
  for (const int64_t size : sizes) {
    if (size < 0) return CheckedInt::none();
    is_empty = is_empty || size == 0;
    bytes *= std::max<int64_t>(size, 1);
  }
  return bytes.has_value() && is_empty ? 0 : bytes;
}

}  // namespace lucid
