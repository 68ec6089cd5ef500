#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/dtype.h"
#include "base/small_vector.h"

namespace lucid {

using DimsView = std::span<const int64_t>;

inline constexpr int64_t kMaxRank = 64;

/// What shape rules work with: the dtype and sizes of a value, without its memory.
struct TensorType {
  Dtype dtype = Dtype::kF32;
  Dims shape;
  bool operator==(const TensorType&) const = default;
};

/// A strided window on a buffer, in elements: element (i0, i1, ...) lies at offset + i0*strides[0] + i1*strides[1] +
/// ...
struct Geometry {
  Dims sizes;
  Dims strides;
  int64_t offset = 0;
  bool operator==(const Geometry&) const = default;
};

/// "f32[8,4]", as in the IR's text form and in messages.
std::string to_string(const TensorType& type);
/// "[8,4]".
std::string to_string(DimsView dims);

/// The number of elements of a shape that is known to be valid.
int64_t numel(DimsView sizes);
/// The number of elements of a shape that a user asked for. Throws ValueError naming `op` when a size is negative, when
/// there are more than kMaxRank, or when the bytes (or the strides, if it is empty) would not fit in 63 bits.
int64_t checked_numel(std::string_view op, DimsView sizes, size_t element_bytes);

Dims contiguous_strides(DimsView sizes);
bool is_contiguous(DimsView sizes, DimsView strides);
/// True when the elements fill a block of memory without gaps or overlaps, in any order of dimensions.
bool is_dense(DimsView sizes, DimsView strides);
/// True when some dimension larger than 1 has stride 0, so that several elements are one place in memory.
bool has_internal_overlap(DimsView sizes, DimsView strides);
/// The half-open range of buffer elements that a geometry can touch; empty for empty tensors.
std::pair<int64_t, int64_t> element_range(const Geometry& geometry);

/// The common shape of operands, by broadcasting. Throws ValueError naming `op` and both shapes.
Dims broadcast(std::string_view op, DimsView a, DimsView b);
/// The strides with which `sizes`/`strides` is read as the broadcast `shape` (0 along stretched dimensions).
Dims broadcast_strides(DimsView sizes, DimsView strides, DimsView shape);

/// Turns a possibly negative axis into 0..rank-1. Throws IndexError naming `op`; a 0-d tensor accepts 0 and -1.
int64_t normalize_axis(std::string_view op, int64_t axis, int64_t rank);
/// Normalises several axes and rejects duplicates. The result is sorted. No axes stay no axes.
Dims normalize_axes(std::string_view op, DimsView axes, int64_t rank);

/// Resolves one -1 in a requested shape against the number of elements. Throws ValueError naming `op`.
Dims infer_shape(std::string_view op, DimsView requested, int64_t elements);
/// The strides that view `sizes`/`strides` as `shape`, which has as many elements, without moving memory, if there are
/// any.
std::optional<Dims> view_strides(DimsView sizes, DimsView strides, DimsView shape);

/// The strides of an elementwise result, by PyTorch's rule: operands that agree on a dense layout pass it on; otherwise
/// dimensions are ordered by the operands' strides, the first operand deciding. Along dimensions where an operand is
/// broadcast it has no say. The result is always dense.
Dims elementwise_strides(DimsView shape, std::span<const Geometry* const> operands);

}  // namespace lucid
