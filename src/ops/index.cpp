// Ops that select elements by index tensors.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ops/bound_rules.h"
#include "ops/index_rules.h"
#include "ops/reference_index.h"
#include "ops/rules.h"
#include "ops/sort_rules.h"

namespace lucid {
namespace {

using Types = std::vector<TensorType>;

Op index_select() {
  return {
      .signature = "index_select(x, dim: axis, index)",
      .doc = R"(Returns the slices of `x` at the positions `index` along `dim`. `index` is an i64 tensor, 0-d or 1-d.
Raises IndexError for an index that is negative or too large.

>>> lucid.index_select(lucid.tensor([1, 2, 3]), 0, lucid.tensor([2, 0]))
tensor([3, 1]))",
      .infer = [](const Call& call) -> Types {
        check_index_dtype(call, 1);
        if (call.rank(1) > 1)
          throw ValueError("index_select: index must be 0-d or 1-d, got {}", to_string(call.operand(1).type()));
        const int64_t axis = call.axis("dim");
        Dims shape = call.shape(0);
        if (!shape.empty()) shape[static_cast<size_t>(axis)] = numel(call.shape(1));
        if (shape.empty() && numel(call.shape(1)) != 1)
          throw ValueError("index_select: a 0-d tensor takes one index, got {}", to_string(call.operand(1).type()));
        checked_numel(call.name(), shape, size_of(call.dtype(0)));
        return {{call.dtype(0), shape}};
      },
      .lowering = IndexedLowering{.body =
                                      [](ElementContext& element, const Call& call) {
                                        const int64_t rank = call.rank(0);
                                        if (rank == 0) return element.load(0, {}, {});
                                        const auto axis = call.axis("dim");
                                        auto index = all_indices(element, rank);
                                        loop::Value& i = index[static_cast<size_t>(axis)];
                                        const loop::Value at[] = {i};
                                        const auto at_or_none = call.rank(1) == 0 ? std::span<const loop::Value>() : at;
                                        i = checked_index(element, element.load(1, at_or_none, {}), axis, false);
                                        return element.load(0, index, {});
                                      }},
      .reference = reference_moved([](const HostCall& call, Dims index) -> std::optional<Dims> {
        if (index.empty()) return index;
        const auto axis = static_cast<size_t>(call.axis("dim"));
        index[axis] = reference_index(call, 1, index[axis], call.shape(0)[axis], false);
        return index;
      }),
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     if (call.rank(0) == 0) return {e.reshape(g[0], Dims{}), Value()};
                     const Value zeros = e.full(call.shape(0), 0, g[0].dtype());
                     const Value index = e.reshape(call.in(1), Dims{-1});
                     return {e.index_add(zeros, call.integer("dim"), index, g[0]), Value()};
                   },
                   .saved_inputs = {1}},
      .errors = {kOutOfRange},
      .bounds = bounds_along_dim,
      .samples =
          with({{{normal({5, 19}), offsets({3}, 5)}}, {{normal({5}), offsets({20}, 5)}}}, {{"dim", int64_t{0}}}) +
          with({{{strided({4, 3}, {1, 4}), offsets({7}, 3)}}, {{normal({2, 3}), offsets({0}, 3)}}},
               {{"dim", int64_t{-1}}}),
  };
}

Op gather() {
  return {
      .signature = "gather(x, dim: axis, index)",
      .doc = R"(Returns the elements of `x` at the positions `index` along `dim`: in 2-d with dim = 1,
result[i, j] = x[i, index[i, j]]. `index` is an i64 tensor of the shape of the result; it has as many dimensions as
`x` and may be larger only along `dim`. Raises IndexError for an index that is negative or too large.

>>> lucid.gather(lucid.tensor([[1, 2], [3, 4]]), 1, lucid.tensor([[1], [0]]))
tensor([[2],
        [3]]))",
      .infer = [](const Call& call) -> Types {
        check_index_dtype(call, 1);
        check_gather_shape(call, 1, "index");
        return {{call.dtype(0), call.shape(1)}};
      },
      .lowering = IndexedLowering{.body =
                                      [](ElementContext& element, const Call& call) {
                                        const int64_t rank = call.rank(0);
                                        auto index = all_indices(element, rank);
                                        if (rank == 0) return element.load(0, index, {});
                                        const int64_t axis = call.axis("dim");
                                        index[static_cast<size_t>(axis)] =
                                            checked_index(element, element.load(1, index, {}), axis, false);
                                        return element.load(0, index, {});
                                      }},
      .reference = reference_moved([](const HostCall& call, Dims index) -> std::optional<Dims> {
        if (index.empty()) return index;
        const auto axis = static_cast<size_t>(call.axis("dim"));
        const SymInt at = position(call.shape(1), index);
        index[axis] = reference_index(call, 1, at, call.shape(0)[axis], false);
        return index;
      }),
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     const Value zeros = e.full(call.shape(0), 0, g[0].dtype());
                     return {e.scatter_add(zeros, call.integer("dim"), call.in(1), g[0]), Value()};
                   },
                   .saved_inputs = {1}},
      .errors = {kOutOfRange},
      .bounds = bounds_along_dim,
      .samples =
          with({{{normal({5, 19}), offsets({3, 19}, 5)}}, {{normal({5}), offsets({20}, 5)}}}, {{"dim", int64_t{0}}}) +
          with({{{strided({4, 3}, {1, 4}), offsets({2, 7}, 3)}}, {{normal({2, 3}), offsets({2, 0}, 3)}}},
               {{"dim", int64_t{-1}}}),
  };
}

