// Scatters: elements written at positions given by index tensors.

#include "ops/bound_rules.h"
#include "ops/index_rules.h"
#include "ops/reference_index.h"
#include "ops/scatter_rules.h"

namespace lucid {
namespace {

using Types = std::vector<TensorType>;

/// Scatters source elements along one dimension by an index tensor of the same shape.
ScatterLowering scatter_along(ScatterCombine combine) {
  return {.combine = combine, .source = 2, .target = [](ElementContext& source, const Call& call) {
            const int64_t rank = call.rank(0);
            auto index = all_indices(source, rank);
            if (rank == 0) return index;
            const int64_t axis = call.axis("dim");
            index[static_cast<size_t>(axis)] = checked_index(source, source.load(1, index, {}), axis, false);
            return index;
          }};
}

auto reference_scatter(ScatterCombine combine) {
  return [combine](HostCall& call) {
    const HostArray out = call.make_output(call.in(0).type);
    std::memcpy(out.data, call.in(0).data, static_cast<size_t>(out.size()) * size_of(out.type.dtype));
    int64_t at = 0;
    for_each_index(call.shape(1), [&](Dims index) {
      const int64_t from = position(call.shape(2), index);
      if (!index.empty()) {
        const auto axis = static_cast<size_t>(call.axis("dim"));
        index[axis] = reference_index(call, 1, at, call.shape(0)[axis], false);
      }
      reference_combine(combine, out, position(out.type.shape, index), call.in(2), from);
      ++at;
    });
  };
}

std::vector<Sample> scatter_samples() {
  return with({{{normal({5, 3}), offsets({4, 3}, 5), normal({4, 3})}}, {{normal({6}), offsets({20}, 6), normal({20})}}},
              {{"dim", int64_t{0}}}) +
         with({{{strided({4, 3}, {1, 4}), offsets({2, 7}, 3), normal({2, 7})}},
               {{normal({2, 3}), offsets({2, 0}, 3), normal({2, 0})}}},
              {{"dim", int64_t{-1}}});
}

/// Completes a primitive that scatter decomposes into: index and source have the same shape.
Op scatter_primitive(Op op, ScatterCombine combine, Gradient gradient) {
  op.infer = [](const Call& call) -> Types {
    check_index_dtype(call, 1);
    check_source(call, 2);
    check_gather_shape(call, 1, "index");
    if (call.shape(1) != call.shape(2))
      throw ValueError("{}: index {} and src {} must have the same shape", call.name(),
                       to_string(call.operand(1).type()), to_string(call.operand(2).type()));
    return {{call.dtype(0), call.shape(0)}};
  };
  op.lowering = scatter_along(combine);
  op.reference = reference_scatter(combine);
  op.gradient = std::move(gradient);
  op.errors = {kOutOfRange};
  op.bounds = bounds_along_dim;
  op.samples = scatter_samples();
  return op;
}

Op scatter_add() {
  return scatter_primitive({.signature = "scatter_add(x, dim: axis, index, src)",
                            .doc = R"(Returns `x` with the elements of `src` added at the positions given by `index`
along `dim`; the other coordinates are those of the element in `src`. `index` is
an i64 tensor of the shape of `src`. Repeated indices accumulate. Raises
IndexError if an index is negative or too large, and TypeError if the dtypes of
`x` and `src` differ.

>>> lucid.scatter_add(lucid.zeros(3), 0, lucid.tensor([0, 2, 0]), lucid.tensor([1., 2., 3.]))
tensor([4., 0., 2.]))",
                            .names = {.in_place = true}},
                           ScatterCombine::kAdd,
                           {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                              return {g[0], Value(),
                                      call.needs(2) ? e.gather(g[0], call.integer("dim"), call.in(1)) : Value()};
                            },
                            .saved_inputs = {{1, {2}}}});
}

/// Which elements of src remain in the result of scatter_set: the last one written to each position.
Value survivors(Emitter& e, const GradientCall& call) {
  const int64_t dim = call.integer("dim");
  const Value positions = row_major_indices(e, call.shape(1));
  const Value last = e.scatter_set(e.full(call.shape(0), 0, Dtype::kI64), dim, call.in(1), positions);
  return e.eq(e.gather(last, dim, call.in(1)), positions);
}

Op scatter_set() {
  return scatter_primitive(
      {.signature = "scatter_set(x, dim: axis, index, src)",
       .doc = R"(Returns `x` with the elements of `src` written at the positions given by `index` along `dim`. If
indices repeat, the last element in row-major order wins. `index` has the shape of `src`.

>>> lucid.scatter_set(lucid.zeros(3), 0, lucid.tensor([0, 2]), lucid.tensor([1., 2.]))
tensor([1., 0., 2.]))",
       .names = {.audience = Audience::kOps}},
      ScatterCombine::kReplace,
      {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
         const int64_t dim = call.integer("dim");
         const Value zeros = e.full(call.shape(1), 0, g[0].dtype());
         return {call.needs(0) ? e.scatter_set(g[0], dim, call.in(1), zeros) : Value(), Value(),
                 call.needs(2) ? e.mul(e.gather(g[0], dim, call.in(1)), survivors(e, call)) : Value()};
       },
       .saved_inputs = {1}});
}

