// Running sums and products, and differences.

#include <algorithm>

#include "ops/reference.h"
#include "ops/rules.h"

namespace lucid {
namespace {

int64_t axis_of(const Call& call) { return normalize_axis(call.name(), call.integer("dim"), call.rank(0)); }

/// Completes a scan along attribute "dim", one chain from the first element to the last.
template <typename F>
Op scan(Op op, Combine combine, F f) {
  op.infer = [](const Call& call) -> std::vector<TensorType> {
    axis_of(call);
    const Dtype natural = is_float(call.dtype(0)) ? call.dtype(0) : Dtype::kI64;
    const Dtype dtype = call.is_none("dtype") ? natural : call.dtype_of("dtype");
    if (is_bool(dtype)) throw TypeError("{}: dtype must be a number type, got bool", call.name());
    return {{dtype, call.shape(0)}};
  };
  op.lowering = ScanLowering{combine};
  op.reference = [f](HostCall& call) {
    const TensorType type = infer_types(call).front();
    const HostArray out = call.make_output(type);
    const bool is_single = type.shape.empty();
    const int64_t size = is_single ? 1 : type.shape[static_cast<size_t>(axis_of(call))];
    const int64_t stride = is_single ? 1 : contiguous_strides(type.shape)[static_cast<size_t>(axis_of(call))];
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

/// The sum of each element and those after it.
Value sum_onwards(Emitter& e, const Value& x, int64_t axis) {
  if (x.rank() == 0) return x;
  return e.flip(e.cumsum(e.flip(x, Dims{axis}), axis), Dims{axis});
}

Op cumsum() {
  return scan({.signature = "cumsum(x, dim: int, *, dtype: dtype? = None)",
               .doc = R"(The sum of each element and those before it along dim. Integers and bools are summed as i64.

>>> lucid.cumsum(lucid.tensor([1, 2, 3]), 0)
tensor([1, 3, 6]))",
               .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                 return {sum_onwards(e, g[0], axis_of(call))};
               }}},
              Combine::kSum, []<typename T>(T x, T y) -> T {
                if constexpr (std::is_same_v<T, bool>)
                  return x || y;
                else if constexpr (std::is_integral_v<T>)
                  return wrapped<T>(bits_of(x) + bits_of(y));
                else
                  return x + y;
              });
}

/// Results after the first zero are 0, so elements before it count as in a product without zeros; the first zero itself
/// counts by the products that have 1 in its place; what follows it counts nothing.
Values cumprod_gradient(Emitter& e, const GradientCall& call, std::span<const Value> g) {
  const int64_t axis = axis_of(call);
  const Value& x = call.in(0);
  const Value is_zero = e.eq(x, 0);
  const Value zeros = e.cumsum(is_zero, axis);
  const Value first = e.logical_and(is_zero, e.eq(zeros, 1));
  const Value before = e.div(sum_onwards(e, e.mul(g[0], call.out()), axis), e.where(is_zero, 1, x));
  const Value at = sum_onwards(e, e.mul(g[0], e.cumprod(e.where(first, 1, x), axis)), axis);
  return {e.where(e.eq(zeros, 0), before, e.where(first, at, 0))};
}

Op cumprod() {
  return scan(
      {.signature = "cumprod(x, dim: int, *, dtype: dtype? = None)",
       .doc = R"(The product of each element and those before it along dim. Integers and bools are multiplied as i64.

>>> lucid.cumprod(lucid.tensor([1, 2, 3]), 0)
tensor([1, 2, 6]))",
       .gradient = {.rule = cumprod_gradient, .saved_inputs = {0}, .saves_outputs = true}},
      Combine::kProd, []<typename T>(T x, T y) -> T {
        if constexpr (std::is_same_v<T, bool>)
          return x && y;
        else if constexpr (std::is_integral_v<T>)
          return wrapped<T>(bits_of(x) * bits_of(y));
        else
          return x * y;
      });
}

Op diff() {
  return {
      .signature = "diff(x, n: int = 1, dim: int = -1)",
      .doc =
          R"(The difference of each element and the one before it along dim, taken n times. For bools, whether they differ.

>>> lucid.diff(lucid.tensor([1, 4, 9]))
tensor([3, 5]))",
      .infer = [](const Call& call) -> std::vector<TensorType> {
        if (call.rank(0) == 0)
          throw ValueError("diff: needs at least one dimension, got {}", to_string(call.operand(0).type()));
        if (call.integer("n") < 0) throw ValueError("diff: n must not be negative, got {}", call.integer("n"));
        TensorType type = call.operand(0).type();
        int64_t& size = type.shape[static_cast<size_t>(axis_of(call))];
        size = std::max<int64_t>(0, size - call.integer("n"));
        return {type};
      },
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const int64_t axis = axis_of(call);
        Value x = in[0];
        if (call.integer("n") == 0 || x.size(axis) == 0) return {e.clone(x)};
        for (int64_t left = std::min(call.integer("n"), x.size(axis)); left > 0; --left) {
          const int64_t length = x.size(axis) - 1;
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

void add_scan_ops(std::vector<Op>& ops) {
  for (auto make : {cumsum, cumprod, diff}) ops.push_back(make());
}

}  // namespace lucid
