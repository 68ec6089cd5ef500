#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "lucid/sym_int.h"

namespace lucid {

/// A number in the user's language: bool, integer or float, without a width. Tensors take precedence over it in
/// promotion.
///
/// It may be traced: it then also says which number of a recorded call it is, so that a plan can be given another value
/// for it. Code that reads the value of a traced number depends on it; TracedReads collects such reads. It may also be
/// a traced size.
class Scalar {
 public:
  constexpr Scalar() : kind_(Dtype::kI64), integer_(0) {}
  constexpr Scalar(bool value) : kind_(Dtype::kBool), integer_(value) {}    // NOLINT
  constexpr Scalar(int value) : kind_(Dtype::kI64), integer_(value) {}      // NOLINT
  constexpr Scalar(int64_t value) : kind_(Dtype::kI64), integer_(value) {}  // NOLINT
  /// All NaNs become one: plans and texts do not tell them apart.
  constexpr Scalar(double value)  // NOLINT
      : kind_(Dtype::kF64), real_(value == value ? value : std::numeric_limits<double>::quiet_NaN()) {}
  constexpr Scalar(SymInt value)  // NOLINT
      : kind_(Dtype::kI64), expression_(value.expression()), integer_(value.unguarded()) {}

  /// kBool, kI64 or kF64: the category, not a width.
  constexpr Dtype kind() const { return kind_; }
  constexpr bool is_float() const { return kind_ == Dtype::kF64; }
  constexpr double to_double() const {
    guard_value();
    return is_float() ? real_ : static_cast<double>(integer_);
  }
  /// Floats saturate; NaN becomes 0.
  int64_t to_int() const;
  /// Writes the value as one element of `dtype`, with the conversion of a kernel's cast: floats saturate when converted
  /// to integers, wide integers wrap, and 16-bit floats are rounded from f32. The result does not depend on the
  /// thread's floating-point control word, so subnormal numbers are preserved.
  void store(Dtype dtype, void* element) const;
  /// Reads one element of `dtype`.
  static Scalar load(Dtype dtype, const void* element);

  /// Same category and same bits: 0.0 differs from -0.0, 1 from 1.0; all NaNs are equal. A traced size equals only
  /// itself.
  bool operator==(const Scalar& other) const;
  /// The 64 bits of the value. Used by hashes and guards.
  uint64_t bits() const;

  /// The traced number that it is; 0 if it is not traced.
  constexpr uint32_t traced() const { return traced_; }
  constexpr bool is_size() const { return expression_ != 0; }
  /// The traced size that it is.
  constexpr SymInt size() const { return SymInt::traced(expression_, static_cast<int32_t>(integer_)); }
  constexpr Scalar with_trace(uint32_t number) const {
    Scalar result = *this;
    result.traced_ = number;
    return result;
  }

 private:
  constexpr void guard_value() const {
    if (traced_ != 0 || expression_ != 0) [[unlikely]]
      guard_traced_value();
  }
  void guard_traced_value() const;

  Dtype kind_ : 8;
  uint32_t expression_ : 24 = 0;
  uint32_t traced_ = 0;
  union {
    int64_t integer_;
    double real_;
  };
};

/// Collects the traced numbers whose values this thread reads, until the end of the scope.
class TracedReads {
 public:
  TracedReads();
  TracedReads(const TracedReads&) = delete;
  TracedReads& operator=(const TracedReads&) = delete;
  ~TracedReads();

  const std::vector<uint32_t>& numbers() const { return numbers_; }

 private:
  friend class Scalar;
  std::vector<uint32_t> numbers_;
  TracedReads* before_;
};

/// "3", "2.5", "true", "inf", "nan": parses back to the same bits (NaNs to one NaN).
std::string to_string(const Scalar& scalar);

// Conversions between f32 and the 16-bit floats, rounding to nearest even. Subnormal numbers are preserved, NaNs become
// quiet.
float f16_to_f32(uint16_t bits);
uint16_t f32_to_f16(float value);
float bf16_to_f32(uint16_t bits);
uint16_t f32_to_bf16(float value);

}  // namespace lucid
