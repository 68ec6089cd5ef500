#include <lucid/ops.h>

#include "base/error.h"
#include "models/parts.h"

namespace lucid::models {
namespace {

/// Ratio of the output channels of a bottleneck to its inner channels.
constexpr int64_t kExpansion = 4;

}  // namespace

ResidualBlock::ResidualBlock(int64_t in_channels, int64_t channels, int64_t stride, bool bottleneck)
    : in_channels(in_channels), channels(channels), stride(stride), bottleneck(bottleneck) {
  build(std::nullopt);
}

void ResidualBlock::fields(nn::Fields& visit) {
  visit("in_channels", in_channels);
  visit("channels", channels);
  visit("stride", stride);
  visit("bottleneck", bottleneck);
}

void ResidualBlock::build(std::optional<Dtype> dtype) {
  const int64_t out = bottleneck ? kExpansion * channels : channels;
  register_module("conv1", conv(in_channels, channels, bottleneck ? 1 : 3, bottleneck ? 1 : stride));
  register_module("bn1", nn::make<nn::BatchNorm2d>(channels));
  register_module("conv2", conv(channels, channels, 3, bottleneck ? stride : 1));
  register_module("bn2", nn::make<nn::BatchNorm2d>(channels));
  if (bottleneck) {
    register_module("conv3", conv(channels, out, 1, 1));
    register_module("bn3", nn::make<nn::BatchNorm2d>(out));
  }
  if (stride != 1 || in_channels != out)
    register_module("downsample",
                    nn::make<nn::Sequential>(conv(in_channels, out, 1, stride), nn::make<nn::BatchNorm2d>(out)));
  if (dtype) to(*dtype);
}

Tensor ResidualBlock::forward(const Tensor& input) {
  Tensor x = relu(child("bn1")(child("conv1")(input)));
  x = child("bn2")(child("conv2")(x));
  if (bottleneck) x = child("bn3")(child("conv3")(relu(x)));
  return relu(x + (find_child("downsample") ? child("downsample")(input) : input));
}

ResNet::ResNet(Shape layers, bool bottleneck, int64_t num_classes)
    : layers(std::move(layers)), bottleneck(bottleneck), num_classes(num_classes) {
  build(std::nullopt);
}

void ResNet::fields(nn::Fields& visit) {
  visit("layers", layers);
  visit("bottleneck", bottleneck);
  visit("num_classes", num_classes);
}

void ResNet::build(std::optional<Dtype> dtype) {
  if (layers.size() != 4) throw ValueError("ResNet: layers must be four numbers, one for each stage");
  register_module("conv1", conv(3, 64, 7, 2));
  register_module("bn1", nn::make<nn::BatchNorm2d>(64));
  register_module("maxpool", nn::make<nn::MaxPool2d>({.kernel_size = 3, .stride = 2, .padding = 1}));
  int64_t in = 64;
  for (int64_t stage = 0; stage < 4; ++stage) {
    const int64_t channels = int64_t{64} << stage;
    auto blocks = nn::make<nn::Sequential>();
    for (int64_t i = 0; i < layers[static_cast<size_t>(stage)]; ++i) {
      blocks->append(nn::make<ResidualBlock>(in, channels, i == 0 && stage > 0 ? 2 : 1, bottleneck));
      in = bottleneck ? kExpansion * channels : channels;
    }
    register_module("layer" + std::to_string(stage + 1), blocks);
  }
  register_module("avgpool", nn::make<nn::AdaptiveAvgPool2d>(1));
  register_module("fc", nn::make<nn::Linear>(in, num_classes));
  initialize_for_relu(*this);
  if (dtype) to(*dtype);
}

Tensor ResNet::forward(const Tensor& input) {
  Tensor x = child("maxpool")(relu(child("bn1")(child("conv1")(input))));
  for (const char* stage : {"layer1", "layer2", "layer3", "layer4"}) x = child(stage)(x);
  return child("fc")(flatten(child("avgpool")(x), 1));
}

nn::Ptr<ResNet> resnet_18(int64_t num_classes) { return nn::make<ResNet>(Shape{2, 2, 2, 2}, false, num_classes); }
nn::Ptr<ResNet> resnet_34(int64_t num_classes) { return nn::make<ResNet>(Shape{3, 4, 6, 3}, false, num_classes); }
nn::Ptr<ResNet> resnet_50(int64_t num_classes) { return nn::make<ResNet>(Shape{3, 4, 6, 3}, true, num_classes); }

}  // namespace lucid::models
