#include <fmt/format.h>
#include <gtest/gtest.h>
#include <xmmintrin.h>

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "base/scalar.h"
#include "codegen/code_generator.h"
#include "cpu_levels.h"
#include "loop/builder.h"
#include "loop/codes.h"
#include "loop/interpret.h"
#include "random_kernel.h"
#include "run_code.h"

namespace lucid::codegen {
namespace {

constexpr unsigned kFlushToZero = 0x8000;

/// Sets whether denormal results are flushed, until the end of the scope.
class FlushScope {
 public:
  explicit FlushScope(bool flush) : saved_(_mm_getcsr()) {
    _mm_setcsr(flush ? saved_ | kFlushToZero : saved_ & ~kFlushToZero);
  }
  FlushScope(const FlushScope&) = delete;
  FlushScope& operator=(const FlushScope&) = delete;
  ~FlushScope() { _mm_setcsr(saved_); }

 private:
  unsigned saved_;
};

template <typename T>
void fill_floats(std::vector<std::byte>& bytes, std::mt19937& random) {
  using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
  static constexpr double kSpecial[] = {
      0.0,   -0.0,  1.0,   -1.0,  0.5,    1.5,          2.5,    -2.5,    65519.0,  65520.0,   1e-40, 3e-8,
      -6e-5, 1e300, 127.5, 255.9, -128.9, 2147483647.0, 9.3e18, -9.3e18, INFINITY, -INFINITY, NAN,   1.17549435e-38};
  for (size_t i = 0; i < bytes.size() / sizeof(T); ++i) {
    T value;
    switch (random() % 3) {
      case 0: {
        const Bits bits = static_cast<Bits>(uint64_t{random()} << 32 | random());
        std::memcpy(&value, &bits, sizeof(T));
        break;
      }
      case 1:
        value = static_cast<T>(kSpecial[random() % std::size(kSpecial)]);
        break;
      default:
        value = static_cast<T>(static_cast<int>(random() % 20001) - 10000) / 64;
    }
    std::memcpy(&bytes[i * sizeof(T)], &value, sizeof(T));
  }
}

/// The arguments of a random kernel: an input and an output of every dtype.
struct Memory {
  std::vector<std::vector<std::byte>> buffers;

  explicit Memory(uint32_t seed) {
    std::mt19937 random(seed);
    for (int number = 0; number < 2 * kDtypeCount; ++number) {
      const auto dtype = static_cast<Dtype>(number % kDtypeCount);
      std::vector<std::byte> bytes(loop::kRandomKernelElements * size_of(dtype));
      if (dtype == Dtype::kF32) {
        fill_floats<float>(bytes, random);
      } else if (dtype == Dtype::kF64) {
        fill_floats<double>(bytes, random);
      } else {
        for (std::byte& byte : bytes) byte = static_cast<std::byte>(dtype == Dtype::kBool ? random() % 2 : random());
      }
      buffers.push_back(std::move(bytes));
    }
  }

  std::vector<void*> pointers() {
    std::vector<void*> result;
    for (auto& bytes : buffers) result.push_back(bytes.data());
    return result;
  }
};

double as_double(Dtype dtype, const std::byte* element) {
  uint16_t half = 0;
  float single = 0;
  double whole = 0;
  switch (dtype) {
    case Dtype::kF16:
    case Dtype::kBF16:
      std::memcpy(&half, element, sizeof half);
      return dtype == Dtype::kF16 ? f16_to_f32(half) : bf16_to_f32(half);
    case Dtype::kF32:
      std::memcpy(&single, element, sizeof single);
      return single;
    default:
      std::memcpy(&whole, element, sizeof whole);
      return whole;
  }
}

/// The first difference, or nothing. All NaNs are equal.
std::string difference(const Memory& expected, const Memory& actual) {
  for (size_t number = 0; number < expected.buffers.size(); ++number) {
    const auto dtype = static_cast<Dtype>(number % kDtypeCount);
    const size_t size = size_of(dtype);
    for (size_t i = 0; i < loop::kRandomKernelElements; ++i) {
      const std::byte* a = &expected.buffers[number][i * size];
      const std::byte* b = &actual.buffers[number][i * size];
      if (std::memcmp(a, b, size) == 0) continue;
      if (is_float(dtype) && std::isnan(as_double(dtype, a)) && std::isnan(as_double(dtype, b))) continue;
      uint64_t x = 0, y = 0;
      std::memcpy(&x, a, size);
      std::memcpy(&y, b, size);
      return fmt::format("buffer {} ({}) element {}: expected {:#x}, got {:#x}", number, name_of(dtype), i, x, y);
    }
  }
  return "";
}

class RandomKernels : public ::testing::TestWithParam<CpuLevel> {};

TEST_P(RandomKernels, GeneratedCodeMatchesTheInterpreterBitForBit) {
  auto generator = make_llvm_generator();
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const loop::Kernel kernel = loop::random_kernel(seed, 12 + static_cast<int>(seed % 40));
    const auto code = generator->load(kernel, generator->compile(kernel, GetParam()));
    for (bool flush : {false, true}) {
      Memory expected(seed), actual(seed);
      const int64_t params[] = {seed % 3 ? static_cast<int64_t>(seed) * -7919 : 5};
      const int64_t begin = seed % 20, end = loop::kRandomKernelItems - seed % 7;
      {
        const FlushScope scope(flush);
        loop::interpret(kernel, expected.pointers().data(), params, begin, end);
        run_code(*code, actual.pointers().data(), params, begin, end);
      }
      ASSERT_EQ(difference(expected, actual), "")
          << "seed " << seed << (flush ? ", flushing\n" : ", not flushing\n") << loop::to_text(kernel);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, RandomKernels, ::testing::ValuesIn(test::runnable_levels()),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace lucid::codegen
