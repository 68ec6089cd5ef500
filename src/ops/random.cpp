// Random ops. Operand 0 of every random op is the state of a generator, i64[2]: its seed, and its offset, which is the
// number of elements sampled since it was seeded. Element i of a result, in row-major order, depends only on the four
// words w0..w3 that Philox4x32-10 returns for counter offset + i and key seed. The results therefore do not depend on
// threads, layout or fusion. The caller advances the offset by the number of elements.

#include <cmath>
#include <numbers>

#include "loop/math.h"
#include "ops/philox.h"
#include "ops/reference.h"
#include "ops/rules.h"

namespace lucid {
namespace {

using loop::Code;
using philox::check_state;
using philox::joined;
using philox::reference_words;
using Types = std::vector<TensorType>;

Dtype result_dtype(const Call& call) { return call.is_none("dtype") ? default_float() : call.dtype_of("dtype"); }

Types infer_floats(const Call& call) {
  check_state(call);
  const Dtype dtype = result_dtype(call);
  if (!is_float(dtype)) throw TypeError("{}: dtype must be floating-point, got {}", call.name(), name_of(dtype));
  checked_numel(call.name(), call.ints("size"), size_of(dtype));
  return {{dtype, call.ints("size")}};
}

/// The random words of the current element of a result of this shape.
std::array<loop::Value, 4> words_of(ElementContext& element, const Dims& shape) {
  loop::Builder& b = element.builder();
  loop::Value at = b.index(0);
  for (int64_t d = 0; d < shape.rank(); ++d)
    at = d == 0 ? element.index(0) : at * element.number(shape[static_cast<size_t>(d)]) + element.index(d);
  const loop::Value first[] = {b.index(0)};
  const loop::Value second[] = {b.index(1)};
  return philox::words(element.load(0, first, {}), element.load(0, second, {}) + at);
}

/// The number of random bits in a uniform number of this dtype: the largest n for which all multiples of 2^-n in [0, 1)
/// are representable.
int uniform_bits(Dtype dtype) {
  return dtype == Dtype::kF64 ? 53 : dtype == Dtype::kF32 ? 24 : dtype == Dtype::kF16 ? 11 : 8;
}

/// The top bits of `bits`, which has `width` random bits, as a number in [0, 1).
loop::Value fraction(loop::Value bits, int width, Dtype dtype) {
  loop::Builder& b = bits.builder();
  const int count = uniform_bits(dtype);
  const loop::Value top = b.binary(Code::kShrLogical, bits, b.index(width - count));
  const Dtype compute = compute_dtype(dtype);
  // Integers that fit in 32 bits convert faster from i32.
  const loop::Value whole = b.convert(count <= 24 ? b.convert(top, Dtype::kI32) : top, compute);
  return whole * std::ldexp(1.0, -count);
}

template <typename T>
T fraction(uint64_t bits, int width, Dtype dtype) {
  const int count = uniform_bits(dtype);
  return static_cast<T>(bits >> (width - count)) * static_cast<T>(std::ldexp(1.0, -count));
}

loop::Value uniform(const std::array<loop::Value, 4>& w, Dtype dtype) {
  return dtype == Dtype::kF64 ? fraction(joined(w[0], w[1]), 64, dtype) : fraction(w[0], 32, dtype);
}

template <typename T>
T uniform(const std::array<uint32_t, 4>& w, Dtype dtype) {
  return dtype == Dtype::kF64 ? fraction<T>(joined(w[0], w[1]), 64, dtype) : fraction<T>(w[0], 32, dtype);
}

std::vector<Sample> size_samples() {
  return with({{{offsets({2}, 1 << 20)}}}, {{"size", Dims{37}}}) +
         with({{{offsets({2}, 1 << 20)}}}, {{"size", Dims{2, 3, 5}}, {"dtype", Dtype::kF64}}) +
         with({{{offsets({2}, 1 << 20)}}}, {{"size", Dims{19}}, {"dtype", Dtype::kF16}}) +
         with({{{offsets({2}, 1 << 20)}}}, {{"size", Dims{}}, {"dtype", Dtype::kBF16}}) +
         with({{{offsets({2}, 1 << 20)}}}, {{"size", Dims{0, 2}}});
}

Op random_bits() {
  return {
      .signature = "random_bits(state, size: ints)",
      .doc = R"(Returns an i64 tensor of shape `size` with 64 random bits in each element. `state` is i64[2]: the seed
of a Philox4x32-10 generator and an offset. Element i has the bits of w0 * 2^32 + w1, where w0 to w3 are
the four words that the generator returns for counter offset + i.

>>> lucid.random_bits(lucid.tensor([0, 0]), ()).item() == 0x6627e8d5e169c58d
True)",
      .dtypes = Dtype::kI64,
      .infer = [](const Call& call) -> Types {
        check_state(call);
        checked_numel(call.name(), call.ints("size"), sizeof(int64_t));
        return {{Dtype::kI64, call.ints("size")}};
      },
      .lowering = IndexedLowering{.body =
                                      [](ElementContext& element, const Call& call) {
                                        const auto w = words_of(element, call.ints("size"));
                                        return joined(w[0], w[1]);
                                      }},
      .reference =
          [](HostCall& call) {
            const HostArray out = call.make_output(infer_types(call).front());
            for (int64_t i = 0; i < out.size(); ++i) {
              const auto w = reference_words(call, i);
              out.as<uint64_t>()[i] = joined(w[0], w[1]);
            }
          },
      .gradient = zero_gradient(),
      .samples = with({{{offsets({2}, 1 << 20)}}}, {{"size", Dims{37}}}) +
                 with({{{offsets({2}, 1 << 20)}}}, {{"size", Dims{2, 3, 5}}}) +
                 with({{{offsets({2}, 1 << 20)}}}, {{"size", Dims{}}}),
  };
}

Op random_uniform() {
  return {
      .signature = "random_uniform(state, size: ints, *, dtype: dtype? = None)",
      .doc = R"(Samples from the uniform distribution on [0, 1). `dtype` is floating-point and defaults to the default
float dtype. With the words w0 to w3 of each element as in random_bits, a sample is a binary fraction of
the top 24 bits of w0 for f32, 11 for f16, 8 for bf16, and of the top 53 bits of w0 and w1 for f64.

>>> lucid.random_uniform(lucid.tensor([1, 0]), (2, 3)).shape
(2, 3))",
      .dtypes = Dtype::kI64,
      .infer = infer_floats,
      .lowering = IndexedLowering{.body =
                                      [](ElementContext& element, const Call& call) {
                                        return uniform(words_of(element, call.ints("size")), result_dtype(call));
                                      }},
      .reference =
          [](HostCall& call) {
            const TensorType type = infer_types(call).front();
            const HostArray out = call.make_output(type);
            dispatch<Domain::kFloats>(type.dtype, [&]<typename T>() {
              for (int64_t i = 0; i < out.size(); ++i)
                write_element(out, i, uniform<T>(reference_words(call, i), type.dtype));
            });
          },
      .gradient = zero_gradient(),
      .samples = size_samples(),
  };
}

