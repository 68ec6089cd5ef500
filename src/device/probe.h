#pragma once

#include "device/gpu.h"

namespace lucid {

/// What was found out by computing.
struct GpuArithmetic {
  bool fused_fma = true;
  bool exact_divide = true;
  bool exact_sqrt = true;
  /// Whether subnormal operands and results are not replaced by zero.
  bool keeps_subnormals = true;
};

struct GpuArithmetics {
  GpuArithmetic f32;
  GpuArithmetic f64;
};

/// Computes sums, products, quotients, square roots and fused operations, and compares them with the host's. Vulkan
/// guarantees little, and drivers do not say what they do. Throws RuntimeError if sums and products are wrong.
GpuArithmetics probe_arithmetic(Gpu& gpu, CodeGenerator& generator);

}  // namespace lucid
