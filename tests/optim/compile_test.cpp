// lucid::compile with arguments of all kinds, modules and training steps: plans never serve calls that they do not fit.

#include <gtest/gtest.h>
#include <lucid/lucid.h>

#include <array>

#include "optim/expect_same.h"

namespace lucid {
namespace {

using Numbers = std::vector<double>;
Numbers read(const Tensor& x) { return x.to_vector<double>(); }

const CompileOptions kWait = {.wait = true};

enum class Mode { kDouble, kNegate };

TEST(CompileArguments, ValuesArePartOfTheKey) {
  int runs = 0;
  const auto f = compile(
      [&](const Tensor& x, double factor, Mode mode, std::string_view name, const std::vector<int>& terms,
          std::optional<int64_t> more) {
        ++runs;
        Tensor y = x * factor;
        if (mode == Mode::kNegate) y = -y;
        for (const int term : terms) y = y + term;
        return y + static_cast<int64_t>(name.size()) + more.value_or(0);
      },
      kWait);
  const Tensor x = tensor({1.0f, 2.0f});
  const auto call = [&](double factor, Mode mode, const char* name, const std::vector<int>& terms,
                        std::optional<int64_t> more) { return read(f(x, factor, mode, name, terms, more)); };
  for (int repeat = 0; repeat < 3; ++repeat) {
    EXPECT_EQ(call(2.0, Mode::kDouble, "", {}, kNone), (Numbers{2, 4}));
    EXPECT_EQ(call(3.0, Mode::kDouble, "", {}, kNone), (Numbers{3, 6}));
    EXPECT_EQ(call(2.0, Mode::kNegate, "", {}, kNone), (Numbers{-2, -4}));
    EXPECT_EQ(call(2.0, Mode::kDouble, "ab", {}, kNone), (Numbers{4, 6}));
    EXPECT_EQ(call(2.0, Mode::kDouble, "", {1, 2}, kNone), (Numbers{5, 7}));
    EXPECT_EQ(call(2.0, Mode::kDouble, "", {12}, kNone), (Numbers{14, 16}));
    EXPECT_EQ(call(2.0, Mode::kDouble, "", {}, 7), (Numbers{9, 11}));
  }
  EXPECT_EQ(runs, 7);
  EXPECT_EQ(f.cache_info().hits, 14);
}

TEST(CompileArguments, EqualBytesOfAnotherTypeAreAnotherCall) {
  const auto f = compile(
      [](const Tensor& x, const auto&... numbers) {
        if constexpr (sizeof...(numbers) == 2)
          return x * 2;
        else
          return (std::is_same_v<decltype(numbers), const int&> && ...) ? x : -x;
      },
      kWait);
  const Tensor x = tensor({1.0f});
  for (int repeat = 0; repeat < 3; ++repeat) {
    EXPECT_EQ(read(f(x, 0x3f800000)), (Numbers{1}));
    EXPECT_EQ(read(f(x, 1.0f)), (Numbers{-1}));
    EXPECT_EQ(read(f(x, 1, 1)), (Numbers{2}));
    EXPECT_EQ(read(f(x, std::pair(1, 1))), (Numbers{-1}));
  }
}

TEST(CompileArguments, TensorsInContainers) {
  const auto f = compile(
      [](const std::vector<Tensor>& all, const std::pair<Tensor, int>& scaled, const std::optional<Tensor>& bias) {
        Tensor sum = scaled.first * scaled.second;
        for (const Tensor& each : all) sum = sum + each;
        return bias ? sum + *bias : sum;
      },
      kWait);
  const Tensor x = tensor({1.0f}), y = tensor({10.0f});
  for (int repeat = 0; repeat < 3; ++repeat) {
    EXPECT_EQ(read(f(std::vector{x, y}, std::pair(x, 2), std::optional<Tensor>())), (Numbers{13}));
    EXPECT_EQ(read(f(std::vector{x}, std::pair(y, 2), std::optional(y))), (Numbers{31}));
  }
  EXPECT_EQ(f.cache_info().hits, 4);
}

TEST(CompileArguments, InBraces) {
  const auto f = compile(
      [](const Tensor& x, const std::vector<Tensor>& all, std::optional<double> factor) {
        Tensor sum = x * factor.value_or(1);
        for (const Tensor& each : all) sum = sum + each;
        return sum;
      },
      kWait);
  const Tensor x = tensor({1.0f}), y = tensor({10.0f});
  for (int repeat = 0; repeat < 3; ++repeat) {
    EXPECT_EQ(read(f(x, {x, y}, {})), (Numbers{12}));
    EXPECT_EQ(read(f(x, {y}, 3)), (Numbers{13}));
    EXPECT_EQ(read(f(x, {}, kNone)), (Numbers{1}));
  }
  EXPECT_EQ(f.cache_info().hits, 6);
  const auto none = compile([] { return ones({1}); }, kWait);
  for (int repeat = 0; repeat < 2; ++repeat) EXPECT_EQ(read(none()), (Numbers{1}));
}

TEST(CompileArguments, TheSameTensorTwiceIsAnotherCall) {
  const auto f = compile([](const Tensor& x, const Tensor& y) { return x.is_same(y) ? x * 2 : x - y; }, kWait);
  const Tensor x = tensor({1.0f}), y = tensor({1.0f});
  for (int repeat = 0; repeat < 3; ++repeat) {
    EXPECT_EQ(read(f(x, y)), (Numbers{0}));
    EXPECT_EQ(read(f(x, x)), (Numbers{2}));
  }
}

TEST(CompileResults, MayBeSeveralOrNone) {
  const Tensor x = tensor({3.0f, 4.0f});
  const auto both = compile([](const Tensor& x) { return std::pair(x + 1, x * 2); }, kWait);
  const auto three = compile([](const Tensor& x) { return std::tuple(x, x + 1, x + 2); }, kWait);
  Tensor total = zeros({2});
  const auto add = compile([&](const Tensor& x) { total += x; }, kWait);
  for (int repeat = 1; repeat <= 3; ++repeat) {
    const auto [sum, product] = both(x);
    EXPECT_EQ(read(sum), (Numbers{4, 5}));
    EXPECT_EQ(read(product), (Numbers{6, 8}));
    EXPECT_EQ(read(std::get<2>(three(x))), (Numbers{5, 6}));
    add(x);
    EXPECT_EQ(read(total), (Numbers{3.0 * repeat, 4.0 * repeat}));
  }
  EXPECT_EQ(add.cache_info().hits, 2);
}

TEST(CompileDependsOn, NamesWhatTheLibraryCannotSee) {
  int power = 2;
  std::string mode = "up";
  const auto f = compile([&](const Tensor& x) { return mode == "up" ? x.pow(power) : -x; },
                         {.wait = true, .depends_on = [&] { return std::tuple(power, mode); }});
  const Tensor x = tensor({3.0f});
  for (int repeat = 0; repeat < 2; ++repeat) {
    power = 2;
    mode = "up";
    EXPECT_EQ(read(f(x)), (Numbers{9}));
    power = 3;
    EXPECT_EQ(read(f(x)), (Numbers{27}));
    mode = "down";
    EXPECT_EQ(read(f(x)), (Numbers{-3}));
  }
  EXPECT_EQ(f.cache_info().hits, 3);
}

TEST(CompileModule, HasPlansForTrainingAndEvaluation) {
  const auto model = nn::make<nn::Sequential>(nn::make<nn::Linear>(4, 4), nn::make<nn::BatchNorm1d>(4));
  const auto fast = compile(nn::Ptr<nn::Module>(model), kWait);
  const Tensor x = randn({8, 4});
  const auto check = [&](int64_t hits) {
    const auto state = model->clone();
    const Numbers expected = read((*state)(x));
    EXPECT_EQ(read(fast(x)), expected);
    EXPECT_EQ(fast.cache_info().hits, hits) << fast.explain();
  };
  check(0);
  check(1);
  model->eval();
  check(1);
  check(2);
  model->train();
  check(3);
  model->eval();
  check(4);
  EXPECT_EQ(fast.cache_info().compiles, 2);
}

TEST(CompileModule, NoticesChanges) {
  const auto model = nn::make<nn::Linear>(2, 2);
  // Not compile(model): the function calls a module that it captures.
  const auto fast = compile([&](const Tensor& x) { return (*model)(x) * 2; }, kWait);
  const Tensor x = ones({1, 2});
  const auto check = [&] {
    const Numbers expected = read((*model)(x) * 2);
    for (int repeat = 0; repeat < 3; ++repeat) EXPECT_EQ(read(fast(x)), expected);
  };
  check();
  const int64_t hits = fast.cache_info().hits;
  EXPECT_EQ(hits, 2);
  nn::HookRemover hook = model->register_forward_hook(
      [](nn::Module&, const nn::Arguments&, const Tree& result) { return Tree(result.as_tensor() + 100); });
  check();
  hook.remove();
  check();
  model->register_parameter("weight", ones({2, 2}).requires_grad_());
  check();
  model->parameter("weight").detach().fill_(3);
  check();
  EXPECT_NE(fast.explain().find("the module Linear has changed"), std::string::npos) << fast.explain();
}

/// A module with a setting that the library does not know of.
class Scale : public nn::Module {
 public:
  double factor = 2;
  Tensor forward(const Tensor& input) override { return input * factor; }
};

TEST(CompileModule, ASettingOfItsOwnIsAChangeToReport) {
  const auto model = nn::make<Scale>();
  const auto fast = compile(model, kWait);
  const Tensor x = ones({2});
  for (int repeat = 0; repeat < 3; ++repeat) EXPECT_EQ(read(fast(x)), (Numbers{2, 2}));
  model->factor = 5;
  model->changed();
  for (int repeat = 0; repeat < 3; ++repeat) EXPECT_EQ(read(fast(x)), (Numbers{5, 5}));
}

/// Trains a small network and returns its losses. `change` runs before each step.
template <typename Change>
std::vector<double> train(bool compiled, int64_t* hits, const Change& change) {
  manual_seed(3);
  const auto model =
      nn::make<nn::Sequential>(nn::make<nn::Linear>(4, 8), nn::make<nn::Tanh>(), nn::make<nn::Linear>(8, 1));
  optim::Adam optimizer(model->parameters(), {.lr = 0.1});
  const Tensor x = randn({16, 4}), y = randn({16, 1});
  const auto step = [&](const Tensor& input, const Tensor& target) {
    const Tensor loss = mse_loss((*model)(input), target);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return loss.detach();
  };
  const auto fast = compile(step, kWait);
  std::vector<double> losses;
  for (int i = 0; i < 12; ++i) {
    change(i, *model, optimizer);
    losses.push_back((compiled ? fast(x, y) : step(x, y)).template item<double>());
  }
  EXPECT_EQ(optimizer.steps_taken(), 12u);
  if (hits) *hits = fast.cache_info().hits;
  return losses;
}

TEST(CompileTraining, HasTheLossesOfEagerSteps) {
  const auto nothing = [](int, nn::Module&, optim::Optimizer&) {};
  int64_t hits = 0;
  EXPECT_EQ(train(true, &hits, nothing), train(false, nullptr, nothing));
  EXPECT_GE(hits, 9);
}

TEST(CompileTraining, NoticesChangesOfTheOptimizer) {
  const auto change = [](int i, nn::Module&, optim::Optimizer& optimizer) {
    optim::Options& options = optimizer.param_groups()[0]->options;
    if (i == 5) options.set("lr", 0.01);
    if (i == 7) options.set("amsgrad", true);
    if (i == 9) options.set("weight_decay", 0.5);
  };
  int64_t hits = 0;
  EXPECT_EQ(train(true, &hits, change), train(false, nullptr, change));
  EXPECT_GE(hits, 4);
}

TEST(CompileTraining, NoticesHooksOfTheOptimizer) {
  const auto change = [](int i, nn::Module& model, optim::Optimizer& optimizer) {
    const Tensor bias = model.parameters().back();
    if (i == 6)
      optimizer.register_step_post_hook([bias](optim::Optimizer&) {
        const NoGrad no_grad;
        Tensor(bias).zero_();
      });
  };
  EXPECT_EQ(train(true, nullptr, change), train(false, nullptr, change));
}

TEST(CompileTraining, NoticesTheStateOfTheOptimizer) {
  Tensor w = ones({1}).requires_grad_();
  optim::Adam optimizer({w});
  optimizer.state(w);
  const auto f = [&](const Tensor& x) {
    Tensor sum = optimizer.has_state(w) ? x * 2 : x;
    for (const auto& [name, value] : *optimizer.state(w)) sum = sum + value.as_tensor("state").sum();
    return sum * static_cast<int64_t>(optimizer.version());
  };
  const auto fast = compile(f, kWait);
  for (int i = 0; i < 9; ++i) {
    if (i % 3 == 2) {
      w.set_grad(ones({1}));
      optimizer.step();
    }
    expect_same(fast(ones({1})), f(ones({1})));
    if (i == 6) {
      optimizer.clear_state();
      optimizer.state(w);
    }
  }
}

TEST(CompileSeeing, GraphAndPlanOfACall) {
  const auto f = compile([](const Tensor& x) { return x.exp().sum(); }, kWait);
  const Tensor x = ones({4});
  EXPECT_THROW(f.graph(x), RuntimeError);
  f(x);
  EXPECT_NE(f.graph(x).find("exp(%0)"), std::string::npos) << f.graph(x);
  EXPECT_NE(f.plan(x).find("step 0"), std::string::npos) << f.plan(x);
  EXPECT_NE(f.timed_plan(x).find("us"), std::string::npos) << f.timed_plan(x);
  EXPECT_EQ(f.cache_info().entries, 1u);
}

TEST(CompileVerify, FindsAFunctionThatReadsSomethingElse) {
  double factor = 2;
  const auto f = compile([&](const Tensor& x) { return x * factor; }, {.wait = true, .verify = 1});
  const Tensor x = ones({2});
  f(x);
  EXPECT_EQ(read(f(x)), (Numbers{2, 2}));
  factor = 3;
  EXPECT_THROW(f(x), RuntimeError);
}

TEST(CompileTraining, NumbersMayVary) {
  const auto train = [](auto&& make_step) {
    manual_seed(3);
    const auto model = nn::make<nn::Linear>(4, 3);
    optim::SGD optimizer(model->parameters(), {.lr = 0.1, .momentum = 0.9});
    const auto step = make_step([&](const Tensor& x, Number weight, Number clip) {
      optimizer.zero_grad();
      const Tensor y = (*model)(x);
      const Tensor loss = (y * y).mean() * weight + (y * weight).tanh().sum() * (1 - weight);
      loss.backward();
      {
        const NoGrad no_grad;
        for (const Tensor& parameter : model->parameters()) parameter.grad().mul_(clip);
      }
      optimizer.step();
      return loss.detach();
    });
    std::vector<float> losses;
    for (int i = 0; i < 12; ++i)
      losses.push_back(step(randn({6, 4}), Number(0.25 * i), Number(1.0 / (i + 1))).template item<float>());
    return std::pair(losses, step);
  };
  const auto [eager, unused] = train([](auto step) { return step; });
  const auto [compiled, step] = train([](auto step) { return compile(step, kWait); });
  EXPECT_EQ(compiled, eager);
  EXPECT_GE(step.cache_info().hits, 9) << step.explain();
}

TEST(CompileModule, OnePlanServesManyBatchSizes) {
  const auto model =
      nn::make<nn::Sequential>(nn::make<nn::Linear>(8, 16), nn::make<nn::ReLU>(), nn::make<nn::Linear>(16, 3));
  model->eval();
  const NoGrad no_grad;
  const auto fast = compile(model, kWait);
  for (int64_t n = 2; n < 40; ++n) {
    const Tensor x = randn({n, 8});
    EXPECT_EQ(fast(x).to_vector<float>(), (*model)(x).to_vector<float>());
  }
  EXPECT_LE(fast.cache_info().compiles, 3) << fast.explain();
}

}  // namespace
}  // namespace lucid