Op random_normal() {
  return {
      .signature = "random_normal(state, size: ints, *, dtype: dtype? = None)",
      .doc = R"(Samples from the normal distribution with mean 0 and variance 1 by the Box-Muller transform sqrt(-2
log(u)) * cos(2 pi v). `dtype` is floating-point and defaults to the default float dtype. With the words
w0 to w3 of each element as in random_bits, u is (w0 + 1) / 2^32 and v a binary fraction of the top 24
bits of w1 for f32 and narrower dtypes. For f64, u has 53 bits of w0 and w1 and v has 53 bits of w2 and
w3.

>>> lucid.random_normal(lucid.tensor([1, 0]), (2, 3)).shape
(2, 3))",
      .dtypes = Dtype::kI64,
      .infer = infer_floats,
      .lowering = IndexedLowering{.body =
                                      [](ElementContext& element, const Call& call) {
                                        loop::Builder& b = element.builder();
                                        const auto w = words_of(element, call.ints("size"));
                                        const Dtype dtype = compute_dtype(result_dtype(call));
                                        const bool is_double = dtype == Dtype::kF64;
                                        const loop::Value bits =
                                            is_double ? b.binary(Code::kShrLogical, joined(w[0], w[1]), b.index(11))
                                                      : w[0];
                                        const loop::Value u = b.convert(bits + b.index(1), dtype) *
                                                              std::ldexp(1.0, is_double ? -53 : -32);
                                        const loop::Value v = is_double ? fraction(joined(w[2], w[3]), 64, dtype)
                                                                        : fraction(w[1], 32, dtype);
                                        const loop::Value radius = b.unary(Code::kSqrt, loop::log(u) * -2.0);
                                        return radius * loop::cos(v * (2 * std::numbers::pi));
                                      }},
      .reference =
          [](HostCall& call) {
            const TensorType type = infer_types(call).front();
            const HostArray out = call.make_output(type);
            dispatch<Domain::kFloats>(type.dtype, [&]<typename T>() {
              constexpr bool kDouble = std::is_same_v<T, double>;
              constexpr Dtype kDtype = kDouble ? Dtype::kF64 : Dtype::kF32;
              for (int64_t i = 0; i < out.size(); ++i) {
                const auto w = reference_words(call, i);
                const uint64_t bits = kDouble ? joined(w[0], w[1]) >> 11 : w[0];
                const T u = static_cast<T>(bits + 1) * static_cast<T>(kDouble ? 0x1p-53 : 0x1p-32);
                const T v = kDouble ? fraction<T>(joined(w[2], w[3]), 64, kDtype) : fraction<T>(w[1], 32, kDtype);
                const T radius = std::sqrt(static_cast<T>(std::log(u)) * T(-2));
                write_element(out, i, radius * static_cast<T>(std::cos(v * static_cast<T>(2 * std::numbers::pi))));
              }
            });
          },
      .gradient = zero_gradient(),
      .samples = size_samples(),
      .ulp = 6,
  };
}

