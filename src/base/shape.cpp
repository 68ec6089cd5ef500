#include "base/shape.h"

#include <algorithm>
#include <array>
#include <limits>

#include "base/checked_int.h"
#include "base/error.h"

namespace lucid {
namespace {

bool same(DimsView a, DimsView b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i] != b[i]) return false;
  return true;
}

bool is_empty(DimsView sizes) { return std::find(sizes.begin(), sizes.end(), SymInt(0)) != sizes.end(); }

void check_rank(std::string_view op, DimsView sizes) {
  if (static_cast<int64_t>(sizes.size()) > kMaxRank)
    throw ValueError("{}: {} dimensions are too many; a tensor has at most {}", op, sizes.size(), kMaxRank);
}

/// The image layout [batch, channel, height, width] with the channels innermost.
constexpr std::array<size_t, 4> kChannelsLastOrder = {1, 3, 2, 0};

bool is_channels_last(DimsView sizes, DimsView strides) {
  if (sizes.size() != 4) return false;
  SymInt expected = 1;
  for (size_t dim : kChannelsLastOrder) {
    if (sizes[dim] == 1) continue;
    if (strides[dim] != expected) return false;
    expected *= sizes[dim];
  }
  return true;
}

Dims channels_last_strides(DimsView sizes) {
  Dims strides(4);
  SymInt next = 1;
  for (size_t dim : kChannelsLastOrder) {
    strides[dim] = next;
    next *= std::max<SymInt>(sizes[dim], 1);
  }
  return strides;
}

/// The operands' strides aligned to the result's dimensions, 0 where an operand is broadcast: a row for each operand.
using StrideRows = SmallVector<SymInt, 32>;

StrideRows align(DimsView shape, std::span<const Geometry* const> operands) {
  StrideRows rows;
  for (const Geometry* operand : operands) {
    const size_t lead = shape.size() - operand->sizes.size();
    for (size_t i = 0; i < lead; ++i) rows.push_back(0);
    for (size_t i = 0; i < operand->sizes.size(); ++i) {
      const bool stretched = operand->sizes[i] == 1 && shape[lead + i] != 1;
      rows.push_back(stretched ? SymInt(0) : operand->strides[i]);
    }
  }
  return rows;
}

/// Compares dimension `a` with dimension `b`, currently the outer one. Positive if `a` should be the outer one; 0 if no
/// operand determines the order, because each is broadcast along one of them.
int compare_order(DimsView shape, const StrideRows& rows, size_t a, size_t b) {
  for (size_t row = 0; row < rows.size(); row += shape.size()) {
    const SymInt stride_a = rows[row + a], stride_b = rows[row + b];
    if (stride_a == 0 || stride_b == 0) continue;
    if (stride_a != stride_b) return stride_a < stride_b ? -1 : 1;
    if (shape[a] > shape[b]) return 1;
  }
  return 0;
}

/// Dense strides with dimensions in the order of the operands. This must remain an insertion sort: the order above is
/// not transitive, so another sort would choose other layouts than PyTorch.
Dims sorted_strides(DimsView shape, std::span<const Geometry* const> operands) {
  const StrideRows rows = align(shape, operands);
  const size_t rank = shape.size();
  std::array<size_t, kMaxRank> inner_to_outer;
  for (size_t i = 0; i < rank; ++i) inner_to_outer[i] = rank - 1 - i;
  for (size_t i = 1; i < rank; ++i) {
    size_t moving = i;
    for (size_t j = i; j-- > 0;) {
      const int order = compare_order(shape, rows, inner_to_outer[j], inner_to_outer[moving]);
      if (order < 0) break;
      if (order == 0) continue;
      std::swap(inner_to_outer[j], inner_to_outer[moving]);
      moving = j;
    }
  }

  Dims strides(rank);
  SymInt next = 1;
  for (size_t i = 0; i < rank; ++i) {
    const size_t dim = inner_to_outer[i];
    strides[dim] = next;
    next *= std::max<SymInt>(shape[dim], 1);
  }
  return strides;
}

template <typename Predicate>
bool every(std::span<const Geometry* const> operands, Predicate predicate) {
  return std::all_of(operands.begin(), operands.end(), [&](const Geometry* operand) { return predicate(*operand); });
}

}  // namespace

std::string to_string(const TensorType& type) {
  return fmt::format("{}{}{}", name_of(type.dtype), to_string(DimsView(type.shape)),
                     type.device == kCpuDevice ? "" : "@" + to_string(type.device));
}

