#include "loop/math.h"

#include <gtest/gtest.h>

#include "loop/interpret.h"
#include "math_reference.h"

namespace lucid::math_reference {
namespace {

// Error bound of functions of two arguments. docs/accuracy.md lists the measured maximum errors, which are below it.
constexpr double kLimit = 1.5;

template <typename T>
std::vector<T> interpreted(const loop::Kernel& kernel, std::vector<T> x, std::vector<T> y, bool flush) {
  std::vector<T> out(x.size());
  std::vector<void*> buffers = {x.data()};
  if (!y.empty()) buffers.push_back(y.data());
  buffers.push_back(out.data());
  FlushScope scope(flush);
  loop::interpret(kernel, buffers.data(), nullptr, 0, static_cast<int64_t>(x.size()));
  return out;
}

template <typename T>
void check_unary(const std::vector<T>& x) {
  for (const Unary& function : unary_functions()) {
    const loop::Kernel kernel = kernel_of(function, kDtypeOf<T>);
    for (bool flush : {false, true}) {
      const std::vector<T> out = interpreted<T>(kernel, x, {}, flush);
      for (size_t i = 0; i < x.size(); ++i) {
        EXPECT_LE(ulp_error(out[i], exact(function, x[i]), flush), function.limit)
            << function.name << "(" << x[i] << ") gave " << out[i] << (flush ? ", flushing" : "");
      }
    }
  }
}

template <typename T>
void check_binary(const std::vector<T>& x, const std::vector<T>& y) {
  for (const Binary& function : binary_functions()) {
    const loop::Kernel kernel = kernel_of(function, kDtypeOf<T>);
    for (bool flush : {false, true}) {
      const std::vector<T> out = interpreted<T>(kernel, x, y, flush);
      for (size_t i = 0; i < x.size(); ++i) {
        EXPECT_LE(ulp_error(out[i], exact(function, x[i], y[i]), flush), kLimit)
            << function.name << "(" << x[i] << ", " << y[i] << ") gave " << out[i] << (flush ? ", flushing" : "");
      }
    }
  }
}

template <typename T>
std::vector<T> random_numbers(size_t count, uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::vector<T> numbers(count);
  for (T& number : numbers) number = random_number<T>(generator);
  return numbers;
}

TEST(Math, TreatsZerosInfinitiesAndSubnormalNumbersAsCDoes) {
  check_unary(special_values<float>());
  check_unary(special_values<double>());
}

template <typename T>
void check_all_pairs(const std::vector<T>& values) {
  std::vector<T> x, y;
  for (T left : values) {
    for (T right : values) {
      x.push_back(left);
      y.push_back(right);
    }
  }
  check_binary(x, y);
}

TEST(Math, TreatsPairsOfSpecialNumbersAsCDoes) {
  check_all_pairs(special_values<float>());
  check_all_pairs(special_values<double>());
}

TEST(Math, IsAccurateOverAllOfF32) {
  std::vector<float> x;
  for (uint64_t bits = 0; bits < (uint64_t{1} << 32); bits += 131101) {
    x.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  check_unary(x);
}

TEST(Math, IsAccurateForRandomNumbers) {
  check_unary(random_numbers<double>(4000, 1));
  check_binary(random_numbers<float>(8000, 2), random_numbers<float>(8000, 3));
  check_binary(random_numbers<double>(8000, 4), random_numbers<double>(8000, 5));
}

TEST(Math, ScalarsHaveTheBitsOfVectors) {
  const auto check = [](const auto& functions, auto x, auto y) {
    using T = typename decltype(x)::value_type;
    for (const auto& function : functions) {
      const auto vectors = interpreted<T>(kernel_of(function, kDtypeOf<T>), x, y, false);
      const auto scalars = interpreted<T>(kernel_of(function, kDtypeOf<T>, false), x, y, false);
      for (size_t i = 0; i < x.size(); ++i) {
        EXPECT_TRUE(vectors[i] == scalars[i] || (std::isnan(vectors[i]) && std::isnan(scalars[i])))
            << function.name << " of " << x[i];
      }
    }
  };
  check(unary_functions(), random_numbers<float>(300, 6), std::vector<float>());
  check(unary_functions(), random_numbers<double>(300, 7), std::vector<double>());
  check(binary_functions(), random_numbers<float>(300, 8), random_numbers<float>(300, 9));
  check(binary_functions(), random_numbers<double>(300, 10), random_numbers<double>(300, 11));
}

TEST(Math, KernelTextParsesBack) {
  const auto check = [](const auto& functions) {
    for (const auto& function : functions) {
      for (Dtype dtype : {Dtype::kF32, Dtype::kF64}) {
        const loop::Kernel kernel = kernel_of(function, dtype);
        EXPECT_EQ(loop::parse_kernel(to_text(kernel)), kernel) << function.name << " of " << name_of(dtype);
      }
    }
  };
  check(unary_functions());
  check(binary_functions());
}

template <typename T>
T apply(loop::Value (*function)(loop::Value), T x) {
  return interpreted<T>(kernel_of(Unary{"f", function, nullptr, nullptr}, kDtypeOf<T>), {x}, {}, false)[0];
}

TEST(Math, IsExactWhereUsersExpectIt) {
  EXPECT_EQ(apply(loop::exp, 0.0f), 1.0f);
  EXPECT_EQ(apply(loop::cos, 0.0), 1.0);
  EXPECT_EQ(apply(loop::sigmoid, 0.0f), 0.5f);
  EXPECT_EQ(apply(loop::tanh, 30.0f), 1.0f);
  EXPECT_EQ(apply(loop::erf, -30.0f), -1.0f);
  EXPECT_EQ(apply(loop::ndtr, 0.0f), 0.5f);
  EXPECT_EQ(apply(loop::ndtr, 0.0), 0.5);
  EXPECT_EQ(apply(loop::ndtr, 40.0), 1.0);
  EXPECT_EQ(apply(loop::gelu, 100.0f), 100.0f);
  EXPECT_EQ(apply(loop::mish, 100.0f), 100.0f);
  EXPECT_EQ(apply(loop::log10, 1000.0), 3.0);
  EXPECT_EQ(apply(loop::acos, 1.0), 0.0);
  for (int n = -149; n < 128; ++n) {
    EXPECT_EQ(apply(loop::exp2, static_cast<float>(n)), std::ldexp(1.0f, n));
    EXPECT_EQ(apply(loop::log2, std::ldexp(1.0f, n)), static_cast<float>(n));
  }
}

TEST(Math, ReducesTheHardestArguments) {
  // The f64 closest to a multiple of pi / 2, and the f32 closest to one: cosines of 4.69e-19 and 1.61e-9.
  EXPECT_LE(ulp_error(apply(loop::cos, 0x1.6ac5b262ca1ffp+849), -4.687165924254627611e-19L, false), 1.0);
  EXPECT_LE(ulp_error(apply(loop::cos, 16367173.0f * 0x1p72f), std::cos(16367173.0 * 0x1p72), false), 1.0);
}

}  // namespace
}  // namespace lucid::math_reference