/// The gradient of a maximum or minimum is divided equally among the elements that attain it.
Gradient extremum_gradient() {
  return {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
            const int64_t dim = call.integer("dim");
            const Value& index = call.in(1);
            const Dtype dtype = g[0].dtype();
            const Value from_x = e.cast(e.eq(call.in(0), call.out()), dtype);
            const Value from_src = e.cast(e.eq(call.in(2), e.gather(call.out(), dim, index)), dtype);
            const Value count = e.scatter_add(from_x, dim, index, from_src);
            const Value share = e.div(g[0], count);
            return {e.mul(from_x, share), Value(), e.mul(from_src, e.gather(share, dim, index))};
          },
          .saved_inputs = {0, 1, 2},
          .saves_outputs = true};
}

Op scatter_amax() {
  return scatter_primitive({.signature = "scatter_amax(x, dim: axis, index, src)",
                            .doc = R"(Returns `x` with each position given by `index` along `dim` replaced by the
maximum of its element and the elements of `src` for that position. `index` has
the shape of `src`.

>>> lucid.scatter_amax(lucid.zeros(2), 0, lucid.tensor([0, 0, 1]), lucid.tensor([1., 3., -1.]))
tensor([3., 0.]))",
                            .names = {.audience = Audience::kOps}},
                           ScatterCombine::kMax, extremum_gradient());
}

Op scatter_amin() {
  return scatter_primitive({.signature = "scatter_amin(x, dim: axis, index, src)",
                            .doc = R"(Returns `x` with each position given by `index` along `dim` replaced by the
minimum of its element and the elements of `src` for that position. `index` has
the shape of `src`.

>>> lucid.scatter_amin(lucid.zeros(2), 0, lucid.tensor([0, 0, 1]), lucid.tensor([1., -3., 1.]))
tensor([-3.,  0.]))",
                            .names = {.audience = Audience::kOps}},
                           ScatterCombine::kMin, extremum_gradient());
}

Op scatter_mul() {
  return scatter_primitive({.signature = "scatter_mul(x, dim: axis, index, src)",
                            .doc = R"(Returns `x` with the elements of `src` multiplied in at the positions given by
`index` along `dim`. Repeated indices accumulate. `index` has the shape of `src`.

>>> lucid.scatter_mul(lucid.ones(2), 0, lucid.tensor([0, 0, 1]), lucid.tensor([2., 3., 4.]))
tensor([6., 4.]))",
                            .names = {.audience = Audience::kOps}},
                           ScatterCombine::kMul,
                           {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                              const int64_t dim = call.integer("dim");
                              const Value& x = call.in(0);
                              const Value& index = call.in(1);
                              const Value& src = call.in(2);
                              Value x_gradient;
                              if (call.needs(0)) x_gradient = e.mul(g[0], e.scatter_mul(e.ones_of(x), dim, index, src));
                              if (!call.needs(2)) return {x_gradient, Value(), Value()};
                              // The product of the other factors is the whole product divided by src. If exactly one
                              // source element is zero, that product is nonzero only for it; with two, for none.
                              const Value is_zero = e.eq(src, 0);
                              const Value nonzero = e.where(is_zero, 1, src);
                              const Value rest = e.gather(e.scatter_mul(x, dim, index, nonzero), dim, index);
                              const Value none = e.full(call.shape(0), 0, Dtype::kI64);
                              const Value zeros =
                                  e.gather(e.scatter_add(none, dim, index, e.cast(is_zero, Dtype::kI64)), dim, index);
                              const Value others = e.where(is_zero, e.where(e.eq(zeros, 1), rest, 0),
                                                           e.where(e.eq(zeros, 0), e.div(rest, nonzero), 0));
                              return {x_gradient, Value(), e.mul(e.gather(g[0], dim, index), others)};
                            },
                            .saved_inputs = {0, 1, 2}});
}

