#include "jit/program.h"

#include <algorithm>
#include <functional>

#include "../tensor/support.h"
#include "jit/compiled.h"
#include "tensor/random.h"

namespace lucid::jit {
namespace {

using namespace lucid::testing;
using Tensors = std::vector<Tensor>;
using Function = std::function<Tensors(const Tensors&)>;

std::vector<TensorRef> refs(const Tensors& tensors) {
  std::vector<TensorRef> result;
  for (const Tensor& tensor : tensors) result.emplace_back(&unwrap(tensor));
  return result;
}

struct Recorded {
  Ref<Program> program;
  std::string obstacle;
  Tensors results;
};

/// Records a call. Its state is `more_state` and every tensor that the call uses and that is not an argument.
Recorded record(const Function& f, const Tensors& arguments, const Tensors& more_state = {}) {
  Recorded recorded;
  TracingContext context;
  recorded.results = f(arguments);
  context.stop();
  const std::vector<TensorRef> given = refs(arguments);
  std::vector<TensorRef> state = refs(more_state);
  for (const TracedCell& cell : context.trace().cells)
    if (cell.handle && std::find(given.begin(), given.end(), cell.handle) == given.end()) state.push_back(cell.handle);
  recorded.program = compiled(
      RecordedCall::finish(context, given, refs(recorded.results), state, "f", recorded.obstacle), recorded.obstacle);
  return recorded;
}

Tensors replay(const Program& program, const Tensors& arguments) {
  std::vector<TensorImpl*> pointers;
  for (const Tensor& argument : arguments) pointers.push_back(&unwrap(argument));
  EXPECT_TRUE(program.fits(pointers));
  CallResults results;
  EXPECT_TRUE(program.run(pointers, results));
  Tensors tensors;
  for (size_t i = 0; i < results.size(); ++i) tensors.push_back(wrap(results.take(i)));
  return tensors;
}

/// Records f on some arguments, then compares replays on other arguments with eager calls.
void expect_same(const Function& f, const std::function<Tensors()>& make_arguments, int times = 3) {
  const Recorded recorded = record(f, make_arguments());
  ASSERT_TRUE(recorded.program) << recorded.obstacle;
  SCOPED_TRACE(to_text(recorded.program->graph()));
  EXPECT_EQ(to_text(parse_graph(to_text(recorded.program->graph()))), to_text(recorded.program->graph()));
  verify(recorded.program->graph());
  for (int i = 0; i < times; ++i) {
    const Tensors arguments = make_arguments();
    Tensors copies;
    for (const Tensor& argument : arguments) copies.push_back(lucid::clone(argument));
    const Tensors expected = f(copies);
    const Tensors found = replay(*recorded.program, arguments);
    ASSERT_EQ(expected.size(), found.size());
    for (size_t k = 0; k < expected.size(); ++k) {
      EXPECT_EQ(read(expected[k]), read(found[k]));
      EXPECT_EQ(unwrap(expected[k]).strides(), unwrap(found[k]).strides());
    }
    for (size_t k = 0; k < arguments.size(); ++k) EXPECT_EQ(read(arguments[k]), read(copies[k]));
  }
}

std::function<Tensors()> random_arguments(std::vector<Shape> shapes) {
  return [shapes] {
    Tensors result;
    for (const Shape& shape : shapes) result.push_back(randn(shape, kFloat64));
    return result;
  };
}

TEST(Program, ReplaysPointwiseOps) {
  expect_same([](const Tensors& x) { return Tensors{exp(x[0] * 2.0 + x[1])}; }, random_arguments({{3, 4}, {4}}));
}

TEST(Program, ReplaysViews) {
  expect_same(
      [](const Tensors& x) { return Tensors{lucid::matmul(transpose(x[0]), x[0][{Slice(), 1}]), x[0][{0}] + 1.0}; },
      random_arguments({{3, 4}}));
}

TEST(Program, WritesArguments) {
  expect_same(
      [](const Tensors& x) {
        Tensor y = x[0];
        y += 1.0;
        Tensor row = y[{1}];
        row *= 3.0;
        return Tensors{y[{1}] + 0.0, sum(y)};
      },
      random_arguments({{3, 4}}));
}

TEST(Program, DistinguishesArgumentsThatAreStateFromOthers) {
  const Tensor weight = randn({3}, kFloat64);
  const Tensor other = randn({3}, kFloat64);
  const Function f = [&](const Tensors& x) { return Tensors{x[0] * weight}; };
  const auto fits = [](const Recorded& recorded, const Tensor& argument) {
    TensorImpl* const arguments[] = {&unwrap(argument)};
    return recorded.program->fits(arguments);
  };
  const Recorded with_state = record(f, {weight}, {weight});
  EXPECT_TRUE(fits(with_state, weight));
  EXPECT_FALSE(fits(with_state, other));
  const Recorded with_another = record(f, {other}, {weight});
  EXPECT_FALSE(fits(with_another, weight));
  EXPECT_TRUE(fits(with_another, other));
}

TEST(Program, WritesPartsOfIntermediates) {
  expect_same(
      [](const Tensors& x) {
        Tensor y = x[0] * 1.5;
        Tensor column = transpose(y)[{2}];
        column.copy_(x[1]);
        Tensor corner = y[{Slice(0, 2), Slice(1, 4, 2)}];
        corner += 10.0;
        return Tensors{y, column * 2.0};
      },
      random_arguments({{3, 4}, {3}}));
}

TEST(Program, KeepsStateAndConstants) {
  Tensor weight = counting({4});
  Tensor counter = make({0.0});
  const Function f = [&](const Tensors& x) {
    counter += 1.0;
    return Tensors{x[0] * weight + make({1, 2, 3, 4}) * counter};
  };
  const Recorded recorded = record(f, {counting({3, 4})});
  ASSERT_TRUE(recorded.program) << recorded.obstacle;
  EXPECT_EQ(read(counter), Numbers{1});
  apply_("mul", weight, {2.0});
  const Tensors found = replay(*recorded.program, {counting({3, 4})});
  EXPECT_EQ(read(counter), Numbers{2});
  apply_("sub", counter, {1.0});
  EXPECT_EQ(read(found[0]), read(f({counting({3, 4})})[0]));
}

TEST(Program, SamplesTheSameNumbers) {
  const Function f = [](const Tensors& x) { return Tensors{x[0] + rand({3}), randn({2})}; };
  manual_seed(7);
  const Recorded recorded = record(f, {counting({3})});
  ASSERT_TRUE(recorded.program) << recorded.obstacle;
  const Tensors second = f({counting({3})});
  const Tensors third = f({counting({3})});
  manual_seed(7);
  const Tensors first_again = replay(*recorded.program, {counting({3})});
  const Tensors second_again = replay(*recorded.program, {counting({3})});
  const Tensors third_again = f({counting({3})});
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(read(first_again[i]), read(recorded.results[i]));
    EXPECT_EQ(read(second_again[i]), read(second[i]));
    EXPECT_EQ(read(third_again[i]), read(third[i]));
  }
}

TEST(Program, CreatesAGradientGraph) {
  const Tensor weight = leaf({4});
  const Function f = [&](const Tensors& x) {
    Tensor h = tanh(x[0] * weight) * x[0];
    Tensor part = h[{1}];
    part *= 2.0;
    return Tensors{h, sum(exp(h) * weight)};
  };
  const Recorded recorded = record(f, {leaf({3, 4})});
  ASSERT_TRUE(recorded.program) << recorded.obstacle;
  for (int i = 0; i < 2; ++i) {
    Tensor x = (counting({3, 4}) * 0.1).detach().requires_grad_();
    Tensor y = (counting({3, 4}) * 0.1).detach().requires_grad_();
    Tensor w = weight;
    w.set_grad({});
    const Tensors expected = f({x});
    (expected[1] + sum(expected[0] * x)).backward();
    const Numbers weight_gradient = read(w.grad());
    w.set_grad({});
    const Tensors found = replay(*recorded.program, {y});
    EXPECT_EQ(read(found[0]), read(expected[0]));
    (found[1] + sum(found[0] * y)).backward();
    EXPECT_EQ(read(y.grad()), read(x.grad()));
    EXPECT_EQ(read(w.grad()), weight_gradient);
  }
}

TEST(Program, ReturnsItsArguments) {
  const Function f = [](const Tensors& x) { return Tensors{x[0], x[0] + 1.0, x[0]}; };
  const Recorded recorded = record(f, {counting({2})});
  ASSERT_TRUE(recorded.program) << recorded.obstacle;
  const Tensor x = counting({2});
  const Tensors found = replay(*recorded.program, {x});
  EXPECT_EQ(&unwrap(found[0]), &unwrap(x));
  EXPECT_EQ(&unwrap(found[2]), &unwrap(x));
}

TEST(Program, HasNoEffectWhenACheckFails) {
  Tensor counter = make({0.0});
  const Function f = [&](const Tensors& x) {
    counter += 1.0;
    return Tensors{index_select(x[0], 0, x[1])};
  };
  const Recorded recorded = record(f, {counting({3}), from_vector(std::vector<int64_t>{0, 2}, {2})});
  ASSERT_TRUE(recorded.program) << recorded.obstacle;
  const Tensor x = counting({3});
  const Tensor bad = from_vector(std::vector<int64_t>{0, 3}, {2});
  TensorImpl* const arguments[] = {&unwrap(x), &unwrap(bad)};
  CallResults results;
  EXPECT_FALSE(recorded.program->run(arguments, results));
  EXPECT_EQ(read(counter), Numbers{1});
}

TEST(Program, CallsTheHostBetweenKernels) {
  expect_same(
      [](const Tensors& x) {
        const auto sorted = sort(x[0] * 2.0, 0);
        return Tensors{sorted.values + x[0], gather(x[0], 0, sorted.indices), topk(transpose(x[0], 0, 1), 2).values};
      },
      random_arguments({{5, 3}}));
}

TEST(Program, HasNoEffectWhenTheHostRaises) {
  Tensor counter = make({0.0});
  const Function f = [&](const Tensors& x) {
    counter += 1.0;
    return Tensors{random_multinomial(x[1], x[0], 2)};
  };
  const Tensor state = from_vector(std::vector<int64_t>{1, 0}, {2});
  const Recorded recorded = record(f, {make({1.0, 2.0, 3.0}), state});
  ASSERT_TRUE(recorded.program) << recorded.obstacle;
  const Tensor bad = make({1.0, -2.0, 3.0});
  TensorImpl* const arguments[] = {&unwrap(bad), &unwrap(state)};
  CallResults results;
  EXPECT_FALSE(recorded.program->run(arguments, results));
  EXPECT_EQ(read(counter), Numbers{1});
  replay(*recorded.program, {make({3.0, 2.0, 1.0}), state});
  EXPECT_EQ(read(counter), Numbers{2});
}

TEST(Program, ReportsTheObstacle) {
  const Recorded recorded =
      record([](const Tensors& x) { return Tensors{x[0] * x[0][{0}].item<double>()}; }, {leaf({2})});
  EXPECT_FALSE(recorded.program);
  EXPECT_NE(recorded.obstacle.find("reads a value"), std::string::npos);
}

TEST(Program, AccumulatesGradients) {
  const Tensor weight = leaf({3});
  const Function f = [&](const Tensors& x) {
    const Tensor loss = sum(x[0] * weight * weight);
    loss.backward();
    return Tensors{loss.detach()};
  };
  Tensor w = weight;
  std::vector<Numbers> expected;
  for (int i = 0; i < 4; ++i) {
    f({counting({3}) * static_cast<double>(i)});
    expected.push_back(read(w.grad()));
  }
  w.set_grad({});
  const Recorded first = record(f, {counting({3}) * 0.0});
  ASSERT_TRUE(first.program) << first.obstacle;
  EXPECT_EQ(read(w.grad()), expected[0]);
  const Tensor x = counting({3}) * 1.0;
  TensorImpl* const arguments[] = {&unwrap(x)};
  EXPECT_FALSE(first.program->fits(arguments));  // there was no gradient, and now there is
  const Recorded second = record(f, {x});
  ASSERT_TRUE(second.program) << second.obstacle;
  EXPECT_EQ(read(w.grad()), expected[1]);
  for (size_t i = 2; i < 4; ++i) {
    replay(*second.program, {counting({3}) * static_cast<double>(i)});
    EXPECT_EQ(read(w.grad()), expected[i]);
  }
  w.set_grad({});
  replay(*first.program, {counting({3}) * 0.0});
  EXPECT_EQ(read(w.grad()), expected[0]);
}

TEST(Program, DetectsDifferentAliasing) {
  const Function f = [](const Tensors& x) {
    Tensor y = x[0];
    y += 1.0;
    return Tensors{x[1] * 2.0};
  };
  const Recorded recorded = record(f, {counting({3}), counting({3})});
  ASSERT_TRUE(recorded.program) << recorded.obstacle;
  const Tensor x = counting({3});
  TensorImpl* const same[] = {&unwrap(x), &unwrap(x)};
  EXPECT_FALSE(recorded.program->fits(same));
}

}  // namespace
}  // namespace lucid::jit
