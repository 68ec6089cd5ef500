// Cumulative sums and products, and differences.

#include <algorithm>

#include "ops/reference.h"
#include "ops/rules.h"

namespace lucid {
namespace {

/// Completes a scan along attribute "dim", which accumulates sequentially from the first element to the last.
template <typename F>
Op scan(Op op, Combine combine, F f) {
  op.infer = [](const Call& call) -> std::vector<TensorType> {
    call.axis("dim");
    const Dtype natural = is_float(call.dtype(0)) ? call.dtype(0) : Dtype::kI64;
    const Dtype dtype = call.is_none("dtype") ? natural : call.dtype_of("dtype");
    if (is_bool(dtype)) throw TypeError("{}: dtype must be numeric, got bool", call.name());
    return {{dtype, call.shape(0)}};
  };
  op.lowering = ScanLowering{combine};
  op.reference = [f](HostCall& call) {
    const TensorType type = infer_types(call).front();
    const HostArray out = call.make_output(type);
    const bool is_single = type.shape.empty();
    const SymInt size = is_single ? SymInt(1) : type.shape[static_cast<size_t>(call.axis("dim"))];
    const int64_t stride =
        is_single ? SymInt(1) : contiguous_strides(type.shape)[static_cast<size_t>(call.axis("dim"))];
    dispatch_all(type.dtype, [&]<typename T>() {
      std::vector<T> x = read_operand<T>(call, 0, type.dtype, type.shape);
      for (int64_t i = 0; i < out.size(); ++i) {
        const auto at = static_cast<size_t>(i);
        if (i / stride % size > 0) x[at] = f(T(x[at - static_cast<size_t>(stride)]), T(x[at]));
        write_element(out, i, T(x[at]));
      }
    });
  };
  const auto dim = [](int64_t axis) { return std::pair<std::string, Attribute>("dim", axis); };
  op.samples = with({{{unit({37})}}}, {dim(0)}) + with({{{unit({3, 19})}}}, {dim(-1)}) +
               with({{{unit({19, 3})}}}, {dim(0)}) + with({{{strided({4, 3}, {1, 4}, Fill::kUnit)}}}, {dim(1)}) +
               with({{{unit({2, 0})}}}, {dim(1)}) + with({{{unit({})}}}, {dim(0)}) +
               with({{{nonzero({2, 5})}}}, {dim(1), {"dtype", Dtype::kF64}});
  return op;
}

/// The sum of each element and all elements after it along `axis`.
Value reverse_cumsum(Emitter& e, const Value& x, int64_t axis) {
  if (x.rank() == 0) return x;
  return e.flip(e.cumsum(e.flip(x, Dims{axis}), axis), Dims{axis});
}

Op cumsum() {
  return scan({.signature = "cumsum(x, dim: axis, *, dtype: dtype? = None)",
               .doc = R"(Returns the cumulative sum of `x` along `dim`. Integers and bools are summed in i64 unless
`dtype` is given.

>>> lucid.cumsum(lucid.tensor([1, 2, 3]), 0)
tensor([1, 3, 6]))",
               .names = {.in_place = true},
               .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                 return {reverse_cumsum(e, g[0], call.axis("dim"))};
               }}},
              Combine::kSum, [](auto x, auto y) { return sum_of(x, y); });
}

/// The derivative of result k with respect to element i, for k >= i, is the product of the elements before i times the
/// product of the elements after i up to k. The second factor is summed over k with weights g, in iterations that
/// double the reach m of the sums.
Values cumprod_gradient(Emitter& e, const GradientCall& call, std::span<const Value> g) {
  const Value x = e.cast(call.in(0), g[0].dtype());
  if (x.rank() == 0 || numel(x.shape()) == 0) return {g[0]};
  const int64_t axis = call.axis("dim");
  const SymInt size = x.size(axis);
  Value sum = g[0];
  Value after;  // after[i] = x[i + 1] * ... * x[i + m], for i + m < size
  for (int64_t m = 1; m < size; m *= 2) {
    const int64_t count = size - m;
    after = m == 1 ? e.narrow(x, axis, 1, count)
                   : e.mul(e.narrow(after, axis, 0, count), e.narrow(after, axis, m / 2, count));
    const Value longer = e.add(e.narrow(sum, axis, 0, count), e.mul(after, e.narrow(sum, axis, m, count)));
    const Value parts[] = {longer, e.narrow(sum, axis, count, m)};
    sum = e.cat_same(parts, axis);
  }
  return {e.mul(product_before(e, x, axis), sum)};
}

