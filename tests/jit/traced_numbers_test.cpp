// Numbers of a recorded call that a plan takes as inputs.

#include "jit/traced_numbers.h"

#include <functional>

#include "../tensor/support.h"
#include "jit/call_key.h"
#include "jit/compiled.h"
#include "jit/program.h"
#include "tensor/eager.h"

namespace lucid::jit {
namespace {

using Function = std::function<Tensor(const Tensor&, const Scalar&)>;

Tensor apply(const char* name, const Operand& a, const Operand& b) {
  const Op& op = op_table().at(name);
  const Operand operands[] = {a, b};
  return Tensor(tensor_of(eager().emit_one(op, operands, op.schema.default_attributes())));
}

/// The program of f(x, number), with the number traced; null, with a reason, if there is none.
Ref<Program> record(const Function& f, const Tensor& x, const Scalar& number, std::string& why) {
  const auto ref = [](const Tensor& tensor) { return TensorRef(&unwrap(tensor)); };
  TracingContext first;
  const Tensor result = f(x, number);
  first.stop();
  TracingContext second;
  std::vector<uint32_t> read;
  Tensor again;
  {
    const TracedReads reads;
    again = f(x, number.with_trace(5));
    read = reads.numbers();
  }
  second.stop();
  const TensorRef results[] = {ref(result)}, others[] = {ref(again)}, given[] = {ref(x)};
  const auto numbers = number_operands(first, results, second, others, read);
  if (!numbers) {
    why = "the recordings differ";
    return nullptr;
  }
  if (*numbers != std::vector<uint32_t>{5}) {
    why = "the number is not traced";
    return nullptr;
  }
  return compiled(RecordedCall::finish(second, given, others, {}, "f", why), why);
}

Tensor run(const Program& program, const Tensor& x, const Scalar& number) {
  TensorImpl* const given[] = {&unwrap(x)};
  Program::Handles handles;
  EXPECT_FALSE(program.fits(given, handles));  // without the number
  handles.numbers = {number};
  EXPECT_TRUE(program.fits(given, handles));
  CallResults results;
  Program::Branch branch;
  EXPECT_TRUE(program.run(handles, results, branch));
  return wrap(results.take(0));
}

void expect_same(const Tensor& a, const Tensor& b) {
  const TensorImpl &x = unwrap(a), &y = unwrap(b);
  ASSERT_EQ(x.type(), y.type());
  const auto bytes = static_cast<size_t>(numel(x.sizes())) * size_of(x.dtype());
  EXPECT_EQ(std::memcmp(x.data(), y.data(), bytes), 0);
}

class TracedNumbers : public ::testing::TestWithParam<Dtype> {};

TEST_P(TracedNumbers, ArePassedAsInEagerCalls) {
  for (const Shape& shape : {Shape{3, 5}, Shape{}}) {
    const Tensor x = apply("add", &unwrap(lucid::ones(shape, GetParam())), 1);
    for (const char* name : {"mul", "add", "div", "maximum", "gt"}) {
      const Function f = [&](const Tensor& t, const Scalar& k) { return apply(name, &unwrap(t), k); };
      for (const bool is_float : {true, false}) {
        std::string why;
        const Ref<Program> program = record(f, x, is_float ? Scalar(2.5) : Scalar(2), why);
        ASSERT_TRUE(program) << name << ": " << why;
        for (const double value : {0.1, -3.0, 70000.0, 1e-40, 0.0}) {
          const Scalar number = is_float ? Scalar(value) : Scalar(static_cast<int64_t>(value * 10));
          expect_same(run(*program, x, number), f(x, number));
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, TracedNumbers,
                         ::testing::Values(Dtype::kBool, Dtype::kU8, Dtype::kI64, Dtype::kF16, Dtype::kBF16,
                                           Dtype::kF32, Dtype::kF64),
                         [](const auto& test) { return std::string(name_of(test.param)); });

TEST(TracedNumbersTest, AreNotTracedIfTheirValueIsRead) {
  const Tensor x = lucid::ones({4});
  std::string why;
  const auto reads = [](const Tensor& t, const Scalar& k) {
    return apply("mul", &unwrap(t), Scalar(k.to_double() * 2));
  };
  EXPECT_FALSE(record(reads, x, 2.5, why));
  EXPECT_EQ(why, "the number is not traced");
  const auto reads_also = [](const Tensor& t, const Scalar& k) {
    return apply(k.to_int() > 1 ? "mul" : "add", &unwrap(t), k);
  };
  EXPECT_FALSE(record(reads_also, x, 2.5, why));
}

TEST(TracedNumbersTest, AreNotTracedIfTheRunsDiffer) {
  const Tensor x = lucid::ones({4});
  std::string why;
  const auto differs = [](const Tensor& t, const Scalar& k) {
    return apply(k.traced() ? "add" : "mul", &unwrap(t), k);
  };
  EXPECT_FALSE(record(differs, x, 2.0, why));
  EXPECT_EQ(why, "the recordings differ");
}

TEST(TracedNumbersTest, CallsWithEffectsMayNotRunTwice) {
  const auto may_repeat = [](const std::function<void()>& call) {
    TracingContext context;
    call();
    context.stop();
    return may_run_twice(context);
  };
  Tensor x = lucid::ones({4}), w = lucid::ones({4}).requires_grad_();
  EXPECT_TRUE(may_repeat([&] { lucid::sum(x * 2 + w); }));
  EXPECT_TRUE(may_repeat([&] { lucid::zeros({4}) += x; }));
  EXPECT_FALSE(may_repeat([&] { x += 1; }));
  EXPECT_FALSE(may_repeat([&] { lucid::rand({4}); }));
  EXPECT_FALSE(may_repeat([&] { lucid::sum(x * w).backward(); }));
  EXPECT_FALSE(may_repeat([&] { lucid::sum(x).item<float>(); }));
  EXPECT_TRUE(may_repeat([&] { lucid::sum(x).item<bool>(); }));
}

TEST(NumberPatternTest, VaryingNumbersMatchAnyValue) {
  const std::vector<int64_t> numbers = {3, 4, 5, 6};
  const NumberPattern exact(numbers), loose(numbers, {1, 3});
  EXPECT_TRUE(exact.matches(numbers));
  EXPECT_TRUE(loose.matches(numbers));
  const std::vector<int64_t> others = {3, 0, 5, -1}, different = {3, 0, 4, -1}, fewer = {3, 4, 5};
  EXPECT_FALSE(exact.matches(others));
  EXPECT_TRUE(loose.matches(others));
  EXPECT_FALSE(loose.matches(different));
  EXPECT_FALSE(loose.matches(fewer));
  EXPECT_EQ(loose, NumberPattern(others, {1, 3}));
  EXPECT_NE(loose, NumberPattern(others, {1}));
  EXPECT_TRUE(loose.varies(3));
  EXPECT_FALSE(loose.varies(2));
}

}  // namespace
}  // namespace lucid::jit
