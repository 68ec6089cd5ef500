// Slices added at indices along one dimension, and elements written at index tensors for the leading dimensions.

#include "ops/bound_rules.h"
#include "ops/index_rules.h"
#include "ops/reference_index.h"
#include "ops/scatter_rules.h"

namespace lucid {
namespace {

using Types = std::vector<TensorType>;

Op index_add() {
  return {
      .signature = "index_add(x, dim: axis, index, source)",
      .doc = R"(Returns `x` with the slices of `source` along `dim` added at the positions in `index`, an i64 vector.
Repeated indices accumulate. `source` has the shape of `x`, except that its size along `dim` is the
length of `index`. Raises IndexError if an index is negative or too large.

>>> lucid.index_add(lucid.zeros(3), 0, lucid.tensor([0, 2, 0]), lucid.tensor([1., 2., 3.]))
tensor([4., 0., 2.]))",
      .names = {.in_place = true},
      .infer = [](const Call& call) -> Types {
        check_index_dtype(call, 1);
        check_source(call, 2);
        if (call.rank(1) != 1 || call.rank(0) == 0)
          throw ValueError("index_add: index must be 1-d and x must not be 0-d, got {} and {}",
                           to_string(call.operand(1).type()), to_string(call.operand(0).type()));
        Dims expected = call.shape(0);
        expected[static_cast<size_t>(call.axis("dim"))] = call.shape(1)[0];
        if (call.shape(2) != expected)
          throw ValueError("index_add: source must have shape {} for x {} and index {}, got {}", to_string(expected),
                           to_string(call.operand(0).type()), to_string(call.operand(1).type()),
                           to_string(call.operand(2).type()));
        return {{call.dtype(0), call.shape(0)}};
      },
      .lowering = ScatterLowering{.combine = ScatterCombine::kAdd,
                                  .source = 2,
                                  .target =
                                      [](ElementContext& source, const Call& call) {
                                        auto index = all_indices(source, call.rank(0));
                                        const int64_t axis = call.axis("dim");
                                        loop::Value& i = index[static_cast<size_t>(axis)];
                                        const loop::Value at[] = {i};
                                        i = checked_index(source, source.load(1, at, {}), axis, false);
                                        return index;
                                      }},
      .reference =
          [](HostCall& call) {
            const HostArray out = call.make_output(call.in(0).type);
            std::memcpy(out.data, call.in(0).data, static_cast<size_t>(out.size()) * size_of(out.type.dtype));
            const auto axis = static_cast<size_t>(call.axis("dim"));
            int64_t at = 0;
            for_each_index(call.shape(2), [&](Dims index) {
              index[axis] = reference_index(call, 1, index[axis], call.shape(0)[axis], false);
              reference_combine(ScatterCombine::kAdd, out, position(out.type.shape, index), call.in(2), at++);
            });
          },
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     return {g[0], Value(),
                             call.needs(2) ? e.index_select(g[0], call.integer("dim"), call.in(1)) : Value()};
                   },
                   .saved_inputs = {{1, {2}}}},
      .errors = {kOutOfRange},
      .bounds = bounds_along_dim,
      .samples = with({{{normal({5, 3}), offsets({4}, 5), normal({4, 3})}},
                       {{normal({5, 2, 83}), offsets({9}, 5), normal({9, 2, 83})}},
                       {{normal({6}), offsets({20}, 6), normal({20})}}},
                      {{"dim", int64_t{0}}}) +
                 with({{{strided({4, 3}, {1, 4}), offsets({2}, 3), normal({4, 2})}}}, {{"dim", int64_t{-1}}}),
  };
}

