// Generated from the signatures in src/optim by tools/generate; do not edit.
// clang-format off
#pragma once

#include <array>
#include "lucid/optim.h"

#pragma GCC visibility push(default)
namespace lucid::optim {

struct SGDOptions {
  static constexpr const char* kName = "SGD";
  /// Learning rate.
  double lr = 1e-3;
  /// Decay of the running sum of gradients; 0 for none.
  double momentum = 0.0;
  /// Fraction of the gradient left out of the running sum.
  double dampening = 0.0;
  /// Coefficient of an L2 penalty.
  double weight_decay = 0.0;
  /// Whether to use Nesterov momentum.
  bool nesterov = false;
  /// Whether to maximize the objective instead.
  bool maximize = false;
  Tree::Dict dict() const;
};
/// Stochastic gradient descent, optionally with momentum.
using SGD = BuiltIn<SGDOptions>;

struct AdamOptions {
  static constexpr const char* kName = "Adam";
  /// Learning rate.
  double lr = 1e-3;
  /// Decay of the running means of the gradient and of its square, which are corrected for their initial bias.
  std::pair<double, double> betas = {0.9, 0.999};
  /// Added to the denominator for numerical stability.
  double eps = 1e-8;
  /// Coefficient of an L2 penalty, or of decoupled weight decay if `decoupled_weight_decay`.
  double weight_decay = 0.0;
  /// Whether to use the maximum of all mean squares so far.
  bool amsgrad = false;
  /// Whether to maximize the objective instead.
  bool maximize = false;
  bool decoupled_weight_decay = false;
  Tree::Dict dict() const;
};
/// Adam: scales the running mean of the gradient by the root of the running mean of its square.
using Adam = BuiltIn<AdamOptions>;

struct AdamWOptions {
  static constexpr const char* kName = "AdamW";
  double lr = 1e-3;
  std::pair<double, double> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 1e-2;
  bool amsgrad = false;
  bool maximize = false;
  Tree::Dict dict() const;
};
/// Adam with decoupled weight decay, which does not enter the running means. Takes the same arguments as Adam.
using AdamW = BuiltIn<AdamWOptions>;

struct RMSpropOptions {
  static constexpr const char* kName = "RMSprop";
  double lr = 1e-2;
  double alpha = 0.99;
  double eps = 1e-8;
  double weight_decay = 0.0;
  double momentum = 0.0;
  bool centered = false;
  bool maximize = false;
  Tree::Dict dict() const;
};
/// Divides the gradient by the root of a running mean of its square.
using RMSprop = BuiltIn<RMSpropOptions>;

struct AdagradOptions {
  static constexpr const char* kName = "Adagrad";
  double lr = 1e-2;
  double lr_decay = 0.0;
  double weight_decay = 0.0;
  double initial_accumulator_value = 0.0;
  double eps = 1e-10;
  bool maximize = false;
  Tree::Dict dict() const;
};
/// Divides the gradient by the root of the sum of all its squares so far.
using Adagrad = BuiltIn<AdagradOptions>;

struct AdamaxOptions {
  static constexpr const char* kName = "Adamax";
  double lr = 2e-3;
  std::pair<double, double> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0.0;
  bool maximize = false;
  Tree::Dict dict() const;
};
/// Adam with an exponentially decaying maximum of the gradient's magnitude instead of the mean square.
using Adamax = BuiltIn<AdamaxOptions>;

struct NAdamOptions {
  static constexpr const char* kName = "NAdam";
  double lr = 2e-3;
  std::pair<double, double> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0.0;
  double momentum_decay = 4e-3;
  bool decoupled_weight_decay = false;
  bool maximize = false;
  Tree::Dict dict() const;
};
/// Adam with Nesterov momentum.
using NAdam = BuiltIn<NAdamOptions>;

struct RAdamOptions {
  static constexpr const char* kName = "RAdam";
  double lr = 1e-3;
  std::pair<double, double> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0.0;
  bool decoupled_weight_decay = false;
  bool maximize = false;
  Tree::Dict dict() const;
};
/// Rectified Adam: divides by the root mean square only once it is based on enough gradients.
using RAdam = BuiltIn<RAdamOptions>;

struct AdadeltaOptions {
  static constexpr const char* kName = "Adadelta";
  double lr = 1.0;
  double rho = 0.9;
  double eps = 1e-6;
  double weight_decay = 0.0;
  bool maximize = false;
  Tree::Dict dict() const;
};
/// Scales the gradient by the ratio of the root mean squares of past updates and past gradients.
using Adadelta = BuiltIn<AdadeltaOptions>;

struct RpropOptions {
  static constexpr const char* kName = "Rprop";
  double lr = 1e-2;
  std::pair<double, double> etas = {0.5, 1.2};
  std::pair<double, double> step_sizes = {1e-6, 50.0};
  bool maximize = false;
  Tree::Dict dict() const;
};
/// Resilient backpropagation: uses only the sign of the gradient, with a step size per element.
using Rprop = BuiltIn<RpropOptions>;

struct ASGDOptions {
  static constexpr const char* kName = "ASGD";
  double lr = 1e-2;
  double lambd = 1e-4;
  double alpha = 0.75;
  double t0 = 1e6;
  double weight_decay = 0.0;
  bool maximize = false;
  Tree::Dict dict() const;
};
/// Averaged stochastic gradient descent. The averaged parameter is `state[p]["ax"]`.
using ASGD = BuiltIn<ASGDOptions>;

struct LionOptions {
  static constexpr const char* kName = "Lion";
  double lr = 1e-4;
  std::pair<double, double> betas = {0.9, 0.99};
  double weight_decay = 0.0;
  bool maximize = false;
  Tree::Dict dict() const;
};
/// Uses the sign of an interpolation between the gradient and its running mean.
using Lion = BuiltIn<LionOptions>;

struct MuonOptions {
  static constexpr const char* kName = "Muon";
  double lr = 1e-3;
  double weight_decay = 0.1;
  double momentum = 0.95;
  bool nesterov = true;
  /// Of the polynomial of a Newton-Schulz step.
  std::array<double, 3> ns_coefficients = {3.4445, -4.775, 2.0315};
  double eps = 1e-7;
  int64_t ns_steps = 5;
  /// 'original' or 'match_rms_adamw'.
  std::optional<std::string> adjust_lr_fn = std::nullopt;
  Tree::Dict dict() const;
};
/// Momentum with orthogonalized updates, for matrices. Use AdamW for other parameters.
using Muon = BuiltIn<MuonOptions>;

struct LBFGSOptions {
  static constexpr const char* kName = "LBFGS";
  double lr = 1.0;
  int64_t max_iter = 20;
  std::optional<int64_t> max_eval = std::nullopt;
  double tolerance_grad = 1e-7;
  double tolerance_change = 1e-9;
  int64_t history_size = 100;
  std::optional<std::string> line_search_fn = std::nullopt;
  Tree::Dict dict() const;
};
/// A quasi-Newton method for deterministic objectives. `step` requires a closure, which it calls several times.
using LBFGS = BuiltIn<LBFGSOptions>;

}  // namespace lucid::optim
#pragma GCC visibility pop
