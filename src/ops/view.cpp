// Views of all elements with another shape or order of dimensions.

#include <algorithm>

#include "ops/rules.h"
#include "ops/view_rules.h"

namespace lucid {
namespace {

using Types = std::vector<TensorType>;

/// The gradient of views that contain every element once, in the same row-major order.
Gradient reshaped_gradient() {
  return {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
    return {e.reshape(g[0], call.shape(0))};
  }};
}

/// Completes a view that regroups elements, which is possible only for some strides.
template <typename F>
Op reshaping(Op op, F shape_of) {
  op.infer = [shape_of](const Call& call) -> Types { return {{call.dtype(0), shape_of(call)}}; };
  op.view = [shape_of](const Call& call, const Geometry& operand) -> std::optional<Geometry> {
    Dims shape = shape_of(call);
    std::optional<Dims> strides = view_strides(operand.sizes, operand.strides, shape);
    if (!strides) return std::nullopt;
    return Geometry{std::move(shape), std::move(*strides), operand.offset};
  };
  op.gradient = reshaped_gradient();
  return op;
}

Geometry permuted(const Geometry& operand, DimsView order) {
  Geometry result{{}, {}, operand.offset};
  for (int64_t axis : order) {
    result.sizes.push_back(operand.sizes[static_cast<size_t>(axis)]);
    result.strides.push_back(operand.strides[static_cast<size_t>(axis)]);
  }
  return result;
}

/// Completes a view that permutes dimensions: result dimension i is operand dimension order_of(call)[i].
template <typename F>
Op reordering(Op op, F order_of) {
  op = strided_view(std::move(op), [order_of](const Call& call, const Geometry& operand) {
    return permuted(operand, order_of(call));
  });
  op.gradient = {.rule = [order_of](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
    const Dims order = order_of(call);
    Dims back(order.size());
    for (size_t i = 0; i < order.size(); ++i) back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
    return {e.permute(g[0], back)};
  }};
  return op;
}

Op reshape() {
  return reshaping(
      {
          .signature = "reshape(x, shape: ints*)",
          .doc = R"(Returns the elements of `x` in row-major order with the shape `shape`. One size may be -1 and is
then inferred. The result is a view if the strides of `x` allow it and a copy otherwise. Raises
ValueError if the number of elements differs.

>>> lucid.reshape(lucid.tensor([1, 2, 3, 4]), (2, -1))
tensor([[1, 2],
        [3, 4]]))",
          .samples = with({{{normal({6, 4})}}, {{strided({6, 4}, {1, 6})}}}, {{"shape", Dims{3, -1, 2}}}) +
                     with({{{normal({})}}}, {{"shape", Dims{1, 1}}}) +
                     with({{{normal({0, 4})}}}, {{"shape", Dims{4, 0}}}) +
                     with({{{normal({2, 3})}}}, {{"shape", Dims{-1}}}) + with({{{normal({1})}}}, {{"shape", Dims{}}}),
      },
      [](const Call& call) { return infer_shape(call.name(), call.ints("shape"), numel(call.shape(0))); });
}

Op flatten() {
  return reshaping(
      {
          .signature = "flatten(x, start_dim: axis = 0, end_dim: axis = -1)",
          .doc = R"(Returns `x` with the dimensions from `start_dim` to `end_dim`, both included, merged into one. A 0-d
tensor becomes a vector of one element. The result is a view if the strides of `x` allow it and a
copy otherwise.

>>> lucid.flatten(lucid.zeros(2, 3, 4), 1).shape
(2, 12))",
          .samples = std::vector<Sample>{{{normal({2, 3, 4})}}, {{normal({})}}} +
                     with({{{normal({2, 3, 4})}}, {{strided({2, 3, 4}, {1, 2, 6})}}}, {{"start_dim", int64_t{1}}}) +
                     with({{{normal({2, 0, 4})}}}, {{"end_dim", int64_t{1}}}),
      },
      [](const Call& call) -> Dims {
        const int64_t rank = call.rank(0);
        const int64_t first = call.axis("start_dim");
        const int64_t last = call.axis("end_dim");
        if (rank == 0) return {1};
        if (first > last)
          throw ValueError("flatten: start_dim {} comes after end_dim {} of {}", first, last,
                           to_string(call.operand(0).type()));
        Dims shape;
        for (int64_t d = 0; d < rank; ++d) {
          const SymInt size = call.shape(0)[static_cast<size_t>(d)];
          if (d > first && d <= last)
            shape.back() *= size;
          else
            shape.push_back(size);
        }
        return shape;
      });
}

