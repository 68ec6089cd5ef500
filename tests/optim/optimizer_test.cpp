#include <gtest/gtest.h>
#include <lucid/lucid.h>

#include <cmath>
#include <type_traits>

#include "base/error.h"
#include "optim/text_of.h"
#include "tensor/api.h"
#include "tensor/autograd_meta.h"
#include "tensor/plan_cache.h"

namespace lucid {
namespace {

using optim::Adam;
using optim::AdamW;
using optim::Optimizer;
using optim::SGD;

std::vector<double> read(const Tensor& tensor) { return tensor.to_vector<double>(); }

Tensor leaf(std::vector<double> values) {
  const auto count = static_cast<int64_t>(values.size());
  return from_vector(values, {count}).requires_grad_();
}

void set_gradient_of(Tensor& param, std::vector<double> values) {
  const auto count = static_cast<int64_t>(values.size());
  param.set_grad(from_vector(values, {count}));
}

TEST(SGD, FollowsTheGradientWithMomentumAndDecay) {
  Tensor w = leaf({1, -2});
  SGD optimizer({w}, {.lr = 0.1, .momentum = 0.9, .dampening = 0.5, .weight_decay = 0.01});
  std::vector<double> expected = {1, -2};
  std::vector<double> buffer = {0, 0};
  for (int step = 0; step < 5; ++step) {
    set_gradient_of(w, {0.5, 0.25});
    optimizer.step();
    const double gradient[] = {0.5, 0.25};
    for (size_t i = 0; i < 2; ++i) {
      const double g = gradient[i] + 0.01 * expected[i];
      buffer[i] = step == 0 ? g : 0.9 * buffer[i] + 0.5 * g;
      expected[i] -= 0.1 * buffer[i];
    }
    for (size_t i = 0; i < 2; ++i) EXPECT_NEAR(read(w)[i], expected[i], 1e-15);
  }
}

TEST(Adam, FollowsItsDefinition) {
  Tensor w = leaf({1, -2, 3});
  AdamW optimizer({w}, {.lr = 0.01, .weight_decay = 0.1, .amsgrad = true});
  std::vector<double> p = {1, -2, 3};
  std::vector<double> m(3), v(3), top(3);
  for (int step = 1; step <= 5; ++step) {
    const std::vector<double> g = {0.3 * step, -0.2, 1.0 / step};
    set_gradient_of(w, g);
    optimizer.step();
    for (size_t i = 0; i < 3; ++i) {
      p[i] *= 1 - 0.01 * 0.1;
      m[i] = 0.9 * m[i] + 0.1 * g[i];
      v[i] = 0.999 * v[i] + 0.001 * g[i] * g[i];
      top[i] = std::max(top[i], v[i]);
      const double denominator = std::sqrt(top[i]) / std::sqrt(1 - std::pow(0.999, step)) + 1e-8;
      p[i] -= 0.01 / (1 - std::pow(0.9, step)) * m[i] / denominator;
      EXPECT_NEAR(read(w)[i], p[i], 1e-12);
    }
  }
  EXPECT_EQ((*optimizer.state(w))["step"].as_tensor("").item<double>(), 5);
}

TEST(Optimizer, WritesParametersAndStateInPlace) {
  Tensor w = leaf({1, 2, 3, 4});
  Adam optimizer({w}, {});
  set_gradient_of(w, {1, 1, 1, 1});
  optimizer.step();
  const Tensor average = (*optimizer.state(w))["exp_avg"].as_tensor("");
  const double* param_data = w.data<double>();
  const double* average_data = average.data<double>();
  optimizer.step();
  EXPECT_EQ(w.data<double>(), param_data);
  EXPECT_EQ((*optimizer.state(w))["exp_avg"].as_tensor("").data<double>(), average_data);
}

TEST(Optimizer, AStepOfAdamIsTwoKernels) {
  Tensor w = zeros({64, 32}).requires_grad_();
  w.set_grad(ones({64, 32}));
  const Tensor state = zeros({64, 32});
  const Tensor other = zeros({64, 32});
  const Tensor number = scalar(0.5);
  const Tensor step = scalar(1.0f);
  const Operand operands[] = {step.impl(),   w.impl(),      state.impl(),  other.impl(),  Operand(), w.grad().impl(),
                              number.impl(), number.impl(), number.impl(), number.impl(), Operand()};
  const Attributes attributes = {false, false};
  TensorImpl* destinations[] = {step.impl(), w.impl(), state.impl(), other.impl()};
  const EagerPlan& plan = eager_plan(Call(op_table().at("adam_step"), operands, attributes), destinations);
  // One for the numbers, one for the elements; both update in place.
  EXPECT_EQ(plan.plan->steps.size(), 2u);
  EXPECT_TRUE(plan.plan->may_share(0, 0));
  for (size_t i = 1; i < 4; ++i) EXPECT_TRUE(plan.plan->may_share(i, i));
}

TEST(Optimizer, StateWithOtherStridesThanItsParameterIsWrittenInPlace) {
  Tensor w = zeros({64, 32}).requires_grad_();
  w.set_grad(ones({64, 32}));
  const Tensor state = transpose(zeros({32, 64}), 0, 1);
  const Tensor other = zeros({64, 32});
  const Tensor number = scalar(0.5);
  const Tensor step = scalar(1.0f);
  const Operand operands[] = {step.impl(),   w.impl(),      state.impl(),  other.impl(),  Operand(), w.grad().impl(),
                              number.impl(), number.impl(), number.impl(), number.impl(), Operand()};
  const Attributes attributes = {false, false};
  TensorImpl* destinations[] = {step.impl(), w.impl(), state.impl(), other.impl()};
  const EagerPlan& plan = eager_plan(Call(op_table().at("adam_step"), operands, attributes), destinations);
  for (size_t i = 0; i < 4; ++i) EXPECT_TRUE(plan.plan->may_share(i, i)) << i;
  EXPECT_FALSE(plan.plan->may_share(2, 1));
}

TEST(Optimizer, TensorsSavedForBackwardKeepTheirValues) {
  Tensor w = leaf({2, 3});
  SGD optimizer({w}, {.lr = 1});
  const Tensor loss = sum(w * w);
  set_gradient_of(w, {1, 1});
  optimizer.step();
  EXPECT_EQ(read(w), (std::vector<double>{1, 2}));
  optimizer.zero_grad();
  loss.backward();
  EXPECT_EQ(read(w.grad()), (std::vector<double>{4, 6}));
}

TEST(Optimizer, TheLearningRateIsACellThatStepsRead) {
  Tensor w = leaf({0});
  SGD optimizer({w}, {.lr = 1});
  auto& options = optimizer.param_groups()[0]->options;
  const TensorImpl* cell = options.cell("lr").impl();
  options.set("lr", 0.5);
  EXPECT_EQ(options.cell("lr").impl(), cell);
  EXPECT_EQ(options.get("lr").as_real(""), 0.5);
  set_gradient_of(w, {1});
  optimizer.step();
  EXPECT_EQ(read(w)[0], -0.5);
}

TEST(Optimizer, StateDictsContinueARun) {
  Tensor w = leaf({1, 2});
  Tensor other = leaf({1, 2});
  Adam first({w}, {.lr = 0.1});
  Adam second({other}, {.lr = 7});
  for (int i = 0; i < 3; ++i) {
    set_gradient_of(w, {0.1 * i, 1});
    first.step();
  }
  const Tree saved = first.state_dict();
  second.load_state_dict(saved);
  {
    const NoGrad no_grad;
    other.copy_(w);
  }
  set_gradient_of(w, {1, -1});
  set_gradient_of(other, {1, -1});
  first.step();
  second.step();
  EXPECT_EQ(read(w), read(other));
}

TEST(Optimizer, RejectsInvalidArguments) {
  Tensor w = leaf({1});
  EXPECT_THROW(Adam({w}, {.lr = -1}), ValueError);
  EXPECT_THROW(Adam({w}, {.betas = {0.9, 1.0}}), ValueError);
  EXPECT_THROW(SGD({w}, {.nesterov = true}), ValueError);
  EXPECT_THROW(SGD({w, w}, {}), ValueError);
  EXPECT_THROW(SGD({w * 2.0}, {}), ValueError);
  EXPECT_THROW(Optimizer("Adam", {{{w}}}, {{"learning_rate", 1.0}}), TypeError);
  EXPECT_THROW(Optimizer("Sofia", {{{w}}}, {}), ValueError);
  SGD optimizer({w}, {});
  EXPECT_THROW(optimizer.load_state_dict(Tree(1)), TypeError);
}

TEST(Optimizer, GroupsAndHooks) {
  Tensor a = leaf({0});
  Tensor b = leaf({0});
  Optimizer optimizer("SGD", {{{a}}, {{b}, {{"lr", 2.0}}}}, {{"lr", 1.0}});
  set_gradient_of(a, {1});
  set_gradient_of(b, {1});
  int before = 0;
  int after = 0;
  const auto remove = optimizer.register_step_pre_hook([&](Optimizer&) { ++before; });
  optimizer.register_step_post_hook([&](Optimizer&) { ++after; });
  optimizer.step();
  remove();
  const Tensor loss = optimizer.step([] { return scalar(4.0); });
  EXPECT_EQ(loss.item<double>(), 4);
  EXPECT_EQ(read(a)[0], -2);
  EXPECT_EQ(read(b)[0], -4);
  EXPECT_EQ(before, 1);
  EXPECT_EQ(after, 2);
}

template <typename Options>
void expect_declared_defaults(std::type_identity<optim::BuiltIn<Options>>) {
  const Tensor param = ones({2, 2}).requires_grad_();
  const optim::BuiltIn<Options> built_in({param});
  const Optimizer by_name(Options::kName, {{.params = {param}}}, {});
  EXPECT_EQ(text_of(built_in.defaults()), text_of(by_name.defaults())) << Options::kName;
}

template <typename... Types>
void expect_declared_defaults_of_all() {
  (expect_declared_defaults(std::type_identity<Types>()), ...);
}

TEST(Optimizer, EachHasItsDeclaredDefaults) {
  using namespace optim;
  expect_declared_defaults_of_all<
#include "tests/optimizers.inc"
      >();
}

TEST(Optimizer, AdamWithDecoupledDecayIsAdamW) {
  const Tensor a = leaf({1, -2, 3}), b = leaf({1, -2, 3});
  optim::Adam adam({a}, {.lr = 0.1, .weight_decay = 0.5, .decoupled_weight_decay = true});
  optim::AdamW adamw({b}, {.lr = 0.1, .weight_decay = 0.5});
  for (int i = 0; i < 3; ++i) {
    (a * a).sum().backward();
    (b * b).sum().backward();
    adam.step();
    adamw.step();
  }
  EXPECT_TRUE(equal(a, b));
}

TEST(Groups, OverrideTheOptions) {
  const Tensor a = leaf({1}), b = leaf({2});
  const Adam optimizer({{.params = {a}, .options = {{"lr", 0.5}}}, {.params = {b}}}, {.lr = 0.25});
  EXPECT_EQ(optimizer.param_groups()[0]->options.real("lr"), 0.5);
  EXPECT_EQ(optimizer.param_groups()[1]->options.real("lr"), 0.25);
}

TEST(Groups, NamesOfOptionsAreText) {
  const Tensor a = leaf({1});
  EXPECT_THROW(Adam({{.params = {a}, .options = {{int64_t{1}, 0.5}}}}, {.lr = 0.25}), TypeError);
  EXPECT_THROW(Optimizer("Adam", {{.params = {a}}}, {{int64_t{1}, 0.5}}), TypeError);
}

}  // namespace
}  // namespace lucid
