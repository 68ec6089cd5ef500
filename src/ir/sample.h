#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/scalar.h"
#include "base/shape.h"
#include "ir/schema.h"

namespace lucid {

/// The contents of a sample tensor. Random numbers depend only on the sample, so every test sees the same ones.
enum class Fill : uint8_t {
  kNormal,       // around zero, both signs; small integers for integer dtypes
  kPositive,     // above zero
  kLarge,        // above one
  kUnit,         // inside (-1, 1)
  kNonZero,      // away from zero on both sides
  kDistinct,     // no two elements equal: for sorting and arg-reductions
  kIndex,        // integers in [-bound, bound)
  kOffset,       // integers in [0, bound)
  kMask,         // bools
  kTrueMask,     // bools, all true
  kBound,        // all equal to bound
  kProbability,  // inside (0, 1)
  kSign,         // 1 and -1
};

struct SampleTensor {
  Dims shape;
  Fill fill = Fill::kNormal;
  /// Strides in elements; 0 repeats an element. Empty for a contiguous tensor.
  Dims strides;
  /// Set if the tensor's dtype is not the one under test (indices, masks).
  std::optional<Dtype> dtype;
  int64_t bound = 0;
  /// A plain number instead of a tensor.
  std::optional<Scalar> number;
  /// An absent optional operand.
  bool absent = false;
};

/// Arguments of one valid call: tensors for the operands, and the attributes that differ from their defaults.
struct Sample {
  std::vector<SampleTensor> tensors;
  std::vector<std::pair<std::string, Attribute>> attributes = {};
};

inline SampleTensor normal(Dims shape) { return {.shape = std::move(shape)}; }
inline SampleTensor positive(Dims shape) { return {.shape = std::move(shape), .fill = Fill::kPositive}; }
inline SampleTensor unit(Dims shape) { return {.shape = std::move(shape), .fill = Fill::kUnit}; }
inline SampleTensor nonzero(Dims shape) { return {.shape = std::move(shape), .fill = Fill::kNonZero}; }
inline SampleTensor distinct(Dims shape) { return {.shape = std::move(shape), .fill = Fill::kDistinct}; }
inline SampleTensor strided(Dims shape, Dims strides, Fill fill = Fill::kNormal) {
  return {.shape = std::move(shape), .fill = fill, .strides = std::move(strides)};
}
/// i64 indices in [-bound, bound).
inline SampleTensor indices(Dims shape, int64_t bound) {
  return {.shape = std::move(shape), .fill = Fill::kIndex, .dtype = Dtype::kI64, .bound = bound};
}
/// i64 indices in [0, bound).
inline SampleTensor offsets(Dims shape, int64_t bound) {
  return {.shape = std::move(shape), .fill = Fill::kOffset, .dtype = Dtype::kI64, .bound = bound};
}
inline SampleTensor mask(Dims shape) { return {.shape = std::move(shape), .fill = Fill::kMask, .dtype = Dtype::kBool}; }
inline SampleTensor number(Scalar value) { return {.number = value}; }
inline SampleTensor absent() { return {.absent = true}; }

}  // namespace lucid
