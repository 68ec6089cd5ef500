// Bitwise ops on integers. On bools they are logical ops.

#include "ops/reference.h"
#include "ops/rules.h"

namespace lucid {
namespace {

using loop::Code;

template <typename F>
Op bitwise(Op op, Code code, F f) {
  op.dtypes = kIntegers | kBoolean;
  op.promote = Promote::kSame;
  op.lowering = lower_binary([code](loop::Value x, loop::Value y) { return x.builder().binary(code, x, y); });
  op.reference = reference_binary<Domain::kBits>([f]<typename T>(T x, T y) { return static_cast<T>(f(x, y)); });
  op.gradient = zero_gradient();
  op.samples = binary_samples();
  return op;
}

Op bitwise_and() {
  return bitwise({.signature = "bitwise_and(x, y)",
                  .doc = R"(Computes the bitwise and of `x` and `y`, elementwise, with broadcasting. Takes integers and
bools.

>>> lucid.bitwise_and(lucid.tensor([6, 5]), 4)
tensor([4, 4]))",
                  .names = {.python_operator = Operator::kAnd},
                  .algebra = {.is_idempotent = true, .neutral = Algebra::Neutral{-1}}},
                 Code::kAnd, [](auto x, auto y) { return x & y; });
}

Op bitwise_or() {
  return bitwise({.signature = "bitwise_or(x, y)",
                  .doc = R"(Computes the bitwise or of `x` and `y`, elementwise, with broadcasting. Takes integers and
bools.

>>> lucid.bitwise_or(lucid.tensor([1, 2]), 4)
tensor([5, 6]))",
                  .names = {.python_operator = Operator::kOr},
                  .algebra = {.is_idempotent = true, .neutral = Algebra::Neutral{0}}},
                 Code::kOr, [](auto x, auto y) { return x | y; });
}

Op bitwise_xor() {
  return bitwise({.signature = "bitwise_xor(x, y)",
                  .doc = R"(Computes the bitwise exclusive or of `x` and `y`, elementwise, with broadcasting. Takes
integers and bools.

>>> lucid.bitwise_xor(lucid.tensor([6, 5]), 4)
tensor([2, 1]))",
                  .names = {.python_operator = Operator::kXor},
                  .algebra = {.neutral = Algebra::Neutral{0}}},
                 Code::kXor, [](auto x, auto y) { return x ^ y; });
}

Op bitwise_not() {
  return {
      .signature = "bitwise_not(x)",
      .doc = R"(Inverts every bit of `x`, elementwise. For bools, this is logical not.

>>> lucid.bitwise_not(lucid.tensor([0, 5]))
tensor([-1, -6]))",
      .names = {.python_operator = Operator::kInvert},
      .algebra = {.is_involution = true},
      .dtypes = kIntegers | kBoolean,
      .promote = Promote::kSame,
      .lowering = lower_unary([](loop::Value x) { return ~x; }),
      .reference = reference_unary<Domain::kBits>([]<typename T>(T x) {
        if constexpr (std::is_same_v<T, bool>)
          return !x;
        else
          return static_cast<T>(~x);
      }),
      .gradient = zero_gradient(),
      .samples = unary_samples(),
  };
}

int64_t width(loop::Value x) { return static_cast<int64_t>(8 * size_of(x.dtype())); }

/// `shift` where it is in [0, limit), else `instead`. Machine shifts are undefined outside that range.
loop::Value bounded(loop::Value shift, int64_t limit, int64_t instead) {
  loop::Builder& b = shift.builder();
  const loop::Value inside = (shift >= b.like(shift, 0)) & (shift < b.constant(shift.dtype(), limit));
  return b.select(inside, shift, b.constant(shift.dtype(), instead));
}

Op shift(Op op) {
  op.dtypes = kIntegers;
  op.promote = Promote::kSame;
  op.gradient = zero_gradient();
  op.samples = binary_samples(Fill::kNormal, Fill::kPositive) + binary_samples();
  return op;
}

Op bitwise_left_shift() {
  return shift({
      .signature = "bitwise_left_shift(x, y)",
      .doc = R"(Shifts the bits of `x` left by `y`, elementwise, with broadcasting. Returns 0 where `y` is negative or
at least the bit width of the dtype. Takes integers.

>>> lucid.bitwise_left_shift(lucid.tensor([1, 3]), 2)
tensor([ 4, 12]))",
      .names = {.python_operator = Operator::kLeftShift},
      .algebra = {.neutral = Algebra::Neutral{0, false}},
      .lowering = lower_binary([](loop::Value x, loop::Value y) {
        loop::Builder& b = x.builder();
        const loop::Value zero = b.like(x, 0);
        const loop::Value inside = (y >= b.like(y, 0)) & (y < b.constant(y.dtype(), width(y)));
        return b.select(inside, b.binary(Code::kShl, x, bounded(y, width(y), 0)), zero);
      }),
      .reference = reference_binary<Domain::kIntegers>([]<typename T>(T x, T y) {
        const int64_t count{y};
        if (count < 0 || count >= static_cast<int64_t>(8 * sizeof(T))) return T(0);
        return wrapped<T>(bits_of(x) << count);
      }),
  });
}

Op bitwise_right_shift() {
  return shift({
      .signature = "bitwise_right_shift(x, y)",
      .doc = R"(Shifts the bits of `x` right by `y` with sign extension, elementwise, with broadcasting. Where `y` is
negative or at least the bit width of the dtype, every bit is shifted out: the result is -1 for negative
`x` and 0 otherwise. Takes integers.

>>> lucid.bitwise_right_shift(lucid.tensor([4, -12]), 2)
tensor([ 1, -3]))",
      .names = {.python_operator = Operator::kRightShift},
      .algebra = {.neutral = Algebra::Neutral{0, false}},
      .lowering = lower_binary([](loop::Value x, loop::Value y) {
        loop::Builder& b = x.builder();
        if (x.dtype() != Dtype::kU8) return b.binary(Code::kShr, x, bounded(y, width(y) - 1, width(y) - 1));
        const loop::Value inside = y < b.constant(y.dtype(), width(y));
        return b.select(inside, b.binary(Code::kShr, x, bounded(y, width(y), 0)), b.like(x, 0));
      }),
      .reference = reference_binary<Domain::kIntegers>([]<typename T>(T x, T y) {
        constexpr int64_t kLimit = 8 * sizeof(T) - std::is_signed_v<T>;
        const int64_t count{y};
        if (count < 0 || count >= kLimit) return static_cast<T>(x < 0 ? -1 : 0);
        return static_cast<T>(x >> count);
      }),
  });
}

}  // namespace

void add_bitwise_ops(std::vector<Op>& ops) {
  for (auto make : {bitwise_and, bitwise_or, bitwise_xor, bitwise_not, bitwise_left_shift, bitwise_right_shift})
    ops.push_back(make());
}

}  // namespace lucid
