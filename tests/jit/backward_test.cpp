// Backward passes outside compiled functions run by plans, with results equal bit for bit to those of the nodes.

#include "../tensor/support.h"
#include "base/log.h"
#include "base/options.h"
#include "jit/backward_part.h"
#include "lucid/compile.h"
#include "lucid/lucid.h"

namespace lucid {
namespace {

using namespace lucid::testing;
using Tensors = std::vector<Tensor>;

Tensors leaves(std::initializer_list<Shape> shapes) {
  Tensors result;
  for (const Shape& shape : shapes) result.push_back(randn(shape, kFloat64).requires_grad_());
  return result;
}

Tensor gated(const Tensor& x, const Tensor& w) { return tanh(lucid::matmul(x, w)) * sigmoid(x); }

/// Counts the runs of backward plans since construction.
class Runs {
 public:
  int64_t operator()() const { return jit::backward_counters().runs - start_; }

 private:
  int64_t start_ = jit::backward_counters().runs;
};

/// Calls `gradients` with a compiled function and with the original function, several times on new leaves, and compares
/// the results. Returns how many plans ran.
template <typename F, typename Gradients>
int64_t plans_run(const F& f, const Gradients& gradients, int times = 4) {
  const auto compiled = compile(f);
  int64_t total = 0;
  for (int i = 0; i < times; ++i) {
    const Tensors arguments = leaves({{3, 3}, {3, 3}});
    Tensors copies;
    for (const Tensor& argument : arguments) copies.push_back(lucid::clone(argument.detach()).requires_grad_());
    const auto expected = gradients(f, copies);
    const Runs runs;
    const auto found = gradients(compiled, arguments);
    total += runs();
    EXPECT_EQ(expected, found) << "call " << i;
  }
  EXPECT_EQ(compiled.cache_info().hits, times - 1) << compiled.explain();
  return total;
}

std::vector<std::vector<double>> grads_of(const Tensors& leaves) {
  std::vector<std::vector<double>> result;
  for (const Tensor& leaf : leaves) result.push_back(leaf.grad().defined() ? read(leaf.grad()) : std::vector<double>{});
  return result;
}

TEST(BackwardPlans, RunFromTheThirdCallOn) {
  EXPECT_EQ(plans_run(gated,
                      [](const auto& f, const Tensors& x) {
                        sum(f(x[0], x[1])).backward();
                        return grads_of(x);
                      }),
            2);
}

TEST(BackwardPlans, ContinuePartialSums) {
  EXPECT_EQ(plans_run(gated,
                      [](const auto& f, const Tensors& x) {
                        const Tensor before = x[0] * 2.0;
                        sum(f(before, x[1]) * before + x[0] * x[1] * 0.1 + exp(x[1])).backward();
                        return grads_of(x);
                      }),
            2);
}

TEST(BackwardPlans, DependOnTheResultsInUse) {
  const auto f = [](const Tensor& x, const Tensor& w) {
    const Tensor h = tanh(lucid::matmul(x, w));
    return Tensors{h, sigmoid(h) * x, exp(h) * w};
  };
  int pass = 0;
  const auto gradients = [&](const auto& g, const Tensors& x) {
    const Tensors results = g(x[0], x[1]);
    // Each is called twice: eagerly and compiled.
    const int which = pass++ / 2 % 3;
    sum(which == 0 ? results[0] * results[2] : results[static_cast<size_t>(which)]).backward();
    return grads_of(x);
  };
  // The first call is the recorded one; its nodes are not copies.
  EXPECT_EQ(plans_run(f, gradients, 10), 10 - 1 - 3);
}

TEST(BackwardPlans, AreNotUsedForCreateGraphOrHooks) {
  const auto twice = [](const auto& f, const Tensors& x) {
    const Tensors first = grad({sum(f(x[0], x[1]))}, {x[0]}, {}, {.create_graph = true});
    sum(first[0] * first[0]).backward();
    return grads_of(x);
  };
  // The second pass runs through the call's nodes again, without creating a graph.
  EXPECT_EQ(plans_run(gated, twice), 2);
  const auto hooked = [](const auto& f, const Tensors& x) {
    const Tensor y = f(x[0], x[1]);
    register_hook(y, [](const Tensor& gradient) { return gradient * 3.0; });
    sum(y).backward();
    return grads_of(x);
  };
  EXPECT_EQ(plans_run(gated, hooked), 0);
}

TEST(BackwardPlans, KeepTheGraphIfItIsRetained) {
  const auto gradients = [](const auto& f, const Tensors& x) {
    const Tensor total = sum(f(x[0], x[1]));
    total.backward(Tensor(), /*retain_graph=*/true);
    total.backward();
    EXPECT_THROW(total.backward(), Error);
    return grads_of(x);
  };
  EXPECT_EQ(plans_run(gated, gradients), 5);
}

TEST(BackwardPlans, AreCachedForAFewKindsOfRequest) {
  const auto f = compile([](const Tensor& x, const Tensor& w) {
    Tensors results;
    Tensor h = lucid::matmul(x, w);
    for (int i = 0; i < 12; ++i) results.push_back(h = tanh(h) * x);
    return results;
  });
  const Tensors x = leaves({{3, 3}, {3, 3}});
  const auto pass = [&](size_t result) { return read(grad({sum(f(x[0], x[1])[result])}, {x[0]})[0]); };
  pass(0);
  std::vector<std::vector<double>> expected;
  for (size_t i = 0; i < 12; ++i) expected.push_back(pass(i));
  const Runs runs;
  for (size_t i = 0; i < 12; ++i) EXPECT_EQ(pass(i), expected[i]);
  EXPECT_EQ(runs(), 8);
}

TEST(BackwardPlans, FailWhereNodesDo) {
  const auto f = [](const Tensor& x, const Tensor& w) {
    const Tensor h = tanh(lucid::matmul(x, w));
    return Tensors{exp(h) * h, sigmoid(h) * x};
  };
  const auto gradients = [](const auto& g, const Tensors& x) {
    const Tensors results = g(x[0], x[1]);
    sum(results[0]).backward();
    EXPECT_THROW(sum(results[1]).backward(), Error);
    return grads_of(x);
  };
  EXPECT_EQ(plans_run(f, gradients), 2);
}

TEST(BackwardPlans, AreLoggedAndExplained) {
  std::string logged;
  const LogScope sink([&](std::string_view, std::string_view text) { logged += text; });
  Options with_log = options();
  with_log.log = "jit";
  const OptionsScope scope(with_log);
  const auto f = compile(gated);
  const Tensors x = leaves({{3, 3}, {3, 3}});
  for (int i = 0; i < 3; ++i) sum(f(x[0], x[1])).backward();
  EXPECT_NE(logged.find("_backward: compiled "), std::string::npos) << logged;
  EXPECT_NE(f.explain().find("backward: "), std::string::npos) << f.explain();
}

}  // namespace
}  // namespace lucid
