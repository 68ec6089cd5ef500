#include "base/scalar.h"

#include <gtest/gtest.h>
#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <random>

namespace lucid {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

template <typename T>
T stored(const Scalar& scalar, Dtype dtype) {
  T element;
  scalar.store(dtype, &element);
  return element;
}

float from_bits(uint32_t bits) { return std::bit_cast<float>(bits); }

/// The value of the bits of a small float, from the definition of the format.
double decode(uint16_t bits, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1);
  const int mantissa = bits & ((1 << mantissa_bits) - 1);
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) return mantissa ? kNan : sign * kInf;
  const double significand = exponent ? 1 + std::ldexp(mantissa, -mantissa_bits) : std::ldexp(mantissa, -mantissa_bits);
  return sign * std::ldexp(significand, (exponent ? exponent : 1) - bias);
}

/// Rounds by definition: to the nearest value of the format, ties to the even mantissa, and to infinity if the number
/// exceeds the largest value by half a step or more.
class NearestEven {
 public:
  NearestEven(int exponent_bits, int mantissa_bits) {
    const int infinity = ((1 << exponent_bits) - 1) << mantissa_bits;
    for (int bits = 0; bits < infinity; ++bits)
      values_[decode(static_cast<uint16_t>(bits), exponent_bits, mantissa_bits)] = static_cast<uint16_t>(bits);
    // Infinity is in the position of the next value that a larger exponent would represent.
    const double largest = values_.rbegin()->first;
    values_[largest + (largest - std::prev(values_.end(), 2)->first)] = static_cast<uint16_t>(infinity);
  }

  uint16_t operator()(float value) const {
    const auto sign = static_cast<uint16_t>(std::signbit(value) ? 0x8000 : 0);
    const double magnitude = std::fabs(static_cast<double>(value));
    const auto above = values_.lower_bound(magnitude);
    if (above == values_.end()) return sign | values_.rbegin()->second;
    if (above->first == magnitude || above == values_.begin()) return sign | above->second;
    const auto below = std::prev(above);
    const double up = above->first - magnitude, down = magnitude - below->first;
    const bool take_above = up < down || (up == down && above->second % 2 == 0);
    return sign | (take_above ? above->second : below->second);
  }

 private:
  std::map<double, uint16_t> values_;
};

void expect_conversions_by_definition(int exponent_bits, int mantissa_bits, float (*widen)(uint16_t),
                                      uint16_t (*narrow)(float)) {
  const NearestEven nearest(exponent_bits, mantissa_bits);
  std::mt19937 random(7);
  for (uint32_t i = 0; i < 65536; ++i) {
    const auto bits = static_cast<uint16_t>(i);
    const double expected = decode(bits, exponent_bits, mantissa_bits);
    const float wide = widen(bits);
    if (std::isnan(expected)) {
      ASSERT_TRUE(std::isnan(wide)) << i;
      ASSERT_TRUE(std::isnan(widen(narrow(wide)))) << i;
      ASSERT_EQ(std::signbit(wide), (bits & 0x8000) != 0) << i;
      continue;
    }
    ASSERT_EQ(static_cast<double>(wide), expected) << i;
    ASSERT_EQ(std::signbit(wide), (bits & 0x8000) != 0) << i;
    ASSERT_EQ(narrow(wide), bits);
    if (std::isinf(wide)) continue;
    // The midpoint to the next value, if it is a float, and the floats next to it.
    const double next = decode(static_cast<uint16_t>(bits + 1), exponent_bits, mantissa_bits);
    const float halfway = static_cast<float>(std::isinf(next) ? expected * 1.001 : (expected + next) / 2);
    for (float value : {halfway, std::nextafter(halfway, 0.0f), std::nextafter(halfway, INFINITY),
                        std::nextafter(wide, INFINITY), std::nextafter(wide, -INFINITY)}) {
      if (!std::isfinite(value)) continue;
      ASSERT_EQ(narrow(value), nearest(value)) << std::bit_cast<uint32_t>(value);
    }
  }
  for (int i = 0; i < 300000; ++i) {
    const float value = from_bits(random());
    if (!std::isfinite(value)) continue;
    ASSERT_EQ(narrow(value), nearest(value)) << std::bit_cast<uint32_t>(value);
  }
}

