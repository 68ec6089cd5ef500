// The quickstart of README.md in C++: gradients, a function, a module, compiling both.

#include <lucid/lucid.h>

#include <iostream>

namespace nn = lucid::nn;
using lucid::Tensor;

Tensor normalize(const Tensor& x) {
  const Tensor mean = x.mean(-1, /*keepdim=*/true);
  const Tensor std = x.std(-1, /*keepdim=*/true);
  return (x - mean) / (std + 1e-5);
}

bool same_bits(const Tensor& x, const Tensor& y) { return (x == y).all().item<bool>(); }

class Net : public nn::Module {
 public:
  Tensor forward(const Tensor& x) override { return out_(lucid::max_pool2d(conv_(x).relu(), 2).flatten(1)); }

 private:
  nn::Ptr<nn::Conv2d> conv_ =
      register_module("conv", nn::make<nn::Conv2d>({.in_channels = 1, .out_channels = 6, .kernel_size = 5}));
  nn::Ptr<nn::Linear> out_ = register_module("out", nn::make<nn::Linear>(6 * 14 * 14, 10));
};

int main() {
  const Tensor x = lucid::tensor({1.0f, 2.0f, 3.0f}).requires_grad_();
  (x * x).sum().backward();
  std::cout << x.grad() << "\n";

  const auto net = nn::make<Net>();
  const Tensor images = lucid::randn({4, 1, 32, 32});
  const Tensor labels = lucid::tensor<int64_t>({3, 1, 4, 1});
  nn::CrossEntropyLoss().forward(net(images), labels).backward();
  for (const auto& [name, parameter] : net->named_parameters())
    if (parameter.grad().defined()) std::cout << name << " has a gradient\n";

  const auto fast = lucid::compile(normalize, {.wait = true});
  const Tensor rows = lucid::randn({32, 128});
  fast(rows);
  std::cout << "same bits: " << same_bits(fast(rows), normalize(rows)) << ", compiled " << fast.cache_info().compiles
            << " time\n";

  const auto fast_net = lucid::compile(net, {.wait = true});
  fast_net(images);
  std::cout << "same bits: " << same_bits(fast_net(images), net(images)) << "\n";
}
