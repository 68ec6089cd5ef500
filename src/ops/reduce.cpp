// Reductions that lower to loops: sums, products, extrema, any and all.

#include <algorithm>

#include "ops/reference_reduce.h"
#include "ops/rules.h"

namespace lucid {
namespace {

bool keeps_dims(const Call& call) { return call.flag("keepdim"); }

TensorType reduced_type(const Call& call, Dtype dtype) {
  return {dtype, reduced_shape(call.shape(0), reduced_axes(call, call.rank(0)), keeps_dims(call))};
}

/// The dtype of a sum or product: attribute "dtype" if given, else i64 for integers and bools.
Dtype accumulated_dtype(const Call& call) {
  if (call.is_none("dtype")) return is_float(call.dtype(0)) ? call.dtype(0) : Dtype::kI64;
  const Dtype dtype = call.dtype_of("dtype");
  if (is_bool(dtype)) throw TypeError("{}: dtype must be numeric, got bool; use any() or all()", call.name());
  return dtype;
}

std::vector<TensorType> infer_accumulated(const Call& call) { return {reduced_type(call, accumulated_dtype(call))}; }

std::vector<TensorType> infer_extremum(const Call& call) {
  if (reduced_count(call) == 0)
    throw ValueError("{}: {} has no elements along the reduced dimensions, so there is no result", call.name(),
                     to_string(call.operand(0).type()));
  return {reduced_type(call, call.dtype(0))};
}

std::vector<TensorType> infer_position(const Call& call) {
  std::vector<TensorType> types = infer_extremum(call);
  types[0].dtype = Dtype::kI64;
  return types;
}

std::vector<Sample> reduce_samples(Fill fill) {
  const auto axis = [](int64_t i) { return std::pair<std::string, Attribute>("dim", Dims{i}); };
  return std::vector<Sample>{{{filled({37}, fill)}}, {{filled({2, 3, 4}, fill)}}, {{filled({}, fill)}}} +
         with({{{filled({5, 37}, fill)}}}, {axis(1)}) +
         with({{{filled({37, 5}, fill)}}}, {axis(0), {"keepdim", true}}) +
         with({{{filled({3, 4, 5}, fill)}}}, {{"dim", Dims{0, -1}}}) +
         with({{{strided({4, 3}, {1, 4}, fill)}}}, {axis(-1)}) + with({{{filled({2, 600}, fill)}}}, {axis(1)}) +
         with({{{filled({0, 3}, fill)}}}, {axis(1)});
}

std::vector<Sample> position_samples(Fill fill) {
  const auto axis = [](int64_t i) { return std::pair<std::string, Attribute>("dim", i); };
  return with({{{filled({5, 37}, fill)}}}, {axis(1)}) +
         with({{{filled({37, 5}, fill)}}}, {axis(0), {"keepdim", true}}) +
         with({{{strided({4, 3}, {1, 4}, fill)}}}, {axis(-1)}) + with({{{filled({}, fill)}}}, {axis(0)}) +
         with({{{filled({0, 3}, fill)}}}, {axis(1)});
}

/// Broadcasts the gradient of a reduction to the elements that were reduced.
Value spread(Emitter& e, const Call& call, const Value& g) { return e.expand(restored(e, call, g), call.shape(0)); }

template <typename F>
auto accumulate_reference(int identity, F combine) {
  return [=](HostCall& call) {
    const TensorType type = infer_types(call).front();
    const HostArray out = call.make_output(type);
    dispatch_all(type.dtype, [&]<typename T>() {
      for_each_group<T>(call, type.dtype, [&](int64_t i, const std::vector<T>& values) {
        write_element(out, i, canonical_reduce<T>(values, static_cast<T>(identity), combine));
      });
    });
  };
}

Op sum() {
  return {
      .signature = "sum(x, dim: axes? = None, keepdim: bool = False, *, dtype: dtype? = None)",
      .doc = R"(Returns the sum of `x` over the dimensions `dim`, or over all dimensions by default. `keepdim` keeps the
reduced dimensions with size 1. Integers and bools are summed in i64 unless `dtype` is given. The sum of
no elements is 0.

>>> lucid.sum(lucid.tensor([[1, 2], [3, 4]]), 0)
tensor([4, 6]))",
      .infer = infer_accumulated,
      .lowering = ReduceLowering{.combine = Combine::kSum},
      .reference = accumulate_reference(0, [](auto x, auto y) { return sum_of(x, y); }),
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
        return {spread(e, call, g[0])};
      }},
      .samples = reduce_samples(Fill::kNormal) + with({{{normal({2, 19})}}}, {{"dtype", Dtype::kF64}}),
  };
}

