// A line is fitted to points by following the gradient: the public API in one small program.

#include <lucid/lucid.h>

#include <cmath>
#include <cstdio>

namespace {

/// Uses the library after everything that it made in main() and that is destroyed at the end of a program.
struct AtExit {
  ~AtExit() {
    const auto model = lucid::nn::make<lucid::nn::Linear>(3, 1);
    lucid::optim::Adam optimizer(model->parameters());
    lucid::optim::LinearLR schedule(optimizer);
    const auto loss_of = lucid::compile([&](const lucid::Tensor& x) { return model(x).square().mean(); });
    for (int step = 0; step < 3; ++step) {
      loss_of(lucid::ones({2, 3})).backward();
      optimizer.step();
      schedule.step();
    }
    std::printf("%g\n", (lucid::ones({3}) + 1).sum().item<double>());
  }
};

const AtExit at_exit;

}  // namespace

int main() {
  using lucid::Tensor;
  lucid::manual_seed(0);
  const Tensor x = lucid::linspace(-1.0, 1.0, 64);
  const Tensor y = 3.0 * x + 0.5;
  Tensor slope = lucid::zeros({1}).requires_grad_();
  Tensor offset = lucid::zeros({1}).requires_grad_();
  const auto loss_of = lucid::compile(
      [&](const Tensor& points, const Tensor& values) { return (slope * points + offset - values).square().mean(); });
  for (int step = 0; step < 200; ++step) {
    const Tensor loss = loss_of(x, y);
    slope.set_grad(Tensor());
    offset.set_grad(Tensor());
    loss.backward();
    const lucid::NoGrad no_grad;
    slope -= 0.5 * slope.grad();
    offset -= 0.5 * offset.grad();
  }
  std::printf("y = %.4f x + %.4f\n", slope.item<double>(), offset.item<double>());
  try {
    lucid::zeros({8, 4}).matmul(lucid::zeros({3, 2}));
  } catch (const lucid::ValueError& error) {
    std::printf("%s\n", error.what());
    return std::abs(slope.item<double>() - 3) < 1e-3 && std::abs(offset.item<double>() - 0.5) < 1e-3 ? 0 : 1;
  }
  return 1;
}