TEST(F16, ConversionsFollowTheDefinition) { expect_conversions_by_definition(5, 10, f16_to_f32, f32_to_f16); }

TEST(BF16, ConversionsFollowTheDefinition) { expect_conversions_by_definition(8, 7, bf16_to_f32, f32_to_bf16); }

TEST(F16, Landmarks) {
  EXPECT_EQ(f32_to_f16(65504.0f), 0x7bff);
  EXPECT_EQ(f32_to_f16(65519.996f), 0x7bff);
  EXPECT_EQ(f32_to_f16(65520.0f), 0x7c00);
  EXPECT_EQ(f32_to_f16(-INFINITY), 0xfc00);
  EXPECT_EQ(f32_to_f16(0x1p-24f), 0x0001);
  EXPECT_EQ(f32_to_f16(0x1p-25f), 0x0000);
  EXPECT_EQ(f32_to_f16(std::nextafter(0x1p-25f, 1.0f)), 0x0001);
  EXPECT_EQ(f32_to_f16(0x1.8p-24f), 0x0002);
  EXPECT_EQ(f32_to_f16(-0.0f), 0x8000);
  EXPECT_EQ(f32_to_f16(1.0f + 0x1p-11f), 0x3c00);
  EXPECT_EQ(f32_to_f16(1.0f + 0x1.8p-10f), 0x3c02);
}

TEST(BF16, Landmarks) {
  EXPECT_EQ(f32_to_bf16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(f32_to_bf16(0x1p-133f), 0x0001);
  EXPECT_EQ(f32_to_bf16(0x1p-134f), 0x0000);
  EXPECT_EQ(f32_to_bf16(1.0f + 0x1p-8f), 0x3f80);
  EXPECT_EQ(f32_to_bf16(1.0f + 0x1.8p-7f), 0x3f82);
  // A NaN with its payload in the low bits stays a NaN.
  EXPECT_EQ(f32_to_bf16(from_bits(0x7f800001)), 0x7fc0);
}

__attribute__((target("f16c"))) uint16_t hardware_f16(float value) {
  const __m128i packed = _mm_cvtps_ph(_mm_set_ss(value), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  return static_cast<uint16_t>(_mm_cvtsi128_si32(packed));
}

__attribute__((target("f16c"))) uint32_t hardware_f32_bits(uint16_t bits) {
  return std::bit_cast<uint32_t>(_mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(bits))));
}

TEST(F16, MatchesTheHardwareBitForBitIncludingNans) {
  ASSERT_TRUE(__builtin_cpu_supports("f16c"));
  for (uint32_t i = 0; i < 65536; ++i) {
    const auto bits = static_cast<uint16_t>(i);
    ASSERT_EQ(std::bit_cast<uint32_t>(f16_to_f32(bits)), hardware_f32_bits(bits)) << i;
  }
  for (uint64_t i = 0; i <= 0xffffffffu; i += 1021) {
    const float value = from_bits(static_cast<uint32_t>(i));
    ASSERT_EQ(f32_to_f16(value), hardware_f16(value)) << i;
  }
}

TEST(Scalar, KnowsItsCategory) {
  EXPECT_EQ(Scalar(true).kind(), Dtype::kBool);
  EXPECT_EQ(Scalar(3).kind(), Dtype::kI64);
  EXPECT_EQ(Scalar(3.0).kind(), Dtype::kF64);
  EXPECT_EQ(Scalar().to_int(), 0);
  EXPECT_EQ(Scalar(true).to_double(), 1.0);
}