Op mean() {
  return {
      .signature = "mean(x, dim: axes? = None, keepdim: bool = False, *, dtype: dtype? = None)",
      .doc = R"(Returns the mean of `x` over the dimensions `dim`, or over all dimensions by default. `keepdim` keeps
the reduced dimensions with size 1. Integers and bools are averaged in the default float dtype unless
`dtype`, which must be floating-point, is given. The mean of no elements is NaN.

>>> lucid.mean(lucid.tensor([[1.0, 2.0], [3.0, 4.0]]), 0)
tensor([2., 3.]))",
      .infer = [](const Call& call) -> std::vector<TensorType> {
        const Dtype natural = is_float(call.dtype(0)) ? call.dtype(0) : default_float();
        const Dtype dtype = call.is_none("dtype") ? natural : call.dtype_of("dtype");
        if (!is_float(dtype)) throw TypeError("mean: dtype must be floating-point, got {}", name_of(dtype));
        return {reduced_type(call, dtype)};
      },
      .lowering = ReduceLowering{.combine = Combine::kSum,
                                 .finish = [](loop::Builder& b, loop::Value total,
                                              loop::Value count) { return total / b.convert(count, total.dtype()); }},
      .reference =
          [](HostCall& call) {
            const TensorType type = infer_types(call).front();
            const HostArray out = call.make_output(type);
            dispatch<Domain::kFloats>(type.dtype, [&]<typename T>() {
              for_each_group<T>(call, type.dtype, [&](int64_t i, const std::vector<T>& values) {
                const T total = canonical_reduce<T>(values, T(0), [](T x, T y) { return x + y; });
                write_element(out, i, total / static_cast<T>(values.size()));
              });
            });
          },
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
        return {spread(e, call, e.div(g[0], reduced_count(call)))};
      }},
      .samples = reduce_samples(Fill::kNormal) + with({{{normal({2, 19})}}}, {{"dtype", Dtype::kF64}}),
  };
}

/// Applies f(e, x, axis), which preserves the shape of x, to some axes of x as if they were one.
template <typename F>
Value over_one_axis(Emitter& e, const Value& x, const Dims& axes, F f) {
  Dims order;
  Dims shape;
  for (int64_t i = 0; i < x.rank(); ++i)
    if (std::ranges::find(axes, SymInt(i)) == axes.end()) {
      order.push_back(i);
      shape.push_back(x.size(i));
    }
  int64_t count = 1;
  for (const int64_t axis : axes) {
    order.push_back(axis);
    count *= x.size(axis);
  }
  shape.push_back(count);
  Dims back(order.size(), 0);
  for (size_t i = 0; i < order.size(); ++i) back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  const Value moved = e.permute(x, order);
  const Value result = f(e, e.reshape(moved, shape), shape.rank() - 1);
  return e.permute(e.reshape(result, moved.shape()), back);
}

Op prod() {
  return {
      .signature = "prod(x, dim: axes? = None, keepdim: bool = False, *, dtype: dtype? = None)",
      .doc = R"(Returns the product of `x` over the dimensions `dim`, or over all dimensions by default. `keepdim` keeps
the reduced dimensions with size 1. Integers and bools are multiplied in i64 unless `dtype` is given.
The product of no elements is 1.

>>> lucid.prod(lucid.tensor([[1, 2], [3, 4]]), 1)
tensor([ 2, 12]))",
      .infer = infer_accumulated,
      .lowering = ReduceLowering{.combine = Combine::kProd},
      .reference = accumulate_reference(1, [](auto x, auto y) { return product_of(x, y); }),
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     if (call.rank(0) == 0) return {g[0]};
                     const Value others = over_one_axis(e, e.cast(call.in(0), g[0].dtype()),
                                                        reduced_axes(call, call.rank(0)), product_of_others);
                     return {e.mul(restored(e, call, g[0]), others)};
                   },
                   .saved_inputs = {0}},
      .samples = reduce_samples(Fill::kUnit) + with({{{nonzero({2, 7})}}}, {{"dtype", Dtype::kF64}}),
  };
}

