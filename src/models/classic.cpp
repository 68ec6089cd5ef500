#include <lucid/models.h>

#include "base/error.h"

namespace lucid::models {

nn::Ptr<nn::Sequential> mlp(const Shape& sizes) {
  if (sizes.size() < 2)
    throw ValueError("mlp: sizes must have at least two numbers, the sizes of the input and of the result");
  auto network = nn::make<nn::Sequential>();
  for (size_t i = 1; i < sizes.size(); ++i) {
    if (i > 1) network->append(nn::make<nn::ReLU>());
    network->append(nn::make<nn::Linear>(sizes[i - 1], sizes[i]));
  }
  return network;
}

nn::Ptr<nn::Sequential> lenet_5(int64_t num_classes) {
  return nn::make<nn::Sequential>(
      nn::make<nn::Conv2d>(1, 6, 5), nn::make<nn::Tanh>(), nn::make<nn::AvgPool2d>(2), nn::make<nn::Conv2d>(6, 16, 5),
      nn::make<nn::Tanh>(), nn::make<nn::AvgPool2d>(2), nn::make<nn::Flatten>(), nn::make<nn::Linear>(400, 120),
      nn::make<nn::Tanh>(), nn::make<nn::Linear>(120, 84), nn::make<nn::Tanh>(), nn::make<nn::Linear>(84, num_classes));
}

}  // namespace lucid::models
