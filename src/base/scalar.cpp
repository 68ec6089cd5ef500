#include "base/scalar.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/error.h"

namespace lucid {
namespace {

template <typename To>
To saturate(double value) {
  using Limits = std::numeric_limits<To>;
  // The largest i64 is not representable as a double, but the power of two above it is, so the comparison is exact.
  constexpr double kPastMax = static_cast<double>(uint64_t{1} << Limits::digits);
  if (std::isnan(value)) return 0;
  if (value >= kPastMax) return Limits::max();
  if (value <= static_cast<double>(Limits::min())) return Limits::min();
  return static_cast<To>(value);
}

/// Rounds to the nearest f32, ties to even. Below the smallest normal number it computes in integer multiples of the
/// smallest subnormal, because the hardware conversion would flush these results if the thread runs with FTZ.
float f64_to_f32(double value) {
  const double magnitude = std::fabs(value);
  if (!(magnitude < std::numeric_limits<float>::min())) return static_cast<float>(value);
  const auto units = static_cast<uint32_t>(std::nearbyint(magnitude * 0x1p149));
  return std::bit_cast<float>(units | (std::signbit(value) ? 0x80000000u : 0u));
}

template <typename T>
void put(void* element, T value) {
  std::memcpy(element, &value, sizeof(T));
}

template <typename T>
T get(const void* element) {
  T value;
  std::memcpy(&value, element, sizeof(T));
  return value;
}

}  // namespace

namespace {
constinit thread_local TracedReads* t_reads = nullptr;
}

TracedReads::TracedReads() : before_(t_reads) { t_reads = this; }
TracedReads::~TracedReads() { t_reads = before_; }

void Scalar::guard_traced_value() const {
  if (traced_ != 0 && t_reads) t_reads->numbers_.push_back(traced_);
  if (is_size()) static_cast<void>(static_cast<int64_t>(size()));
}

int64_t Scalar::to_int() const {
  guard_value();
  return is_float() ? saturate<int64_t>(real_) : integer_;
}

void Scalar::store(Dtype dtype, void* element) const {
  guard_value();
  // Conversion to a narrow integer takes the low bits of an integer, but saturates a float.
  const auto store_integer = [&]<typename T>(T) {
    put<T>(element, is_float() ? saturate<T>(real_) : static_cast<T>(integer_));
  };
  const auto as_f32 = [&] { return is_float() ? f64_to_f32(real_) : static_cast<float>(integer_); };
  switch (dtype) {
    case Dtype::kBool:
      return put<uint8_t>(element, is_float() ? real_ != 0 : integer_ != 0);
    case Dtype::kU8:
      return store_integer(uint8_t{});
    case Dtype::kI8:
      return store_integer(int8_t{});
    case Dtype::kI16:
      return store_integer(int16_t{});
    case Dtype::kI32:
      return store_integer(int32_t{});
    case Dtype::kI64:
      return store_integer(int64_t{});
    case Dtype::kF16:
      return put<uint16_t>(element, f32_to_f16(as_f32()));
    case Dtype::kBF16:
      return put<uint16_t>(element, f32_to_bf16(as_f32()));
    case Dtype::kF32:
      return put<float>(element, as_f32());
    case Dtype::kF64:
      return put<double>(element, to_double());
  }
}

Scalar Scalar::load(Dtype dtype, const void* element) {
  switch (dtype) {
    case Dtype::kBool:
      return Scalar(get<uint8_t>(element) != 0);
    case Dtype::kU8:
      return Scalar(static_cast<int64_t>(get<uint8_t>(element)));
    case Dtype::kI8:
      return Scalar(static_cast<int64_t>(get<int8_t>(element)));
    case Dtype::kI16:
      return Scalar(static_cast<int64_t>(get<int16_t>(element)));
    case Dtype::kI32:
      return Scalar(static_cast<int64_t>(get<int32_t>(element)));
    case Dtype::kI64:
      return Scalar(get<int64_t>(element));
    case Dtype::kF16:
      return Scalar(static_cast<double>(f16_to_f32(get<uint16_t>(element))));
    case Dtype::kBF16:
      return Scalar(static_cast<double>(bf16_to_f32(get<uint16_t>(element))));
    case Dtype::kF32:
      return Scalar(static_cast<double>(get<float>(element)));
    case Dtype::kF64:
      return Scalar(get<double>(element));
  }
  LUCID_CHECK(false, "dtype {}", static_cast<int>(dtype));
  return {};
}

bool Scalar::operator==(const Scalar& other) const {
  if (is_size() || other.is_size()) return expression_ == other.expression_;
  return kind_ == other.kind_ && bits() == other.bits();
}

uint64_t Scalar::bits() const {
  guard_value();
  if (!is_float()) return static_cast<uint64_t>(integer_);
  return std::bit_cast<uint64_t>(real_);
}

std::string to_string(const Scalar& scalar) {
  if (scalar.kind() == Dtype::kBool) return scalar.to_int() ? "true" : "false";
  if (!scalar.is_float()) return fmt::format("{}", scalar.to_int());
  const double value = scalar.to_double();
  if (std::isnan(value)) return "nan";
  std::string text = fmt::format("{}", value);
  // A float is always printed as one, so that "3.0" does not parse back as an integer.
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

float f16_to_f32(uint16_t bits) {
  const uint32_t sign = (bits & 0x8000u) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1fu;
  const uint32_t mantissa = bits & 0x3ffu;
  if (exponent == 0x1f) {
    const uint32_t quiet = mantissa ? 0x400000u : 0u;
    return std::bit_cast<float>(sign | 0x7f800000u | quiet | (mantissa << 13));
  }
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
  }
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

uint16_t f32_to_f16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u | ((magnitude >> 13) & 0x3ffu));
  constexpr uint32_t kOverflow = 0x477ff000u;        // 65520: halfway from the largest f16 to the next power of two
  constexpr uint32_t kSmallestNormal = 0x38800000u;  // 2^-14
  if (magnitude >= kOverflow) return static_cast<uint16_t>(sign | 0x7c00u);
  if (magnitude >= kSmallestNormal) {
    const uint32_t rebiased = magnitude - (112u << 23);
    const uint32_t round = 0xfffu + ((rebiased >> 13) & 1u);
    return static_cast<uint16_t>(sign | ((rebiased + round) >> 13));
  }
  constexpr uint32_t kHalfSmallest = 0x33000000u;  // 2^-25: halfway from zero to the smallest subnormal, rounds to zero
  if (magnitude <= kHalfSmallest) return static_cast<uint16_t>(sign);
  const uint32_t shift = 126u - (magnitude >> 23);
  const uint32_t significand = (magnitude & 0x7fffffu) | 0x800000u;
  const uint32_t round = (1u << (shift - 1)) - 1 + ((significand >> shift) & 1u);
  return static_cast<uint16_t>(sign | ((significand + round) >> shift));
}

float bf16_to_f32(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

uint16_t f32_to_bf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

}  // namespace lucid
