// Views of parts of a tensor.

#include <algorithm>

#include "ops/rules.h"
#include "ops/view_rules.h"

namespace lucid {
namespace {

/// g padded with zeros along `axis` to `size` elements, starting at `start`. Elements past the end are dropped.
Value zero_padded(Emitter& e, const Value& g, int64_t axis, SymInt start, SymInt size) {
  const SymInt after = size - start - g.size(axis);
  if (start == 0 && after == 0) return g;
  Dims pad(2 * static_cast<size_t>(g.rank() - axis));
  pad[pad.size() - 2] = start;
  pad[pad.size() - 1] = after;
  return e.constant_pad(g, pad, 0.0);
}

/// Completes a view of some elements. place(e, call, g) returns the gradient of the operand.
template <typename F, typename G>
Op partial_view(Op op, F view, G place) {
  op = strided_view(std::move(op), view);
  op.gradient = {.rule = [place](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
    return {place(e, call, g[0])};
  }};
  return op;
}

Op select() {
  return partial_view(
      {
          .signature = "select(x, dim: axis, index: int)",
          .doc = R"(Returns a view of `x` at position `index` along `dim`, with that dimension removed. A negative
`index` counts from the end. Raises IndexError if `index` is out of range.

>>> lucid.select(lucid.tensor([[1, 2], [3, 4]]), 1, 0)
tensor([1, 3]))",
          .samples = with({{{normal({3, 4})}}}, {{"dim", int64_t{0}}, {"index", int64_t{-1}}}) +
                     with({{{strided({3, 4}, {1, 3})}}}, {{"dim", int64_t{1}}, {"index", int64_t{2}}}),
      },
      [](const Call& call, const Geometry& operand) {
        if (operand.sizes.empty()) throw IndexError("select: a 0-d tensor has no dimension to select from");
        const auto axis = static_cast<size_t>(call.axis("dim"));
        const SymInt size = operand.sizes[axis];
        const SymInt index = call.integer("index");
        if (index < -size || index >= size)
          throw IndexError("select: index {} is out of range for dimension {} of {}", index, axis,
                           to_string(call.operand(0).type()));
        Geometry result = operand;
        result.offset += (index < 0 ? index + size : index) * operand.strides[axis];
        result.sizes.erase(axis);
        result.strides.erase(axis);
        return result;
      },
      [](Emitter& e, const GradientCall& call, const Value& g) {
        const int64_t axis = call.axis("dim");
        const SymInt index = call.integer("index");
        const SymInt size = call.shape(0)[static_cast<size_t>(axis)];
        return zero_padded(e, e.unsqueeze(g, axis), axis, index < 0 ? index + size : index, size);
      });
}

/// The start and the end of a slice in a dimension of this size.
std::pair<SymInt, SymInt> slice_bounds(const Call& call, SymInt size) {
  const auto bound = [&](std::string_view name, SymInt missing) {
    if (call.is_none(name)) return missing;
    const SymInt value = call.integer(name);
    return std::clamp<SymInt>(value < 0 ? value + size : value, 0, size);
  };
  const SymInt start = bound("start", 0);
  return {start, std::max(bound("end", size), start)};
}

Op slice() {
  return partial_view(
      {
          .signature = "slice(x, dim: axis = 0, start: int? = None, end: int? = None, step: int = 1)",
          .doc = R"(Returns a view of every `step`-th element of `x` from `start` up to but not including `end` along
`dim`. Negative bounds count from the end, and bounds out of range are clamped, as for slices in
Python. Raises ValueError if `step` is not positive.

>>> lucid.slice(lucid.arange(10), 0, 2, 9, 3)
tensor([2, 5, 8]))",
          .samples = std::vector<Sample>{{{normal({5, 3})}}} +
                     with({{{normal({5, 3})}}}, {{"start", int64_t{1}}, {"end", int64_t{-1}}, {"step", int64_t{2}}}) +
                     with({{{normal({3, 9})}}}, {{"dim", int64_t{-1}}, {"start", int64_t{7}}, {"end", int64_t{3}}}),
      },
      [](const Call& call, const Geometry& operand) {
        if (operand.sizes.empty()) throw IndexError("slice: a 0-d tensor has no dimension to slice");
        const auto axis = static_cast<size_t>(call.axis("dim"));
        const SymInt size = operand.sizes[axis];
        const int64_t step = call.integer("step");
        if (step <= 0) throw ValueError("slice: step must be positive, got {}", step);
        const auto [start, end] = slice_bounds(call, size);
        Geometry result = operand;
        result.offset += start * operand.strides[axis];
        // Written so that a step near the largest integer does not overflow.
        result.sizes[axis] = end == start ? SymInt(0) : (end - start - 1) / step + 1;
        result.strides[axis] = result.sizes[axis] > 1 ? operand.strides[axis] * step : operand.strides[axis];
        return result;
      },
      [](Emitter& e, const GradientCall& call, const Value& g) {
        const int64_t axis = call.axis("dim");
        const SymInt size = call.shape(0)[static_cast<size_t>(axis)];
        const int64_t step = call.integer("step");
        if (g.size(axis) <= 1 || step == 1) return zero_padded(e, g, axis, slice_bounds(call, size).first, size);
        // Insert the zeros between consecutive elements.
        Dims spread = g.shape();
        spread[static_cast<size_t>(axis)] *= step;
        const Value wide = e.reshape(zero_padded(e, e.unsqueeze(g, axis + 1), axis + 1, 0, step), spread);
        return zero_padded(e, wide, axis, slice_bounds(call, size).first, size);
      });
}

