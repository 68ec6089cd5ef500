#include <fmt/format.h>
#include <gtest/gtest.h>
#include <xmmintrin.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

#include "base/scalar.h"
#include "codegen/llvm_generator.h"
#include "cpu_levels.h"
#include "loop/builder.h"
#include "loop/interpret.h"
#include "run_code.h"

namespace lucid::codegen {
namespace {

using loop::Value;

using Body = std::function<Value(loop::Builder&, Value)>;

/// Applies `body` to each element, by vectors or one by one.
loop::Kernel map_kernel(Dtype from, Dtype to, bool vector, const Body& body) {
  loop::Builder b("map");
  const auto in = b.argument(from), out = b.argument(to);
  b.for_loop(b.begin(), b.end(), vector ? loop::kLanes : 1, [&](Value i) {
    const Value mask = vector ? b.lanes_below(b.end() - i) : Value();
    const Value x = vector ? b.load_vector(in, i, mask) : b.load(in, i);
    b.store(out, i, body(b, x), mask);
  });
  return b.finish();
}

bool is_nan(Dtype dtype, uint64_t bits) {
  switch (dtype) {
    case Dtype::kF16:
      return (bits & 0x7fff) > 0x7c00;
    case Dtype::kBF16:
      return (bits & 0x7fff) > 0x7f80;
    case Dtype::kF32:
      return (bits & 0x7fffffff) > 0x7f800000;
    case Dtype::kF64:
      return (bits & 0x7fffffffffffffff) > 0x7ff0000000000000;
    default:
      return false;
  }
}

/// Runs the kernel on every target, with denormal results flushed and not, and compares with the interpreter.
void expect_exact(Dtype from, Dtype to, const std::vector<std::byte>& input, const Body& body) {
  auto generator = make_llvm_generator();
  const auto count = static_cast<int64_t>(input.size() / size_of(from));
  for (bool vector : {false, true}) {
    const loop::Kernel kernel = map_kernel(from, to, vector, body);
    std::vector<std::pair<CpuLevel, Ref<LoadedCode>>> codes;
    for (CpuLevel target : test::runnable_levels()) {
      codes.emplace_back(target, generator->load(kernel, generator->compile(kernel, target)));
    }
    for (bool flush : {false, true}) {
      std::vector<std::byte> expected(static_cast<size_t>(count) * size_of(to)), actual(expected.size());
      auto run = [&](std::vector<std::byte>& output, const auto& function) {
        void* buffers[] = {const_cast<std::byte*>(input.data()), output.data()};
        const unsigned saved = _mm_getcsr();
        _mm_setcsr(flush ? saved | 0x8000 : saved & ~0x8000u);
        function(buffers);
        _mm_setcsr(saved);
      };
      run(expected, [&](void* const* buffers) { loop::interpret(kernel, buffers, nullptr, 0, count); });
      for (const auto& [target, code] : codes) {
        run(actual, [&, &code = code](void* const* buffers) { run_code(*code, buffers, nullptr, 0, count); });
        int64_t differences = 0;
        for (int64_t i = 0; i < count && differences < 5; ++i) {
          uint64_t x = 0, y = 0, source = 0;
          std::memcpy(&x, &expected[static_cast<size_t>(i) * size_of(to)], size_of(to));
          std::memcpy(&y, &actual[static_cast<size_t>(i) * size_of(to)], size_of(to));
          std::memcpy(&source, &input[static_cast<size_t>(i) * size_of(from)], size_of(from));
          if (x == y || (is_nan(to, x) && is_nan(to, y))) continue;
          ++differences;
          ADD_FAILURE() << fmt::format("{} to {}, {}, {}, {}: of {:#x} expected {:#x}, got {:#x}", name_of(from),
                                       name_of(to), name_of(target), vector ? "vector" : "scalar",
                                       flush ? "flushing" : "not flushing", source, x, y);
        }
      }
    }
  }
}

template <typename T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(T));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/// Every value of a 16-bit type, or values at and next to every boundary of a conversion.
std::vector<std::byte> telling_values(Dtype dtype) {
  if (size_of(dtype) == 2) {
    std::vector<uint16_t> all(65536);
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
    return bytes_of(all);
  }
  if (size_of(dtype) == 1) {
    std::vector<uint8_t> all(dtype == Dtype::kBool ? 2 : 256);
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint8_t>(i);
    return bytes_of(all);
  }
  std::vector<double> reals = {0.0, 1.0, 1.5, 2.5, 0.1, INFINITY, NAN};
  // A float for each f16 and bf16 and the midpoint above it, and their neighbours.
  for (uint32_t i = 0; i < 0x7c00; i += 7) {
    const double low = f16_to_f32(static_cast<uint16_t>(i)), high = f16_to_f32(static_cast<uint16_t>(i + 1));
    reals.push_back(low);
    if (std::isfinite(high)) reals.push_back((low + high) / 2);
  }
  for (int power = -160; power <= 130; ++power) {
    for (double factor : {1.0, 1.0 + 0x1p-8, 1.0 + 0x1p-9, 1.0 + 0x3p-9, 1.0 + 0x1p-23, 1.0 + 0x1p-24, 1.75}) {
      reals.push_back(std::ldexp(factor, power));
    }
  }
  for (int bits : {7, 8, 15, 16, 31, 32, 63, 64}) {
    for (double offset : {-1.5, -1.0, -0.5, 0.0, 0.5, 1.0}) reals.push_back(std::ldexp(1.0, bits) + offset);
  }
  if (dtype == Dtype::kF32) {
    std::vector<float> floats;
    for (double real : reals) {
      const auto value = static_cast<float>(real);
      for (float x : {value, std::nextafter(value, INFINITY), std::nextafter(value, 0.f)}) {
        floats.push_back(x);
        floats.push_back(-x);
      }
    }
    return bytes_of(floats);
  }
  if (dtype == Dtype::kF64) {
    std::vector<double> doubles;
    for (double value : reals) {
      for (double x : {value, std::nextafter(value, INFINITY), std::nextafter(value, 0.0)}) {
        doubles.push_back(x);
        doubles.push_back(-x);
      }
    }
    doubles.insert(doubles.end(), {5e-324, 2.3e-308, 1.7e308});
    return bytes_of(doubles);
  }
  std::vector<int64_t> integers = {0};
  for (int bits = 0; bits < 64; ++bits) {
    for (int64_t offset = -3; offset <= 3; ++offset) {
      const auto value = static_cast<int64_t>((uint64_t{1} << bits) + static_cast<uint64_t>(offset));
      integers.push_back(value);
      integers.push_back(static_cast<int64_t>(0 - static_cast<uint64_t>(value)));
      // Halfway between two f32, give or take one.
      integers.push_back(value | static_cast<int64_t>(uint64_t{1} << (bits > 24 ? bits - 24 : 0)));
    }
  }
  if (dtype == Dtype::kI64) return bytes_of(integers);
  return bytes_of(std::vector<int32_t>(integers.begin(), integers.end()));
}

class Conversions : public ::testing::TestWithParam<Dtype> {};

TEST_P(Conversions, ToEveryTypeAreExact) {
  const auto input = telling_values(GetParam());
  for (int d = 0; d < kDtypeCount; ++d) {
    const auto to = static_cast<Dtype>(d);
    if (to == GetParam()) continue;
    expect_exact(GetParam(), to, input, [&](loop::Builder& b, Value x) { return b.convert(x, to); });
  }
}

std::vector<Dtype> all_dtypes() {
  std::vector<Dtype> dtypes;
  for (int d = 0; d < kDtypeCount; ++d) dtypes.push_back(static_cast<Dtype>(d));
  return dtypes;
}

INSTANTIATE_TEST_SUITE_P(From, Conversions, ::testing::ValuesIn(all_dtypes()),
                         [](const auto& info) { return std::string(name_of(info.param)); });

// LLVM simplifies x * 1 to x, but if denormal results are flushed, they differ.
TEST(Identities, AreNotSimplifiedBecauseTheyFlush) {
  for (Dtype dtype : {Dtype::kF32, Dtype::kF64}) {
    const auto input = telling_values(dtype);
    for (double constant : {1.0, -1.0, 0.0, -0.0}) {
      for (loop::Code code : {loop::Code::kAdd, loop::Code::kSub, loop::Code::kMul, loop::Code::kDiv}) {
        expect_exact(dtype, dtype, input,
                     [&](loop::Builder& b, Value x) { return b.binary(code, x, b.constant(dtype, constant)); });
        expect_exact(dtype, dtype, input,
                     [&](loop::Builder& b, Value x) { return b.binary(code, b.constant(dtype, constant), x); });
      }
    }
  }
}

// A quotient by a power of two may be computed as a product, unless the inverse is not a normal number.
TEST(Quotients, ByPowersOfTwoAreExact) {
  for (Dtype dtype : {Dtype::kF32, Dtype::kF64}) {
    const auto input = telling_values(dtype);
    const int last = dtype == Dtype::kF32 ? 127 : 1023;
    for (int power : {-last - 20, -last + 1, -3, -1, 1, 2, 7, last - 1, last})
      for (double sign : {1.0, -1.0})
        expect_exact(dtype, dtype, input,
                     [&](loop::Builder& b, Value x) { return x / b.constant(dtype, std::ldexp(sign, power)); });
  }
}

TEST(Identities, OfFusedMultiplyAddAreNotSimplified) {
  const auto input = telling_values(Dtype::kF32);
  for (double factor : {1.0, -1.0, 0.0}) {
    for (double addend : {0.0, -0.0, 1.0}) {
      expect_exact(Dtype::kF32, Dtype::kF32, input, [&](loop::Builder& b, Value x) {
        return b.fma(x, b.constant(Dtype::kF32, factor), b.constant(Dtype::kF32, addend));
      });
    }
  }
}

TEST(Identities, RoundTripThroughDoubleFlushes) {
  expect_exact(Dtype::kF32, Dtype::kF32, telling_values(Dtype::kF32),
               [](loop::Builder& b, Value x) { return b.convert(b.convert(x, Dtype::kF64), Dtype::kF32); });
}

TEST(Constants, AreNotFoldedAtCompileTime) {
  const auto input = telling_values(Dtype::kBool);
  for (double tiny : {1e-40, -1e-40, 1e-30}) {
    expect_exact(Dtype::kBool, Dtype::kF32, input, [&](loop::Builder& b, Value x) {
      const Value a = b.constant(Dtype::kF32, tiny), c = b.constant(Dtype::kF32, 0.5);
      return b.select(x, a * c, b.fma(a, c, a) + a);
    });
    expect_exact(Dtype::kBool, Dtype::kF32, input, [&](loop::Builder& b, Value x) {
      return b.select(x, b.convert(b.constant(Dtype::kF64, tiny), Dtype::kF32), b.constant(Dtype::kF32, tiny));
    });
  }
}

TEST(Rounding, IsExactInEveryMode) {
  for (Dtype dtype : {Dtype::kF32, Dtype::kF64}) {
    for (loop::Code code : {loop::Code::kFloor, loop::Code::kCeil, loop::Code::kTrunc, loop::Code::kRound,
                            loop::Code::kSqrt, loop::Code::kAbs, loop::Code::kNeg}) {
      expect_exact(dtype, dtype, telling_values(dtype), [&](loop::Builder& b, Value x) { return b.unary(code, x); });
    }
  }
}

}  // namespace
}  // namespace lucid::codegen
