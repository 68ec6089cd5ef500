#include <array>
#include <string>
#include <vector>

#include "schedule/contraction.h"
#include "schedule/kernel_writer.h"

namespace lucid::contraction {
namespace {

using loop::BufferRef;
using loop::Builder;
using loop::Code;
using loop::kLanes;
using loop::Value;

/// Number of rows that the column kernel sums together, to hide the latency of additions.
constexpr int kRows = 4;
/// Number of levels: enough for any number of blocks.
constexpr int64_t kLevels = 56;
constexpr double kSimpleProductsPerNanosecond = 8;

double nanoseconds_per_item(const Product& product, SymInt items) {
  return static_cast<double>(product.work()) / (kSimpleProductsPerNanosecond * static_cast<double>(items.unguarded()));
}

/// The base-2 logarithm of a positive integer below 2^53, rounded down.
Value exponent_of(Builder& builder, Value number) {
  const Value bits = builder.bitcast(builder.convert(number, Dtype::kF64), Dtype::kI64);
  return builder.binary(Code::kShr, bits, builder.index(52)) - builder.index(1023);
}

/// Sums of blocks of kRows rows, stored as the digits of a binary counter: level l holds the sum of 2^l blocks.
class BlockCounter {
 public:
  BlockCounter(Builder& builder, Dtype dtype)
      : builder_(builder), levels_(builder.scratch(dtype, kLevels * kRows * kLanes)) {}

  /// Adds the sums of block `block`.
  void push(Value block, std::vector<Value> sums) {
    const Value one = builder_.index(1);
    const Value carries = exponent_of(builder_, (block ^ (block + one)) + one) - one;
    sums = builder_.for_loop(builder_.index(0), carries, 1, sums, [&](Value level, std::span<const Value> carried) {
      std::vector<Value> next;
      for (int i = 0; i < kRows; ++i) next.push_back(load(level, i, {}) + carried[static_cast<size_t>(i)]);
      return next;
    });
    for (int i = 0; i < kRows; ++i) builder_.store(levels_, offset(carries, i), sums[static_cast<size_t>(i)]);
  }

  /// The sum over all levels that are set in `blocks` > 0, from small to large.
  std::vector<Value> total(Value blocks) {
    const Value one = builder_.index(1);
    const Value lowest = exponent_of(builder_, blocks & (builder_.index(0) - blocks));
    std::vector<Value> sums;
    for (int i = 0; i < kRows; ++i) sums.push_back(load(lowest, i, {}));
    const Value highest = exponent_of(builder_, blocks);
    return builder_.for_loop(lowest + one, highest + one, 1, sums, [&](Value level, std::span<const Value> carried) {
      const Value digit = (builder_.binary(Code::kShr, blocks, level) & one) != builder_.index(0);
      std::vector<Value> next;
      for (int i = 0; i < kRows; ++i) {
        const Value sum = carried[static_cast<size_t>(i)];
        next.push_back(builder_.select(digit, sum + load(level, i, digit), sum));
      }
      return next;
    });
  }

 private:
  Value offset(Value level, int row) { return level * builder_.index(kRows * kLanes) + builder_.index(row * kLanes); }
  Value load(Value level, int row, Value mask) { return builder_.load_vector(levels_, offset(level, row), mask); }

