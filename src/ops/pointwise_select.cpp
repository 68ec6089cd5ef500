// Selection, clamping, interpolation and conversion of elements.

#include <limits>

#include "ops/reference.h"
#include "ops/rules.h"

namespace lucid {
namespace {

using loop::Builder;
using loop::Code;

Op to() {
  return {
      .signature = "to(x, dtype: dtype)",
      .doc = R"(Converts `x` to `dtype`. Conversion from float to integer truncates towards zero and saturates at the
bounds of the dtype; NaN becomes 0.

>>> lucid.to(lucid.tensor([1.7, -1.7]), lucid.int32)
tensor([ 1, -1], dtype=lucid.int32))",
      .names = {.method = false},
      .algebra = {.copies = Copies::kUnlessOfDtype},
      .infer = [](const Call& call) -> std::vector<TensorType> { return {{call.dtype_of("dtype"), call.shape(0)}}; },
      .lowering = PointwiseLowering{.body =
                                        [](Builder& b, std::span<const loop::Value> in, const Call& call) {
                                          return b.convert(in[0], compute_dtype(call.dtype_of("dtype")));
                                        }},
      .reference = reference_unary<Domain::kAll>([](auto x) { return x; }),
      .gradient = {.rule = [](Emitter&, const GradientCall&, std::span<const Value> g) -> Values { return {g[0]}; }},
      .samples =
          with(unary_samples(), {{"dtype", Dtype::kF32}}) + with(unary_samples(), {{"dtype", Dtype::kI32}}) +
          with({{{normal({37})}}}, {{"dtype", Dtype::kBool}}) + with({{{positive({37})}}}, {{"dtype", Dtype::kU8}}) +
          with({{{normal({37})}}}, {{"dtype", Dtype::kF16}}) + with({{{normal({37})}}}, {{"dtype", Dtype::kF64}}),
  };
}

Op where() {
  return {
      .signature = "where(condition, x, y)",
      .doc = R"(Returns `x` where `condition` is true and `y` elsewhere, elementwise, with broadcasting. `condition`
must be bool. `x` and `y` are promoted to a common dtype.

>>> lucid.where(lucid.tensor([True, False]), lucid.tensor([1.0, 2.0]), 0)
tensor([1., 0.]))",
      .algebra = {.choice = Algebra::Choice{.condition = 0, .if_true = 1, .if_false = 2}},
      .promote = Promote::kTail,
      .lowering = lower_ternary(
          [](loop::Value condition, loop::Value x, loop::Value y) { return x.builder().select(condition, x, y); }),
      .reference =
          [](HostCall& call) {
            const TensorType type = infer_types(call).front();
            const HostArray out = call.make_output(type);
            const auto condition = read_operand<bool>(call, 0, Dtype::kBool, type.shape);
            dispatch_all(type.dtype, [&]<typename T>() {
              const auto x = read_operand<T>(call, 1, type.dtype, type.shape);
              const auto y = read_operand<T>(call, 2, type.dtype, type.shape);
              for (size_t i = 0; i < x.size(); ++i)
                write_element(out, static_cast<int64_t>(i), T(condition[i] ? x[i] : y[i]));
            });
          },
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     const Value& condition = call.in(0);
                     return {Value(), call.needs(1) ? e.where(condition, g[0], 0) : Value(),
                             call.needs(2) ? e.where(condition, 0, g[0]) : Value()};
                   },
                   .saved_inputs = {0}},
      .samples = {{{mask({37}), normal({37}), normal({37})}},
                  {{mask({3, 1}), normal({1, 4}), normal({2, 1, 1})}},
                  {{mask({4, 3}), strided({4, 3}, {1, 4}), number(2)}},
                  {{mask({5}), number(1), normal({5})}},
                  {{mask({0}), normal({1}), normal({})}},
                  {{mask({}), normal({}), normal({2, 2})}}},
  };
}

