#include "loop/staged_kernel.h"

#include <gtest/gtest.h>

#include <numeric>

#include "loop/builder.h"
#include "loop/interpret.h"

namespace lucid::loop {
namespace {

/// to[i] = from[i] * factor, element by element; the factor is a param.
Kernel scaled() {
  Builder b("scaled");
  const BufferRef from = b.argument(Dtype::kF32);
  const BufferRef to = b.argument(Dtype::kF32);
  const Value factor = b.convert(b.param(), Dtype::kF32);
  b.for_loop(b.begin(), b.end(), 1, [&](Value i) { b.store(to, i, b.load(from, i) * factor); });
  return b.finish();
}

/// sums[row] = the sum of a row of `length` elements, computed in scratch.
Kernel row_sums() {
  Builder b("row_sums");
  const BufferRef from = b.argument(Dtype::kF32);
  const BufferRef sums = b.argument(Dtype::kF32);
  const BufferRef held = b.scratch(Dtype::kF32, 1);
  const Value length = b.param();
  b.for_loop(b.begin(), b.end(), 1, [&](Value row) {
    const Value zero = b.constant(Dtype::kF32, 0.0);
    const auto sum = b.for_loop(b.index(0), length, 1, {&zero, 1}, [&](Value i, std::span<const Value> total) {
      return std::vector<Value>{total[0] + b.load(from, row * length + i)};
    });
    b.store(held, b.index(0), sum[0]);
    b.store(sums, row, b.load(held, b.index(0)));
  });
  return b.finish();
}

TEST(StagedKernel, RunsAFewTilesAtATimeThroughAllStages) {
  constexpr int64_t kRows = 7, kLength = 5, kBlock = 2;
  const Kernel first = scaled();
  const Kernel second = row_sums();
  // Only the second stage reads what the first writes: the local holds the rows of one block.
  const Stage stages[] = {{&first, {0, 2}}, {&second, {2, 1}}};
  const Dtype arguments[] = {Dtype::kF32, Dtype::kF32};
  const Local locals[] = {{Dtype::kF32, kBlock * kLength}};
  const Kernel joined = staged_kernel("joined", stages, arguments, locals);
  std::vector<float> x(kRows * kLength);
  std::iota(x.begin(), x.end(), 1.0f);
  std::vector<float> sums(kRows, -1.0f);
  void* buffers[] = {x.data(), sums.data()};
  const int64_t params[] = {3, kLength, kBlock, kLength, 1, kLength};
  interpret(joined, buffers, params, 1, kRows);
  EXPECT_EQ(sums[0], -1.0f);  // not a tile of this call
  for (int64_t row = 1; row < kRows; ++row)
    EXPECT_EQ(sums[static_cast<size_t>(row)], 3.0f * static_cast<float>(15 + 25 * row)) << row;
}

TEST(StagedKernel, EqualStagesAreOnePart) {
  const Kernel sums = row_sums();
  const Kernel other = scaled();
  const Stage stages[] = {{&sums, {0, 1}}, {&other, {1, 3}}, {&sums, {3, 2}}};
  const Dtype arguments[] = {Dtype::kF32, Dtype::kF32, Dtype::kF32};
  const Local locals[] = {{Dtype::kF32, 8}};
  const Kernel joined = staged_kernel("joined", stages, arguments, locals);
  EXPECT_EQ(joined.parts.size(), 2u);
  EXPECT_EQ(joined.calls.size(), 3u);
  EXPECT_EQ(parse_kernel(to_text(joined)), joined);
  EXPECT_EQ(accesses_of(joined), (std::vector<BufferAccess>{{true, false}, {true, true}, {false, true}, {true, true}}));
}

}  // namespace
}  // namespace lucid::loop
