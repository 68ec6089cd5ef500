// Generated from the signatures of layers by tools/generate; do not edit.
// clang-format off
#pragma once

#include "lucid/nn/layer.h"

#pragma GCC visibility push(default)
namespace lucid::nn {

/// Options of Dropout, Dropout1d, Dropout2d, Dropout3d, AlphaDropout and FeatureAlphaDropout.
struct DropoutOptions {
  /// Probability that an element is zeroed.
  double p = 0.5;
  /// Whether to overwrite the input with the result.
  bool inplace = false;

  void fields(auto& visit) {
    visit("p", p);
    visit("inplace", inplace);
  }
};

}  // namespace lucid::nn
#pragma GCC visibility pop