/// Completes minimum or maximum. The result is NaN if either operand is NaN.
Op extremum(Op op, Code better, Code of_integers, Code of_bools) {
  op.promote = Promote::kSame;
  op.lowering = lower_binary([=](loop::Value x, loop::Value y) {
    Builder& b = x.builder();
    if (x.dtype() == Dtype::kBool) return b.binary(of_bools, x, y);
    if (!is_float(x.dtype())) return b.binary(of_integers, x, y);
    return b.select(b.binary(better, x, y) | (x != x), x, y);
  });
  op.gradient = {.rule = [better](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                   const Operand x = call.argument(0);
                   const Operand y = call.argument(1);
                   const auto wins = [&](const Operand& a, const Operand& b) {
                     return better == Code::kGt ? e.gt(a, b) : e.lt(a, b);
                   };
                   // Equal operands get half of the gradient each.
                   const Value shared = e.where(e.eq(x, y), e.mul(g[0], 0.5), 0);
                   return {e.where(wins(x, y), g[0], shared), e.where(wins(y, x), g[0], shared)};
                 },
                 .saved_inputs = {0, 1}};
  op.samples = binary_samples();
  return op;
}

Op minimum() {
  return extremum({.signature = "minimum(x, y)",
                   .doc = R"(Returns the smaller of `x` and `y`, elementwise, with broadcasting and type promotion. If
either element is NaN, the result is NaN.

>>> lucid.minimum(lucid.tensor([1.0, 5.0]), lucid.tensor([2.0, 3.0]))
tensor([1., 3.]))",
                   .algebra = {.is_idempotent = true},
                   .reference = reference_binary<Domain::kAll>([](auto x, auto y) { return x < y || x != x ? x : y; })},
                  Code::kLt, Code::kMin, Code::kAnd);
}

Op maximum() {
  return extremum({.signature = "maximum(x, y)",
                   .doc = R"(Returns the larger of `x` and `y`, elementwise, with broadcasting and type promotion. If
either element is NaN, the result is NaN.

>>> lucid.maximum(lucid.tensor([1.0, 5.0]), lucid.tensor([2.0, 3.0]))
tensor([2., 5.]))",
                   .algebra = {.is_idempotent = true},
                   .reference = reference_binary<Domain::kAll>([](auto x, auto y) { return x > y || x != x ? x : y; })},
                  Code::kGt, Code::kMax, Code::kOr);
}

std::vector<TensorType> infer_clamp(const Call& call) {
  if (!call.has(1) && !call.has(2)) throw ValueError("{}: min, max or both must be given", call.name());
  return infer_pointwise(call);
}

Op clamp() {
  return {
      .signature = "clamp(x, min? = None, max? = None)",
      .doc = R"(Clamps `x` to [min, max], elementwise, with broadcasting and type promotion. Either bound may be
omitted. Where min > max, the result is `max`. Raises ValueError if both bounds are omitted.

>>> lucid.clamp(lucid.tensor([-1.0, 0.5, 2.0]), 0, 1)
tensor([0.0000, 0.5000, 1.0000]))",
      .names = {.in_place = true},
      .dtypes = kNumbers,
      .promote = Promote::kSame,
      .infer = infer_clamp,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        Value result = call.has(1) ? e.maximum(in[0], argument(call, in, 1)) : in[0];
        return {call.has(2) ? e.minimum(result, argument(call, in, 2)) : result};
      },
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     const Value& x = call.in(0);
                     Value inside;
                     if (call.has(1)) inside = e.ge(x, call.argument(1));
                     if (call.has(2)) {
                       const Value below = e.le(x, call.argument(2));
                       inside = inside ? e.logical_and(inside, below) : below;
                     }
                     Values result = {e.where(inside, g[0], 0), Value(), Value()};
                     if (call.needs(1)) {
                       Value low = e.lt(x, call.argument(1));
                       if (call.has(2)) low = e.logical_and(low, e.lt(call.argument(1), call.argument(2)));
                       result[1] = e.where(low, g[0], 0);
                     }
                     if (call.needs(2)) {
                       Value high = e.gt(x, call.argument(2));
                       if (call.has(1)) high = e.logical_or(high, e.gt(call.argument(1), call.argument(2)));
                       result[2] = e.where(high, g[0], 0);
                     }
                     return result;
                   },
                   .saved_inputs = {0, 1, 2}},
      .samples = {{{normal({37}), number(-1), number(1)}},
                  {{normal({3, 4}), number(0), absent()}},
                  {{normal({3, 4}), absent(), number(0)}},
                  {{normal({2, 5}), normal({5}), positive({2, 1})}},
                  {{strided({4, 3}, {1, 4}), normal({}), absent()}},
                  {{normal({0}), number(0), number(1)}},
                  {{normal({}), number(1), number(0)}}},
  };
}

