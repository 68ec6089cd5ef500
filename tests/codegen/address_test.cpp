#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "codegen/llvm_generator.h"
#include "cpu_levels.h"
#include "loop/builder.h"
#include "loop/interpret.h"
#include "run_code.h"

// In loops that carry vectors, addresses are induction variables. Compares every kind of index with the interpreter.
namespace lucid::codegen {
namespace {

using loop::Value;

constexpr int64_t kElements = 4096;

/// Sums elements at indices that depend on the loop variable in all forms that become induction variables, and in forms
/// that do not.
loop::Kernel sums_of_moving_loads(Dtype dtype) {
  loop::Builder b("walk");
  const auto in = b.argument(dtype), out = b.argument(dtype);
  const Value stride = b.param(), low = b.param(), high = b.param();
  const Value zero = b.splat(b.constant(dtype, 0));
  b.for_loop(b.begin(), b.end(), 1, [&](Value item) {
    const Value base = item * b.index(40) + b.index(3);
    const std::vector<Value> start = {zero, zero};
    const auto sums = b.for_loop(low, high, 2, start, [&](Value k, std::span<const Value> carried) {
      const Value at = base + k;
      const Value far = base + k * stride;
      Value first = carried[0] + b.load_vector(in, at) + b.splat(b.load(in, at + b.index(7)));
      first = first + b.load_vector(in, far) + b.load_vector(in, far + stride) + b.load_vector(in, k + base);
      // The loop variable twice, an inner loop that carries nothing, and an inner loop that carries vectors.
      Value second = carried[1] + b.load_vector(in, base + k + k) + b.load_alternate(in, at);
      b.for_loop(b.index(0), b.index(2), 1, [&](Value j) { b.store(out, far + j, b.load_vector(in, far + j)); });
      const std::vector<Value> inner_start = {second};
      second = b.for_loop(k, k + b.index(3), 1, inner_start, [&](Value j, std::span<const Value> inner) {
        return std::vector<Value>{inner[0] + b.load_vector(in, at + j) + b.load_vector(in, base + j * stride)};
      })[0];
      b.if_then(k > b.index(4), [&] { b.store(out, at + b.index(64), first); });
      return std::vector<Value>{first, second};
    });
    b.store(out, base, sums[0] + sums[1]);
  });
  return b.finish();
}

class InductionAddresses : public testing::TestWithParam<CpuLevel> {};

TEST_P(InductionAddresses, MatchTheInterpreter) {
  auto generator = make_llvm_generator();
  const loop::Kernel kernel = sums_of_moving_loads(Dtype::kI32);
  const auto code = generator->load(kernel, generator->compile(kernel, GetParam()));
  std::vector<int32_t> in(kElements);
  std::iota(in.begin(), in.end(), 1);
  for (const auto& params : {std::vector<int64_t>{9, 0, 12}, {17, 5, 6}, {1, 3, 14}, {30, 4, 4}}) {
    std::vector<int32_t> expected(kElements), found(kElements);
    void* expected_buffers[] = {in.data(), expected.data()};
    void* found_buffers[] = {in.data(), found.data()};
    loop::interpret(kernel, expected_buffers, params.data(), 1, 4);
    run_code(*code, found_buffers, params.data(), 1, 4);
    EXPECT_EQ(found, expected) << "stride " << params[0] << ", from " << params[1] << " to " << params[2];
  }
}

INSTANTIATE_TEST_SUITE_P(All, InductionAddresses, testing::ValuesIn(test::runnable_levels()),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace lucid::codegen