Op index() {
  return {
      .signature = "index(x, indices: tensors)",
      .doc =
          R"(Returns the elements of `x` selected by `indices`, i64 tensors of one shape, one for each leading
dimension of `x`. The result has the shape of an index tensor, followed by the remaining dimensions of `x`. Indexing
such as x[i, j] is implemented by this op. Negative indices count from the end; out-of-range indices raise
IndexError.

>>> lucid.index(lucid.tensor([[1, 2], [3, 4]]), [lucid.tensor([0, 1]), lucid.tensor([1, 1])])
tensor([2, 4]))",
      .names = {.audience = Audience::kOps},
      .infer = [](const Call& call) -> Types {
        check_leading_indices(call, 1);
        const Dims shape = indexed_shape(call, 1);
        checked_numel(call.name(), shape, size_of(call.dtype(0)));
        return {{call.dtype(0), shape}};
      },
      .lowering = IndexedLowering{.body =
                                      [](ElementContext& element, const Call& call) {
                                        return element.load(0, leading_index(element, call, 1), {});
                                      }},
      .reference = reference_moved([](const HostCall& call, const Dims& index) -> std::optional<Dims> {
        return reference_leading(call, index, 1);
      }),
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     Values indices;
                     Values result(call.count());
                     for (size_t i = 1; i < call.count(); ++i) indices.push_back(call.in(i));
                     const Value zeros = e.full(call.shape(0), 0, g[0].dtype());
                     result[0] = e.index_put(zeros, g[0], indices, true);
                     return result;
                   },
                   .saved_inputs = index_operands(1)},
      .errors = {kOutOfRange},
      .bounds = bounds_of_leading_indices<1>,
      .samples = {{{normal({5, 19}), indices({3}, 5)}},
                  {{normal({5, 4, 3}), indices({2, 20}, 5), indices({2, 20}, 4)}},
                  {{strided({4, 3}, {1, 4}), indices({7}, 4), indices({7}, 3)}},
                  {{normal({5, 3}), indices({0}, 5)}},
                  {{normal({5, 3}), indices({}, 5)}}},
  };
}

Op take_along_dim() {
  return {
      .signature = "take_along_dim(x, indices, dim: axis? = None)",
      .doc =
          R"(Returns the elements of `x` at the positions `indices`, an i64 tensor, along `dim`. `x` and `indices`
have the same number of dimensions, and those other than `dim` broadcast. Without `dim`, both are flattened first.

>>> lucid.take_along_dim(lucid.tensor([3, 1, 2]), lucid.tensor([1, 2, 0]), 0)
tensor([1, 2, 3]))",
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> inputs) -> Values {
        check_index_dtype(call, 1);
        if (call.is_none("dim")) return {e.gather(e.reshape(inputs[0], Dims{-1}), 0, e.reshape(inputs[1], Dims{-1}))};
        const Value& x = inputs[0];
        const Value& index = inputs[1];
        if (x.rank() != index.rank())
          throw ValueError("take_along_dim: x {} and indices {} must have the same number of dimensions",
                           to_string(x.type()), to_string(index.type()));
        const int64_t axis = call.axis("dim");
        Dims x_shape = x.shape();
        Dims index_shape = index.shape();
        for (size_t d = 0; d < x_shape.size(); ++d) {
          if (static_cast<int64_t>(d) == axis) continue;
          const SymInt size = broadcast(call.name(), Dims{x_shape[d]}, Dims{index_shape[d]})[0];
          x_shape[d] = size;
          index_shape[d] = size;
        }
        return {e.gather(e.expand(x, x_shape), axis, e.expand(index, index_shape))};
      },
      .bounds = [](const Call& call) -> std::vector<ValueBounds> {
        if (!call.is_none("dim")) return bounds_along_dim(call);
        const int64_t count = numel(call.shape(0));
        return {{.operand = 1, .noun = "index", .end = count, .origin = fmt::format("{} elements", count)}};
      },
      .samples = std::vector<Sample>{{{normal({3, 4}), offsets({5}, 12)}}} +
                 with({{{normal({3, 4}), offsets({1, 2}, 4)}}}, {{"dim", int64_t{1}}}),
  };
}

