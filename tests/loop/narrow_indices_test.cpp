#include "loop/narrow_indices.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <functional>
#include <vector>

#include "loop/builder.h"
#include "loop/interpret.h"
#include "random_memory.h"

namespace lucid::loop {
namespace {

int count(const Kernel& kernel, Code code, Dtype dtype) {
  int n = 0;
  for (const Instruction& x : kernel.instructions) n += x.code == code && x.type.element == dtype;
  return n;
}

/// Verifies the narrow kernel, and that its text parses back.
Kernel narrowed(const Kernel& kernel) {
  Kernel result = narrow_indices(kernel);
  verify(result);
  EXPECT_EQ(parse_kernel(to_text(result)), result);
  return result;
}

TEST(NarrowIndices, RandomKernelsKeepTheirResults) {
  int narrow = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    const Kernel kernel = random_kernel(seed, 12 + static_cast<int>(seed % 60));
    const Kernel other = narrowed(kernel);
    test::RandomMemory expected(seed), actual(seed);
    static constexpr int64_t kNumbers[] = {0, 1, -1, 5, 127, -7919, 65536, kMaxSmallInteger, -kMaxSmallInteger};
    const int64_t param = kNumbers[seed % std::size(kNumbers)];
    interpret(kernel, expected.pointers().data(), &param, 0, kRandomKernelItems);
    interpret(other, actual.pointers().data(), &param, 0, kRandomKernelItems);
    ASSERT_EQ(test::difference(expected, actual), "") << "seed " << seed << "\n" << to_text(kernel) << to_text(other);
    narrow += count(other, Code::kAdd, Dtype::kI32) > count(kernel, Code::kAdd, Dtype::kI32);
  }
  EXPECT_GT(narrow, 100);
}

TEST(NarrowIndices, OfElementsNeedTheirLowBitsOnly) {
  Builder b("index");
  const BufferRef x = b.argument(Dtype::kF32), y = b.argument(Dtype::kF32);
  const Value rows = b.param(), stride = b.param();
  b.for_loop(b.begin(), b.end(), 1, [&](Value item) {
    const Value row = b.binary(Code::kMin, item / rows * b.index(128) + b.iota(), b.splat(rows - b.index(1)));
    b.store(y, item * b.index(kLanes), b.gather(x, row * stride + item));
  });
  const Kernel kernel = narrowed(b.finish());
  for (const Code code : {Code::kMul, Code::kAdd, Code::kMin, Code::kDiv, Code::kSub}) {
    EXPECT_EQ(count(kernel, code, Dtype::kI64), 0) << static_cast<int>(code);
    EXPECT_GT(count(kernel, code, Dtype::kI32), 0) << static_cast<int>(code);
  }
  // The counter, two params and `end` are converted to i32, and two indices back.
  EXPECT_EQ(count(kernel, Code::kConvert, Dtype::kI64), 2);
}

TEST(NarrowIndices, ValuesThatMayBeLargeStayWide) {
  Builder b("large");
  const BufferRef x = b.argument(Dtype::kI64), y = b.argument(Dtype::kF32);
  const Value n = b.param();
  b.for_loop(b.begin(), b.end(), 1, [&](Value item) {
    // Stored, and compared: all bits matter.
    const Value square = n * n;
    b.store(x, item, square + b.load(x, item));
    b.if_then(square * item < n, [&] { b.store(y, item, b.convert(square, Dtype::kF32)); });
  });
  const Kernel kernel = narrowed(b.finish());
  EXPECT_EQ(count(kernel, Code::kMul, Dtype::kI32), 0);
  EXPECT_EQ(count(kernel, Code::kMul, Dtype::kI64), 2);
  EXPECT_EQ(count(kernel, Code::kAdd, Dtype::kI64), 1);
}

TEST(NarrowIndices, RangesIncludeAllResults) {
  // Results of each operation on numbers around the limits, and twice as much, in all bits.
  constexpr int64_t kLimit = kMaxSmallInteger;
  const auto operations = std::to_array<std::function<Value(Builder&, Value, Value)>>({
      [](Builder&, Value x, Value y) { return x + y; },
      [](Builder&, Value x, Value y) { return x - y; },
      [](Builder&, Value x, Value y) { return x * y; },
      [](Builder& b, Value x, Value y) { return x / b.binary(Code::kMax, y, b.index(1)); },
      [](Builder& b, Value x, Value y) { return x / b.binary(Code::kMin, y, b.index(-1)); },
      [](Builder& b, Value x, Value y) { return b.binary(Code::kRem, x, b.binary(Code::kMax, y, b.index(1))); },
      [](Builder& b, Value x, Value y) { return b.binary(Code::kMin, x, y); },
      [](Builder& b, Value x, Value y) { return b.binary(Code::kMax, x, y); },
      [](Builder& b, Value x, Value y) { return b.select(x < y, -x, y); },
      [](Builder& b, Value x, Value y) { return b.convert(b.convert(x, Dtype::kI32), Dtype::kI64) + y; },
      [](Builder& b, Value x, Value y) { return b.convert(x == y, Dtype::kI64) * x; },
  });
  for (size_t i = 0; i < operations.size(); ++i) {
    for (const int64_t factor : {1, 128, 200, 255, 256, 4000}) {
      Builder b("range");
      const BufferRef out = b.argument(Dtype::kI64);
      const Value x = b.param(), y = b.param();
      b.for_loop(b.begin(), b.end(), 1, [&](Value item) {
        const Value result = operations[i](b, x * b.index(factor), y * b.index(factor));
        b.store(out, item, result);
        b.store(out, item + b.index(1), result + result);
        b.store(out, item + b.index(2), result - x);
      });
      const Kernel kernel = b.finish();
      const Kernel other = narrowed(kernel);
      for (const int64_t p : {-kLimit, -kLimit + 1, int64_t{-1}, int64_t{0}, int64_t{1}, kLimit - 1, kLimit}) {
        for (const int64_t q : {-kLimit, int64_t{-3}, int64_t{0}, int64_t{7}, kLimit}) {
          const int64_t params[] = {p, q};
          std::vector<int64_t> expected(3), actual(3);
          void* const left[] = {expected.data()};
          void* const right[] = {actual.data()};
          interpret(kernel, left, params, 0, 1);
          interpret(other, right, params, 0, 1);
          ASSERT_EQ(actual, expected) << "operation " << i << ", factor " << factor << ": " << p << ", " << q;
        }
      }
    }
  }
}

TEST(NarrowIndices, BitsOfFloatsMayBeAnything) {
  Builder b("bits");
  const BufferRef x = b.argument(Dtype::kF64), y = b.argument(Dtype::kF32);
  const Value wide = b.param(), narrow = b.param(), size = b.param();
  b.for_loop(b.begin(), b.end(), 1, [&](Value item) {
    b.store(x, item + size, b.bitcast(wide, Dtype::kF64));
    b.store(y, item, b.bitcast(b.convert(narrow, Dtype::kI32), Dtype::kF32));
  });
  const Kernel kernel = b.finish();
  EXPECT_EQ(integer_params(kernel), (std::vector<bool>{false, false, true}));
  const Kernel other = narrowed(kernel);
  const int64_t params[] = {std::bit_cast<int64_t>(-1.5e300), std::bit_cast<int32_t>(-1.5f), 1};
  std::vector<double> doubles(3);
  std::vector<float> floats(2);
  void* const buffers[] = {doubles.data(), floats.data()};
  interpret(other, buffers, params, 0, 2);
  EXPECT_EQ(doubles, (std::vector<double>{0, -1.5e300, -1.5e300}));
  EXPECT_EQ(floats, (std::vector<float>{-1.5f, -1.5f}));
}

TEST(NarrowIndices, LoopsCarryWideValues) {
  Builder b("carried");
  const BufferRef x = b.argument(Dtype::kI64);
  const Value n = b.param();
  b.for_loop(b.begin(), b.end(), 1, [&](Value item) {
    const Value first[] = {n};
    const auto last = b.for_loop(b.index(0), n, 1, first, [&](Value i, std::span<const Value> carried) {
      return std::vector{carried[0] * b.index(3) + i};
    });
    b.store(x, item, last[0]);
  });
  const Kernel kernel = b.finish();
  const Kernel other = narrowed(kernel);
  const int64_t param = 60;
  std::vector<int64_t> expected(4), actual(4);
  void* const left[] = {expected.data()};
  void* const right[] = {actual.data()};
  interpret(kernel, left, &param, 0, 4);
  interpret(other, right, &param, 0, 4);
  EXPECT_EQ(actual, expected);
}

}  // namespace
}  // namespace lucid::loop
