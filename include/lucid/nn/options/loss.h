// Generated from the signatures of layers by tools/generate; do not edit.
// clang-format off
#pragma once

#include "lucid/nn/layer.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

/// Options of MSELoss, L1Loss, SoftMarginLoss and MultiLabelMarginLoss.
struct LossOptions {
  std::string reduction = "mean";

  void fields(auto& visit) {
    visit("reduction", reduction);
  }
};

/// Options of SmoothL1Loss.
struct SmoothL1LossOptions {
  std::string reduction = "mean";
  double beta = 1.0;

  void fields(auto& visit) {
    visit("reduction", reduction);
    visit("beta", beta);
  }
};

/// Options of HuberLoss.
struct HuberLossOptions {
  std::string reduction = "mean";
  double delta = 1.0;

  void fields(auto& visit) {
    visit("reduction", reduction);
    visit("delta", delta);
  }
};

/// Options of KLDivLoss.
struct KLDivLossOptions {
  std::string reduction = "mean";
  bool log_target = false;

  void fields(auto& visit) {
    visit("reduction", reduction);
    visit("log_target", log_target);
  }
};

/// Options of PoissonNLLLoss.
struct PoissonNLLLossOptions {
  /// Whether the input is the logarithm of the rate.
  bool log_input = true;
  /// Whether to add Stirling's approximation of log(target!) for targets above 1.
  bool full = false;
  /// Added to the rate before the logarithm, if `log_input` is false.
  double eps = 1e-8;
  std::string reduction = "mean";

  void fields(auto& visit) {
    visit("log_input", log_input);
    visit("full", full);
    visit("eps", eps);
    visit("reduction", reduction);
  }
};

/// Options of GaussianNLLLoss.
struct GaussianNLLLossOptions {
  /// Whether to add the constant log(2 * pi) / 2.
  bool full = false;
  /// Lower bound of the variance.
  double eps = 1e-6;
  std::string reduction = "mean";

  void fields(auto& visit) {
    visit("full", full);
    visit("eps", eps);
    visit("reduction", reduction);
  }
};

/// Options of BCELoss and MultiLabelSoftMarginLoss.
struct WeightedLossOptions {
  /// Weight of each element, broadcast to the input.
  Tensor weight = {};
  std::string reduction = "mean";

  void fields(auto& visit) {
    visit("reduction", reduction);
  }
};

/// Options of BCEWithLogitsLoss.
struct BCEWithLogitsLossOptions {
  /// Weight of each element, broadcast to the input.
  Tensor weight = {};
  std::string reduction = "mean";
  /// Weight of the positive part of the loss.
  Tensor pos_weight = {};

  void fields(auto& visit) {
    visit("reduction", reduction);
  }
};

/// Options of CrossEntropyLoss.
struct CrossEntropyLossOptions {
  /// Weight of each class.
  Tensor weight = {};
  /// A class index whose samples are left out of the loss.
  int64_t ignore_index = -100;
  std::string reduction = "mean";
  /// Amount of the uniform distribution mixed into the target.
  double label_smoothing = 0.0;

  void fields(auto& visit) {
    visit("ignore_index", ignore_index);
    visit("reduction", reduction);
    visit("label_smoothing", label_smoothing);
  }
};

/// Options of NLLLoss.
struct NLLLossOptions {
  /// Weight of each class.
  Tensor weight = {};
  /// A class index whose samples are left out of the loss.
  int64_t ignore_index = -100;
  std::string reduction = "mean";

  void fields(auto& visit) {
    visit("ignore_index", ignore_index);
    visit("reduction", reduction);
  }
};

/// Options of MultiMarginLoss.
struct MultiMarginLossOptions {
  int64_t p = 1;
  double margin = 1.0;
  /// Weight of each element, broadcast to the input.
  Tensor weight = {};
  std::string reduction = "mean";

  void fields(auto& visit) {
    visit("p", p);
    visit("margin", margin);
    visit("reduction", reduction);
  }
};

/// Options of HingeEmbeddingLoss.
struct HingeEmbeddingLossOptions {
  double margin = 1.0;
  std::string reduction = "mean";

  void fields(auto& visit) {
    visit("margin", margin);
    visit("reduction", reduction);
  }
};

/// Options of MarginRankingLoss.
struct MarginRankingLossOptions {
  double margin = 0.0;
  std::string reduction = "mean";

  void fields(auto& visit) {
    visit("margin", margin);
    visit("reduction", reduction);
  }
};

/// Options of CosineEmbeddingLoss.
struct CosineEmbeddingLossOptions {
  double margin = 0.0;
  std::string reduction = "mean";

  void fields(auto& visit) {
    visit("margin", margin);
    visit("reduction", reduction);
  }
};

/// Options of TripletMarginLoss.
struct TripletMarginLossOptions {
  double margin = 1.0;
  double p = 2.0;
  /// Added to the rate before the logarithm, if `log_input` is false.
  double eps = 1e-6;
  bool swap = false;
  std::string reduction = "mean";

  void fields(auto& visit) {
    visit("margin", margin);
    visit("p", p);
    visit("eps", eps);
    visit("swap", swap);
    visit("reduction", reduction);
  }
};

/// Options of CTCLoss.
struct CTCLossOptions {
  /// The index of the blank label.
  int64_t blank = 0;
  std::string reduction = "mean";
  /// Whether to set infinite losses, and their gradients, to zero.
  bool zero_infinity = false;

  void fields(auto& visit) {
    visit("blank", blank);
    visit("reduction", reduction);
    visit("zero_infinity", zero_infinity);
  }
};

/// Options of CosineSimilarity.
struct CosineSimilarityOptions {
  int64_t dim = 1;
  /// Added to the rate before the logarithm, if `log_input` is false.
  double eps = 1e-8;

  void fields(auto& visit) {
    visit("dim", dim);
    visit("eps", eps);
  }
};

/// Options of PairwiseDistance.
struct PairwiseDistanceOptions {
  double p = 2.0;
  /// Added to the rate before the logarithm, if `log_input` is false.
  double eps = 1e-6;
  bool keepdim = false;

  void fields(auto& visit) {
    visit("p", p);
    visit("eps", eps);
    visit("keepdim", keepdim);
  }
};

}  // namespace lucid::nn
#pragma GCC visibility pop
