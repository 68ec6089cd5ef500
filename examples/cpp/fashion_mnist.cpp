// Trains LeNet-5 on Fashion-MNIST from C++ with compiled steps, and prints their speed-up over eager ones:
//
//   cmake -S examples -B build/examples -DCMAKE_PREFIX_PATH=<where lucid is installed> && cmake --build build/examples
//   build/examples/fashion_mnist --epochs 5
//
// The images are in Debian's package dataset-fashion-mnist.

#include <lucid/lucid.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace {

using lucid::Tensor;

struct Dataset {
  Tensor images;  // floats of shape (n, 1, 32, 32), LeNet's input size
  Tensor labels;
};

Dataset load(const std::string& folder, const std::string& part) {
  const Tensor images = lucid::read_idx(folder + "/" + part + "-images-idx3-ubyte.gz");
  const Tensor labels = lucid::read_idx(folder + "/" + part + "-labels-idx1-ubyte.gz");
  const Tensor scaled = (images.to(lucid::kFloat32) / 255 - 0.2860) / 0.3530;
  return {.images = scaled.unsqueeze(1).pad({2, 2, 2, 2}), .labels = labels.to(lucid::kInt64)};
}

/// The percentage of images that the network classifies correctly.
double accuracy(const auto& model, const Dataset& data) {
  const lucid::NoGrad no_grad;
  int64_t correct = 0;
  for (const auto& batch : lucid::data::DataLoader({data.images, data.labels}, {.batch_size = 1000})) {
    const Tensor scores = model(batch[0]);
    correct += (scores.argmax(1) == batch[1]).sum().item<int64_t>();
  }
  return 100.0 * static_cast<double>(correct) / static_cast<double>(data.labels.numel());
}

/// Trains for one epoch and returns the mean loss.
double train_epoch(const auto& step, const lucid::data::DataLoader& batches) {
  std::vector<Tensor> losses;
  for (const auto& batch : batches) losses.push_back(step(batch[0], batch[1]));
  return lucid::stack(losses).mean().item<double>();
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Time of an eager step divided by the time of a compiled one. The steps alternate; the fastest of each kind counts.
double speed_up(const auto& eager, const auto& compiled, const std::vector<Tensor>& batch) {
  const Tensor &images = batch[0], &labels = batch[1];
  double best_eager = std::numeric_limits<double>::infinity(), best_compiled = best_eager;
  for (int i = 0; i < 20; ++i) {
    auto start = std::chrono::steady_clock::now();
    eager(images, labels);
    best_eager = std::min(best_eager, seconds_since(start));
    start = std::chrono::steady_clock::now();
    compiled(images, labels);
    best_compiled = std::min(best_compiled, seconds_since(start));
  }
  return best_eager / best_compiled;
}

}  // namespace

int main(int argc, char** argv) {
  int epochs = 5;
  int64_t seed = 0;
  std::string folder = "/usr/share/datasets/fashion-mnist";
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--epochs") == 0) epochs = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--seed") == 0) seed = std::atoll(argv[i + 1]);
    if (std::strcmp(argv[i], "--data") == 0) folder = argv[i + 1];
  }
  lucid::manual_seed(static_cast<uint64_t>(seed));
  const Dataset train = load(folder, "train");
  const Dataset test = load(folder, "t10k");
  const auto model = lucid::models::lenet_5();
  lucid::optim::Adam optimizer(model->parameters(), {.lr = 1e-3});
  const lucid::data::DataLoader batches({train.images, train.labels},
                                        {.batch_size = 64, .shuffle = true, .drop_last = true});
  const auto step = [&](const Tensor& images, const Tensor& labels) {
    Tensor loss = lucid::cross_entropy(model(images), labels);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return loss.detach();
  };
  const auto compiled_step = lucid::compile(step);
  const auto compiled_model = lucid::compile([&](const Tensor& images) { return model(images); });
  std::printf("epoch    loss  test accuracy   seconds\n");
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    const auto start = std::chrono::steady_clock::now();
    const double loss = train_epoch(compiled_step, batches);
    const double seconds = seconds_since(start);
    std::printf("%5d  %.4f  %11.2f %%  %8.1f\n", epoch, loss, accuracy(compiled_model, test), seconds);
    std::fflush(stdout);
  }
  std::printf("a compiled step is %.2f times as fast as an eager one\n",
              speed_up(step, compiled_step, *batches.begin()));
}