/// Attribute "padding_idx" as a non-negative row of the weight, operand 0.
std::optional<int64_t> padding_row(const Call& call) {
  if (call.is_none("padding_idx")) return std::nullopt;
  const SymInt row = call.integer("padding_idx");
  const SymInt rows = call.shape(0)[0];
  if (row < -rows || row >= rows)
    throw ValueError("{}: padding_idx {} is out of range for weight {}", call.name(), row,
                     to_string(call.operand(0).type()));
  return row < 0 ? row + rows : row;
}

Op embedding() {
  return {
      .signature = "embedding(weight, indices, padding_idx: int? = None)",
      .doc = R"(Returns the rows of the matrix `weight` at `indices`, an i64 tensor of any shape. The result has the
shape of `indices` followed by the length of a row. The row `padding_idx`, which may be negative to count from the
end, gets no gradient. Raises IndexError for an index that is negative or too large.

>>> lucid.embedding(lucid.tensor([[1., 2.], [3., 4.]]), lucid.tensor([1, 0]))
tensor([[3., 4.],
        [1., 2.]]))",
      .infer = [](const Call& call) -> Types {
        check_index_dtype(call, 1);
        if (call.rank(0) != 2)
          throw ValueError("embedding: weight must be 2-d, got {}", to_string(call.operand(0).type()));
        padding_row(call);
        Dims shape = call.shape(1);
        shape.push_back(call.shape(0)[1]);
        return {{call.dtype(0), shape}};
      },
      .decompose = [](Emitter& e, const Call&, std::span<const Value> inputs) -> Values {
        Dims shape = inputs[1].shape();
        shape.push_back(inputs[0].size(1));
        return {e.reshape(e.index_select(inputs[0], 0, e.reshape(inputs[1], Dims{-1})), shape)};
      },
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     const Value index = e.reshape(call.in(1), Dims{-1});
                     Value rows = e.reshape(g[0], Dims{numel(call.shape(1)), call.shape(0)[1]});
                     if (const auto padding = padding_row(call))
                       rows = e.where(e.unsqueeze(e.eq(index, *padding), 1), 0, rows);
                     return {e.index_add(e.full(call.shape(0), 0, rows.dtype()), 0, index, rows), Value()};
                   },
                   .saved_inputs = {1}},
      .bounds = bounds_of_rows,
      .samples = {{{normal({5, 4}), offsets({3, 2}, 5)}}, {{normal({5, 19}), offsets({}, 5)}}},
  };
}

Op one_hot() {
  return {
      .signature = "one_hot(x, num_classes: int)",
      .doc = R"(Returns an i64 tensor with the dimensions of `x` and a new last dimension of size `num_classes`, which
is 1 at the class given by the element of `x` and 0 elsewhere. Raises IndexError for a class that is negative or too
large.

>>> lucid.one_hot(lucid.tensor([1, 0]), 3)
tensor([[0, 1, 0],
        [1, 0, 0]]))",
      .dtypes = Dtype::kI64,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> inputs) -> Values {
        const int64_t classes = call.integer("num_classes");
        if (classes <= 0) throw ValueError("one_hot: num_classes must be positive, got {}", classes);
        Dims shape = inputs[0].shape();
        shape.push_back(classes);
        checked_numel(call.name(), shape, sizeof(int64_t));
        const Value zeros = e.full(shape, 0, Dtype::kI64);
        return {e.scatter(zeros, -1, e.unsqueeze(inputs[0], -1), 1)};
      },
      .bounds = [](const Call& call) -> std::vector<ValueBounds> {
        const int64_t classes = call.integer("num_classes");
        return {{.noun = "class", .end = classes, .origin = fmt::format("{} classes", classes)}};
      },
      .samples = with({{{offsets({3, 2}, 4)}}, {{offsets({}, 4)}}}, {{"num_classes", int64_t{4}}}),
  };
}

/// The places of the elements that are not zero, in row-major order.
std::vector<int64_t> nonzero_places(const HostArray& x) {
  const int64_t size = x.size();
  std::vector<int64_t> places(static_cast<size_t>(size));
  size_t count = 0;
  dispatch_all(x.type.dtype, [&]<typename T>() {
    // Without a branch: for random masks, it would be predicted wrong half of the time.
    for (int64_t i = 0; i < size; ++i) {
      places[count] = i;
      count += typed_element<T>(x, i) != T();
    }
  });
  places.resize(count);
  return places;
}

