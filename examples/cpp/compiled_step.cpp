// A whole training step compiles: forward, backward and Adam. README.md starts with the same step in Python.

#include <lucid/lucid.h>

#include <cstdio>

namespace nn = lucid::nn;
using lucid::Tensor;

int main() {
  const auto model =
      nn::make<nn::Sequential>(nn::make<nn::Linear>(784, 256), nn::make<nn::ReLU>(), nn::make<nn::Linear>(256, 10));
  lucid::optim::Adam optimizer(model->parameters(), {.lr = 1e-3});
  const auto step = lucid::compile(
      [&](const Tensor& x, const Tensor& y) {
        const Tensor loss = lucid::cross_entropy(model(x), y);
        optimizer.zero_grad();
        loss.backward();
        optimizer.step();
        return loss.detach();
      },
      {.wait = true});

  const Tensor x = lucid::randn({64, 784}), y = lucid::randint(0, 10, {64});
  const double first = step(x, y).item<double>();
  double last = first;
  for (int i = 1; i < 10; ++i) last = step(x, y).item<double>();
  std::printf("the loss fell from %.3f to %.3f; compiled %ld time\n", first, last, step.cache_info().compiles);
  return last < first ? 0 : 1;
}
