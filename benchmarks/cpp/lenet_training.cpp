// Trains LeNet-5 on Fashion-MNIST with a compiled step, and prints the seconds of each epoch after the first.
// benchmarks/lenet_training.py runs it beside the same program in Python.
//
//   lenet_training <folder of the images> <epochs>
#include <lucid/lucid.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

using lucid::Tensor;

int main(int /*argc*/, char** argv) {
  const std::string folder = argv[1];
  const Tensor images = lucid::read_idx(folder + "/train-images-idx3-ubyte.gz").to(lucid::kFloat32) / 255;
  const Tensor labels = lucid::read_idx(folder + "/train-labels-idx1-ubyte.gz").to(lucid::kInt64);
  lucid::manual_seed(0);
  const auto model = lucid::models::lenet_5();
  lucid::optim::Adam optimizer(model->parameters(), {.lr = 1e-3});
  const auto step = lucid::compile([&](const Tensor& x, const Tensor& y) {
    const Tensor loss = lucid::cross_entropy(model(x), y);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return loss.detach();
  });
  const lucid::data::DataLoader batches({images.unsqueeze(1).pad({2, 2, 2, 2}), labels},
                                        {.batch_size = 64, .shuffle = true});
  double loss = 0;
  for (int epoch = 0; epoch <= std::atoi(argv[2]); ++epoch) {
    const auto start = std::chrono::steady_clock::now();
    for (const std::vector<Tensor>& batch : batches) loss = step(batch[0], batch[1]).item<double>();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (epoch > 0) std::printf("%.6f\n", took.count());
  }
  std::printf("%.9g\n", loss);
}