  Builder& builder_;
  BufferRef levels_;
};

/// Adds lane j + 8 to lane j, then j + 4, j + 2 and j + 1.
Value fold_lanes(Builder& builder, Value sums) {
  for (int distance = kLanes / 2; distance > 0; distance /= 2) sums = sums + builder.rotate(sums, distance);
  return builder.extract(sums, 0);
}

}  // namespace

KernelStep column_step(const Product& product) {
  const bool adjacent_a = product.a.column == 1;
  const bool adjacent_b = product.b.row == 1;
  KernelWriter writer("matvec_" + std::string(name_of(product.dtype)) + (adjacent_a && adjacent_b ? "" : "_strided"));
  Builder& builder = writer.builder();
  const Dtype dtype = compute_dtype(product.dtype);
  const BufferRef a = writer.buffer(product.a_use, product.dtype);
  const BufferRef b = writer.buffer(product.b_use, product.dtype);
  const BufferRef c = writer.buffer(product.c_use, product.dtype);
  BlockCounter counter(builder, dtype);
  const SymInt group_count = ceil_div(product.m, kRows);
  const Value m = writer.param(product.m);
  const Value k = writer.param(product.k);
  const Value groups = writer.param(group_count);
  const Value a_batch = writer.param(product.a.batch);
  const Value a_row = writer.param(product.a.row);
  const Value a_step = adjacent_a ? builder.index(1) : writer.param(product.a.column);
  const Value b_batch = writer.param(product.b.batch);
  const Value b_step = adjacent_b ? builder.index(1) : writer.param(product.b.row);
  const Value blocks = (k + builder.index(kColumnBlock - 1)) / builder.index(kColumnBlock);

  auto load = [&](BufferRef buffer, bool adjacent, Value start, Value at, Value step, Value mask) {
    const Value elements = adjacent ? builder.load_vector(buffer, start + at, mask)
                                    : builder.gather(buffer, start + (at + builder.iota()) * step, mask);
    return builder.convert(elements, dtype);
  };

  builder.for_loop(builder.begin(), builder.end(), 1, [&](Value item) {
    const Value batch = item / groups;
    const Value first_row = builder.binary(Code::kRem, item, groups) * builder.index(kRows);
    const Value b_start = batch * b_batch;
    std::array<Value, kRows> a_starts;
    for (int i = 0; i < kRows; ++i) {
      // Rows past the end repeat the last row; their sums are not stored.
      const Value row = builder.binary(Code::kMin, first_row + builder.index(i), m - builder.index(1));
      a_starts[static_cast<size_t>(i)] = batch * a_batch + row * a_row;
    }
    builder.for_loop(builder.index(0), blocks, 1, [&](Value block) {
      const Value first = block * builder.index(kColumnBlock);
      const Value last = builder.binary(Code::kMin, first + builder.index(kColumnBlock), k);
      const std::vector<Value> zeros(kRows, builder.splat(builder.constant(dtype, 0.0)));
      counter.push(block, builder.for_loop(first, last, kLanes, zeros, [&](Value at, std::span<const Value> sums) {
        const Value mask = builder.lanes_below(k - at);
        const Value factors = load(b, adjacent_b, b_start, at, b_step, mask);
        std::vector<Value> next;
        for (size_t i = 0; i < kRows; ++i) {
          next.push_back(builder.fma(load(a, adjacent_a, a_starts[i], at, a_step, mask), factors, sums[i]));
        }
        return next;
      }));
    });
    const std::vector<Value> totals = counter.total(blocks);
    for (int i = 0; i < kRows; ++i) {
      const Value row = first_row + builder.index(i);
      builder.if_then(row < m, [&] {
        const Value sum = fold_lanes(builder, totals[static_cast<size_t>(i)]);
        builder.store(c, batch * m + row, builder.convert(sum, product.dtype));
      });
    }
  });
  const SymInt items = product.batches * group_count;
  return writer.finish(items, nanoseconds_per_item(product, items));
}

KernelStep integer_step(const Product& product) {
  const bool adjacent_b = product.b.column == 1;
  KernelWriter writer("matmul_" + std::string(name_of(product.dtype)) + (adjacent_b ? "" : "_strided"));
  Builder& builder = writer.builder();
  const BufferRef a = writer.buffer(product.a_use, product.dtype);
  const BufferRef b = writer.buffer(product.b_use, product.dtype);
  const BufferRef c = writer.buffer(product.c_use, product.dtype);
  const Value m = writer.param(product.m);
  const Value n = writer.param(product.n);
  const Value k = writer.param(product.k);
  const Value a_batch = writer.param(product.a.batch);
  const Value a_row = writer.param(product.a.row);
  const Value a_step = writer.param(product.a.column);
  const Value b_batch = writer.param(product.b.batch);
  const Value b_row = writer.param(product.b.row);
  const Value b_step = adjacent_b ? builder.index(1) : writer.param(product.b.column);

  builder.for_loop(builder.begin(), builder.end(), 1, [&](Value item) {
    const Value batch = item / m;
    const Value a_start = batch * a_batch + builder.binary(Code::kRem, item, m) * a_row;
    const Value b_start = batch * b_batch;
    builder.for_loop(builder.index(0), n, kLanes, [&](Value column) {
      const Value mask = builder.lanes_below(n - column);
      const Value start = adjacent_b ? b_start + column : builder.splat(b_start) + (column + builder.iota()) * b_step;
      const std::vector<Value> zero{builder.splat(builder.constant(product.dtype, 0))};
      const auto sums = builder.for_loop(
          builder.index(0), k, 1, zero, [&](Value step, std::span<const Value> sum) -> std::vector<Value> {
            const Value at = start + step * b_row;
            const Value factors = adjacent_b ? builder.load_vector(b, at, mask) : builder.gather(b, at, mask);
            return {sum[0] + builder.load(a, a_start + step * a_step) * factors};
          });
      builder.store(c, item * n + column, sums[0], mask);
    });
  });
  const SymInt items = product.batches * product.m;
  return writer.finish(items, nanoseconds_per_item(product, items));
}

KernelStep zero_step(const Product& product) {
  KernelWriter writer("zero_" + std::string(name_of(product.dtype)));
  Builder& builder = writer.builder();
  const BufferRef c = writer.buffer(product.c_use, product.dtype);
  const SymInt elements = product.batches * product.m * product.n;
  const Value count = writer.param(elements);
  const Value zero = builder.splat(builder.constant(product.dtype, 0.0));
  builder.for_loop(builder.begin(), builder.end(), 1, [&](Value item) {
    const Value at = item * builder.index(kLanes);
    builder.store(c, at, zero, builder.lanes_below(count - at));
  });
  return writer.finish(ceil_div(elements, kLanes), 1);
}

}  // namespace lucid::contraction
