#include "models/parts.h"

namespace lucid::models {

void initialize_for_relu(nn::Module& network) {
  network.apply([](nn::Module& module) {
    if (dynamic_cast<nn::Conv2d*>(&module)) nn::init::kaiming_normal_(module.parameter("weight"), 0, "fan_out", "relu");
  });
}

void initialize_normal(nn::Module& network, double deviation) {
  network.apply([&](nn::Module& module) {
    const bool is_linear = dynamic_cast<nn::Linear*>(&module) != nullptr;
    if (!is_linear && !dynamic_cast<nn::Embedding*>(&module)) return;
    nn::init::normal_(module.parameter("weight"), 0, deviation);
    if (!is_linear) return;
    if (const Tensor bias = module.parameter("bias"); bias.defined()) nn::init::zeros_(bias);
  });
}

const std::vector<nn::LayerType>& layer_types() {
  // Never destroyed: used until the process ends.
  static const auto& all =
      *new std::vector<nn::LayerType>(nn::layer_types_of<ResidualBlock, ResNet, InvertedResidual, MobileNetV2, GPTBlock,
                                                         GPT, GPTDecoder, Bert, VisionTransformer>());
  return all;
}

}  // namespace lucid::models