Op clip() {
  return {
      .signature = "clip(x, min? = None, max? = None)",
      .doc = R"(Alias of clamp: clamps `x` to [min, max], elementwise.

>>> lucid.clip(lucid.tensor([-1.0, 0.5, 2.0]), 0, 1)
tensor([0.0000, 0.5000, 1.0000]))",
      .names = {.in_place = true},
      .dtypes = kNumbers,
      .promote = Promote::kSame,
      .infer = infer_clamp,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        return {e.clamp(in[0], argument(call, in, 1), argument(call, in, 2))};
      },
      .samples = {{{normal({37}), number(-1), number(1)}}, {{normal({3, 4}), number(0), absent()}}},
  };
}

Op masked_fill() {
  return {
      .signature = "masked_fill(x, mask, value)",
      .doc = R"(Returns `x` with elements replaced by `value` where `mask` is true. `mask` is a bool tensor that
broadcasts with `x`, and `value` is a number or a 0-d tensor. The result has the dtype of `x`. Raises
TypeError if `value` is a floating-point number and `x` holds integers or bools.

>>> lucid.masked_fill(lucid.tensor([1.0, 2.0]), lucid.tensor([True, False]), 0)
tensor([0., 2.]))",
      .names = {.in_place = true},
      .algebra = {.choice = Algebra::Choice{.condition = 1, .if_false = 0}},
      .infer = [](const Call& call) -> std::vector<TensorType> {
        if (!is_bool(call.dtype(1)))
          throw TypeError("masked_fill: mask must be bool, got {}", to_string(call.operand(1).type()));
        if (call.rank(2) != 0)
          throw ValueError("masked_fill: value must be a number or a 0-d tensor, got {}",
                           to_string(call.operand(2).type()));
        if (call.operand(2).is_scalar() && call.operand(2).scalar().is_float() && !is_float(call.dtype(0)))
          throw TypeError("masked_fill: {} cannot hold {}; convert it to a float", to_string(call.operand(0).type()),
                          to_string(call.operand(2).scalar()));
        return {{call.dtype(0), broadcast(call.name(), call.shape(0), call.shape(1))}};
      },
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        return {e.where(in[1], e.to(argument(call, in, 2), in[0].dtype()), in[0])};
      },
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     return {e.where(call.in(1), 0, g[0]), Value(),
                             call.needs(2) ? e.where(call.in(1), g[0], 0) : Value()};
                   },
                   .saved_inputs = {1}},
      .samples = {{{normal({37}), mask({37}), number(0)}},
                  {{normal({2, 3, 4}), mask({3, 1}), number(1)}},
                  {{strided({4, 3}, {1, 4}), mask({}), normal({})}},
                  {{normal({3}), mask({2, 3}), number(true)}},
                  {{normal({0, 2}), mask({2}), number(0)}}},
  };
}

/// The largest finite number of a floating-point dtype.
double largest(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF16:
      return 65504;
    case Dtype::kBF16:
      return 0x1.fep127;
    case Dtype::kF32:
      return std::numeric_limits<float>::max();
    default:
      return std::numeric_limits<double>::max();
  }
}

struct Replacements {
  explicit Replacements(const Call& call)
      : nan(call.real("nan")),
        posinf(call.is_none("posinf") ? largest(call.dtype(0)) : call.real("posinf")),
        neginf(call.is_none("neginf") ? -largest(call.dtype(0)) : call.real("neginf")) {}
  double nan, posinf, neginf;
};

