#pragma once

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "float_elements.h"
#include "random_kernel.h"

namespace lucid::test {

/// The arguments of a random kernel: an input and an output of every dtype. Floats are random bits, special numbers and
/// simple fractions.
struct RandomMemory {
  std::vector<std::vector<std::byte>> buffers;

  explicit RandomMemory(uint32_t seed, bool has_subnormals = true) {
    std::mt19937 random(seed);
    for (int number = 0; number < 2 * kDtypeCount; ++number) {
      const Dtype dtype = dtype_of(static_cast<size_t>(number));
      std::vector<std::byte> bytes(loop::kRandomKernelElements * size_of(dtype));
      if (dtype == Dtype::kF32) {
        fill_floats<float>(bytes, random, has_subnormals);
      } else if (dtype == Dtype::kF64) {
        fill_floats<double>(bytes, random, has_subnormals);
      } else {
        for (std::byte& byte : bytes) byte = static_cast<std::byte>(dtype == Dtype::kBool ? random() % 2 : random());
      }
      buffers.push_back(std::move(bytes));
    }
  }

  static Dtype dtype_of(size_t buffer) { return static_cast<Dtype>(buffer % kDtypeCount); }

  std::vector<void*> pointers() {
    std::vector<void*> result;
    for (auto& bytes : buffers) result.push_back(bytes.data());
    return result;
  }

 private:
  template <typename T>
  static void fill_floats(std::vector<std::byte>& bytes, std::mt19937& random, bool has_subnormals) {
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
      if (!has_subnormals && value != 0 && std::fabs(value) < std::numeric_limits<T>::min()) value = 1;
      std::memcpy(&bytes[i * sizeof(T)], &value, sizeof(T));
    }
  }
};

/// The first difference, or nothing. All NaNs are equal and, without `has_subnormals`, all numbers that are as small.
inline std::string difference(const RandomMemory& expected, const RandomMemory& actual, bool has_subnormals = true) {
  const auto are_equal = [&](Dtype dtype, const std::byte* a, const std::byte* b) {
    if (std::memcmp(a, b, size_of(dtype)) == 0) return true;
    if (!is_float(dtype)) return false;
    const double x = read_float(dtype, a, 0), y = read_float(dtype, b, 0);
    if (std::isnan(x) && std::isnan(y)) return true;
    const double least = dtype == Dtype::kF64 ? 0x1p-1022 : 0x1p-126;
    return !has_subnormals && std::fabs(x) <= least && std::fabs(y) <= least;
  };
  for (size_t number = 0; number < expected.buffers.size(); ++number) {
    const Dtype dtype = RandomMemory::dtype_of(number);
    for (size_t i = 0; i < expected.buffers[number].size(); i += size_of(dtype)) {
      const std::byte *a = &expected.buffers[number][i], *b = &actual.buffers[number][i];
      if (are_equal(dtype, a, b)) continue;
      uint64_t x = 0, y = 0;
      std::memcpy(&x, a, size_of(dtype));
      std::memcpy(&y, b, size_of(dtype));
      return fmt::format("buffer {} ({}) element {}: expected {:#x}, got {:#x}", number, name_of(dtype),
                         i / size_of(dtype), x, y);
    }
  }
  return "";
}

}  // namespace lucid::test