/// Copies the elements at some places.
void copy_elements(const HostArray& from, std::span<const int64_t> places, const HostArray& to) {
  const auto copy = [&]<typename T>() {
    for (size_t i = 0; i < places.size(); ++i) to.as<T>()[i] = from.as<T>()[places[i]];
  };
  switch (size_of(from.type.dtype)) {
    case 1:
      return copy.operator()<uint8_t>();
    case 2:
      return copy.operator()<uint16_t>();
    case 4:
      return copy.operator()<uint32_t>();
    default:
      return copy.operator()<uint64_t>();
  }
}

Op nonzero_indices() {
  return {
      .signature = "nonzero(x)",
      .doc = R"(Returns the indices of the nonzero elements of `x` in row-major order, as an i64 matrix with a row for
each element and a column for each dimension of `x`.

>>> lucid.nonzero(lucid.tensor([[0, 1], [2, 0]]))
tensor([[0, 1],
        [1, 0]]))",
      .host =
          [](HostCall& call) {
            const HostArray& x = call.in(0);
            const std::vector<int64_t> places = nonzero_places(x);
            const std::vector<int64_t> shape(x.type.shape.begin(), x.type.shape.end());
            const auto rank = static_cast<int64_t>(shape.size());
            const HostArray out = call.make_output({Dtype::kI64, {static_cast<int64_t>(places.size()), rank}});
            if (rank == 0) return;
            // The index of a line along the last dimension, and the place of the first element after it.
            std::vector<int64_t> line(shape.size() - 1);
            const int64_t length = shape.back();
            int64_t end = length;
            int64_t* row = out.as<int64_t>();
            for (const int64_t place : places) {
              for (; place >= end; end += length)
                for (size_t d = line.size(); d > 0 && ++line[d - 1] == shape[d - 1];) line[--d] = 0;
              row = std::copy(line.begin(), line.end(), row);
              *row++ = place - (end - length);
            }
          },
      .samples = {{{mask({3, 4})}}, {{normal({19})}}, {{mask({})}}, {{normal({0, 3})}}},
  };
}

/// The broadcast shape of the tensor and the mask of masked_select.
Dims masked_shape(const Call& call) {
  if (!call.operand(1).is_value() || call.dtype(1) != Dtype::kBool)
    throw TypeError("masked_select: mask must be a bool tensor, got {}", to_string(call.operand(1).type()));
  return broadcast(call.name(), call.shape(0), call.shape(1));
}

Op masked_select() {
  return {
      .signature = "masked_select(x, mask)",
      .doc = R"(Returns the elements of `x` where the bool tensor `mask` is true, in row-major order, as a 1-d tensor.
`x` and `mask` broadcast.

>>> lucid.masked_select(lucid.tensor([1, 2, 3]), lucid.tensor([True, False, True]))
tensor([1, 3]))",
      .host =
          [](HostCall& call) {
            const Dims shape = masked_shape(call);
            std::vector<int64_t> selected;
            if (call.shape(0) == shape && call.shape(1) == shape) {
              selected = nonzero_places(call.in(1));
            } else {
              const Dims x = broadcast_strides(call.shape(0), contiguous_strides(call.shape(0)), shape);
              const Dims mask = broadcast_strides(call.shape(1), contiguous_strides(call.shape(1)), shape);
              for_each_index(shape, [&](const Dims& index) {
                const auto place = [&](const Dims& strides) {
                  return std::inner_product(index.begin(), index.end(), strides.begin(), int64_t{0});
                };
                if (call.in(1).as<bool>()[place(mask)]) selected.push_back(place(x));
              });
            }
            const HostArray out = call.make_output({call.in(0).type.dtype, {static_cast<int64_t>(selected.size())}});
            copy_elements(call.in(0), selected, out);
          },
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     const Dims shape = masked_shape(call);
                     const Value mask = e.reshape(e.expand(call.in(1), shape), Dims{-1});
                     // Selected elements are numbered from 1; the others read the 0 that is padded in front of the
                     // gradients.
                     const Value number = e.mul(e.cumsum(mask, 0), mask);
                     const Value found = e.index_select(e.constant_pad(g[0], {1, 0}, 0.0), 0, number);
                     return {e.reshape(found, shape), Value()};
                   },
                   .saved_inputs = {1}},
      .samples = {{{normal({3, 4}), mask({3, 4})}}, {{normal({3, 1}), mask({4})}}, {{normal({0, 3}), mask({3})}}},
  };
}

}  // namespace

void add_index_ops(std::vector<Op>& ops) {
  for (auto make : {index_select, gather, index, take_along_dim, embedding, one_hot, nonzero_indices, masked_select})
    ops.push_back(make());
}

}  // namespace lucid
