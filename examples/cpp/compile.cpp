// What compiled functions and modules do: plans for shapes and modes, inference without gradients, branches on values,
// a bound on the number of plans, and the graph of a call.

#include <lucid/lucid.h>

#include <cstdio>
#include <iostream>

namespace nn = lucid::nn;
using lucid::Tensor;

bool g_all_equal = true;

void compare(const char* what, const Tensor& compiled, const Tensor& eager) {
  const bool equal = (compiled == eager).all().item<bool>();
  std::printf("%-40s %s\n", what, equal ? "same bits as eager" : "DIFFERS from eager");
  g_all_equal &= equal;
}

int main() {
  // A function of two tensors.
  const auto weighted_sum = [](const Tensor& x, const Tensor& y) { return (x * y + x).sum(); };
  const auto fast_sum = lucid::compile(weighted_sum, {.wait = true});
  const Tensor x = lucid::randn({3, 3}), y = lucid::randn({3, 3});
  fast_sum(x, y);
  compare("a function", fast_sum(x, y), weighted_sum(x, y));

  // It captures weights by handle: later calls see their current values.
  Tensor w1 = lucid::randn({256, 8}), w2 = lucid::randn({10, 256});
  const auto forward = [&](const Tensor& input) { return input.linear(w1).relu().linear(w2); };
  const auto fast_forward = lucid::compile(forward, {.wait = true});
  const Tensor input = lucid::randn({32, 8});
  fast_forward(input);
  w1 *= 2;
  compare("a function of captured weights", fast_forward(input), forward(input));
  std::cout << fast_forward.graph(input);

  // A module has a plan for training and one for evaluation.
  const auto model = lucid::models::lenet_5();
  const auto fast_model = lucid::compile(model, {.max_cache_entries = 2, .wait = true});
  const Tensor image = lucid::randn({1, 1, 32, 32});
  for (int i = 0; i < 2; ++i) {
    model->train();
    compare("a module in training", fast_model(image), model(image));
    model->eval();
    const lucid::NoGrad no_grad;
    compare("a module in evaluation", fast_model(image), model(image));
  }
  std::printf("%ld plans, %ld hits\n", fast_model.cache_info().compiles, fast_model.cache_info().hits);

  // Each way through a branch has its own plan.
  const auto branch = [](const Tensor& v) { return v.sum().item<float>() > 0 ? v * 2 : v - 1; };
  const auto fast_branch = lucid::compile(branch, {.wait = true});
  for (int i = 0; i < 2; ++i)
    for (const Tensor& v : {lucid::ones({4}), -lucid::ones({4})})
      compare("a branch on a value", fast_branch(v), branch(v));

  // A module that changes is noticed, so nothing has to be invalidated; plans can be dropped all the same.
  model->register_forward_hook(
      [](nn::Module&, const nn::Arguments&, const lucid::Tree& result) { return lucid::Tree(result.as_tensor() * 2); });
  compare("a module with a new hook", fast_model(image), model(image));
  fast_model.invalidate_cache();
  compare("a module without plans", fast_model(image), model(image));
  return g_all_equal ? 0 : 1;
}
