#pragma once

#include <lucid/models.h>

namespace lucid::models {

/// A 2-d convolution with a square kernel and without bias.
inline nn::Ptr<nn::Conv2d> conv(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t groups = 1) {
  return nn::make<nn::Conv2d>({.in_channels = in,
                               .out_channels = out,
                               .kernel_size = kernel,
                               .stride = stride,
                               .padding = kernel / 2,
                               .groups = groups,
                               .bias = false});
}

/// Initializes convolution kernels so that activations neither grow nor vanish through ReLU layers.
void initialize_for_relu(nn::Module& network);

/// Samples the weights of linear layers and embeddings from a normal distribution with this standard deviation, and
/// sets biases to zero.
void initialize_normal(nn::Module& network, double deviation);

}  // namespace lucid::models