Op unflatten() {
  return reshaping(
      {
          .signature = "unflatten(x, dim: axis, sizes: ints)",
          .doc = R"(Returns `x` with dimension `dim` split into dimensions of the given `sizes`. One size may be -1 and
is then inferred. The result is a view.

>>> lucid.unflatten(lucid.zeros(2, 12), 1, (3, -1)).shape
(2, 3, 4))",
          .samples =
              with({{{normal({2, 12})}}, {{strided({2, 12}, {1, 2})}}}, {{"dim", int64_t{-1}}, {"sizes", Dims{3, -1}}}),
      },
      [](const Call& call) {
        if (call.rank(0) == 0) throw IndexError("unflatten: a 0-d tensor has no dimension to split");
        const auto axis = static_cast<size_t>(call.axis("dim"));
        const Dims inner = infer_shape(call.name(), call.ints("sizes"), call.shape(0)[axis]);
        Dims shape(call.shape(0).begin(), call.shape(0).begin() + axis);
        for (SymInt size : inner) shape.push_back(size);
        for (size_t d = axis + 1; d < call.shape(0).size(); ++d) shape.push_back(call.shape(0)[d]);
        return shape;
      });
}

Op squeeze() {
  Op op = strided_view(
      {
          .signature = "squeeze(x, dim: axes? = None)",
          .doc = R"(Returns a view of `x` without its dimensions of size 1. If `dim` is given, removes only those of the
given dimensions that have size 1.

>>> lucid.squeeze(lucid.zeros(1, 3, 1)).shape
(3,))",
          .names = {.in_place = true},
          .samples = std::vector<Sample>{{{normal({1, 3, 1})}}, {{normal({})}}} +
                     with({{{normal({1, 3, 1})}}}, {{"dim", Dims{0}}}) +
                     with({{{normal({1, 3, 1})}}}, {{"dim", Dims{1, -1}}}),
      },
      [](const Call& call, const Geometry& operand) {
        const bool all = call.is_none("dim");
        const Dims axes = call.axes("dim");
        Geometry result{{}, {}, operand.offset};
        for (int64_t d = 0; d < operand.sizes.rank(); ++d) {
          const auto i = static_cast<size_t>(d);
          const bool named = all || std::find(axes.begin(), axes.end(), d) != axes.end();
          if (named && operand.sizes[i] == 1) continue;
          result.sizes.push_back(operand.sizes[i]);
          result.strides.push_back(operand.strides[i]);
        }
        return result;
      });
  op.gradient = reshaped_gradient();
  return op;
}

Op unsqueeze() {
  Op op = strided_view(
      {
          .signature = "unsqueeze(x, dim: axis)",
          .doc = R"(Returns a view of `x` with a dimension of size 1 inserted at position `dim`. A negative `dim` counts
from the end of the result.

>>> lucid.unsqueeze(lucid.zeros(3), 0).shape
(1, 3))",
          .names = {.in_place = true},
          .samples = with({{{normal({3, 2})}}, {{normal({})}}}, {{"dim", int64_t{0}}}) +
                     with({{{normal({3, 2})}}, {{strided({3, 2}, {1, 3})}}}, {{"dim", int64_t{-1}}}),
      },
      [](const Call& call, const Geometry& operand) {
        const int64_t rank = operand.sizes.rank();
        const auto axis = static_cast<size_t>(call.axis("dim", rank + 1));
        Geometry result = operand;
        const SymInt stride = axis < operand.sizes.size() ? operand.sizes[axis] * operand.strides[axis] : SymInt(1);
        result.sizes.insert(axis, 1);
        result.strides.insert(axis, stride);
        return result;
      });
  op.gradient = reshaped_gradient();
  return op;
}

