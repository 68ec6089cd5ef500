#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/device.h"
#include "base/dtype.h"
#include "base/small_vector.h"

namespace lucid {

using DimsView = std::span<const SymInt>;

inline constexpr int64_t kMaxRank = 64;

/// The dtype, shape and device of a value, the input and output of shape rules.
struct TensorType {
  Dtype dtype = Dtype::kF32;
  Dims shape;
  Device device = kCpuDevice;
  bool operator==(const TensorType&) const = default;
};

/// A strided view of a buffer, in elements: element (i0, i1, ...) is at offset + i0*strides[0] + i1*strides[1] + ...
struct Geometry {
  Dims sizes;
  Dims strides;
  SymInt offset = 0;
  bool operator==(const Geometry&) const = default;
};

/// "f32[8,4]" or "f32[8,4]@gpu:0", as in the IR's text form and in messages.
std::string to_string(const TensorType& type);
/// "[8,4]".
std::string to_string(DimsView dims);

/// The number of elements of a valid shape.
SymInt numel(DimsView sizes);
/// The number of elements of a shape that the user requested. Throws ValueError naming `op` if a size is negative, if
/// there are more than kMaxRank sizes, or if the bytes (or the strides of an empty tensor) would not fit in 63 bits.
SymInt checked_numel(std::string_view op, DimsView sizes, size_t element_bytes);

Dims contiguous_strides(DimsView sizes);
bool is_contiguous(DimsView sizes, DimsView strides);
/// Whether the elements fill a block of memory without gaps or overlaps, in any order of dimensions.
bool is_dense(DimsView sizes, DimsView strides);
/// Whether some dimension larger than 1 has stride 0, so that several elements share memory.
bool has_internal_overlap(DimsView sizes, DimsView strides);
/// The half-open range of buffer elements that a geometry can access; empty for empty tensors.
std::pair<SymInt, SymInt> element_range(const Geometry& geometry);

/// The broadcast shape of two operands. Throws ValueError naming `op` and both shapes.
Dims broadcast(std::string_view op, DimsView a, DimsView b);
/// The strides that read `sizes`/`strides` as the broadcast `shape` (0 along broadcast dimensions).
Dims broadcast_strides(DimsView sizes, DimsView strides, DimsView shape);

/// Converts a possibly negative axis to 0..rank-1. Throws IndexError naming `op`; a 0-d tensor accepts 0 and -1.
int64_t normalize_axis(std::string_view op, int64_t axis, int64_t rank);
/// Normalizes several axes and rejects duplicates. The result is sorted. An empty list stays empty.
Dims normalize_axes(std::string_view op, DimsView axes, int64_t rank);

/// Resolves one -1 in a requested shape against the number of elements. Throws ValueError naming `op`.
Dims infer_shape(std::string_view op, DimsView requested, SymInt elements);
/// The strides that view `sizes`/`strides` as `shape` without copying, if they exist. `shape` must have the same number
/// of elements.
std::optional<Dims> view_strides(DimsView sizes, DimsView strides, DimsView shape);

/// The strides of an elementwise result, by PyTorch's rule. If all operands have the same dense layout, the result has
/// it too. Otherwise dimensions are ordered by the strides of the operands; earlier operands take precedence, and
/// dimensions along which an operand is broadcast are ignored for it. The result is always dense.
Dims elementwise_strides(DimsView shape, std::span<const Geometry* const> operands);

}  // namespace lucid
