#pragma once

#include <string>

#include "lucid/tensor.h"

#pragma GCC visibility push(default)
/// Fills tensors with what networks start from. All write in place, outside the gradient graph, and return the tensor.
namespace lucid::nn::init {

/// The recommended gain for a nonlinearity: "linear", "conv2d", "sigmoid", "tanh", "relu", "leaky_relu", "selu".
double calculate_gain(const std::string& nonlinearity, double param = 0.01);

/// How many inputs an output depends on, and how many outputs an input reaches.
struct Fans {
  int64_t in;
  int64_t out;
};
Fans calculate_fans(const Tensor& tensor);

Tensor uniform_(Tensor tensor, double a = 0, double b = 1);
Tensor normal_(Tensor tensor, double mean = 0, double std = 1);
/// Normal numbers, those outside of [a, b] drawn again.
Tensor trunc_normal_(Tensor tensor, double mean = 0, double std = 1, double a = -2, double b = 2);
Tensor constant_(Tensor tensor, double value);
Tensor ones_(Tensor tensor);
Tensor zeros_(Tensor tensor);
/// The identity matrix.
Tensor eye_(Tensor tensor);
/// Kernels of convolutions that pass as many channels as possible through.
Tensor dirac_(Tensor tensor, int64_t groups = 1);
Tensor xavier_uniform_(Tensor tensor, double gain = 1);
Tensor xavier_normal_(Tensor tensor, double gain = 1);
Tensor kaiming_uniform_(Tensor tensor, double a = 0, const std::string& mode = "fan_in",
                        const std::string& nonlinearity = "leaky_relu");
Tensor kaiming_normal_(Tensor tensor, double a = 0, const std::string& mode = "fan_in",
                       const std::string& nonlinearity = "leaky_relu");
/// Rows, or columns if there are fewer, that are orthogonal and of length gain.
Tensor orthogonal_(Tensor tensor, double gain = 1);
/// Normal numbers, a fraction of each column being zero.
Tensor sparse_(Tensor tensor, double sparsity, double std = 0.01);

}  // namespace lucid::nn::init
#pragma GCC visibility pop
