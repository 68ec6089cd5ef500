#pragma once

#include <cstdint>

#include "base/scalar.h"

namespace lucid::test {

/// Element `index` of an array of floats of a dtype.
inline double read_float(Dtype dtype, const void* memory, int64_t index) {
  switch (dtype) {
    case Dtype::kF64:
      return static_cast<const double*>(memory)[index];
    case Dtype::kF32:
      return static_cast<const float*>(memory)[index];
    case Dtype::kF16:
      return f16_to_f32(static_cast<const uint16_t*>(memory)[index]);
    default:
      return bf16_to_f32(static_cast<const uint16_t*>(memory)[index]);
  }
}

inline void write_float(Dtype dtype, void* memory, int64_t index, double value) {
  switch (dtype) {
    case Dtype::kF64:
      static_cast<double*>(memory)[index] = value;
      return;
    case Dtype::kF32:
      static_cast<float*>(memory)[index] = static_cast<float>(value);
      return;
    case Dtype::kF16:
      static_cast<uint16_t*>(memory)[index] = f32_to_f16(static_cast<float>(value));
      return;
    default:
      static_cast<uint16_t*>(memory)[index] = f32_to_bf16(static_cast<float>(value));
      return;
  }
}

}  // namespace lucid::test
