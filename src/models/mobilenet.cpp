#include <lucid/ops.h>

#include "models/parts.h"

namespace lucid::models {
namespace {

/// A stage of inverted residual blocks: the first has the given stride, the others stride 1.
struct Stage {
  int64_t expansion;
  int64_t channels;
  int64_t count;
  int64_t stride;
};
constexpr Stage kStages[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                             {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
constexpr int64_t kFirstChannels = 32;
constexpr int64_t kLastChannels = 1280;

nn::Ptr<nn::Sequential> normalized_conv(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t groups = 1) {
  return nn::make<nn::Sequential>(conv(in, out, kernel, stride, groups), nn::make<nn::BatchNorm2d>(out),
                                  nn::make<nn::ReLU6>());
}

}  // namespace

InvertedResidual::InvertedResidual(int64_t in_channels, int64_t out_channels, int64_t stride, int64_t expansion)
    : in_channels(in_channels), out_channels(out_channels), stride(stride), expansion(expansion) {
  build(std::nullopt);
}

void InvertedResidual::fields(nn::Fields& visit) {
  visit("in_channels", in_channels);
  visit("out_channels", out_channels);
  visit("stride", stride);
  visit("expansion", expansion);
}

void InvertedResidual::build(std::optional<Dtype> dtype) {
  const int64_t wide = in_channels * expansion;
  auto layers = nn::make<nn::Sequential>();
  if (expansion != 1) layers->append(normalized_conv(in_channels, wide, 1, 1));
  layers->append(normalized_conv(wide, wide, 3, stride, wide));
  layers->append(conv(wide, out_channels, 1, 1));
  layers->append(nn::make<nn::BatchNorm2d>(out_channels));
  register_module("conv", layers);
  if (dtype) to(*dtype);
}

Tensor InvertedResidual::forward(const Tensor& input) {
  const Tensor x = child("conv")(input);
  return stride == 1 && in_channels == out_channels ? input + x : x;
}

MobileNetV2::MobileNetV2(int64_t num_classes, double dropout) : num_classes(num_classes), dropout(dropout) {
  build(std::nullopt);
}

void MobileNetV2::fields(nn::Fields& visit) {
  visit("num_classes", num_classes);
  visit("dropout", dropout);
}

void MobileNetV2::build(std::optional<Dtype> dtype) {
  auto features = nn::make<nn::Sequential>(normalized_conv(3, kFirstChannels, 3, 2));
  int64_t in = kFirstChannels;
  for (const Stage& stage : kStages) {
    for (int64_t i = 0; i < stage.count; ++i) {
      features->append(nn::make<InvertedResidual>(in, stage.channels, i == 0 ? stage.stride : 1, stage.expansion));
      in = stage.channels;
    }
  }
  features->append(normalized_conv(in, kLastChannels, 1, 1));
  register_module("features", features);
  register_module("classifier", nn::make<nn::Sequential>(nn::make<nn::Dropout>(dropout),
                                                         nn::make<nn::Linear>(kLastChannels, num_classes)));
  initialize_for_relu(*this);
  if (dtype) to(*dtype);
}

Tensor MobileNetV2::forward(const Tensor& input) {
  return child("classifier")(mean(child("features")(input), Shape{2, 3}));
}

nn::Ptr<MobileNetV2> mobilenet_v2(int64_t num_classes) { return nn::make<MobileNetV2>(num_classes); }

}  // namespace lucid::models
