// What a compiled function depends on of modules, optimizers and modes.

#include <gtest/gtest.h>
#include <lucid/lucid.h>

#include <functional>
#include <optional>

#include "optim/expect_same.h"

namespace lucid {
namespace {

const CompileOptions kWait = {.wait = true};

TEST(CompileNotices, ModulesThatTypedFunctionsUse) {
  const Tensor x = randn({5, 2, 3}), v = randn({2, 3}), q = randn({5, 2, 4});
  const auto lstm = nn::make<nn::LSTM>({.input_size = 3, .hidden_size = 4, .num_layers = 2, .dropout = 0.5});
  const auto run = compile([&](const Tensor& t) { return lstm->run(t).output.detach(); }, kWait);
  run(x);
  lstm->eval();
  expect_same(run(x), lstm->run(x).output.detach());

  const auto attention = nn::make<nn::MultiheadAttention>({.embed_dim = 4, .num_heads = 2, .dropout = 0.5});
  const auto attend = compile([&](const Tensor& t) { return attention->attend(t, t, t).output.detach(); }, kWait);
  attend(q);
  attention->set_training(false);
  expect_same(attend(q), attention->attend(q, q, q).output.detach());

  const auto cell = nn::make<nn::GRUCell>({.input_size = 3, .hidden_size = 4});
  const auto step = compile([&](const Tensor& t) { return cell->run(t)[0].detach(); }, kWait);
  step(v);
  cell->register_parameter("weight_hh", ones({12, 4}));
  cell->register_parameter("weight_ih", ones({12, 3}));
  expect_same(step(v), cell->run(v)[0].detach());
}

TEST(CompileNotices, ModulesWhoseForwardIsCalled) {
  nn::CrossEntropyLoss loss;
  const auto fast_loss = compile([&](const Tensor& p, const Tensor& t) { return loss.forward(p, t); }, kWait);
  const Tensor p = randn({3, 2}), t = tensor<int64_t>({0, 1, 1});
  fast_loss(p, t);
  loss.set_weight(tensor({1.0f, 5.0f}));
  expect_same(fast_loss(p, t), loss.forward(p, t));

  const auto dropout = nn::make<nn::Dropout>({.p = 0.5});
  const auto fast_dropout = compile([&](const Tensor& x) { return dropout->forward(x) * 1.0; }, kWait);
  fast_dropout(ones({4}));
  dropout->eval();
  expect_same(fast_dropout(ones({4})), ones({4}));
}

TEST(CompileNotices, ModulesThatTheFunctionOnlyReads) {
  const auto linear = nn::make<nn::Linear>(2, 2);
  const auto f = [&](const Tensor& x) {
    return linear->training() ? x * 2 : x.matmul(linear->parameter("weight")).detach();
  };
  const auto fast = compile(f, kWait);
  const Tensor x = randn({3, 2});
  for (int repeat = 0; repeat < 2; ++repeat) {
    expect_same(fast(x), f(x));
    linear->eval();
    expect_same(fast(x), f(x));
    linear->set_parameter("weight", ones({2, 2}));
    expect_same(fast(x), f(x));
    linear->train();
  }
}

TEST(CompileNotices, AModeThatTheFunctionSets) {
  const auto dropout = nn::make<nn::Dropout>({.p = 0.5});
  const auto fast = compile(
      [&](const Tensor& x) {
        dropout->eval();
        const Tensor result = (*dropout)(x) * 2.0;
        dropout->train();
        return result;
      },
      kWait);
  for (const bool training : {false, false, false, true, true, false}) {
    dropout->train(training);
    expect_same(fast(ones({4})), full({4}, 2.0));
    EXPECT_TRUE(dropout->training());
  }
}

TEST(CompileNotices, TheModulesOfAList) {
  nn::ModuleList list;
  list.append(nn::make<nn::ReLU>());
  const auto sequence = nn::make<nn::Sequential>(nn::make<nn::ReLU>());
  const auto f = [&](const Tensor& x) {
    Tensor y = x;
    for (size_t i = 0; i < list.size(); ++i) y = list[i](y);
    return (*sequence)[0](y) * static_cast<double>(sequence->size());
  };
  const auto fast = compile(f, kWait);
  const Tensor x = tensor({1.0f, 2.0f});
  for (int repeat = 0; repeat < 3; ++repeat) expect_same(fast(x), f(x));
  list.append(nn::make<nn::Tanh>());
  for (int repeat = 0; repeat < 3; ++repeat) expect_same(fast(x), f(x));
  sequence->set_child("0", nn::make<nn::Sigmoid>());
  for (int repeat = 0; repeat < 3; ++repeat) expect_same(fast(x), f(x));
  sequence->append(nn::make<nn::Tanh>());
  for (int repeat = 0; repeat < 3; ++repeat) expect_same(fast(x), f(x));
  EXPECT_THROW(list[2], IndexError);
}

TEST(CompileNotices, ChangesOfAModuleThatTheFunctionDoesNotCall) {
  nn::Linear module({2, 2});
  const auto fast = compile(
      [&](const Tensor& x) {
        module.register_forward_hook([](nn::Module&, const nn::Arguments&, const Tree&) { return std::nullopt; });
        return x * 2;
      },
      kWait);
  const uint64_t before = module.version();
  for (int repeat = 0; repeat < 4; ++repeat) fast(ones({1}));
  EXPECT_EQ(module.version(), before + 4);
}

TEST(CompileNotices, TheParametersOfAnOptimizer) {
  Tensor p = ones({1}).requires_grad_(), q = ones({1}).requires_grad_();
  optim::SGD optimizer({p, q}, {.lr = 1.0});
  const auto step = compile(
      [&](const Tensor& x) {
        optimizer.zero_grad();
        ((p + q) * x).sum().backward();
        optimizer.step();
      },
      kWait);
  for (int repeat = 0; repeat < 3; ++repeat) step(ones({1}));
  optimizer.param_groups()[0]->params.pop_back();
  step(ones({1}));
  EXPECT_EQ(p.item<float>(), -3);
  EXPECT_EQ(q.item<float>(), -2);
}

TEST(CompileNotices, GroupsThatTheFunctionReads) {
  const Tensor p = ones({1}).requires_grad_(), q = ones({1}).requires_grad_();
  optim::SGD optimizer({p}, {.lr = 1.0});
  const auto f = [&](const Tensor& x) {
    Tensor sum = x;
    for (const auto& group : optimizer.param_groups())
      for (const Tensor& param : group->params) sum = sum + param.detach();
    return sum;
  };
  const auto fast = compile(f, kWait);
  for (int repeat = 0; repeat < 3; ++repeat) expect_same(fast(ones({1})), f(ones({1})));
  optimizer.add_param_group({.params = {q}});
  for (int repeat = 0; repeat < 3; ++repeat) expect_same(fast(ones({1})), f(ones({1})));
}

TEST(CompileNotices, StateThatTheFunctionClears) {
  const Tensor p = ones({1}).requires_grad_();
  optim::SGD optimizer({p}, {.lr = 1.0, .momentum = 0.5});
  const auto clear = compile(
      [&](const Tensor& x) {
        optimizer.clear_state();
        return x * 2;
      },
      kWait);
  for (int repeat = 0; repeat < 4; ++repeat) {
    optimizer.state(p);
    clear(ones({1}));
    EXPECT_FALSE(optimizer.has_state(p));
  }
}

TEST(CompileNotices, AGradientModeThatTheFunctionLeaves) {
  std::optional<NoGrad> no_grad;
  const auto fast = compile(
      [&](const Tensor& x) {
        no_grad.emplace();
        return x * 2;
      },
      kWait);
  for (int repeat = 0; repeat < 4; ++repeat) {
    fast(ones({1}));
    EXPECT_FALSE(grad_enabled());
    no_grad.reset();
  }
}

TEST(CompileNotices, AGeneratorThatTheFunctionCaptures) {
  Generator mine, other;
  const auto f = [](const Generator& generator) {
    return [generator](const Tensor& x) { return x + rand({2}, kNone, generator); };
  };
  const auto fast = compile(f(mine), kWait);
  for (int i = 0; i < 4; ++i) {
    if (i == 2) mine.manual_seed(7), other.manual_seed(7);
    expect_same(fast(ones({2})), f(other)(ones({2})));
  }
  EXPECT_GE(fast.cache_info().hits, 2);
}

TEST(CompileNotices, SettingsThatTheFunctionChanges) {
  const auto f = [](const Tensor& x) {
    set_default_dtype(kFloat64);
    return x + 1;
  };
  const auto fast = compile(f, kWait);
  for (int i = 0; i < 3; ++i) {
    fast(ones({2}, kFloat32));
    EXPECT_EQ(get_default_dtype(), kFloat64);
    set_default_dtype(kFloat32);
  }
  EXPECT_EQ(fast.cache_info().hits, 0);
}

TEST(CompileNotices, SchedulesAndSettingsThatTheFunctionReads) {
  Tensor w = ones({1}).requires_grad_();
  optim::SGD optimizer({w}, {.lr = 1});
  optim::ExponentialLR schedule(optimizer, {.gamma = 0.5});
  const std::function<double()> reads[] = {
      [&] { return schedule.get_last_lr()[0]; },
      [&] { return static_cast<double>(schedule.last_epoch()); },
      [&] { return schedule.state_dict().as_dict("state").at("last_epoch").as_real("epoch"); },
      [&] { return static_cast<double>(optimizer.steps_taken()); },
      [&] { return static_cast<double>(get_num_threads()); },
  };
  const int threads = get_num_threads();
  for (const auto& read : reads) {
    const auto f = [&](const Tensor& x) { return x * read(); };
    const auto fast = compile(f, kWait);
    for (int i = 1; i < 4; ++i) {
      expect_same(fast(ones({1})), f(ones({1})));
      optimizer.step();
      schedule.step();
      set_num_threads(i);
    }
  }
  set_num_threads(threads);
}

TEST(CompileNotices, InferenceModeInsideTheFunction) {
  const Tensor w = ones({2}).requires_grad_();
  const auto f = [&](const Tensor& x) {
    const InferenceMode inference;
    return x * w;
  };
  const auto fast = compile(f, kWait);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(fast(ones({2})).requires_grad());
  EXPECT_GE(fast.cache_info().hits, 1);
}

TEST(CompileNotices, AModuleInPlaceOfAnother) {
  std::optional<nn::Linear> linear;
  linear.emplace(nn::LinearOptions{.in_features = 2, .out_features = 2});
  const auto fast = compile([&](const Tensor& x) { return (*linear)(x).detach(); }, kWait);
  const Tensor x = randn({3, 2});
  for (int repeat = 0; repeat < 3; ++repeat) {
    fast(x);
    linear.emplace(nn::LinearOptions{.in_features = 2, .out_features = 2});
    expect_same(fast(x), (*linear)(x).detach());
  }
}

TEST(CompileNotices, AModuleThatTheFunctionMakesIsNoDependency) {
  const auto fast = compile(
      [](const Tensor& x, const Tensor& y) {
        nn::MSELoss loss;
        return loss.forward(nn::make<nn::ReLU>()->forward(x), y);
      },
      kWait);
  const Tensor x = randn({4}), y = randn({4});
  for (int repeat = 0; repeat < 5; ++repeat) expect_same(fast(x, y), mse_loss(relu(x), y));
  EXPECT_EQ(fast.cache_info().compiles, 1);
  EXPECT_GE(fast.cache_info().hits, 3);
}

}  // namespace
}  // namespace lucid
