// Trains LeNet-5 on Fashion-MNIST for 100 steps and prints their losses. examples/lenet.py prints the same ones.
//
//   lenet [folder of the images]
#include <lucid/lucid.h>

#include <cstdio>

using lucid::Tensor;

int main(int argc, char** argv) {
  const std::string folder = argc > 1 ? argv[1] : "/usr/share/datasets/fashion-mnist";
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
  for (int steps = 0; steps < 100;)
    for (const std::vector<Tensor>& batch : batches) {
      if (steps++ == 100) break;
      std::printf("%.9g\n", step(batch[0], batch[1]).item<double>());
    }
}