Op nan_to_num() {
  return {
      .signature = "nan_to_num(x, nan: float = 0.0, posinf: float? = None, neginf: float? = None)",
      .doc = R"(Replaces NaN by `nan`, infinity by `posinf` and negative infinity by `neginf`, elementwise. `posinf` and
`neginf` default to the largest and the smallest finite value of the dtype. Integers and bools are
returned unchanged.

>>> lucid.nan_to_num(lucid.tensor([float("nan"), float("inf"), 1.0]), posinf=9.0)
tensor([0., 9., 1.]))",
      .names = {.in_place = true},
      .promote = Promote::kSame,
      .lowering = PointwiseLowering{.body =
                                        [](Builder& b, std::span<const loop::Value> in, const Call& call) {
                                          const loop::Value x = in[0];
                                          if (!is_float(x.dtype())) return x;
                                          const Replacements use(call);
                                          const loop::Value finite =
                                              b.select(x == b.like(x, kInfinity), b.like(x, use.posinf),
                                                       b.select(x == b.like(x, -kInfinity), b.like(x, use.neginf), x));
                                          return b.select(x != x, b.like(x, use.nan), finite);
                                        }},
      .reference =
          [](HostCall& call) {
            const Replacements use(call);
            reference_unary<Domain::kAll>([use]<typename T>(T x) -> T {
              if constexpr (std::is_floating_point_v<T>) {
                if (x != x) return static_cast<T>(use.nan);
                if (std::isinf(x)) return static_cast<T>(x > 0 ? use.posinf : use.neginf);
              }
              return x;
            })(call);
          },
      .gradient =
          gradient_of_input([](Emitter& e, const Value& g, const Value& x) { return e.where(e.isfinite(x), g, 0); }),
      .samples = unary_samples() + with({{{normal({19})}}}, {{"nan", 1.5}, {"posinf", 2.0}, {"neginf", -2.0}}),
  };
}

Op lerp() {
  return {
      .signature = "lerp(x, end, weight)",
      .doc = R"(Interpolates linearly between `x` and `end`: x + weight * (end - x), elementwise, with broadcasting and
type promotion. The common dtype must be floating-point. The result is exactly `x` for weight 0 and
exactly `end` for weight 1.

>>> lucid.lerp(lucid.tensor([0.0, 10.0]), lucid.tensor([1.0, 20.0]), 0.5)
tensor([ 0.5000, 15.0000]))",
      .dtypes = kFloats,
      .promote = Promote::kSame,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const Operand x = argument(call, in, 0);
        const Operand end = argument(call, in, 1);
        const Operand weight = argument(call, in, 2);
        // Interpolate from the nearer end, so that weight 1 yields exactly `end`.
        const Value span = e.sub(end, x);
        const auto from_start = [&] { return e.add(x, e.mul(span, weight)); };
        const auto from_end = [&] { return e.sub(end, e.mul(span, e.sub(1, weight))); };
        if (call.operand(2).is_scalar()) {
          const double number = call.operand(2).scalar().to_double();
          if (std::fabs(number) < 0.5) return {from_start()};
          return {e.sub(end, e.mul(span, 1 - number))};
        }
        return {e.where(e.lt(e.abs(weight), 0.5), from_start(), from_end())};
      },
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     const Operand weight = call.argument(2);
                     const Value end = e.mul(g[0], weight);
                     if (!call.needs(2)) return {e.sub(g[0], end), end, Value()};
                     // x and end may be integers, whose difference may wrap, or bools, which have no difference:
                     // convert them.
                     Value converted[2];
                     const auto number = [&](size_t i) -> Operand {
                       const Operand given = call.argument(i);
                       if (given.is_scalar() || is_float(given.dtype())) return given;
                       return converted[i] = e.to(given, g[0].dtype());
                     };
                     return {e.sub(g[0], end), end, e.mul(g[0], e.sub(number(1), number(0)))};
                   },
                   .saved_inputs = {0, 1, 2}},
      .samples = {{{normal({37}), normal({37}), number(0.25)}},
                  {{normal({3, 4}), normal({4}), number(0.75)}},
                  {{normal({3, 4}), normal({3, 1}), normal({4})}},
                  {{strided({4, 3}, {1, 4}), normal({4, 3}), unit({})}},
                  {{normal({0}), normal({}), number(1)}}},
  };
}

