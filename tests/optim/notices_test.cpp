// What a compiled function depends on other than the values of tensors: other ways that it takes, handles, errors,
// modules.

#include <gtest/gtest.h>
#include <lucid/lucid.h>

#include <cmath>
#include <functional>
#include <optional>

#include "optim/expect_same.h"

namespace lucid {
namespace {

const CompileOptions kWait = {.wait = true};

TEST(CompileNotices, ACapturedArgumentWhenAnotherCallGoesAnotherWay) {
  const Tensor c = full({2}, 10.0), y = full({2}, 3.0);
  const auto by_number = [&](const Tensor& x, Number k) { return k > 0 ? x + c : -x; };
  const auto fast = compile(by_number, kWait);
  for (int repeat = 0; repeat < 3; ++repeat)
    for (const auto& [x, k] : {std::pair(c, 1), std::pair(y, -1), std::pair(y, 1), std::pair(c, -1)})
      expect_same(fast(x, k), by_number(x, k));
}

TEST(CompileNotices, ACapturedArgumentWhenAnotherCallReadsOtherValues) {
  const Tensor c = full({2}, 10.0), y = full({2}, 3.0), yes = tensor({1.0f}), no = tensor({0.0f});
  const auto by_value = [&](const Tensor& x, const Tensor& k) { return k.item<bool>() ? x + c : -x; };
  const auto fast = compile(by_value, kWait);
  for (int repeat = 0; repeat < 3; ++repeat)
    for (const auto& [x, k] : {std::pair(c, yes), std::pair(y, no), std::pair(y, yes), std::pair(c, no)})
      expect_same(fast(x, k), by_value(x, k));
}

TEST(CompileNotices, ArgumentsThatLiveOnShareAPlanThatReadsValues) {
  const Tensor yes = tensor({1.0f});
  const auto fast = compile([](const Tensor& x, const Tensor& k) { return k.item<bool>() ? x * 2 : -x; }, kWait);
  std::vector<Tensor> batches;
  for (int i = 0; i < 20; ++i) batches.push_back(full({2}, static_cast<double>(i)));
  for (const Tensor& batch : batches) expect_same(fast(batch, yes), batch * 2);
  EXPECT_LE(fast.cache_info().compiles, 2);
}

TEST(CompileNotices, EffectsOnAnArgumentWhoseSizesAreTraced) {
  const auto f = [](Tensor x) {
    if (x.size(0) == 5) {
      x.requires_grad_();
      (x * x).sum().backward();
    }
    return x.detach() * 2.0;
  };
  const auto fast = compile(f, kWait);
  fast(ones({4}));
  Tensor x = ones({5}), y = ones({5});
  fast(x);
  f(y);
  EXPECT_TRUE(x.requires_grad());
  ASSERT_TRUE(x.grad().defined());
  expect_same(x.grad(), y.grad());
  // The gradient state is that of the argument from now on.
  (x * 3).sum().backward();
  (y * 3).sum().backward();
  expect_same(x.grad(), y.grad());
}

TEST(CompileNotices, AnotherShapeOfAnArgumentWhoseSizesAreTraced) {
  const auto f = [](Tensor x) {
    if (x.size(0) == 5) x.unsqueeze_(0);
    return x * 2;
  };
  const auto fast = compile(f, kWait);
  fast(ones({4, 2}));
  for (int repeat = 0; repeat < 3; ++repeat) {
    const Tensor x = ones({5, 2});
    EXPECT_EQ(fast(x).dim(), 3);
    EXPECT_EQ(x.shape(), (Shape{1, 5, 2}));
  }
}

TEST(CompileNotices, EffectsOnAnArgumentBeforeAnError) {
  const auto fast = compile(
      [](Tensor x) {
        if (x.size(0) != 5) return x * 2.0;
        x.set_grad(full({5}, 7.0));
        throw ValueError("stop");
      },
      kWait);
  fast(ones({4}));
  Tensor x = ones({5});
  EXPECT_THROW(fast(x), ValueError);
  ASSERT_TRUE(x.grad().defined());
  expect_same(x.grad(), full({5}, 7.0));
}

TEST(CompileNotices, TheGradientOfAnArgumentWhoseSizesVary) {
  const auto f = [](const Tensor& x) { return x.size(0) == 5 && x.grad().defined() ? x.grad() * 1.0 : x * 2.0; };
  const auto fast = compile(f, kWait);
  fast(ones({4}));
  Tensor x = ones({5});
  x.set_grad(full({5}, 7.0));
  expect_same(fast(x), f(x));
}

TEST(CompileNotices, InPlaceOpsOnAViewWhoseSizesAreTraced) {
  const Tensor w = full({1}, 3.0).requires_grad_();
  const auto f = [&](Tensor x) {
    if (x.size(0) == 3) x.mul_(w);
    return x.detach() + 1;
  };
  const auto fast = compile(f, kWait);
  fast(ones({4}));
  Tensor mine = ones({6}), eager = ones({6});
  fast(Tensor(mine.narrow(0, 1, 3)));
  f(eager.narrow(0, 1, 3));
  EXPECT_EQ(mine.requires_grad(), eager.requires_grad());
  expect_same(mine.detach(), eager.detach());
}

TEST(CompileNotices, ErrorsThatTheFunctionCatches) {
  const Tensor c = ones({3});
  const auto f = [&](const Tensor& x) {
    try {
      return x + c;
    } catch (const ValueError&) {
      return x * 10.0;
    }
  };
  for (const auto dynamic : {std::optional<bool>(), std::optional<bool>(true)}) {
    const auto fast = compile(f, {.wait = true, .dynamic = dynamic});
    for (const int n : {5, 4, 6, 3, 5, 3, 1}) expect_same(fast(ones({n})), f(ones({n})));
    EXPECT_NE(fast.explain().find("catches an error"), std::string::npos) << fast.explain();
  }
}

TEST(CompileNotices, ErrorsThatDependOnACapturedTensor) {
  Tensor w = ones({2}).requires_grad_();
  const auto fast = compile(
      [&](const Tensor& x) {
        try {
          w += x;
        } catch (const RuntimeError&) {
        }
        return x * 2.0;
      },
      kWait);
  fast(ones({2}));
  w.requires_grad_(false);
  fast(ones({2}));
  expect_same(w, full({2}, 2.0));
}

TEST(CompileNotices, PropertiesOfACapturedTensorThatNoOpUses) {
  Tensor w = ones({2});
  const auto f = [&](const Tensor& x) {
    if (w.requires_grad()) (w * x).sum().backward();
    return x * 2.0;
  };
  const auto fast = compile(f, kWait);
  fast(ones({2}));
  w.requires_grad_();
  fast(ones({2}));
  EXPECT_TRUE(w.grad().defined());
}

TEST(CompileNotices, WhetherAnArgumentIsACapturedTensor) {
  const Tensor c = ones({2}), y = ones({2});
  const auto f = [&](const Tensor& x) { return x.is_same(c) ? x + 1 : x * 5; };
  const auto fast = compile(f, kWait);
  for (const Tensor& x : {y, c, y, c}) expect_same(fast(x), f(x));
}

TEST(CompileNotices, TheTextOfASize) {
  const auto f = [](const Tensor& x) { return x * static_cast<double>(to_string(x.size(0)).size()); };
  const auto fast = compile(f, kWait);
  for (const int n : {12, 13, 3, 14, 5}) expect_same(fast(ones({n})), f(ones({n})));
}

TEST(CompileNotices, TheSizesInTheTextOfAnEmptyTensor) {
  const auto f = [](const Tensor& x) { return x * static_cast<double>(x.narrow(1, 0, 0).detach().to_string().size()); };
  const auto fast = compile(f, kWait);
  for (const int n : {12, 13, 3, 140, 5}) expect_same(fast(ones({n, 2})), f(ones({n, 2})));
}

TEST(CompileNotices, OtherNans) {
  const auto f = [](const Tensor& x, double k) { return x.masked_fill(x > 0, k); };
  const auto fast = compile(f, kWait);
  const Tensor x = ones({1}, kFloat64);
  const auto sign = [](const Tensor& nan) { return std::signbit(nan.item<double>()); };
  const bool expected = sign(f(x, -std::nan("")));
  EXPECT_EQ(sign(f(x, std::nan(""))), expected);
  for (int repeat = 0; repeat < 3; ++repeat) EXPECT_EQ(sign(fast(x, -std::nan(""))), expected);
}

// ---- Modules.

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
        module.register_forward_hook([](nn::Module&, const nn::Arguments&, const nn::Item&) { return std::nullopt; });
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

// ---- Arguments, and compiled functions inside others.

TEST(CompileNotices, WhatAnInnerFunctionDependsOn) {
  double scale = 2;
  const auto inner =
      compile([&](const Tensor& x) { return x * scale; }, {.wait = true, .depends_on = [&] { return scale; }});
  const auto outer = compile([&](const Tensor& x) { return inner(x) + 0.0; }, kWait);
  for (const double each : {2.0, 6.0, 2.0, 3.0}) {
    scale = each;
    expect_same(outer(ones({2})), full({2}, each));
  }
}

TEST(CompileNotices, AnIndexedTensorIsPassedAsATensor) {
  const auto fast = compile([](const Tensor& x) { return x * 2; }, kWait);
  Tensor x = randn({3, 4});
  for (int i = 0; i < 3; ++i) expect_same(fast(x[i]), x[i] * 2);
}

TEST(ModulesByDefaultOptions, AreComplete) {
  expect_same((*nn::make<nn::PReLU>())(-ones({2})).detach(), full({2}, -0.25));
}

}  // namespace
}  // namespace lucid