/// Completes amax or amin. The gradient is divided equally among equal extrema.
Op extremum(Op op, Combine combine) {
  op.dtypes = kNumbers;
  op.infer = infer_extremum;
  op.lowering = ReduceLowering{.combine = combine};
  op.reference = [combine](HostCall& call) {
    const TensorType type = infer_types(call).front();
    const HostArray out = call.make_output(type);
    dispatch<Domain::kNumbers>(type.dtype, [&]<typename T>() {
      for_each_group<T>(call, type.dtype, [&](int64_t i, const std::vector<T>& values) {
        T best = values.front();
        for (const T value : values)
          if (best == best && (value != value || (combine == Combine::kMax ? value > best : value < best)))
            best = value;
        write_element(out, i, best);
      });
    });
  };
  op.gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                   const Value best = e.eq(call.in(0), restored(e, call, call.out()));
                   const Value count = e.sum(best, reduced_axes(call, call.rank(0)), true);
                   return {e.where(best, e.div(restored(e, call, g[0]), count), 0)};
                 },
                 .saved_inputs = {0},
                 .saves_outputs = true};
  op.samples = reduce_samples(Fill::kNormal);
  return op;
}

Op amax() {
  return extremum({.signature = "amax(x, dim: axes? = None, keepdim: bool = False)",
                   .doc = R"(Returns the maximum of `x` over the dimensions `dim`, or over all dimensions by default.
`keepdim` keeps the reduced dimensions with size 1. NaN is propagated. The gradient is
divided equally among equal maxima. Raises ValueError if there are no elements to reduce.

>>> lucid.amax(lucid.tensor([[1, 5], [3, 2]]), 1)
tensor([5, 3]))"},
                  Combine::kMax);
}

Op amin() {
  return extremum({.signature = "amin(x, dim: axes? = None, keepdim: bool = False)",
                   .doc = R"(Returns the minimum of `x` over the dimensions `dim`, or over all dimensions by default.
`keepdim` keeps the reduced dimensions with size 1. NaN is propagated. The gradient is
divided equally among equal minima. Raises ValueError if there are no elements to reduce.

>>> lucid.amin(lucid.tensor([[1, 5], [3, 2]]), 1)
tensor([1, 2]))"},
                  Combine::kMin);
}

Op position(Op op, Combine combine) {
  op.dtypes = kNumbers;
  op.infer = infer_position;
  op.lowering = ReduceLowering{.combine = combine};
  op.reference = [combine](HostCall& call) {
    const HostArray out = call.make_output(infer_types(call).front());
    const Dtype dtype = call.dtype(0);
    dispatch<Domain::kNumbers>(dtype, [&]<typename T>() {
      for_each_group<T>(call, dtype, [&](int64_t i, const std::vector<T>& values) {
        size_t best = 0;
        for (size_t j = 1; j < values.size(); ++j) {
          const T value = values[j];
          const T held = values[best];
          if (held == held && (value != value || (combine == Combine::kArgMax ? value > held : value < held))) best = j;
        }
        write_element(out, i, static_cast<int64_t>(best));
      });
    });
  };
  op.gradient = zero_gradient();
  op.samples = std::vector<Sample>{{{distinct({37})}}, {{distinct({2, 3, 4})}}} + position_samples(Fill::kNormal);
  return op;
}

Op argmax() {
  return position(
      {.signature = "argmax(x, dim: axis? = None, keepdim: bool = False)",
       .doc = R"(Returns the i64 index of the maximum of `x` along `dim`, or in the flattened tensor by default. The
first of equal elements is chosen, or the first NaN if there is one. `keepdim` keeps the reduced
dimension with size 1. Raises ValueError if there are no elements to reduce.

>>> lucid.argmax(lucid.tensor([[1, 5], [3, 2]]), 1)
tensor([1, 0]))"},
      Combine::kArgMax);
}

Op argmin() {
  return position(
      {.signature = "argmin(x, dim: axis? = None, keepdim: bool = False)",
       .doc = R"(Returns the i64 index of the minimum of `x` along `dim`, or in the flattened tensor by default. The
first of equal elements is chosen, or the first NaN if there is one. `keepdim` keeps the reduced
dimension with size 1. Raises ValueError if there are no elements to reduce.

>>> lucid.argmin(lucid.tensor([[1, 5], [3, 2]]), 1)
tensor([0, 1]))"},
      Combine::kArgMin);
}

