#pragma once

#include <string>

#include "lucid/tensor.h"

#pragma GCC visibility push(default)
/// Initializers of parameters. All write in place, outside the gradient graph, and return the tensor.
namespace lucid::nn::init {

/// The recommended gain for a nonlinearity: "linear", "conv2d", "sigmoid", "tanh", "relu", "leaky_relu", "selu".
double calculate_gain(const std::string& nonlinearity, double param = 0.01);

/// The number of inputs that each output depends on, and of outputs that each input affects.
struct Fans {
  int64_t in;
  int64_t out;
};
Fans calculate_fans(const Tensor& tensor);

/// Uniform between a and b.
Tensor uniform_(Tensor tensor, double a = 0, double b = 1);
/// Normal with the given mean and standard deviation.
Tensor normal_(Tensor tensor, double mean = 0, double std = 1);
/// Normal, with values outside [a, b] sampled again.
Tensor trunc_normal_(Tensor tensor, double mean = 0, double std = 1, double a = -2, double b = 2);
Tensor constant_(Tensor tensor, double value);
Tensor ones_(Tensor tensor);
Tensor zeros_(Tensor tensor);
/// The identity matrix, for 2-d tensors.
Tensor eye_(Tensor tensor);
/// Convolution kernels that pass as many channels as possible through unchanged.
Tensor dirac_(Tensor tensor, int64_t groups = 1);
/// Uniform with standard deviation gain * sqrt(2 / (fan in + fan out)).
Tensor xavier_uniform_(Tensor tensor, double gain = 1);
/// Normal with standard deviation gain * sqrt(2 / (fan in + fan out)).
Tensor xavier_normal_(Tensor tensor, double gain = 1);
/// Uniform with standard deviation gain / sqrt(fan). `mode` is "fan_in" or "fan_out"; the gain is
/// calculate_gain(nonlinearity, a).
Tensor kaiming_uniform_(Tensor tensor, double a = 0, const std::string& mode = "fan_in",
                        const std::string& nonlinearity = "leaky_relu");
/// Normal with the same standard deviation.
Tensor kaiming_normal_(Tensor tensor, double a = 0, const std::string& mode = "fan_in",
                       const std::string& nonlinearity = "leaky_relu");
/// A matrix with orthogonal rows, or columns if there are fewer, each of length `gain`.
Tensor orthogonal_(Tensor tensor, double gain = 1);
/// Normal, with the fraction `sparsity` of each column set to zero.
Tensor sparse_(Tensor tensor, double sparsity, double std = 0.01);

}  // namespace lucid::nn::init
#pragma GCC visibility pop