/// x times the attribute "value". Exact for integers.
Value scaled(Emitter& e, const Call& call, const Value& x) {
  const double value = call.real("value");
  if (value == 1) return x;
  if (is_float(x.dtype())) return e.mul(x, value);
  if (value != std::trunc(value))
    throw TypeError("{}: value {} is not an integer, but the tensors are {}; convert them to a float", call.name(),
                    value, name_of(x.dtype()));
  return e.mul(x, Scalar(value).to_int());
}

Op addcmul() {
  return {
      .signature = "addcmul(x, tensor1, tensor2, *, value: float = 1.0)",
      .doc = R"(Computes x + value * tensor1 * tensor2, elementwise, with broadcasting and type promotion. Raises
TypeError if the tensors hold integers and `value` is not an integer.

>>> lucid.addcmul(lucid.tensor([1.0]), lucid.tensor([2.0]), lucid.tensor([3.0]), value=0.5)
tensor([4.]))",
      .dtypes = kNumbers,
      .promote = Promote::kSame,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const Value product = e.mul(argument(call, in, 1), argument(call, in, 2));
        return {e.add(argument(call, in, 0), scaled(e, call, product))};
      },
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     const Value scale = scaled(e, call, g[0]);
                     return {g[0], call.needs(1) ? e.mul(scale, call.argument(2)) : Value(),
                             call.needs(2) ? e.mul(scale, call.argument(1)) : Value()};
                   },
                   .saved_inputs = {{1, {2}}, {2, {1}}}},
      .samples = std::vector<Sample>{{{normal({37}), normal({37}), normal({37})}},
                                     {{normal({3, 4}), normal({4}), normal({3, 1})}},
                                     {{normal({0}), normal({1}), number(2)}}} +
                 with({{{strided({4, 3}, {1, 4}), normal({4, 3}), normal({})}}}, {{"value", -2.0}}),
  };
}

Op addcdiv() {
  return {
      .signature = "addcdiv(x, tensor1, tensor2, *, value: float = 1.0)",
      .doc = R"(Computes x + value * tensor1 / tensor2, elementwise, with broadcasting and type promotion. The common
dtype must be floating-point.

>>> lucid.addcdiv(lucid.tensor([1.0]), lucid.tensor([6.0]), lucid.tensor([3.0]), value=0.5)
tensor([2.]))",
      .dtypes = kFloats,
      .promote = Promote::kSame,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const Value quotient = e.div(argument(call, in, 1), argument(call, in, 2));
        return {e.add(argument(call, in, 0), scaled(e, call, quotient))};
      },
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     if (!call.needs(1) && !call.needs(2)) return {g[0]};
                     const Operand divisor = call.argument(2);
                     const Value first = e.div(scaled(e, call, g[0]), divisor);
                     return {g[0], first,
                             call.needs(2) ? e.neg(e.mul(first, e.div(call.argument(1), divisor))) : Value()};
                   },
                   .saved_inputs = {{1, {2}}, {2, {1, 2}}}},
      .samples = std::vector<Sample>{{{normal({37}), normal({37}), nonzero({37})}},
                                     {{normal({3, 4}), normal({4}), nonzero({3, 1})}},
                                     {{normal({0}), normal({1}), number(2)}}} +
                 with({{{strided({4, 3}, {1, 4}), normal({4, 3}), nonzero({})}}}, {{"value", -2.0}}),
  };
}

}  // namespace

void add_select_ops(std::vector<Op>& ops) {
  for (auto make : {to, where, minimum, maximum, clamp, clip, masked_fill, nan_to_num, lerp, addcmul, addcdiv})
    ops.push_back(make());
}

}  // namespace lucid