TEST(Scalar, FloatsSaturateWhenConvertedToIntegers) {
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max(), kMin = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(Scalar(0x1p63).to_int(), kMax);
  EXPECT_EQ(Scalar(std::nextafter(0x1p63, 0.0)).to_int(), kMax - 1023);
  EXPECT_EQ(Scalar(-0x1p63).to_int(), kMin);
  EXPECT_EQ(Scalar(-kInf).to_int(), kMin);
  EXPECT_EQ(Scalar(kNan).to_int(), 0);
  EXPECT_EQ(Scalar(-2.9).to_int(), -2);
  EXPECT_EQ(stored<int8_t>(127.9, Dtype::kI8), 127);
  EXPECT_EQ(stored<int8_t>(128.0, Dtype::kI8), 127);
  EXPECT_EQ(stored<int8_t>(-128.9, Dtype::kI8), -128);
  EXPECT_EQ(stored<uint8_t>(255.9, Dtype::kU8), 255);
  EXPECT_EQ(stored<uint8_t>(-0.5, Dtype::kU8), 0);
  EXPECT_EQ(stored<uint8_t>(-7.0, Dtype::kU8), 0);
  EXPECT_EQ(stored<int16_t>(kInf, Dtype::kI16), 32767);
  EXPECT_EQ(stored<int32_t>(-3e9, Dtype::kI32), std::numeric_limits<int32_t>::min());
  EXPECT_EQ(stored<int32_t>(kNan, Dtype::kI32), 0);
  EXPECT_EQ(stored<int64_t>(1e300, Dtype::kI64), kMax);
}

TEST(Scalar, IntegersWrapAndBoolsTestForZero) {
  EXPECT_EQ(stored<uint8_t>(Scalar(-1), Dtype::kU8), 255);
  EXPECT_EQ(stored<int8_t>(Scalar(200), Dtype::kI8), -56);
  EXPECT_EQ(stored<int32_t>(Scalar(int64_t{1} << 40), Dtype::kI32), 0);
  EXPECT_EQ(stored<uint8_t>(Scalar(256), Dtype::kBool), 1);
  EXPECT_EQ(stored<uint8_t>(0.25, Dtype::kBool), 1);
  EXPECT_EQ(stored<uint8_t>(kNan, Dtype::kBool), 1);
  EXPECT_EQ(stored<uint8_t>(-0.0, Dtype::kBool), 0);
}

TEST(Scalar, FloatsRoundToNearest) {
  EXPECT_EQ(stored<float>(0.1, Dtype::kF32), 0.1f);
  EXPECT_EQ(stored<float>(Scalar(16777217), Dtype::kF32), 16777216.0f);
  EXPECT_EQ(stored<float>(1e300, Dtype::kF32), INFINITY);
  EXPECT_TRUE(std::isnan(stored<float>(kNan, Dtype::kF32)));
  EXPECT_EQ(stored<uint16_t>(0.1, Dtype::kF16), 0x2e66);
  EXPECT_EQ(stored<uint16_t>(0.1, Dtype::kBF16), 0x3dcd);
  EXPECT_EQ(stored<uint16_t>(Scalar(true), Dtype::kF16), 0x3c00);
  EXPECT_EQ(stored<double>(Scalar((int64_t{1} << 53) + 1), Dtype::kF64), 0x1p53);
}

struct Narrowed {
  double from;
  // Converted at compile time, independently of the control word.
  float to = static_cast<float>(from);
};

constexpr Narrowed kTiny[] = {{0x1p-149},         {0x1p-150}, {0x1.8p-149}, {0x1.000001p-150}, {1e-40}, {-1e-40},
                              {0x1.fffffffp-127}, {0x1p-126}, {-0.0},       {5e-324}};

TEST(Scalar, SubnormalFloatsDoNotDependOnTheControlWord) {
  for (const Narrowed& tiny : kTiny) {
    const unsigned saved = _mm_getcsr();
    _mm_setcsr(saved | 0x8000);
    const auto bits = stored<uint32_t>(tiny.from, Dtype::kF32);
    _mm_setcsr(saved);
    EXPECT_EQ(bits, std::bit_cast<uint32_t>(tiny.to)) << tiny.from;
  }
}