std::string to_string(DimsView dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) text += ',';
    text += fmt::format("{}", dims[i]);
  }
  return text + ']';
}

SymInt numel(DimsView sizes) {
  SymInt count = 1;
  for (SymInt size : sizes) count *= size;
  return count;
}

SymInt checked_numel(std::string_view op, DimsView sizes, size_t element_bytes) {
  check_rank(op, sizes);
  // Zeros are omitted from the product, so that the strides of an empty tensor fit too. No trace has to note the
  // outcome: traced sizes always fit.
  CheckedInt bytes = element_bytes;
  for (SymInt size : sizes) {
    if (size < 0) throw ValueError("{}: shape {} has a negative size", op, to_string(sizes));
    bytes *= std::max<int64_t>(size.unguarded(), 1);
  }
  if (!bytes.has_value())
    throw ValueError("{}: shape {} is too large: its {}-byte elements would not fit in 63 bits of address", op,
                     to_string(sizes), element_bytes);
  return numel(sizes);
}

Dims contiguous_strides(DimsView sizes) {
  Dims strides(sizes.size());
  SymInt next = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = next;
    next *= std::max<SymInt>(sizes[i], 1);
  }
  return strides;
}

bool is_contiguous(DimsView sizes, DimsView strides) {
  SymInt expected = 1;
  bool in_order = true;
  for (size_t i = sizes.size(); i-- > 0;) {
    if (sizes[i] == 1) continue;
    if (sizes[i] == 0) return true;
    if (in_order && strides[i] != expected) in_order = false;
    if (in_order) expected *= sizes[i];
  }
  return in_order;
}

bool is_dense(DimsView sizes, DimsView strides) {
  if (is_contiguous(sizes, strides)) return true;
  std::array<std::pair<SymInt, SymInt>, kMaxRank> dims;
  size_t count = 0;
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] != 1) dims[count++] = {strides[i], sizes[i]};
  std::sort(dims.begin(), dims.begin() + count,
            [](const auto& a, const auto& b) { return a.first == b.first ? a.second < b.second : a.first < b.first; });
  SymInt expected = 1;
  for (size_t i = 0; i < count; ++i) {
    if (dims[i].first != expected) return false;
    expected *= dims[i].second;
  }
  return true;
}

bool has_internal_overlap(DimsView sizes, DimsView strides) {
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i] > 1 && strides[i] == 0) return true;
  return false;
}

std::pair<SymInt, SymInt> element_range(const Geometry& geometry) {
  SymInt first = geometry.offset, last = geometry.offset;
  for (size_t i = 0; i < geometry.sizes.size(); ++i) {
    if (geometry.sizes[i] == 0) return {geometry.offset, geometry.offset};
    const SymInt reach = (geometry.sizes[i] - 1) * geometry.strides[i];
    (reach < 0 ? first : last) += reach;
  }
  return {first, last + 1};
}

Dims broadcast(std::string_view op, DimsView a, DimsView b) {
  if (same(a, b)) return Dims(a);
  const DimsView longer = a.size() >= b.size() ? a : b;
  const DimsView shorter = a.size() >= b.size() ? b : a;
  const size_t lead = longer.size() - shorter.size();
  Dims shape(longer);
  for (size_t i = 0; i < shorter.size(); ++i) {
    SymInt& size = shape[lead + i];
    if (size == shorter[i] || shorter[i] == 1) continue;
    if (size != 1)
      throw ValueError(
          "{}: shapes {} and {} do not broadcast: dimension {} from the right is {} and {}; it must be equal "
          "in both, or 1 in one",
          op, to_string(a), to_string(b), shorter.size() - i, a[a.size() - shorter.size() + i],
          b[b.size() - shorter.size() + i]);
    size = shorter[i];
  }
  return shape;
}

Dims broadcast_strides(DimsView sizes, DimsView strides, DimsView shape) {
  if (same(sizes, shape)) return Dims(strides);
  LUCID_CHECK(sizes.size() <= shape.size(), "{} read as {}", to_string(sizes), to_string(shape));
  const size_t lead = shape.size() - sizes.size();
  Dims result(shape.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    const bool stretched = sizes[i] != shape[lead + i];
    LUCID_CHECK(!stretched || sizes[i] == 1, "{} read as {}", to_string(sizes), to_string(shape));
    result[lead + i] = stretched ? SymInt(0) : strides[i];
  }
  return result;
}

