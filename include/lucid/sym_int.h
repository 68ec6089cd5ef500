#pragma once

#include <concepts>
#include <cstdint>
#include <string>

#pragma GCC visibility push(default)
namespace lucid {

class SizeTrace;

/// An integer that may be a traced size: the size, stride or offset of a tensor, or a number computed from those. It
/// converts from and to plain integers. As an argument of a compiled function it may vary: one plan serves many values.
///
/// A traced size also says how it is computed from the sizes of a recorded call's arguments (SizeTrace), so that a plan
/// can be given other sizes. Arithmetic on it is recorded. A comparison becomes a guard on its outcome, and a read of
/// its value a guard on the value. While no trace is active on the thread, it is a plain integer.
class SymInt {
 public:
  constexpr SymInt() = default;
  template <std::integral T>
  constexpr SymInt(T value)
      : bits_(is_tag(static_cast<int64_t>(value)) ? kBelowTags : static_cast<int64_t>(value)) {}  // NOLINT

  /// The value. A trace adds a guard on it.
  constexpr operator int64_t() const {  // NOLINT
    if (is_traced()) [[unlikely]]
      return read();
    return bits_;
  }

  constexpr bool is_traced() const { return is_tag(bits_); }
  /// The number of the traced expression; 0 if it is not traced.
  constexpr uint32_t expression() const {
    return is_traced() ? static_cast<uint32_t>(bits_ >> 32) & kMaxExpression : 0;
  }
  static constexpr SymInt traced(uint32_t expression, int32_t value) {
    SymInt result;
    result.bits_ = kTag << 56 | static_cast<int64_t>(expression) << 32 | static_cast<uint32_t>(value);
    return result;
  }
  /// The value, without a guard: for code that has no influence on what is recorded.
  constexpr int64_t unguarded() const { return is_traced() ? static_cast<int32_t>(bits_ & kValueMask) : bits_; }

  constexpr SymInt operator-() const { return SymInt(0) - *this; }
  constexpr SymInt& operator++() { return *this += 1; }
  constexpr SymInt& operator--() { return *this -= 1; }
  constexpr SymInt operator++(int) {
    const SymInt before = *this;
    *this += 1;
    return before;
  }
  constexpr SymInt operator--(int) {
    const SymInt before = *this;
    *this -= 1;
    return before;
  }
  constexpr SymInt& operator+=(SymInt other) { return *this = *this + other; }
  constexpr SymInt& operator-=(SymInt other) { return *this = *this - other; }
  constexpr SymInt& operator*=(SymInt other) { return *this = *this * other; }
  constexpr SymInt& operator/=(SymInt other) { return *this = *this / other; }
  constexpr SymInt& operator%=(SymInt other) { return *this = *this % other; }

  enum class Arithmetic : uint8_t { kAdd, kSubtract, kMultiply, kDivide, kRemainder };
  /// The largest number of an expression.
  static constexpr uint32_t kMaxExpression = (1 << 24) - 1;

 private:
  friend class SizeTrace;
  template <typename T>
  static constexpr bool kIsOperand = std::same_as<T, SymInt> || std::integral<T>;
  template <typename A, typename B>
  static constexpr bool kAreOperands =
      kIsOperand<A> && kIsOperand<B> && (std::same_as<A, SymInt> || std::same_as<B, SymInt>);

  /// A traced size is a tag in the highest byte, the 24 bits of an expression's number, and 32 bits of value. The tag
  /// stands for integers around -6.5e18, which no size or index reaches.
  static constexpr int64_t kTag = -0x5B;  // the byte 0xA5
  static constexpr int64_t kValueMask = 0xFFFFFFFF;
  static constexpr int64_t kBelowTags = static_cast<int64_t>(0xA4FFFFFFFFFFFFFF);
  static constexpr bool is_tag(int64_t bits) { return bits >> 56 == kTag; }
  static constexpr bool is_any_traced(SymInt a, SymInt b) { return a.is_traced() || b.is_traced(); }

  int64_t read() const;
  /// Throws ValueError.
  [[noreturn]] static void divide_by_zero();
  static SymInt compute_traced(Arithmetic operation, SymInt a, SymInt b);
  static bool is_equal_traced(SymInt a, SymInt b);
  static bool is_less_traced(SymInt a, SymInt b);

  static constexpr int64_t compute(Arithmetic operation, int64_t a, int64_t b) {
    // Overflow wraps.
    const auto left = static_cast<uint64_t>(a), right = static_cast<uint64_t>(b);
    switch (operation) {
      case Arithmetic::kAdd:
        return static_cast<int64_t>(left + right);
      case Arithmetic::kSubtract:
        return static_cast<int64_t>(left - right);
      case Arithmetic::kMultiply:
        return static_cast<int64_t>(left * right);
      case Arithmetic::kDivide:
        if (b == 0) divide_by_zero();
        return b == -1 ? static_cast<int64_t>(0 - left) : a / b;
      case Arithmetic::kRemainder:
        if (b == 0) divide_by_zero();
        return b == -1 ? 0 : a % b;
    }
    return 0;
  }
  static constexpr SymInt apply(Arithmetic operation, SymInt a, SymInt b) {
    if (is_any_traced(a, b)) [[unlikely]]
      return compute_traced(operation, a, b);
    return compute(operation, a.bits_, b.bits_);
  }
  static constexpr bool is_equal(SymInt a, SymInt b) {
    if (a.bits_ == b.bits_) return true;
    if (is_any_traced(a, b)) [[unlikely]]
      return is_equal_traced(a, b);
    return false;
  }
  static constexpr bool is_less(SymInt a, SymInt b) {
    if (is_any_traced(a, b)) [[unlikely]]
      return is_less_traced(a, b);
    return a.bits_ < b.bits_;
  }

  template <typename A, typename B>
    requires kAreOperands<A, B>
  friend constexpr SymInt operator+(A a, B b) {
    return apply(Arithmetic::kAdd, a, b);
  }
  template <typename A, typename B>
    requires kAreOperands<A, B>
  friend constexpr SymInt operator-(A a, B b) {
    return apply(Arithmetic::kSubtract, a, b);
  }
  template <typename A, typename B>
    requires kAreOperands<A, B>
  friend constexpr SymInt operator*(A a, B b) {
    return apply(Arithmetic::kMultiply, a, b);
  }
  template <typename A, typename B>
    requires kAreOperands<A, B>
  friend constexpr SymInt operator/(A a, B b) {
    return apply(Arithmetic::kDivide, a, b);
  }
  template <typename A, typename B>
    requires kAreOperands<A, B>
  friend constexpr SymInt operator%(A a, B b) {
    return apply(Arithmetic::kRemainder, a, b);
  }
  template <typename A, typename B>
    requires kAreOperands<A, B>
  friend constexpr bool operator==(A a, B b) {
    return is_equal(a, b);
  }
  template <typename A, typename B>
    requires kAreOperands<A, B>
  friend constexpr bool operator<(A a, B b) {
    return is_less(a, b);
  }
  template <typename A, typename B>
    requires kAreOperands<A, B>
  friend constexpr bool operator>(A a, B b) {
    return is_less(b, a);
  }
  template <typename A, typename B>
    requires kAreOperands<A, B>
  friend constexpr bool operator<=(A a, B b) {
    return !is_less(b, a);
  }
  template <typename A, typename B>
    requires kAreOperands<A, B>
  friend constexpr bool operator>=(A a, B b) {
    return !is_less(a, b);
  }

  int64_t bits_ = 0;
};

inline std::string to_string(SymInt dim) { return std::to_string(static_cast<int64_t>(dim)); }

}  // namespace lucid
#pragma GCC visibility pop