Op narrow() {
  return partial_view(
      {
          .signature = "narrow(x, dim: axis, start: int, length: int)",
          .doc = R"(Returns a view of `length` consecutive elements of `x` from `start` along `dim`. A negative `start`
counts from the end. Raises IndexError if `start` is out of range and ValueError if the elements
extend past the end.

>>> lucid.narrow(lucid.arange(5), 0, 1, 3)
tensor([1, 2, 3]))",
          .samples = with({{{normal({5, 3})}}}, {{"dim", int64_t{0}}, {"start", int64_t{1}}, {"length", int64_t{3}}}) +
                     with({{{normal({5, 3})}}}, {{"dim", int64_t{1}}, {"start", int64_t{-2}}, {"length", int64_t{0}}}),
      },
      [](const Call& call, const Geometry& operand) {
        if (operand.sizes.empty()) throw IndexError("narrow: a 0-d tensor has no dimension to narrow");
        const auto axis = static_cast<size_t>(call.axis("dim"));
        const SymInt size = operand.sizes[axis];
        const SymInt given = call.integer("start");
        const SymInt length = call.integer("length");
        if (given < -size || given > size)
          throw IndexError("narrow: start {} is out of range for dimension {} of {}", given, axis,
                           to_string(call.operand(0).type()));
        const SymInt start = given < 0 ? given + size : given;
        if (length < 0 || length > size - start)
          throw ValueError("narrow: start {} and length {} exceed dimension {} of {}", start, length, axis,
                           to_string(call.operand(0).type()));
        Geometry result = operand;
        result.offset += start * operand.strides[axis];
        result.sizes[axis] = length;
        return result;
      },
      [](Emitter& e, const GradientCall& call, const Value& g) {
        const int64_t axis = call.axis("dim");
        const SymInt size = call.shape(0)[static_cast<size_t>(axis)];
        const SymInt start = call.integer("start");
        return zero_padded(e, g, axis, start < 0 ? start + size : start, size);
      });
}

Op diagonal() {
  return partial_view(
      {
          .signature = "diagonal(x, offset: int = 0, dim1: axis = 0, dim2: axis = 1)",
          .doc = R"(Returns a view of the diagonal of `x` over the dimensions `dim1` and `dim2`, as the last dimension
of the result. Positive offsets select diagonals above the main one and negative offsets those below
it. Raises ValueError if `x` has fewer than two dimensions.

>>> lucid.diagonal(lucid.tensor([[1, 2], [3, 4]]))
tensor([1, 4]))",
          .samples = std::vector<Sample>{{{normal({3, 4})}}, {{normal({3, 3, 2})}}} +
                     with({{{normal({3, 4})}}}, {{"offset", int64_t{1}}}) +
                     with({{{normal({3, 4})}}}, {{"offset", int64_t{-2}}}) +
                     with({{{normal({3, 4})}}}, {{"offset", int64_t{9}}}) +
                     with({{{normal({2, 3, 4})}}}, {{"dim1", int64_t{-1}}, {"dim2", int64_t{0}}}),
      },
      [](const Call& call, const Geometry& operand) {
        const int64_t rank = operand.sizes.rank();
        if (rank < 2) throw ValueError("diagonal: {} has fewer than two dimensions", to_string(call.operand(0).type()));
        const auto first = static_cast<size_t>(call.axis("dim1"));
        const auto second = static_cast<size_t>(call.axis("dim2"));
        if (first == second) throw ValueError("diagonal: dim1 and dim2 are both {}", first);
        const SymInt offset = call.integer("offset");
        const SymInt rows = operand.sizes[first];
        const SymInt columns = operand.sizes[second];
        const bool above = offset >= 0;
        // Far offsets select an empty diagonal. Compare before subtracting to avoid overflow.
        const bool empty = above ? offset >= columns : offset <= -rows;
        const SymInt length = empty   ? SymInt(0)
                              : above ? std::min(rows, columns - offset)
                                      : std::min(rows + offset, columns);
        Geometry result{{}, {}, operand.offset};
        if (length > 0) result.offset += above ? offset * operand.strides[second] : -offset * operand.strides[first];
        for (size_t d = 0; d < operand.sizes.size(); ++d) {
          if (d == first || d == second) continue;
          result.sizes.push_back(operand.sizes[d]);
          result.strides.push_back(operand.strides[d]);
        }
        result.sizes.push_back(length);
        result.strides.push_back(operand.strides[first] + operand.strides[second]);
        return result;
      },
      [](Emitter& e, const GradientCall& call, const Value& g) {
        const int64_t first = call.axis("dim1");
        const int64_t second = call.axis("dim2");
        const SymInt rows = call.shape(0)[static_cast<size_t>(first)];
        const SymInt columns = call.shape(0)[static_cast<size_t>(second)];
        const SymInt offset = call.integer("offset");
        const int64_t last = g.rank() - 1;
        if (g.size(last) == 0) return e.full(call.shape(0), 0, g.dtype());
        // In a flattened matrix the elements of a diagonal are columns + 1 apart.
        const Value wide =
            e.flatten(zero_padded(e, e.unsqueeze(g, last + 1), last + 1, 0, columns + 1), last, last + 1);
        const Value flat = zero_padded(e, wide, last, offset >= 0 ? offset : -offset * columns, rows * columns);
        return e.movedim(e.unflatten(flat, last, Dims{rows, columns}), Dims{-2, -1}, Dims{first, second});
      });
}

}  // namespace

void add_slice_ops(std::vector<Op>& ops) {
  for (auto make : {select, slice, narrow, diagonal}) ops.push_back(make());
}

}  // namespace lucid