Op exchange(Op op) {
  op.samples = with({{{normal({2, 3})}}, {{normal({2, 3, 4})}}}, {{"dim0", int64_t{0}}, {"dim1", int64_t{-1}}}) +
               with({{{normal({})}}}, {{"dim0", int64_t{0}}, {"dim1", int64_t{0}}});
  return reordering(std::move(op), [](const Call& call) {
    const auto first = static_cast<size_t>(call.axis("dim0"));
    const auto second = static_cast<size_t>(call.axis("dim1"));
    Dims order = natural_order(call.rank(0));
    if (!order.empty()) std::swap(order[first], order[second]);
    return order;
  });
}

Op transpose() {
  return exchange({.signature = "transpose(x, dim0: axis, dim1: axis)",
                   .doc = R"(Returns a view of `x` with dimensions `dim0` and `dim1` swapped.

>>> lucid.transpose(lucid.zeros(2, 3), 0, 1).shape
(3, 2))",
                   .names = {.in_place = true}});
}

Op swapaxes() {
  return exchange({.signature = "swapaxes(x, dim0: axis, dim1: axis)",
                   .doc = R"(Alias of transpose: returns a view of `x` with dimensions `dim0` and `dim1` swapped.

>>> lucid.swapaxes(lucid.zeros(2, 3), 0, 1).shape
(3, 2))",
                   .names = {.in_place = true}});
}

Op swapdims() {
  return exchange({.signature = "swapdims(x, dim0: axis, dim1: axis)",
                   .doc = R"(Alias of transpose: returns a view of `x` with dimensions `dim0` and `dim1` swapped.

>>> lucid.swapdims(lucid.zeros(2, 3), 0, 1).shape
(3, 2))",
                   .names = {.in_place = true}});
}

Op permute() {
  return reordering(
      {
          .signature = "permute(x, dims: axes*)",
          .doc = R"(Returns a view of `x` with its dimensions in the order `dims`: dimension i of the result is
dimension dims[i] of `x`. Raises ValueError if `dims` is not a permutation of all dimensions.

>>> lucid.permute(lucid.zeros(2, 3, 4), (2, 0, 1)).shape
(4, 2, 3))",
          .samples = with({{{normal({2, 3, 4})}}, {{strided({2, 3, 4}, {12, 1, 3})}}}, {{"dims", Dims{2, 0, -2}}}) +
                     with({{{normal({})}}}, {{"dims", Dims{}}}),
      },
      [](const Call& call) {
        const int64_t rank = call.rank(0);
        const Dims& dims = call.ints("dims");
        if (dims.rank() != rank)
          throw ValueError("permute: {} has {} dimensions but dims {} names {}", to_string(call.operand(0).type()),
                           rank, to_string(dims), dims.size());
        return call.ordered_axes("dims");
      });
}

Op movedim() {
  return reordering(
      {
          .signature = "movedim(x, source: axes, destination: axes)",
          .doc = R"(Returns a view of `x` with the dimensions `source` moved to the positions `destination`. The other
dimensions keep their order. Raises ValueError if the two differ in length or repeat a dimension.

>>> lucid.movedim(lucid.zeros(2, 3, 4), 0, -1).shape
(3, 4, 2))",
          .samples = with({{{normal({2, 3, 4})}}}, {{"source", Dims{0}}, {"destination", Dims{-1}}}) +
                     with({{{normal({2, 3, 4})}}}, {{"source", Dims{0, 1}}, {"destination", Dims{2, 0}}}),
      },
      [](const Call& call) {
        const int64_t rank = call.rank(0);
        if (call.ints("source").size() != call.ints("destination").size())
          throw ValueError("movedim: source {} and destination {} differ in length", to_string(call.ints("source")),
                           to_string(call.ints("destination")));
        const Dims source = call.ordered_axes("source");
        const Dims destination = call.ordered_axes("destination");
        if (rank == 0) return Dims();
        Dims order(static_cast<size_t>(rank), -1);
        std::vector<bool> moved(static_cast<size_t>(rank));
        for (size_t i = 0; i < source.size(); ++i) {
          order[static_cast<size_t>(destination[i])] = source[i];
          moved[static_cast<size_t>(source[i])] = true;
        }
        size_t next = 0;
        for (SymInt& axis : order) {
          if (axis >= 0) continue;
          while (moved[next]) ++next;
          axis = static_cast<int64_t>(next++);
        }
        return order;
      });
}