Op scatter() {
  return {
      .signature = "scatter(x, dim: axis, index, src, *, reduce: str? = None)",
      .doc = R"(Returns `x` with the elements of `src` written at the positions given by `index`, an i64 tensor, along
`dim`; the other coordinates are those of the element in `index`. `src` is a number or a tensor at least
as large as `index` in every dimension. If indices repeat, the last element in row-major order wins.
`reduce` is None, "add" or "multiply"; the latter two add to or multiply the elements of `x` instead.
Raises IndexError if an index is negative or too large.

>>> lucid.scatter(lucid.zeros(3), 0, lucid.tensor([0, 2]), 1.5)
tensor([1.5000, 0.0000, 1.5000]))",
      .names = {.in_place = true},
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> inputs) -> Values {
        const Value& index = inputs[1];
        check_index_dtype(call, 1);
        Value src = inputs[2];
        const Dtype dtype = inputs[0].dtype();
        if (!src) {
          src = e.full(index.shape(), call.operand(2), dtype);
        } else if (src.shape() != index.shape()) {
          if (src.rank() != index.rank())
            throw ValueError("scatter: index {} and src {} must have the same rank", to_string(index.type()),
                             to_string(src.type()));
          for (int64_t d = 0; d < src.rank(); ++d) {
            if (src.size(d) < index.size(d))
              throw ValueError("scatter: src {} is smaller than index {}", to_string(src.type()),
                               to_string(index.type()));
            src = e.narrow(src, d, 0, index.size(d));
          }
        }
        const int64_t dim = call.integer("dim");
        if (call.is_none("reduce")) return {e.scatter_set(inputs[0], dim, index, src)};
        const std::string& reduce = call.text("reduce");
        if (reduce == "add") return {e.scatter_add(inputs[0], dim, index, src)};
        if (reduce == "multiply") return {e.scatter_mul(inputs[0], dim, index, src)};
        throw ValueError("scatter: reduce must be None, \"add\" or \"multiply\", got \"{}\"", reduce);
      },
      .bounds = bounds_along_dim,
      .samples = scatter_samples() +
                 with({{{normal({5, 3}), offsets({4, 2}, 5), number(2)}},
                       {{normal({5, 3}), offsets({4, 2}, 5), normal({4, 3})}}},
                      {{"dim", int64_t{0}}}) +
                 with({{{normal({5, 3}), offsets({4, 2}, 5), normal({4, 2})}}},
                      {{"dim", int64_t{0}}, {"reduce", std::string("add")}}),
  };
}

Op scatter_reduce() {
  return {
      .signature = "scatter_reduce(x, dim: axis, index, src, reduce: str, *, include_self: bool = True)",
      .doc = R"(Returns `x` with the elements of `src` combined at the positions given by `index` along `dim`. `reduce`
is "sum", "prod", "mean", "amax" or "amin". `include_self` selects whether the elements of `x` at those
positions take part. Means of integers are rounded down. `index` has the shape of `src`. Raises
IndexError if an index is negative or too large, and ValueError for any other `reduce`.

>>> lucid.scatter_reduce(lucid.zeros(2), 0, lucid.tensor([0, 0, 1]), lucid.tensor([1., 3., 5.]), "mean", include_self=False)
tensor([2., 5.]))",
      .names = {.in_place = true},
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> inputs) -> Values {
        check_index_dtype(call, 1);
        const int64_t dim = call.integer("dim");
        const Value& index = inputs[1];
        const Value& src = inputs[2];
        const std::string& reduce = call.text("reduce");
        const Dtype dtype = inputs[0].dtype();
        Value x = inputs[0];
        auto start_from = [&](const Operand& value) {
          if (!call.flag("include_self")) x = e.scatter_set(x, dim, index, e.full(index.shape(), value, dtype));
        };
        const bool largest = reduce == "amax";
        if (reduce == "mean" && is_bool(dtype)) {
          // Rounded down, like means of integers.
          const Value mean = e.scatter_reduce(e.cast(x, Dtype::kI64), dim, index, e.cast(src, Dtype::kI64), reduce,
                                              call.flag("include_self"));
          return {e.cast(mean, Dtype::kBool)};
        }
        if (reduce == "sum" || reduce == "mean") {
          start_from(0);
          const Value total = e.scatter_add(x, dim, index, src);
          if (reduce == "sum") return {total};
          const Value ones = e.ones_of(src);
          const Value base = call.flag("include_self") ? e.ones_of(x) : e.zeros_of(x);
          const Value count = e.maximum(e.scatter_add(base, dim, index, ones), 1);
          return {is_float(dtype) ? e.div(total, count) : e.floor_divide(total, count)};
        }
        if (reduce == "prod") {
          start_from(1);
          return {e.scatter_mul(x, dim, index, src)};
        }
        if (!largest && reduce != "amin")
          throw ValueError("scatter_reduce: reduce must be sum, prod, mean, amax or amin, got \"{}\"", reduce);
        if (!call.flag("include_self")) {
          // Start from any source element, since it takes part anyway.
          x = e.scatter_set(x, dim, index, src);
        }
        return {largest ? e.scatter_amax(x, dim, index, src) : e.scatter_amin(x, dim, index, src)};
      },
      .bounds = bounds_along_dim,
      .samples = with({{{normal({5, 3}), offsets({4, 3}, 5), normal({4, 3})}}},
                      {{"dim", int64_t{0}}, {"reduce", std::string("sum")}}) +
                 with({{{normal({5, 3}), offsets({4, 3}, 5), normal({4, 3})}}},
                      {{"dim", int64_t{0}}, {"reduce", std::string("mean")}, {"include_self", false}}) +
                 with({{{normal({5, 3}), offsets({4, 3}, 5), distinct({4, 3})}}},
                      {{"dim", int64_t{0}}, {"reduce", std::string("amax")}}),
  };
}

}  // namespace

void add_scatter_ops(std::vector<Op>& ops) {
  for (auto make : {scatter_add, scatter_set, scatter_amax, scatter_amin, scatter_mul, scatter, scatter_reduce})
    ops.push_back(make());
}

}  // namespace lucid
