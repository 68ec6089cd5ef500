// Other ways to look at the same memory.

#include <algorithm>
#include <numeric>

#include "ops/rules.h"

namespace lucid {
namespace {

using Types = std::vector<TensorType>;

int64_t axis_of(const Call& call, std::string_view name = "dim") {
  return normalize_axis(call.name(), call.integer(name), call.rank(0));
}

/// A view rule from one on geometries; the shape rule applies it to a contiguous operand.
template <typename F>
Op strided_view(Op op, F f) {
  op.infer = [f](const Call& call) -> Types {
    return {{call.dtype(0), f(call, {call.shape(0), contiguous_strides(call.shape(0)), 0}).sizes}};
  };
  op.view = [f](const Call& call, const Geometry& operand) -> std::optional<Geometry> { return f(call, operand); };
  return op;
}

/// The gradient of views that keep every element once, in the same row-major order.
Gradient reshaped_gradient() {
  return {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
    return {e.reshape(g[0], call.shape(0))};
  }};
}

/// Views that regroup elements: possible only for some strides.
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

/// Views that put dimensions in another order: result dimension i is operand dimension order(call)[i].
template <typename F>
Op reordering(Op op, F order_of) {
  op = strided_view(std::move(op),
                    [order_of](const Call& call, const Geometry& operand) { return permuted(operand, order_of(call)); });
  op.gradient = {.rule = [order_of](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
    const Dims order = order_of(call);
    Dims back(order.size());
    for (size_t i = 0; i < order.size(); ++i) back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
    return {e.permute(g[0], back)};
  }};
  return op;
}

Dims identity_order(int64_t rank) {
  Dims order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

Op reshape() {
  return reshaping(
      {
          .signature = "reshape(x, shape: ints*)",
          .doc = R"(The same elements in row-major order under another shape; one size may be -1. A view if the strides allow it.

>>> lucid.reshape(lucid.tensor([1, 2, 3, 4]), (2, -1))
tensor([[1, 2],
        [3, 4]]))",
          .samples = with({{{normal({6, 4})}}, {{strided({6, 4}, {1, 6})}}}, {{"shape", Dims{3, -1, 2}}}) +
                     with({{{normal({})}}}, {{"shape", Dims{1, 1}}}) + with({{{normal({0, 4})}}}, {{"shape", Dims{4, 0}}}) +
                     with({{{normal({2, 3})}}}, {{"shape", Dims{-1}}}) + with({{{normal({1})}}}, {{"shape", Dims{}}}),
      },
      [](const Call& call) { return infer_shape(call.name(), call.ints("shape"), numel(call.shape(0))); });
}

Op flatten() {
  return reshaping(
      {
          .signature = "flatten(x, start_dim: int = 0, end_dim: int = -1)",
          .doc = R"(x with the dimensions from start_dim to end_dim made one.

>>> lucid.flatten(lucid.zeros(2, 3, 4), 1).shape
(2, 12))",
          .samples = std::vector<Sample>{{{normal({2, 3, 4})}}, {{normal({})}}} +
                     with({{{normal({2, 3, 4})}}, {{strided({2, 3, 4}, {1, 2, 6})}}}, {{"start_dim", int64_t{1}}}) +
                     with({{{normal({2, 0, 4})}}}, {{"end_dim", int64_t{1}}}),
      },
      [](const Call& call) -> Dims {
        const int64_t rank = call.rank(0);
        const int64_t first = axis_of(call, "start_dim");
        const int64_t last = axis_of(call, "end_dim");
        if (rank == 0) return {1};
        if (first > last)
          throw ValueError("flatten: start_dim {} comes after end_dim {} of {}", first, last,
                           to_string(call.operand(0).type()));
        Dims shape;
        for (int64_t d = 0; d < rank; ++d) {
          const int64_t size = call.shape(0)[static_cast<size_t>(d)];
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
          .signature = "unflatten(x, dim: int, sizes: ints)",
          .doc = R"(x with one dimension split into several; one size may be -1.

>>> lucid.unflatten(lucid.zeros(2, 12), 1, (3, -1)).shape
(2, 3, 4))",
          .samples = with({{{normal({2, 12})}}, {{strided({2, 12}, {1, 2})}}},
                          {{"dim", int64_t{-1}}, {"sizes", Dims{3, -1}}}),
      },
      [](const Call& call) {
        if (call.rank(0) == 0) throw IndexError("unflatten: a 0-d tensor has no dimension to split");
        const auto axis = static_cast<size_t>(axis_of(call));
        const Dims inner = infer_shape(call.name(), call.ints("sizes"), call.shape(0)[axis]);
        Dims shape(call.shape(0).begin(), call.shape(0).begin() + axis);
        for (int64_t size : inner) shape.push_back(size);
        for (size_t d = axis + 1; d < call.shape(0).size(); ++d) shape.push_back(call.shape(0)[d]);
        return shape;
      });
}

