#include "jit/shadow_run.h"

#include <gtest/gtest.h>

#include "../tensor/support.h"
#include "base/options.h"
#include "lucid/compile.h"
#include "message_of.h"

namespace lucid::jit {
namespace {

using test::message_of;

using namespace lucid::testing;

/// Options with which every call is verified.
class VerifiedCalls : public ::testing::Test {
 protected:
  static Options verified() {
    Options changed = options();
    changed.verify = 1;
    return changed;
  }

  OptionsScope scope{verified()};
};

TEST_F(VerifiedCalls, RunTheFunctionOnceAndReturnItsResults) {
  int runs = 0;
  Tensor total = zeros({3});
  const auto f = compile([&](const Tensor& x) {
    ++runs;
    total += x;
    return x * 2.0 + total;
  });
  for (int i = 1; i <= 4; ++i) EXPECT_EQ(read(f(ones({3}))), std::vector<double>(3, 2 + i));
  EXPECT_EQ(runs, 4);
  EXPECT_EQ(f.cache_info().hits, 3);
  EXPECT_EQ(read(total), std::vector<double>(3, 4));
}

TEST_F(VerifiedCalls, FindStateThatIsAssumedToBeConstant) {
  double factor = 2;
  const auto f = compile([&](const Tensor& x) { return x * factor; });
  f(ones({3}));
  EXPECT_EQ(read(f(ones({3}))), std::vector<double>(3, 2));
  factor = 5;
  EXPECT_EQ(message_of([&] { f(ones({3})); }),
            "function: the compiled call differs from the function in result 0. Each node is compiled right: the "
            "function did something else than when it was recorded");
}

TEST_F(VerifiedCalls, SampleTheSameNumbers) {
  manual_seed(1);
  const auto f = compile([](const Tensor& x) { return x + rand({4}); });
  for (int i = 0; i < 3; ++i) f(zeros({4}));
  const std::vector<double> found = read(f(zeros({4})));
  manual_seed(1);
  for (int i = 0; i < 3; ++i) rand({4});
  EXPECT_EQ(found, read(rand({4})));
  EXPECT_EQ(f.cache_info().hits, 3);
}

/// Replaces what an op returns by its operand.
class Drops : public Pass {
 public:
  explicit Drops(std::string op) : op_(std::move(op)) {}
  std::string name() const override { return "Drops"; }
  bool run(IRGraph& graph, ConstantPool&) override {
    for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
      if (node->op->name() != op_) continue;
      for (IRNode& user : graph.nodes)
        for (IROperand& operand : user.inputs)
          if (operand.id == node->outputs[0]) operand = node->inputs[0];
      return true;
    }
    return false;
  }

 private:
  std::string op_;
};

/// Records x -> f(x), compiles it without an op, and says what a shadow run of a call with `x` finds.
std::string found_by_trial(const std::function<Tensor(const Tensor&)>& f, const std::string& dropped, const Tensor& x) {
  TracingContext context;
  const Tensor result = f(x);
  context.stop();
  std::string obstacle;
  const TensorRef given[] = {TensorRef(&unwrap(x))}, results[] = {TensorRef(&unwrap(result))};
  const auto program = make_ref<Program>(*RecordedCall::finish(context, given, results, {}, "f", obstacle));
  program->keep_graph();
  const PassList passes = {std::make_shared<Drops>(dropped)};
  EXPECT_EQ(program->compile_now(&passes), "");
  TensorImpl* const arguments[] = {&unwrap(x)};
  Program::Handles handles;
  EXPECT_TRUE(program->fits(arguments, handles));
  ShadowRun shadow(*program, handles);
  Program::Branch branch;
  EXPECT_TRUE(shadow.run(branch));
  EXPECT_FALSE(shadow.difference());
  const auto difference = first_difference(TensorRef(shadow.results()[0]), results[0]);
  return difference ? message_of([&] { shadow.fail("the result", &passes); }) : "";
}

TEST(ShadowRun, FindsTheFirstWrongNode) {
  const auto f = [](const Tensor& x) {
    const Tensor y = exp(abs(x));
    return y * sqrt(relu(x * 2.0) + 1.0);
  };
  EXPECT_NE(found_by_trial(f, "relu", -ones({2})).find("compiled wrong is %5: f32[2] = add(%4, 1"), std::string::npos);
  EXPECT_EQ(found_by_trial(f, "relu", ones({2})), "");
  EXPECT_EQ(found_by_trial(f, "floor", -ones({2})), "");
  // Wrong nodes are found in a long graph, too, and when others do not depend on them.
  const auto chain = [](const Tensor& x) {
    const Tensor y = abs(x) - 1.0;
    Tensor z = x;
    for (int i = 0; i < 100; ++i) z = z * 0.5 + x;
    return y + z;
  };
  EXPECT_NE(found_by_trial(chain, "abs", -ones({2})).find("compiled wrong is %2: f32[2] = sub(%1, 1"),
            std::string::npos);
}

TEST(ShadowRun, ComparesBits) {
  const auto difference = [](const Tensor& a, const Tensor& b) {
    return first_difference(TensorRef(&unwrap(a)), TensorRef(&unwrap(b)));
  };
  EXPECT_FALSE(difference(ones({2, 3}), transpose(ones({3, 2}), 0, 1)));
  EXPECT_EQ(difference(zeros({2}), -zeros({2})), 0);
  EXPECT_EQ(difference(zeros({2}), zeros({3})), 0);
  EXPECT_EQ(difference(zeros({2}), zeros({2}, kFloat64)), 0);
  EXPECT_EQ(difference(arange(4), arange(4) + lucid::eq(arange(4), 2)), 2);
  const Tensor nan = full({2}, std::nan(""));
  EXPECT_FALSE(difference(nan, -nan));
  EXPECT_FALSE(difference(lucid::to(nan, kFloat16), lucid::to(-nan, kFloat16)));
  EXPECT_EQ(difference(nan, ones({2})), 0);
}

}  // namespace
}  // namespace lucid::jit