Op index_put_primitive(Op op, ScatterCombine combine) {
  op.infer = [](const Call& call) -> Types {
    check_leading_indices(call, 2);
    check_source(call, 1);
    const Dims shape = indexed_shape(call, 2);
    if (call.shape(1) != shape)
      throw ValueError("{}: values must have shape {} for x {}, got {}", call.name(), to_string(shape),
                       to_string(call.operand(0).type()), to_string(call.operand(1).type()));
    return {{call.dtype(0), call.shape(0)}};
  };
  op.lowering =
      ScatterLowering{.combine = combine, .source = 1, .target = [](ElementContext& source, const Call& call) {
                        return leading_index(source, call, 2);
                      }};
  op.reference = [combine](HostCall& call) {
    const HostArray out = call.make_output(call.in(0).type);
    std::memcpy(out.data, call.in(0).data, static_cast<size_t>(out.size()) * size_of(out.type.dtype));
    int64_t at = 0;
    for_each_index(call.shape(1), [&](const Dims& index) {
      reference_combine(combine, out, position(out.type.shape, reference_leading(call, index, 2)), call.in(1), at++);
    });
  };
  op.gradient = {.rule = [combine](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                   Values indices;
                   for (size_t i = 2; i < call.count(); ++i) indices.push_back(call.in(i));
                   Values result(call.count());
                   if (call.needs(0))
                     result[0] = combine == ScatterCombine::kAdd
                                     ? g[0]
                                     : e.index_put_set(g[0], e.full(call.shape(1), 0, g[0].dtype()), indices);
                   if (!call.needs(1)) return result;
                   result[1] = e.index(g[0], indices);
                   if (combine == ScatterCombine::kAdd) return result;
                   // Of several writes to one position only the last has a gradient.
                   const Value positions = row_major_indices(e, call.shape(1));
                   const Value last = e.index_put_set(e.full(call.shape(0), 0, Dtype::kI64), positions, indices);
                   result[1] = e.mul(result[1], e.eq(e.index(last, indices), positions));
                   return result;
                 },
                 .saved_inputs = index_operands(2)};
  op.errors = {kOutOfRange};
  op.bounds = bounds_of_leading_indices<2>;
  op.samples = {{{normal({5, 3}), normal({4, 3}), indices({4}, 5)}},
                {{normal({5, 37}), normal({9, 37}), indices({9}, 5)}},
                {{normal({5, 4}), normal({20}), indices({20}, 5), indices({20}, 4)}},
                {{strided({4, 3}, {1, 4}), normal({2, 3}), indices({2}, 4)}}};
  return op;
}

Op index_put_set() {
  return index_put_primitive({.signature = "index_put_set(x, values, indices: tensors)",
                              .doc = R"(Returns `x` with `values` written at the positions given by the index tensors
`indices` for the leading dimensions. If positions repeat, the last element in
row-major order wins.

>>> lucid.index_put_set(lucid.zeros(3), lucid.tensor([1., 2.]), [lucid.tensor([0, 2])])
tensor([1., 0., 2.]))",
                              .names = {.audience = Audience::kOps}},
                             ScatterCombine::kReplace);
}

Op index_put_add() {
  return index_put_primitive({.signature = "index_put_add(x, values, indices: tensors)",
                              .doc = R"(Returns `x` with `values` added at the positions given by the index tensors
`indices` for the leading dimensions, in row-major order. Repeated positions
accumulate.

>>> lucid.index_put_add(lucid.zeros(3), lucid.tensor([1., 2.]), [lucid.tensor([2, 2])])
tensor([0., 0., 3.]))",
                              .names = {.audience = Audience::kOps}},
                             ScatterCombine::kAdd);
}

Op index_put() {
  return {
      .signature = "index_put(x, values, indices: tensors, accumulate: bool = False)",
      .doc = R"(Returns `x` with `values` written at the positions given by the i64 tensors `indices` for the leading
dimensions. The index tensors have one shape, and `values` is a number or a tensor that broadcasts to
the indexed part. `accumulate` adds to the elements instead of replacing them. Raises IndexError if an
index is out of range.

>>> lucid.index_put(lucid.zeros(3), [lucid.tensor([0, 2])], lucid.tensor(1.))
tensor([1., 0., 1.]))",
      .names = {.in_place = true},
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> inputs) -> Values {
        check_leading_indices(call, 2);
        const Dims shape = indexed_shape(call, 2);
        const Dtype dtype = inputs[0].dtype();
        Value values = inputs[1] ? e.cast(inputs[1], dtype) : e.full(shape, call.operand(1), dtype);
        if (values.shape() != shape) values = e.expand(values, shape);
        const Values indices(inputs.begin() + 2, inputs.end());
        return {call.flag("accumulate") ? e.index_put_add(inputs[0], values, indices)
                                        : e.index_put_set(inputs[0], values, indices)};
      },
      .bounds = bounds_of_leading_indices<2>,
      .samples = std::vector<Sample>{{{normal({5, 3}), normal({3}), indices({4}, 5)}},
                                     {{normal({5, 3}), number(2), indices({4}, 5)}}} +
                 with({{{normal({5, 4}), normal({20}), indices({20}, 5), indices({20}, 4)}}}, {{"accumulate", true}}),
  };
}

}  // namespace

void add_scatter_index_ops(std::vector<Op>& ops) {
  for (auto make : {index_add, index_put_set, index_put_add, index_put}) ops.push_back(make());
}

}  // namespace lucid