Op squeeze() {
  Op op = strided_view(
      {
          .signature = "squeeze(x, dim: ints? = None)",
          .doc = R"(x without its dimensions of size 1, or without those given that have size 1.

>>> lucid.squeeze(lucid.zeros(1, 3, 1)).shape
(3,))",
          .samples = std::vector<Sample>{{{normal({1, 3, 1})}}, {{normal({})}}} +
                     with({{{normal({1, 3, 1})}}}, {{"dim", Dims{0}}}) + with({{{normal({1, 3, 1})}}}, {{"dim", Dims{1, -1}}}),
      },
      [](const Call& call, const Geometry& operand) {
        const bool all = call.is_none("dim");
        const Dims axes = all ? Dims() : normalize_axes(call.name(), call.ints("dim"), call.rank(0));
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
          .signature = "unsqueeze(x, dim: int)",
          .doc = R"(x with a dimension of size 1 inserted before position dim.

>>> lucid.unsqueeze(lucid.zeros(3), 0).shape
(1, 3))",
          .samples = with({{{normal({3, 2})}}, {{normal({})}}}, {{"dim", int64_t{0}}}) +
                     with({{{normal({3, 2})}}, {{strided({3, 2}, {1, 3})}}}, {{"dim", int64_t{-1}}}),
      },
      [](const Call& call, const Geometry& operand) {
        const int64_t rank = operand.sizes.rank();
        const auto axis = static_cast<size_t>(normalize_axis(call.name(), call.integer("dim"), rank + 1));
        Geometry result = operand;
        const int64_t stride = axis < operand.sizes.size() ? operand.sizes[axis] * operand.strides[axis] : 1;
        result.sizes.insert(axis, 1);
        result.strides.insert(axis, stride);
        return result;
      });
  op.gradient = reshaped_gradient();
  return op;
}

Op transpose(const char* name) {
  return reordering(
      {
          .signature = std::string(name) + "(x, dim0: int, dim1: int)",
          .doc = std::string("x with two dimensions exchanged.\n\n>>> lucid.") + name +
                 "(lucid.zeros(2, 3), 0, 1).shape\n(3, 2)",
          .samples = with({{{normal({2, 3})}}, {{normal({2, 3, 4})}}}, {{"dim0", int64_t{0}}, {"dim1", int64_t{-1}}}) +
                     with({{{normal({})}}}, {{"dim0", int64_t{0}}, {"dim1", int64_t{0}}}),
      },
      [](const Call& call) {
        const auto first = static_cast<size_t>(axis_of(call, "dim0"));
        const auto second = static_cast<size_t>(axis_of(call, "dim1"));
        Dims order = identity_order(call.rank(0));
        if (!order.empty()) std::swap(order[first], order[second]);
        return order;
      });
}

Op permute() {
  return reordering(
      {
          .signature = "permute(x, dims: ints*)",
          .doc = R"(x with its dimensions in another order.

>>> lucid.permute(lucid.zeros(2, 3, 4), (2, 0, 1)).shape
(4, 2, 3))",
          .samples = with({{{normal({2, 3, 4})}}, {{strided({2, 3, 4}, {12, 1, 3})}}}, {{"dims", Dims{2, 0, -2}}}) +
                     with({{{normal({})}}}, {{"dims", Dims{}}}),
      },
      [](const Call& call) {
        const int64_t rank = call.rank(0);
        const Dims& dims = call.ints("dims");
        if (dims.rank() != rank)
          throw ValueError("permute: {} has {} dimensions but dims {} names {}", to_string(call.operand(0).type()), rank,
                           to_string(dims), dims.size());
        normalize_axes(call.name(), dims, rank);  // rejects repeats
        Dims order;
        for (int64_t d : dims) order.push_back(normalize_axis(call.name(), d, rank));
        return order;
      });
}