/// The smallest and largest integer that a dtype holds exactly.
std::pair<int64_t, int64_t> integer_range(Dtype dtype) {
  if (is_bool(dtype)) return {0, 1};
  if (dtype == Dtype::kU8) return {0, 255};
  if (is_float(dtype)) {
    const int64_t max = int64_t{1} << uniform_bits(dtype);
    return {-max, max};
  }
  const auto bits = static_cast<int>(8 * size_of(dtype) - 1);
  return {-(int64_t{1} << (bits - 1)) * 2, static_cast<int64_t>((uint64_t{1} << bits) - 1)};
}

Dtype integers_dtype(const Call& call) { return call.is_none("dtype") ? Dtype::kI64 : call.dtype_of("dtype"); }

/// high - low as an unsigned number, which may need all 64 bits.
int64_t spread_of(const Call& call) {
  return static_cast<int64_t>(static_cast<uint64_t>(call.integer("high")) - static_cast<uint64_t>(call.integer("low")));
}

Op random_integers() {
  return {
      .signature = "random_integers(state, size: ints, low: int, high: int, *, dtype: dtype? = None)",
      .doc = R"(Samples integers uniformly from [low, high). `dtype` defaults to i64. With the words w0 to w3 of each
element as in random_bits, a sample is `low` plus the high 64 bits of (high - low) * (w0 * 2^32 + w1).
The probability of each integer is within 2^-64 of uniform. Raises ValueError if low >= high or if
`dtype` cannot represent the whole range.

>>> lucid.random_integers(lucid.tensor([1, 0]), (3,), 5, 6)
tensor([5, 5, 5]))",
      .dtypes = Dtype::kI64,
      .infer = [](const Call& call) -> Types {
        check_state(call);
        const int64_t low = call.integer("low");
        const int64_t high = call.integer("high");
        const Dtype dtype = integers_dtype(call);
        if (low >= high) throw ValueError("{}: low {} must be below high {}", call.name(), low, high);
        const auto [min, max] = integer_range(dtype);
        if (low < min || high - 1 > max)
          throw ValueError("{}: {} cannot represent all integers from {} to {}", call.name(), name_of(dtype), low,
                           high - 1);
        checked_numel(call.name(), call.ints("size"), size_of(dtype));
        return {{dtype, call.ints("size")}};
      },
      .lowering = IndexedLowering{.body =
                                      [](ElementContext& element, const Call& call) {
                                        const auto w = words_of(element, call.ints("size"));
                                        const loop::Value spread = element.number(spread_of(call));
                                        const loop::Value low = element.number(call.integer("low"));
                                        const loop::Value sample =
                                            philox::multiply_high(joined(w[0], w[1]), spread) + low;
                                        return element.builder().convert(sample, compute_dtype(integers_dtype(call)));
                                      }},
      .reference =
          [](HostCall& call) {
            const HostArray out = call.make_output(infer_types(call).front());
            for (int64_t i = 0; i < out.size(); ++i) {
              const auto w = reference_words(call, i);
              const uint64_t sample = philox::multiply_high(joined(w[0], w[1]), static_cast<uint64_t>(spread_of(call)));
              write_element(out, i, static_cast<int64_t>(sample + static_cast<uint64_t>(call.integer("low"))));
            }
          },
      .gradient = zero_gradient(),
      .samples = with({{{offsets({2}, 1 << 20)}}}, {{"size", Dims{37}}, {"low", int64_t{-3}}, {"high", int64_t{4}}}) +
                 with({{{offsets({2}, 1 << 20)}}},
                      {{"size", Dims{2, 19}}, {"low", int64_t{0}}, {"high", int64_t{100}}, {"dtype", Dtype::kU8}}) +
                 with({{{offsets({2}, 1 << 20)}}}, {{"size", Dims{5}}, {"low", INT64_MIN}, {"high", INT64_MAX}}) +
                 with({{{offsets({2}, 1 << 20)}}},
                      {{"size", Dims{5}}, {"low", int64_t{0}}, {"high", int64_t{7}}, {"dtype", Dtype::kF32}}),
  };
}