TEST(Scalar, StoreAndLoadRoundTrip) {
  for (int i = 0; i < kDtypeCount; ++i) {
    const auto dtype = static_cast<Dtype>(i);
    for (const Scalar& scalar : {Scalar(1), Scalar(0)}) {
      uint64_t element = 0;
      scalar.store(dtype, &element);
      const Scalar loaded = Scalar::load(dtype, &element);
      EXPECT_EQ(loaded.to_int(), scalar.to_int()) << name_of(dtype);
      EXPECT_EQ(loaded.kind(), is_bool(dtype) ? Dtype::kBool : is_float(dtype) ? Dtype::kF64 : Dtype::kI64);
    }
  }
  const int8_t negative = -5;
  EXPECT_EQ(Scalar::load(Dtype::kI8, &negative), Scalar(-5));
  EXPECT_EQ(Scalar::load(Dtype::kU8, &negative), Scalar(251));
}

TEST(Scalar, ComparesBitsButAllNansAreEqual) {
  EXPECT_EQ(Scalar(kNan), Scalar(-kNan));
  EXPECT_EQ(Scalar(kNan).bits(), Scalar(std::bit_cast<double>(uint64_t{0x7ff0000000000001})).bits());
  EXPECT_FALSE(Scalar(0.0) == Scalar(-0.0));
  EXPECT_FALSE(Scalar(1) == Scalar(1.0));
  EXPECT_FALSE(Scalar(1) == Scalar(true));
  EXPECT_EQ(Scalar(7), Scalar(int64_t{7}));
}

TEST(Scalar, TextParsesBackToTheSameBits) {
  EXPECT_EQ(to_string(Scalar(3)), "3");
  EXPECT_EQ(to_string(Scalar(3.0)), "3.0");
  EXPECT_EQ(to_string(Scalar(-0.0)), "-0.0");
  EXPECT_EQ(to_string(Scalar(2.5)), "2.5");
  EXPECT_EQ(to_string(Scalar(true)), "true");
  EXPECT_EQ(to_string(Scalar(false)), "false");
  EXPECT_EQ(to_string(Scalar(-kInf)), "-inf");
  EXPECT_EQ(to_string(Scalar(-kNan)), "nan");
  std::mt19937_64 random(3);
  for (int i = 0; i < 20000; ++i) {
    const double value = std::bit_cast<double>(random());
    if (!std::isfinite(value)) continue;
    const std::string text = to_string(Scalar(value));
    ASSERT_EQ(Scalar(std::strtod(text.c_str(), nullptr)), Scalar(value)) << text;
    ASSERT_NE(text.find_first_of(".e"), std::string::npos) << text;
  }
}

TEST(TracedScalar, NotesReadsOfItsValue) {
  const Scalar number = Scalar(2.5).with_trace(7);
  EXPECT_EQ(number.traced(), 7u);
  EXPECT_EQ(Scalar(2.5).traced(), 0u);
  const TracedReads outer;
  const std::function<void()> reads[] = {
      [&] { number.to_double(); },
      [&] { number.to_int(); },
      [&] { number.bits(); },
      [&] { (void)(number == Scalar(2.5)); },
      [&] { to_string(number); },
      [&] {
        double element = 0;
        number.store(Dtype::kF64, &element);
      },
  };
  for (const auto& read : reads) {
    const TracedReads inner;
    read();
    EXPECT_NE(std::ranges::find(inner.numbers(), 7u), inner.numbers().end());
  }
  Scalar copy = number;
  EXPECT_EQ(copy.kind(), Dtype::kF64);
  EXPECT_TRUE(copy.is_float());
  copy.with_trace(0).to_double();
  EXPECT_TRUE(outer.numbers().empty());
}

}  // namespace
}  // namespace lucid