Op movedim() {
  return reordering(
      {
          .signature = "movedim(x, source: ints, destination: ints)",
          .doc = R"(x with some dimensions moved to new positions, the others keeping their order.

>>> lucid.movedim(lucid.zeros(2, 3, 4), 0, -1).shape
(3, 4, 2))",
          .samples = with({{{normal({2, 3, 4})}}}, {{"source", Dims{0}}, {"destination", Dims{-1}}}) +
                     with({{{normal({2, 3, 4})}}}, {{"source", Dims{0, 1}}, {"destination", Dims{2, 0}}}),
      },
      [](const Call& call) {
        const int64_t rank = call.rank(0);
        const Dims& source = call.ints("source");
        const Dims& destination = call.ints("destination");
        if (source.size() != destination.size())
          throw ValueError("movedim: source {} and destination {} differ in length", to_string(source),
                           to_string(destination));
        normalize_axes(call.name(), source, rank);
        normalize_axes(call.name(), destination, rank);
        if (rank == 0) return Dims();
        Dims order(static_cast<size_t>(rank), -1);
        std::vector<bool> moved(static_cast<size_t>(rank));
        for (size_t i = 0; i < source.size(); ++i) {
          const int64_t from = normalize_axis(call.name(), source[i], rank);
          order[static_cast<size_t>(normalize_axis(call.name(), destination[i], rank))] = from;
          moved[static_cast<size_t>(from)] = true;
        }
        size_t next = 0;
        for (int64_t& axis : order) {
          if (axis >= 0) continue;
          while (moved[next]) ++next;
          axis = static_cast<int64_t>(next++);
        }
        return order;
      });
}

Op expand(const char* name) {
  Op op = strided_view(
      {
          .signature = std::string(name) + "(x, size: ints*)",
          .doc = std::string("x with its dimensions of size 1 repeated to the given sizes without copying; -1 keeps a "
                             "size.\n\n>>> lucid.") +
                 name + "(lucid.tensor([[1], [2]]), (2, 3))\ntensor([[1, 1, 1],\n        [2, 2, 2]])",
          .samples = with({{{normal({3, 1})}}, {{normal({3, 4})}}, {{normal({})}}}, {{"size", Dims{2, 3, 4}}}) +
                     with({{{normal({1, 3})}}}, {{"size", Dims{0, -1}}}),
      },
      [](const Call& call, const Geometry& operand) {
        const Dims& wanted = call.ints("size");
        const int64_t lead = wanted.rank() - operand.sizes.rank();
        if (lead < 0 || wanted.rank() > kMaxRank)
          throw ValueError("{}: size {} must have at least the dimensions of {} and at most {}", call.name(),
                           to_string(wanted), to_string(call.operand(0).type()), kMaxRank);
        Geometry result{wanted, Dims(wanted.size()), operand.offset};
        for (int64_t d = wanted.rank() - 1; d >= 0; --d) {
          const auto i = static_cast<size_t>(d);
          if (d < lead) {
            if (wanted[i] < 0)
              throw ValueError("{}: size {} is not allowed for the new dimension {} in {}", call.name(), wanted[i], d,
                               to_string(wanted));
            const bool follows = wanted[i] == 1 && i + 1 < wanted.size();
            result.strides[i] = follows ? result.sizes[i + 1] * result.strides[i + 1] : wanted[i] == 1 ? 1 : 0;
            continue;
          }
          const auto from = static_cast<size_t>(d - lead);
          const int64_t size = operand.sizes[from];
          if (wanted[i] < -1 || (wanted[i] != -1 && wanted[i] != size && size != 1))
            throw ValueError("{}: dimension {} of {} cannot become {} in {}", call.name(), from,
                             to_string(call.operand(0).type()), wanted[i], to_string(wanted));
          result.sizes[i] = wanted[i] == -1 ? size : wanted[i];
          result.strides[i] = result.sizes[i] == size ? operand.strides[from] : 0;
        }
        checked_numel(call.name(), result.sizes, size_of(call.dtype(0)));
        return result;
      });
  op.gradient = {.rule = [](Emitter&, const GradientCall&, std::span<const Value> g) -> Values { return {g[0]}; }};
  return op;
}

Op select() {
  return strided_view(
      {
          .signature = "select(x, dim: int, index: int)",
          .doc = R"(The part of x at one index along a dimension, which disappears.

>>> lucid.select(lucid.tensor([[1, 2], [3, 4]]), 1, 0)
tensor([1, 3]))",
          .samples = with({{{normal({3, 4})}}}, {{"dim", int64_t{0}}, {"index", int64_t{-1}}}) +
                     with({{{strided({3, 4}, {1, 3})}}}, {{"dim", int64_t{1}}, {"index", int64_t{2}}}),
      },
      [](const Call& call, const Geometry& operand) {
        if (operand.sizes.empty()) throw IndexError("select: a 0-d tensor has no dimension to select from");
        const auto axis = static_cast<size_t>(axis_of(call));
        const int64_t size = operand.sizes[axis];
        const int64_t index = call.integer("index");
        if (index < -size || index >= size)
          throw IndexError("select: index {} is out of range for dimension {} of {}", index, axis,
                           to_string(call.operand(0).type()));
        Geometry result = operand;
        result.offset += (index < 0 ? index + size : index) * operand.strides[axis];
        result.sizes.erase(axis);
        result.strides.erase(axis);
        return result;
      });
}