Op cumprod() {
  return scan(
      {.signature = "cumprod(x, dim: axis, *, dtype: dtype? = None)",
       .doc = R"(Returns the cumulative product of `x` along `dim`. Integers and bools are multiplied in i64 unless
`dtype` is given.

>>> lucid.cumprod(lucid.tensor([1, 2, 3]), 0)
tensor([1, 2, 6]))",
       .names = {.in_place = true},
       .gradient = {.rule = cumprod_gradient, .saved_inputs = {0}}},
      Combine::kProd, [](auto x, auto y) { return product_of(x, y); });
}

Op diff() {
  return {
      .signature = "diff(x, n: int = 1, dim: axis = -1)",
      .doc = R"(Returns the `n`-th forward difference of `x` along `dim`: x[i + 1] - x[i], applied `n` times. For bools,
returns whether neighboring elements differ. Raises ValueError if `x` is 0-d or `n` is negative.

>>> lucid.diff(lucid.tensor([1, 4, 9]))
tensor([3, 5]))",
      .infer = [](const Call& call) -> std::vector<TensorType> {
        if (call.rank(0) == 0)
          throw ValueError("diff: x must have at least one dimension, got {}", to_string(call.operand(0).type()));
        if (call.integer("n") < 0) throw ValueError("diff: n must not be negative, got {}", call.integer("n"));
        TensorType type = call.operand(0).type();
        SymInt& size = type.shape[static_cast<size_t>(call.axis("dim"))];
        size = std::max<int64_t>(0, size - call.integer("n"));
        return {type};
      },
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const int64_t axis = call.axis("dim");
        Value x = in[0];
        if (call.integer("n") == 0 || x.size(axis) == 0) return {e.clone(x)};
        for (int64_t left = std::min(call.integer("n"), x.size(axis)); left > 0; --left) {
          const SymInt length = x.size(axis) - 1;
          const Value later = e.narrow(x, axis, 1, length);
          const Value earlier = e.narrow(x, axis, 0, length);
          x = is_bool(x.dtype()) ? e.logical_xor(later, earlier) : e.sub(later, earlier);
        }
        return {x};
      },
      .samples = std::vector<Sample>{{{normal({37})}}, {{strided({4, 3}, {1, 4})}}, {{normal({0})}}} +
                 with({{{normal({5, 3})}}}, {{"dim", int64_t{0}}, {"n", int64_t{2}}}) +
                 with({{{normal({2})}}}, {{"n", int64_t{0}}}) + with({{{normal({2, 2})}}}, {{"n", int64_t{5}}}),
  };
}

}  // namespace

Value product_before(Emitter& e, const Value& x, int64_t axis) {
  // Prepend a one and drop the last element.
  Dims pad(static_cast<size_t>(2 * (x.rank() - axis)), 0);
  pad[pad.size() - 2] = 1;
  pad[pad.size() - 1] = -1;
  return e.cumprod(e.constant_pad(x, pad, 1.0), axis);
}

Value product_of_others(Emitter& e, const Value& x, int64_t axis) {
  const Dims axes{axis};
  return e.mul(product_before(e, x, axis), e.flip(product_before(e, e.flip(x, axes), axis), axes));
}

void add_scan_ops(std::vector<Op>& ops) {
  for (auto make : {cumsum, cumprod, diff}) ops.push_back(make());
}

}  // namespace lucid
