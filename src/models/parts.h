#pragma once

#include <lucid/models.h>

namespace lucid::models {

/// A convolution without bias over images, its kernel a square.
inline nn::Ptr<nn::Conv2d> conv(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t groups = 1) {
  return nn::make<nn::Conv2d>(
      in, out, Shape{kernel},
      nn::ConvOptions{.stride = {stride}, .padding = kernel / 2, .groups = groups, .bias = false});
}

/// Redraws kernels so that activations neither grow nor fade when they pass through ReLU.
void draw_for_relu(nn::Module& network);

/// Redraws the weights of linear layers and embeddings with this deviation, and sets biases to zero.
void draw_normal(nn::Module& network, double deviation);

}  // namespace lucid::models