Op slice() {
  return strided_view(
      {
          .signature = "slice(x, dim: int = 0, start: int? = None, end: int? = None, step: int = 1)",
          .doc = R"(Every step-th index of x from start to end along a dimension; bounds are clipped as Python's slices are.

>>> lucid.slice(lucid.arange(10), 0, 2, 9, 3)
tensor([2, 5, 8]))",
          .samples = std::vector<Sample>{{{normal({5, 3})}}} +
                     with({{{normal({5, 3})}}}, {{"start", int64_t{1}}, {"end", int64_t{-1}}, {"step", int64_t{2}}}) +
                     with({{{normal({3, 9})}}}, {{"dim", int64_t{-1}}, {"start", int64_t{7}}, {"end", int64_t{3}}}),
      },
      [](const Call& call, const Geometry& operand) {
        if (operand.sizes.empty()) throw IndexError("slice: a 0-d tensor has no dimension to slice");
        const auto axis = static_cast<size_t>(axis_of(call));
        const int64_t size = operand.sizes[axis];
        const int64_t step = call.integer("step");
        if (step <= 0) throw ValueError("slice: step {} must be positive", step);
        auto bound = [&](std::string_view name, int64_t missing) {
          if (call.is_none(name)) return missing;
          const int64_t value = call.integer(name);
          return std::clamp<int64_t>(value < 0 ? value + size : value, 0, size);
        };
        const int64_t start = bound("start", 0);
        const int64_t end = std::max(bound("end", size), start);
        Geometry result = operand;
        result.offset += start * operand.strides[axis];
        // Written so that a step near the largest integer does not overflow.
        result.sizes[axis] = end == start ? 0 : (end - start - 1) / step + 1;
        result.strides[axis] = result.sizes[axis] > 1 ? operand.strides[axis] * step : operand.strides[axis];
        return result;
      });
}

Op narrow() {
  return strided_view(
      {
          .signature = "narrow(x, dim: int, start: int, length: int)",
          .doc = R"(`length` neighbouring indices of x from start along a dimension.

>>> lucid.narrow(lucid.arange(5), 0, 1, 3)
tensor([1, 2, 3]))",
          .samples = with({{{normal({5, 3})}}}, {{"dim", int64_t{0}}, {"start", int64_t{1}}, {"length", int64_t{3}}}) +
                     with({{{normal({5, 3})}}}, {{"dim", int64_t{1}}, {"start", int64_t{-2}}, {"length", int64_t{0}}}),
      },
      [](const Call& call, const Geometry& operand) {
        if (operand.sizes.empty()) throw IndexError("narrow: a 0-d tensor has no dimension to narrow");
        const auto axis = static_cast<size_t>(axis_of(call));
        const int64_t size = operand.sizes[axis];
        const int64_t asked = call.integer("start");
        const int64_t length = call.integer("length");
        if (asked < -size || asked > size)
          throw IndexError("narrow: start {} is out of range for dimension {} of {}", asked, axis,
                           to_string(call.operand(0).type()));
        const int64_t start = asked < 0 ? asked + size : asked;
        if (length < 0 || length > size - start)
          throw ValueError("narrow: start {} and length {} exceed dimension {} of {}", start, length, axis,
                           to_string(call.operand(0).type()));
        Geometry result = operand;
        result.offset += start * operand.strides[axis];
        result.sizes[axis] = length;
        return result;
      });
}

Op diagonal() {
  return strided_view(
      {
          .signature = "diagonal(x, offset: int = 0, dim1: int = 0, dim2: int = 1)",
          .doc = R"(The diagonal of x over two dimensions, as the last dimension of the result.

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
        if (rank < 2)
          throw ValueError("diagonal: {} has fewer than two dimensions", to_string(call.operand(0).type()));
        const auto first = static_cast<size_t>(axis_of(call, "dim1"));
        const auto second = static_cast<size_t>(axis_of(call, "dim2"));
        if (first == second) throw ValueError("diagonal: dim1 and dim2 are both {}", first);
        const int64_t offset = call.integer("offset");
        const int64_t rows = operand.sizes[first];
        const int64_t columns = operand.sizes[second];
        const bool above = offset >= 0;
        // Far offsets give an empty diagonal; compared before subtracting, so that none overflows.
        const bool empty = above ? offset >= columns : offset <= -rows;
        const int64_t length = empty ? 0 : above ? std::min(rows, columns - offset) : std::min(rows + offset, columns);
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
      });
}

}  // namespace

void add_view_ops(std::vector<Op>& ops) {
  for (auto make : {reshape, flatten, unflatten, squeeze, unsqueeze, permute, movedim, select, slice, narrow, diagonal})
    ops.push_back(make());
  for (const char* name : {"transpose", "swapaxes", "swapdims"}) ops.push_back(transpose(name));
  for (const char* name : {"expand", "broadcast_to"}) ops.push_back(expand(name));
}

}  // namespace lucid
