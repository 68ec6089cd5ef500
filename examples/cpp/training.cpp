// Trains a small network on made-up data with compiled steps, and evaluates it after each epoch. Batches are prepared
// by two threads.
//
//   training [cpu or gpu]

#include <lucid/lucid.h>

#include <cstdio>

namespace data = lucid::data;
namespace nn = lucid::nn;
using lucid::Tensor;

/// Points with random noise. The class of a point is the largest of its first four coordinates.
class Points : public data::Dataset {
 public:
  explicit Points(int64_t size) : points_(lucid::randn({size, 8})) {}
  int64_t size() const override { return points_.size(0); }
  std::vector<Tensor> get(int64_t i) const override {
    const Tensor point = points_[i];
    return {point + 0.1 * lucid::randn({8}), point[lucid::Slice(0, 4)].argmax()};
  }

 private:
  Tensor points_;
};

class MyModel : public nn::Module {
 public:
  Tensor forward(const Tensor& x) override { return last_(drop_(first_(x).relu())); }

 private:
  nn::Ptr<nn::Linear> first_ = register_module("first", nn::make<nn::Linear>(8, 64));
  nn::Ptr<nn::Dropout> drop_ = register_module("drop", nn::make<nn::Dropout>(0.1));
  nn::Ptr<nn::Linear> last_ = register_module("last", nn::make<nn::Linear>(64, 4));
};

int main(int argc, char** argv) {
  const std::string device = argc > 1 ? argv[1] : "cpu";
  lucid::manual_seed(0);
  const auto model = nn::make<MyModel>();
  model->to(device);
  const auto fast = lucid::compile(model);
  lucid::optim::Adam optimizer(model->parameters(), {.lr = 1e-2});
  const auto step = lucid::compile([&](const Tensor& points, const Tensor& labels) {
    const Tensor loss = lucid::cross_entropy(model(points), labels);
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
  });
  const data::DataLoader train(Points(2048), {.batch_size = 64, .shuffle = true, .num_workers = 2});
  const data::DataLoader test(Points(512), {.batch_size = 512});

  double accuracy = 0;
  for (int epoch = 1; epoch <= 5; ++epoch) {
    model->train();
    for (const auto& batch : train) step(batch[0].to(device), batch[1].to(device));
    model->eval();
    const lucid::NoGrad no_grad;
    for (const auto& batch : test)
      accuracy = (fast(batch[0].to(device)).argmax(1).cpu() == batch[1]).to(lucid::kFloat64).mean().item<double>();
    std::printf("epoch %d: %.1f %% correct\n", epoch, 100 * accuracy);
  }
  return accuracy > 0.8 ? 0 : 1;
}