/// Completes max_dim or min_dim: the extrema and their indices. Only those elements receive the gradient.
Op best_of(Op op, bool largest) {
  op.dtypes = kNumbers;
  op.decompose = [largest](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
    call.axis("dim");  // the error names this op
    const int64_t dim = call.integer("dim");
    const bool keepdim = keeps_dims(call);
    if (largest) return {e.amax(in[0], Dims{dim}, keepdim), e.argmax(in[0], dim, keepdim)};
    return {e.amin(in[0], Dims{dim}, keepdim), e.argmin(in[0], dim, keepdim)};
  };
  op.gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                   const Value at = e.iota(call.shape(0), call.integer("dim"));
                   const Value chosen = e.eq(at, restored(e, call, call.out(1)));
                   return {e.where(chosen, restored(e, call, g[0]), 0)};
                 },
                 .saves_outputs = true};
  op.samples = position_samples(Fill::kDistinct);
  return op;
}

Op max_dim() {
  return best_of({.signature = "max_dim(x, dim: axis, keepdim: bool = False) -> values, indices",
                  .doc = R"(Returns the maxima of `x` along `dim` as `values` and their i64 indices as `indices`. The
first of equal elements is chosen, or the first NaN if there is one, and it alone receives
the gradient. `keepdim` keeps the reduced dimension with size 1. Raises ValueError if there
are no elements to reduce.

>>> lucid.max_dim(lucid.tensor([[1, 5], [3, 2]]), 1)
lucid.return_types.max_dim(values=tensor([5, 3]), indices=tensor([1, 0])))"},
                 true);
}

Op min_dim() {
  return best_of({.signature = "min_dim(x, dim: axis, keepdim: bool = False) -> values, indices",
                  .doc = R"(Returns the minima of `x` along `dim` as `values` and their i64 indices as `indices`. The
first of equal elements is chosen, or the first NaN if there is one, and it alone receives
the gradient. `keepdim` keeps the reduced dimension with size 1. Raises ValueError if there
are no elements to reduce.

>>> lucid.min_dim(lucid.tensor([[1, 5], [3, 2]]), 1)
lucid.return_types.min_dim(values=tensor([1, 2]), indices=tensor([0, 1])))"},
                 false);
}

Op quantifier(Op op, Combine combine) {
  op.infer = [](const Call& call) -> std::vector<TensorType> { return {reduced_type(call, Dtype::kBool)}; };
  op.lowering = ReduceLowering{.combine = combine};
  op.reference = [combine](HostCall& call) {
    const HostArray out = call.make_output(infer_types(call).front());
    for_each_group<bool>(call, Dtype::kBool, [&](int64_t i, const std::vector<bool>& values) {
      const bool sought = combine == Combine::kAny;
      const bool found = std::ranges::find(values, sought) != values.end();
      write_element(out, i, found == sought);
    });
  };
  op.gradient = zero_gradient();
  op.samples = reduce_samples(Fill::kNormal) + with({{{mask({5, 37})}}}, {{"dim", Dims{1}}});
  return op;
}

Op any() {
  return quantifier({.signature = "any(x, dim: axes? = None, keepdim: bool = False)",
                     .doc = R"(Returns whether any element of `x` is nonzero over the dimensions `dim`, or over all
dimensions by default, as a bool tensor. `keepdim` keeps the reduced dimensions with size
1. The result for no elements is False.

>>> lucid.any(lucid.tensor([[False, True], [False, False]]), 1)
tensor([ True, False]))"},
                    Combine::kAny);
}

Op all() {
  return quantifier({.signature = "all(x, dim: axes? = None, keepdim: bool = False)",
                     .doc = R"(Returns whether all elements of `x` are nonzero over the dimensions `dim`, or over all
dimensions by default, as a bool tensor. `keepdim` keeps the reduced dimensions with size
1. The result for no elements is True.

>>> lucid.all(lucid.tensor([[True, True], [True, False]]), 1)
tensor([ True, False]))"},
                    Combine::kAll);
}

}  // namespace

void add_reduce_ops(std::vector<Op>& ops) {
  for (auto make : {sum, mean, prod, amax, amin, argmax, argmin, max_dim, min_dim, any, all}) ops.push_back(make());
}

}  // namespace lucid