int64_t normalize_axis(std::string_view op, int64_t axis, int64_t rank) {
  const int64_t axes = std::max<int64_t>(rank, 1);
  if (axis < -axes || axis >= axes)
    throw IndexError("{}: axis {} is out of range for a tensor with {} dimension{}; expected {} to {}", op, axis, rank,
                     rank == 1 ? "" : "s", -axes, axes - 1);
  return axis < 0 ? axis + axes : axis;
}

Dims normalize_axes(std::string_view op, DimsView axes, int64_t rank) {
  Dims result;
  for (int64_t axis : axes) result.push_back(normalize_axis(op, axis, rank));
  std::sort(result.begin(), result.end());
  const auto* twice = std::adjacent_find(result.begin(), result.end());
  if (twice != result.end()) throw ValueError("{}: axes {} name axis {} more than once", op, to_string(axes), *twice);
  return result;
}

Dims infer_shape(std::string_view op, DimsView requested, SymInt elements) {
  check_rank(op, requested);
  Dims shape(requested);
  SymInt* unknown = nullptr;
  SymInt known = 1;
  int64_t product = 1;
  bool fits = true;
  for (SymInt& size : shape) {
    if (size == -1) {
      if (unknown)
        throw ValueError("{}: shape {} has more than one -1; only one size can be inferred", op, to_string(requested));
      unknown = &size;
    } else if (size < 0) {
      throw ValueError("{}: shape {} has a negative size; only -1, meaning \"infer\", is allowed", op,
                       to_string(requested));
    } else {
      fits &= !__builtin_mul_overflow(product, size.unguarded(), &product);
      known *= size;
    }
  }
  if (is_empty(requested)) known = 0, fits = true;
  if (unknown && known == 0 && elements == 0)
    throw ValueError("{}: the -1 in shape {} is ambiguous: with no elements any size fits; write the size", op,
                     to_string(requested));
  if (unknown && fits && known > 0 && elements % known == 0) {
    *unknown = elements / known;
    return shape;
  }
  if (unknown || !fits || known != elements)
    throw ValueError("{}: shape {} does not hold {} element{}", op, to_string(requested), elements,
                     elements == 1 ? "" : "s");
  return shape;
}

std::optional<Dims> view_strides(DimsView sizes, DimsView strides, DimsView shape) {
  if (is_empty(sizes)) return same(sizes, shape) ? Dims(strides) : contiguous_strides(shape);
  Dims result(shape.size(), 1);
  if (sizes.empty()) return result;

  // Group source dimensions from the right into chunks with a uniform step. The next few dimensions of the new shape
  // must split each chunk exactly.
  size_t left = shape.size();
  SymInt step = strides.back();
  SymInt chunk = 1;
  SymInt covered = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    chunk *= sizes[i];
    const bool chunk_ends = i == 0 || (sizes[i - 1] != 1 && strides[i - 1] != chunk * step);
    if (!chunk_ends) continue;
    while (left > 0 && (covered < chunk || shape[left - 1] == 1)) {
      --left;
      result[left] = covered * step;
      covered *= shape[left];
    }
    if (covered != chunk) return std::nullopt;
    if (i > 0) {
      step = strides[i - 1];
      chunk = covered = 1;
    }
  }
  return left == 0 ? std::optional<Dims>(std::move(result)) : std::nullopt;
}

Dims elementwise_strides(DimsView shape, std::span<const Geometry* const> operands) {
  // Nearly every call returns after this loop, so it only compares.
  Dims contiguous = contiguous_strides(shape);
  bool same_shape = true;
  bool all_contiguous = true;
  for (const Geometry* operand : operands) {
    same_shape = same_shape && same(operand->sizes, shape);
    if (!same_shape) break;
    all_contiguous =
        all_contiguous && (same(operand->strides, contiguous) || is_contiguous(operand->sizes, operand->strides));
  }
  if (!same_shape) return sorted_strides(shape, operands);
  if (all_contiguous) return contiguous;
  if (every(operands, [](const Geometry& g) { return is_channels_last(g.sizes, g.strides); }))
    return channels_last_strides(shape);
  const Dims& first = operands.front()->strides;
  if (is_dense(shape, first) && every(operands, [&](const Geometry& g) { return same(g.strides, first); }))
    return first;
  return sorted_strides(shape, operands);
}

}  // namespace lucid