Op stretch(Op op) {
  op.samples = with({{{normal({3, 1})}}, {{normal({3, 4})}}, {{normal({})}}}, {{"size", Dims{2, 3, 4}}}) +
               with({{{normal({1, 3})}}}, {{"size", Dims{0, -1}}});
  op = strided_view(std::move(op), [](const Call& call, const Geometry& operand) {
    const Dims& wanted = call.ints("size");
    const int64_t lead = wanted.rank() - operand.sizes.rank();
    if (lead < 0 || wanted.rank() > kMaxRank)
      throw ValueError("{}: size {} must have at least as many dimensions as {} and at most {}", call.name(),
                       to_string(wanted), to_string(call.operand(0).type()), kMaxRank);
    Geometry result{wanted, Dims(wanted.size()), operand.offset};
    for (int64_t d = wanted.rank() - 1; d >= 0; --d) {
      const auto i = static_cast<size_t>(d);
      if (d < lead) {
        if (wanted[i] < 0)
          throw ValueError("{}: size {} is not allowed for the new dimension {} in {}", call.name(), wanted[i], d,
                           to_string(wanted));
        const bool follows = wanted[i] == 1 && i + 1 < wanted.size();
        result.strides[i] = follows ? result.sizes[i + 1] * result.strides[i + 1] : SymInt(wanted[i] == 1);
        continue;
      }
      const auto from = static_cast<size_t>(d - lead);
      const SymInt size = operand.sizes[from];
      if (wanted[i] < -1 || (wanted[i] != -1 && wanted[i] != size && size != 1))
        throw ValueError("{}: dimension {} of {} cannot be expanded to {} in {}", call.name(), from,
                         to_string(call.operand(0).type()), wanted[i], to_string(wanted));
      result.sizes[i] = wanted[i] == -1 ? size : wanted[i];
      result.strides[i] = result.sizes[i] == size ? operand.strides[from] : SymInt(0);
    }
    checked_numel(call.name(), result.sizes, size_of(call.dtype(0)));
    return result;
  });
  op.gradient = {.rule = [](Emitter&, const GradientCall&, std::span<const Value> g) -> Values { return {g[0]}; }};
  return op;
}

Op expand() {
  return stretch(
      {.signature = "expand(x, size: ints*)",
       .doc = R"(Returns a view of `x` with dimensions of size 1 expanded to `size` without copying. A size of -1 keeps
the size of that dimension. `size` may have additional leading dimensions. Raises ValueError if a
dimension of another size would change.

>>> lucid.expand(lucid.tensor([[1], [2]]), (2, 3))
tensor([[1, 1, 1],
        [2, 2, 2]]))"});
}

Op broadcast_to() {
  return stretch(
      {.signature = "broadcast_to(x, size: ints*)",
       .doc = R"(Alias of expand: returns a view of `x` with dimensions of size 1 expanded to `size` without copying.

>>> lucid.broadcast_to(lucid.tensor([[1], [2]]), (2, 3))
tensor([[1, 1, 1],
        [2, 2, 2]]))"});
}

}  // namespace

void add_view_ops(std::vector<Op>& ops) {
  for (auto make : {reshape, flatten, unflatten, squeeze, unsqueeze, transpose, swapaxes, swapdims, permute, movedim,
                    expand, broadcast_to})
    ops.push_back(make());
}

}  // namespace lucid