/// The dtype of the uniform numbers that probabilities are compared with.
Dtype trial_dtype(const Call& call) { return call.dtype(1) == Dtype::kF64 ? Dtype::kF64 : Dtype::kF32; }

Op random_bernoulli() {
  return {
      .signature = "random_bernoulli(state, p)",
      .doc = R"(Samples from Bernoulli distributions: each element is 1 with the probability in `p` and 0 otherwise. The
result has the shape and dtype of `p`, which must be floating-point. A sample is 1 where a number from
random_uniform, of f64 if `p` is f64 and of f32 otherwise, is below `p`. Raises ValueError if an element
of `p` is not in [0, 1].

>>> lucid.random_bernoulli(lucid.tensor([1, 0]), lucid.tensor([0., 1.]))
tensor([0., 1.]))",
      .dtypes = Dtype::kI64,
      .infer = [](const Call& call) -> Types {
        check_state(call);
        if (!call.operand(1).is_value() || !is_float(call.dtype(1)))
          throw TypeError("{}: p must be a floating-point tensor, got {}", call.name(),
                          to_string(call.operand(1).type()));
        return {{call.dtype(1), call.shape(1)}};
      },
      .lowering = IndexedLowering{.body =
                                      [](ElementContext& element, const Call& call) {
                                        loop::Builder& b = element.builder();
                                        std::vector<loop::Value> index;
                                        for (int64_t d = 0; d < call.rank(1); ++d) index.push_back(element.index(d));
                                        const loop::Value p = element.load(1, index, {});
                                        element.fail_if(~((p >= b.like(p, 0)) & (p <= b.like(p, 1))), 1);
                                        const loop::Value u =
                                            uniform(words_of(element, call.shape(1)), trial_dtype(call));
                                        return b.convert(u < p, p.dtype());
                                      }},
      .reference =
          [](HostCall& call) {
            const TensorType type = infer_types(call).front();
            const HostArray out = call.make_output(type);
            dispatch<Domain::kFloats>(type.dtype, [&]<typename T>() {
              const auto p = read_operand<T>(call, 1, type.dtype, type.shape);
              for (int64_t i = 0; i < out.size(); ++i) {
                const T chance = p[static_cast<size_t>(i)];
                if (!(chance >= 0 && chance <= 1)) throw ValueError("{}: {}", call.name(), call.op().errors[0]);
                write_element(out, i, T(uniform<T>(reference_words(call, i), trial_dtype(call)) < chance));
              }
            });
          },
      .gradient = zero_gradient(),
      .errors = {"p must contain probabilities from 0 to 1"},
      .error_class = ErrorClass::kValue,
      .samples = {{{offsets({2}, 1 << 20), {.shape = {2, 19}, .fill = Fill::kMask, .dtype = Dtype::kF32}}},
                  {{offsets({2}, 1 << 20), {.shape = {5}, .fill = Fill::kMask, .dtype = Dtype::kF64}}},
                  {{offsets({2}, 1 << 20), {.shape = {}, .fill = Fill::kMask, .dtype = Dtype::kF16}}}},
  };
}

}  // namespace

void add_random_ops(std::vector<Op>& ops) {
  for (auto make : {random_bits, random_uniform, random_normal, random_integers, random_bernoulli})
    ops.push_back(make());
}

}  // namespace lucid
