// Generated from the signatures of layers by tools/generate; do not edit.
// clang-format off
#pragma once

#include "lucid/nn/layer.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

/// Options of ReLU, ReLU6, SiLU, Mish, SELU, Hardswish and Hardsigmoid.
struct ActivationOptions {
  bool inplace = false;

  void fields(auto& visit) {
    visit("inplace", inplace);
  }
};

/// Options of LeakyReLU.
struct LeakyReLUOptions {
  double negative_slope = 0.01;
  bool inplace = false;

  void fields(auto& visit) {
    visit("negative_slope", negative_slope);
    visit("inplace", inplace);
  }
};

/// Options of ELU and CELU.
struct ELUOptions {
  double alpha = 1.0;
  bool inplace = false;

  void fields(auto& visit) {
    visit("alpha", alpha);
    visit("inplace", inplace);
  }
};

/// Options of Hardshrink and Softshrink.
struct ShrinkOptions {
  double lambd = 0.5;
  bool inplace = false;

  void fields(auto& visit) {
    visit("lambd", lambd);
    visit("inplace", inplace);
  }
};

/// Options of GELU.
struct GELUOptions {
  /// 'none', or 'tanh' for the tanh approximation that older models use.
  std::string approximate = "none";

  void fields(auto& visit) {
    visit("approximate", approximate);
  }
};

/// Options of Hardtanh.
struct HardtanhOptions {
  double min_val = -1.0;
  double max_val = 1.0;
  bool inplace = false;

  void fields(auto& visit) {
    visit("min_val", min_val);
    visit("max_val", max_val);
    visit("inplace", inplace);
  }
};

/// Options of Softplus.
struct SoftplusOptions {
  double beta = 1.0;
  double threshold = 20.0;

  void fields(auto& visit) {
    visit("beta", beta);
    visit("threshold", threshold);
  }
};

/// Options of Threshold.
struct ThresholdOptions {
  double threshold = 0.0;
  double value = 0.0;
  bool inplace = false;

  void fields(auto& visit) {
    visit("threshold", threshold);
    visit("value", value);
    visit("inplace", inplace);
  }
};

/// Options of PReLU.
struct PReLUOptions {
  /// 1 for a single weight, or the number of channels for one weight per channel.
  int64_t num_parameters = 1;
  /// Initial value of the weights.
  double init = 0.25;
  std::optional<Dtype> dtype = std::nullopt;

  void fields(auto& visit) {
    visit("num_parameters", num_parameters);
    visit("init", init);
  }
};

/// Options of RReLU.
struct RReLUOptions {
  double lower = 0.125;
  double upper = 0.3333333333333333;
  bool inplace = false;

  void fields(auto& visit) {
    visit("lower", lower);
    visit("upper", upper);
    visit("inplace", inplace);
  }
};

/// Options of GLU, Softmax, LogSoftmax and Softmin.
struct DimOptions {
  int64_t dim = -1;

  void fields(auto& visit) {
    visit("dim", dim);
  }
};

}  // namespace lucid::nn
#pragma GCC visibility pop
