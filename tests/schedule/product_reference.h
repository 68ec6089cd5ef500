#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <optional>
#include <ostream>
#include <random>
#include <vector>

#include "base/scalar.h"
#include "float_elements.h"
#include "schedule/contraction.h"

/// Products of matrices computed element by element, in the canonical order.
namespace lucid::product_reference {

/// The memory layout of an factor.
enum class FactorLayout { kPlain, kTransposed, kStrided, kSharedBatch, kSharedRow };

struct Case {
  int64_t batches = 1;
  int64_t m = 1;
  int64_t n = 1;
  int64_t k = 1;
  FactorLayout a = FactorLayout::kPlain;
  FactorLayout b = FactorLayout::kPlain;
  Dtype dtype = Dtype::kF32;
};

inline std::ostream& operator<<(std::ostream& out, const Case& test) {
  return out << name_of(test.dtype) << " " << test.batches << "x" << test.m << "x" << test.n << "x" << test.k
             << " layouts " << static_cast<int>(test.a) << " " << static_cast<int>(test.b);
}

inline int64_t read_integer(Dtype dtype, const void* memory, int64_t index) {
  switch (dtype) {
    case Dtype::kU8:
      return static_cast<const uint8_t*>(memory)[index];
    case Dtype::kI8:
      return static_cast<const int8_t*>(memory)[index];
    case Dtype::kI16:
      return static_cast<const int16_t*>(memory)[index];
    case Dtype::kI32:
      return static_cast<const int32_t*>(memory)[index];
    default:
      return static_cast<const int64_t*>(memory)[index];
  }
}

/// A factor of the product and its memory, which ends with its last element.
struct Factor {
  MemoryOperand description;
  std::vector<std::byte> memory;
};

inline Factor make_factor(ValueId id, Dtype dtype, int64_t batches, int64_t rows, int64_t columns, FactorLayout layout,
                          std::mt19937& random) {
  Factor factor;
  Dims strides;
  switch (layout) {
    case FactorLayout::kPlain:
      strides = {rows * columns, columns, 1};
      break;
    case FactorLayout::kTransposed:
      strides = {rows * columns, 1, rows};
      break;
    case FactorLayout::kStrided:
      strides = {rows * columns * 6 + 5, columns * 3 + 2, 2};
      break;
    case FactorLayout::kSharedBatch:
      strides = {0, columns, 1};
      break;
    case FactorLayout::kSharedRow:
      strides = {columns, 0, 1};
      break;
  }
  const int64_t offset = 3;
  factor.description = {
      .id = id, .dtype = dtype, .geometry = {.sizes = {batches, rows, columns}, .strides = strides, .offset = offset}};
  const int64_t elements = offset + std::max<int64_t>(batches - 1, 0) * strides[0] +
                           std::max<int64_t>(rows - 1, 0) * strides[1] +
                           std::max<int64_t>(columns - 1, 0) * strides[2] + 1;
  factor.memory.resize(static_cast<size_t>(elements) * size_of(dtype));
  if (is_integer(dtype)) {
    for (std::byte& byte : factor.memory) byte = static_cast<std::byte>(random());
  } else {
    std::normal_distribution<float> normal;
    for (int64_t i = 0; i < elements; ++i) test::write_float(dtype, factor.memory.data(), i, normal(random));
  }
  return factor;
}

inline int64_t offset_of(const Factor& factor, int64_t i, int64_t j, int64_t k) {
  const Geometry& geometry = factor.description.geometry;
  return geometry.offset + i * geometry.strides[0] + j * geometry.strides[1] + k * geometry.strides[2];
}

/// Chains over blocks of 512, added in order.
template <typename T>
T product_of(int64_t k, const std::function<T(int64_t)>& a, const std::function<T(int64_t)>& b) {
  T total = 0;
  for (int64_t first = 0; first < k; first += 512) {
    T chain = 0;
    for (int64_t i = first; i < std::min(k, first + 512); ++i) chain = std::fma(a(i), b(i), chain);
    total = first == 0 ? chain : total + chain;
  }
  return total;
}

/// Sixteen lanes in blocks of 256, k padded with zeros to a multiple of 16; blocks are added as a binary counter does.
template <typename T>
T column_product_of(int64_t k, const std::function<T(int64_t)>& a, const std::function<T(int64_t)>& b) {
  using Lanes = std::array<T, 16>;
  auto sum = [](Lanes x, const Lanes& y) {
    for (size_t lane = 0; lane < 16; ++lane) x[lane] += y[lane];
    return x;
  };
  std::map<int, Lanes> levels;
  for (int64_t first = 0; first < k; first += 256) {
    Lanes block{};
    for (int64_t i = first; i < std::min(first + 256, (k + 15) / 16 * 16); ++i) {
      T& lane = block[static_cast<size_t>(i % 16)];
      lane = i < k ? std::fma(a(i), b(i), lane) : std::fma(T(0), T(0), lane);
    }
    int level = 0;
    for (; levels.contains(level); ++level) {
      block = sum(levels[level], block);
      levels.erase(level);
    }
    levels[level] = block;
  }
  std::optional<Lanes> total;
  for (const auto& [level, lanes] : levels) total = total ? sum(*total, lanes) : lanes;
  for (size_t distance = 8; distance > 0; distance /= 2) {
    for (size_t lane = 0; lane < distance; ++lane) (*total)[lane] += (*total)[lane + distance];
  }
  return (*total)[0];
}

template <typename T>
double float_element(const Case& test, const Factor& a, const Factor& b, int64_t i, int64_t m, int64_t n) {
  std::function<T(int64_t)> left = [&](int64_t k) {
    return static_cast<T>(test::read_float(test.dtype, a.memory.data(), offset_of(a, i, m, k)));
  };
  std::function<T(int64_t)> right = [&](int64_t k) {
    return static_cast<T>(test::read_float(test.dtype, b.memory.data(), offset_of(b, i, k, n)));
  };
  return test.n == 1 && test.k > 0 ? column_product_of<T>(test.k, left, right) : product_of<T>(test.k, left, right);
}

inline std::vector<std::byte> expected_result(const Case& test, const Factor& a, const Factor& b) {
  const size_t bytes = size_of(test.dtype);
  std::vector<std::byte> result(static_cast<size_t>(test.batches * test.m * test.n) * bytes);
  for (int64_t i = 0, at = 0; i < test.batches; ++i) {
    for (int64_t m = 0; m < test.m; ++m) {
      for (int64_t n = 0; n < test.n; ++n, ++at) {
        if (is_integer(test.dtype)) {
          uint64_t sum = 0;
          for (int64_t k = 0; k < test.k; ++k) {
            sum += static_cast<uint64_t>(read_integer(test.dtype, a.memory.data(), offset_of(a, i, m, k))) *
                   static_cast<uint64_t>(read_integer(test.dtype, b.memory.data(), offset_of(b, i, k, n)));
          }
          // The low bytes come first.
          std::memcpy(result.data() + static_cast<size_t>(at) * bytes, &sum, bytes);
        } else {
          test::write_float(test.dtype, result.data(), at,
                            test.dtype == Dtype::kF64 ? float_element<double>(test, a, b, i, m, n)
                                                      : float_element<float>(test, a, b, i, m, n));
        }
      }
    }
  }
  return result;
}

}  // namespace lucid::product_reference
