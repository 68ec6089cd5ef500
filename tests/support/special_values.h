#pragma once

#include <cstring>
#include <limits>
#include <vector>

#include "ops/interpreter.h"

namespace lucid::test {

/// The special numbers of a dtype: zeros of both signs, NaN, infinities, subnormal numbers, ends of the range.
inline std::vector<Scalar> special_numbers(Dtype dtype) {
  if (is_bool(dtype)) return {false, true};
  if (!is_float(dtype)) {
    const int bits = static_cast<int>(8 * size_of(dtype));
    const int64_t lowest = dtype == Dtype::kU8 ? 0 : std::numeric_limits<int64_t>::min() >> (64 - bits);
    const int64_t highest = dtype == Dtype::kU8 ? 255 : ~lowest;
    return {0, 1, lowest, highest, lowest + 1, highest - 1, dtype == Dtype::kU8 ? 7 : -1, 5};
  }
  std::vector<Scalar> numbers = {std::numeric_limits<double>::quiet_NaN()};
  const double smallest = dtype == Dtype::kF64 ? 0x1p-1022 : dtype == Dtype::kF16 ? 0x1p-14 : 0x1p-126;
  const double step = dtype == Dtype::kF64   ? 0x1p-52
                      : dtype == Dtype::kF32 ? 0x1p-23
                      : dtype == Dtype::kF16 ? 0x1p-10
                                             : 0x1p-7;
  const double largest = dtype == Dtype::kF64    ? std::numeric_limits<double>::max()
                         : dtype == Dtype::kF32  ? std::numeric_limits<float>::max()
                         : dtype == Dtype::kBF16 ? 0x1.fep127
                                                 : 65504.0;
  for (const double positive : {0.0, smallest * step, smallest / 2, smallest * (1 - step), smallest, 0.5, 1.0, 1.5, 2.5,
                                largest, std::numeric_limits<double>::infinity()}) {
    numbers.emplace_back(positive);
    numbers.emplace_back(-positive);
  }
  return numbers;
}

/// A tensor that cycles through the special numbers, starting at index `first`.
inline Value special_tensor(const TensorType& type, size_t first = 0) {
  const std::vector<Scalar> numbers = special_numbers(type.dtype);
  const Value value = Interpreter::make(type);
  const HostArray array = Interpreter::array(value);
  for (int64_t i = 0; i < array.size(); ++i)
    numbers[(first + static_cast<size_t>(i)) % numbers.size()].store(
        type.dtype, array.as<char>() + i * static_cast<int64_t>(size_of(type.dtype)));
  return value;
}

}  // namespace lucid::test
