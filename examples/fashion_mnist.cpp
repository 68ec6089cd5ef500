// Trains LeNet-5 on Fashion-MNIST from C++ with compiled steps, and says how much faster compiling made them:
//
//   cmake -S examples -B build/examples -DCMAKE_PREFIX_PATH=<where lucid is installed> && cmake --build build/examples
//   build/examples/fashion_mnist --epochs 5
//
// The pictures are those of Debian's package dataset-fashion-mnist.

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
namespace nn = lucid::nn;

constexpr int64_t kBatch = 64;
constexpr int64_t kTestBatch = 1000;

struct Pictures {
  Tensor images;  // floats of shape (n, 1, 32, 32), the classic size
  Tensor labels;
  int64_t size() const { return labels.size(0); }
};

Pictures load(const std::string& folder, const std::string& part) {
  const Tensor images = lucid::read_idx(folder + "/" + part + "-images-idx3-ubyte.gz");
  const Tensor labels = lucid::read_idx(folder + "/" + part + "-labels-idx1-ubyte.gz");
  const Tensor scaled = (lucid::to(images, lucid::kFloat32) / 255 - 0.2860) / 0.3530;
  return {.images = lucid::pad(lucid::unsqueeze(scaled, 1), {2, 2, 2, 2}), .labels = lucid::to(labels, lucid::kInt64)};
}

Pictures batch(const Pictures& pictures, const Tensor& order, int64_t step) {
  const Tensor chosen = lucid::narrow(order, 0, step * kBatch, kBatch);
  return {.images = lucid::index_select(pictures.images, 0, chosen),
          .labels = lucid::index_select(pictures.labels, 0, chosen)};
}

/// The share of pictures that the network names right, in percent.
double accuracy(const auto& model, const Pictures& pictures) {
  const lucid::NoGrad no_grad;
  int64_t right = 0;
  for (int64_t start = 0; start < pictures.size(); start += kTestBatch) {
    const Tensor scores = model(lucid::narrow(pictures.images, 0, start, kTestBatch));
    const Tensor labels = lucid::narrow(pictures.labels, 0, start, kTestBatch);
    right += lucid::sum(lucid::eq(lucid::argmax(scores, 1), labels)).template item<int64_t>();
  }
  return 100.0 * static_cast<double>(right) / static_cast<double>(pictures.size());
}

/// The mean loss of an epoch.
double train_epoch(const auto& step, const Pictures& pictures) {
  const Tensor order = lucid::randperm(pictures.size());
  std::vector<Tensor> losses;
  for (int64_t i = 0; i < pictures.size() / kBatch; ++i) {
    const auto [images, labels] = batch(pictures, order, i);
    losses.push_back(step(images, labels));
  }
  return lucid::mean(lucid::stack(losses)).item<double>();
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Time of an eager step over that of a compiled one. Steps take turns, and the fastest of each kind counts.
double speed_up(const auto& eager, const auto& compiled, const Pictures& pictures) {
  const auto [images, labels] = batch(pictures, lucid::randperm(pictures.size()), 0);
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
  const Pictures train = load(folder, "train");
  const Pictures test = load(folder, "t10k");
  const auto model = lucid::models::lenet_5();
  lucid::optim::Optimizer optimizer("Adam", {{.params = model->parameters()}}, {{"lr", 1e-3}});
  const auto step = [&](const Tensor& images, const Tensor& labels) {
    Tensor loss = lucid::cross_entropy((*model)(images), labels);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    return loss.detach();
  };
  const auto compiled_step = lucid::compile(step);
  const auto compiled_model = lucid::compile([&](const Tensor& images) { return (*model)(images); });
  std::printf("epoch    loss  test accuracy   seconds\n");
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    const auto start = std::chrono::steady_clock::now();
    const double loss = train_epoch(compiled_step, train);
    const double seconds = seconds_since(start);
    std::printf("%5d  %.4f  %11.2f %%  %8.1f\n", epoch, loss, accuracy(compiled_model, test), seconds);
    std::fflush(stdout);
  }
  std::printf("a compiled step is %.2f times as fast as an eager one\n", speed_up(step, compiled_step, train));
}
