#include "loop/builder.h"

#include <gtest/gtest.h>

#include <ctime>
#include <limits>

#include "base/error.h"

namespace lucid::loop {
namespace {

int count(const Kernel& kernel, Code code) {
  int n = 0;
  for (const Instruction& x : kernel.instructions) n += x.code == code;
  return n;
}

TEST(Builder, SharesEqualPureInstructions) {
  Builder b("k");
  const BufferRef out = b.argument(Dtype::kI64);
  const Value x = b.param(), y = b.param();
  EXPECT_EQ((x + y).id(), (x + y).id());
  EXPECT_NE((x + y).id(), (y + x).id());
  EXPECT_EQ(b.index(7).id(), b.index(7).id());
  EXPECT_NE(b.constant(Dtype::kI32, 7).id(), b.index(7).id());
  b.store(out, x, x + y);
  EXPECT_EQ(count(b.finish(), Code::kAdd), 1);
}

TEST(Builder, DistinguishesSignedZerosAndMergesNans) {
  Builder b("k");
  EXPECT_NE(b.constant(Dtype::kF32, 0.0).id(), b.constant(Dtype::kF32, -0.0).id());
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(b.constant(Dtype::kF32, nan).id(), b.constant(Dtype::kF32, -nan).id());
}

TEST(Builder, SharesAcrossOpenBlocksOnly) {
  Builder b("k");
  const BufferRef out = b.argument(Dtype::kI64);
  const Value x = b.param(), y = b.param();
  const Value outer = x + y;
  b.for_loop(b.begin(), b.end(), 1, [&](Value i) {
    EXPECT_EQ((x + y).id(), outer.id());
    b.store(out, i, x * y);
  });
  b.for_loop(b.begin(), b.end(), 1, [&](Value i) { b.store(out, i, x * y + outer); });
  EXPECT_EQ(count(b.finish(), Code::kMul), 2);
}

TEST(Builder, DetectsEvenIndices) {
  Builder b("k");
  const Value n = b.param();
  const Value whole = b.index(4) + n / b.index(32) * b.index(32);
  EXPECT_TRUE(b.is_even(b.index(0)));
  EXPECT_FALSE(b.is_even(b.index(7)));
  EXPECT_FALSE(b.is_even(n));
  EXPECT_TRUE(b.is_even(whole));
  EXPECT_FALSE(b.is_even(whole - b.index(1)));
  b.for_loop(whole, n, 16, [&](Value i) { EXPECT_TRUE(b.is_even(i + b.index(2))); });
  b.for_loop(whole, n, 3, [&](Value i) { EXPECT_FALSE(b.is_even(i)); });
  b.for_loop(n, whole, 2, [&](Value i) { EXPECT_FALSE(b.is_even(i)); });
}

TEST(Builder, ReloadsMemoryButNotTables) {
  Builder b("k");
  const BufferRef data = b.argument(Dtype::kF32);
  const BufferRef table = b.table(Dtype::kF32, {0x3f800000, 0});
  const Value i = b.begin();
  const Value first = b.load(data, i);
  b.store(data, i, first + b.load(table, b.index(1)));
  b.store(data, i, b.load(data, i) + b.load(table, b.index(1)));
  EXPECT_EQ(count(b.finish(), Code::kLoad), 3);
}

TEST(Builder, SplatsScalarOperandsOfVectors) {
  Builder b("k");
  const BufferRef data = b.argument(Dtype::kF32);
  const Value v = b.load_vector(data, b.begin());
  EXPECT_TRUE((v + 1.0).is_vector());
  EXPECT_TRUE((2.0 * v).is_vector());
  EXPECT_TRUE((b.like(v, 3.0) < v).is_vector());
  EXPECT_EQ((v < b.like(v, 3.0)).dtype(), Dtype::kBool);
  EXPECT_TRUE(b.fma(b.like(v, 1.0), b.like(v, 2.0), v).is_vector());
  EXPECT_TRUE(b.select(v < v, b.like(v, 1.0), b.like(v, 2.0)).is_vector());
  EXPECT_EQ(b.splat(v).id(), v.id());
  b.store(data, b.begin(), b.like(v, 1.0), b.lanes_below(b.end()));
  b.scatter(data, b.iota(), b.like(v, 1.0));
  EXPECT_NO_THROW(verify(b.finish()));
}

TEST(Builder, FoldsIndexArithmetic) {
  Builder b("k");
  const Value x = b.param();
  const Value zero = b.index(0), one = b.index(1);
  EXPECT_EQ((x + zero).id(), x.id());
  EXPECT_EQ((zero + x).id(), x.id());
  EXPECT_EQ((x - zero).id(), x.id());
  EXPECT_EQ((x * one).id(), x.id());
  EXPECT_EQ((one * x).id(), x.id());
  EXPECT_EQ((x / one).id(), x.id());
  EXPECT_EQ((x * zero).id(), zero.id());
  EXPECT_EQ(b.binary(Code::kRem, x, one).id(), zero.id());
  EXPECT_EQ((b.index(6) * b.index(7)).id(), b.index(42).id());
  EXPECT_EQ((b.index(-7) / b.index(2)).id(), b.index(-3).id());
  EXPECT_EQ(b.binary(Code::kMin, b.index(3), b.index(-4)).id(), b.index(-4).id());
  const int64_t most = std::numeric_limits<int64_t>::max();
  EXPECT_EQ((b.index(most) + one).id(), b.index(std::numeric_limits<int64_t>::min()).id());
  EXPECT_NE((zero - x).id(), x.id());
  EXPECT_EQ((b.iota() + zero).id(), b.iota().id());
  EXPECT_EQ((b.iota() * zero).id(), b.splat(zero).id());
  EXPECT_EQ((x + b.splat(zero)).id(), b.splat(x).id());
}

TEST(Builder, NeverFoldsFloatsOrDivisionByZero) {
  Builder b("k");
  const BufferRef data = b.argument(Dtype::kF32);
  const Value x = b.load(data, b.begin());
  EXPECT_NE((x + 0.0).id(), x.id());
  EXPECT_NE((x * 1.0).id(), x.id());
  const Value by_zero = b.index(1) / b.index(0);
  b.store(data, by_zero, x);
  EXPECT_EQ(count(b.finish(), Code::kDiv), 1);
}

TEST(Builder, ConstantsAreConvertedToTheirType) {
  Builder b("k");
  EXPECT_EQ(b.constant(Dtype::kU8, -1).id(), b.constant(Dtype::kU8, 255).id());
  EXPECT_EQ(b.constant(Dtype::kI32, int64_t{0x80000000}).id(), b.constant(Dtype::kI32, -2147483648.0).id());
  EXPECT_EQ(b.constant(Dtype::kI8, 1e9).id(), b.constant(Dtype::kI8, 127).id());
  EXPECT_EQ(b.constant(Dtype::kBool, 5).id(), b.constant(Dtype::kBool, 1).id());
  EXPECT_EQ(b.constant(Dtype::kF32, 0.1).id(), b.constant(Dtype::kF32, static_cast<double>(0.1f)).id());
  EXPECT_NE(b.constant(Dtype::kF64, 0.1).id(), b.constant(Dtype::kF64, static_cast<double>(0.1f)).id());
  EXPECT_EQ(b.constant(Dtype::kF16, 1e6).id(), b.constant(Dtype::kF16, std::numeric_limits<double>::infinity()).id());
}

TEST(Builder, LeavesCreatedInsideALoopAreInScopeAfterIt) {
  Builder b("k");
  const BufferRef out = b.argument(Dtype::kI64);
  Value leaf, param;
  b.for_loop(b.begin(), b.end(), 1, [&](Value) {
    b.if_then(b.begin() < b.end(), [&] {
      leaf = b.index(11);
      param = b.param();
    });
  });
  b.store(out, leaf, param);
  EXPECT_NO_THROW(verify(b.finish()));
}

TEST(Builder, LoopsCarryValues) {
  Builder b("k");
  const BufferRef out = b.argument(Dtype::kF32);
  const std::vector<Value> initial = {b.splat(b.constant(Dtype::kF32, 0.0)), b.index(3)};
  const auto results = b.for_loop(b.begin(), b.end(), 2, initial, [&](Value i, std::span<const Value> carried) {
    return std::vector<Value>{carried[0] + 1.0, carried[1] + i};
  });
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results[0].type(), (Type{Dtype::kF32, true}));
  EXPECT_EQ(results[1].type(), (Type{Dtype::kI64, false}));
  b.store(out, results[1], results[0]);
  const Kernel kernel = b.finish();
  EXPECT_EQ(kernel.blocks[1].arguments.size(), 3u);
  EXPECT_EQ(kernel.blocks[1].yields.size(), 2u);
}

TEST(Builder, DropsUnusedInstructions) {
  Builder b("k");
  const BufferRef data = b.argument(Dtype::kF32);
  const Value x = b.load(data, b.begin());
  (void)(x * 2.0 + 1.0);
  b.store(data, b.end(), x);
  const Kernel kernel = b.finish();
  EXPECT_EQ(count(kernel, Code::kMul) + count(kernel, Code::kAdd) + count(kernel, Code::kConst), 0);
}

TEST(Builder, FindsEqualInstructionsInConstantTime) {
  Builder b("k");
  const BufferRef out = b.argument(Dtype::kI64);
  constexpr int kLength = 100000;
  const std::clock_t start = std::clock();
  Value x = b.param();
  for (int i = 2; i < kLength; ++i) x = x * b.index(i);
  b.store(out, b.begin(), x);
  EXPECT_EQ(count(b.finish(), Code::kMul), kLength - 2);
  // A linear search through all earlier ones would take 10^10 comparisons.
  EXPECT_LT(std::clock() - start, 10 * CLOCKS_PER_SEC);
}

TEST(Builder, RejectsMisuse) {
  Builder b("k");
  const BufferRef data = b.argument(Dtype::kF32);
  const Value x = b.load(data, b.begin());
  const Value v = b.load_vector(data, b.begin());
  EXPECT_THROW(x + b.begin(), InternalError);
  EXPECT_THROW(x + Value(), InternalError);
  EXPECT_THROW(b.unary(Code::kAdd, x), InternalError);
  EXPECT_THROW(b.binary(Code::kNeg, x, x), InternalError);
  EXPECT_THROW(b.binary(Code::kMin, x, x), InternalError);
  EXPECT_THROW(b.unary(Code::kSqrt, b.begin()), InternalError);
  EXPECT_THROW(b.extract(v, 16), InternalError);
  EXPECT_THROW(b.extract(x, 0), InternalError);
  EXPECT_THROW(b.rotate(v, -1), InternalError);
  EXPECT_THROW(b.any(v), InternalError);
  EXPECT_THROW(b.bitcast(x, Dtype::kI64), InternalError);
  EXPECT_THROW(b.select(x, x, x), InternalError);
  EXPECT_THROW(b.store(data, b.begin(), b.begin()), InternalError);
  EXPECT_THROW(b.scratch(Dtype::kF32, 0), InternalError);
  EXPECT_THROW(b.table(Dtype::kF32, {}), InternalError);
  EXPECT_THROW(b.if_then(v < v, [] {}), InternalError);
  EXPECT_THROW(b.for_loop(b.begin(), b.end(), 0, [](Value) {}), InternalError);
  b.scratch(Dtype::kF32, 4);
  EXPECT_THROW(b.argument(Dtype::kF32), InternalError);
  Builder other("other");
  EXPECT_THROW(b.load(data, other.begin()), InternalError);
}

TEST(Builder, RejectsBodiesThatYieldOtherTypes) {
  const auto loop = [](auto next) {
    Builder b("k");
    const std::vector<Value> initial = {b.index(0)};
    b.for_loop(b.begin(), b.end(), 1, initial, [&](Value, std::span<const Value>) { return next(b); });
  };
  EXPECT_THROW(loop([](Builder&) { return std::vector<Value>(); }), InternalError);
  EXPECT_THROW(loop([](Builder& b) { return std::vector<Value>{b.constant(Dtype::kF32, 1.0)}; }), InternalError);
  EXPECT_THROW(loop([](Builder& b) { return std::vector<Value>{b.iota()}; }), InternalError);
  EXPECT_NO_THROW(loop([](Builder& b) { return std::vector<Value>{b.index(1)}; }));
}

TEST(Builder, CannotBeUsedAfterFinish) {
  Builder b("k");
  b.finish();
  EXPECT_THROW(b.begin(), InternalError);
  EXPECT_THROW(b.finish(), InternalError);
}

}  // namespace
}  // namespace lucid::loop
