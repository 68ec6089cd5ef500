#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lucid/optim.h"

#pragma GCC visibility push(default)

namespace lucid::optim {

/// A built-in optimizer: `Adam adam(model->parameters(), {.lr = 1e-3})`. Its options have the names and the defaults of
/// Python. Groups may override them: `Adam adam({{.params = head, .options = {{"lr", 1e-2}}}, {.params = body}})`.
template <typename Options>
class BuiltIn : public Optimizer {
 public:
  explicit BuiltIn(std::vector<Tensor> params, const Options& options = {})
      : Optimizer(Options::kName, {{.params = std::move(params)}}, options.dict()) {}
  explicit BuiltIn(std::vector<Group> groups, const Options& options = {})
      : Optimizer(Options::kName, std::move(groups), options.dict()) {}
};

struct SGDOptions {
  static constexpr const char* kName = "SGD";
  double lr = 1e-3;
  double momentum = 0;
  double dampening = 0;
  double weight_decay = 0;
  bool nesterov = false;
  bool maximize = false;
  Tree::Dict dict() const;
};
/// Stochastic gradient descent, with momentum.
using SGD = BuiltIn<SGDOptions>;

struct AdamOptions {
  static constexpr const char* kName = "Adam";
  double lr = 1e-3;
  std::pair<double, double> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;
  bool amsgrad = false;
  bool maximize = false;
  bool decoupled_weight_decay = false;
  Tree::Dict dict() const;
};
/// Adam, optionally with AMSGrad.
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
/// Adam with decoupled weight decay, which does not enter the averages.
using AdamW = BuiltIn<AdamWOptions>;

struct RMSpropOptions {
  static constexpr const char* kName = "RMSprop";
  double lr = 1e-2;
  double alpha = 0.99;
  double eps = 1e-8;
  double weight_decay = 0;
  double momentum = 0;
  bool centered = false;
  bool maximize = false;
  Tree::Dict dict() const;
};
/// Divides by the root of a moving average of squared gradients.
using RMSprop = BuiltIn<RMSpropOptions>;

struct AdagradOptions {
  static constexpr const char* kName = "Adagrad";
  double lr = 1e-2;
  double lr_decay = 0;
  double weight_decay = 0;
  double initial_accumulator_value = 0;
  double eps = 1e-10;
  bool maximize = false;
  Tree::Dict dict() const;
};
/// Divides by the root of the sum of squared gradients.
using Adagrad = BuiltIn<AdagradOptions>;

struct AdamaxOptions {
  static constexpr const char* kName = "Adamax";
  double lr = 2e-3;
  std::pair<double, double> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;
  bool maximize = false;
  Tree::Dict dict() const;
};
/// Adam with the largest gradient in place of the average of squares.
using Adamax = BuiltIn<AdamaxOptions>;

struct NAdamOptions {
  static constexpr const char* kName = "NAdam";
  double lr = 2e-3;
  std::pair<double, double> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0;
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
  double weight_decay = 0;
  bool decoupled_weight_decay = false;
  bool maximize = false;
  Tree::Dict dict() const;
};
/// Adam with a rectified step while the average of squares is uncertain.
using RAdam = BuiltIn<RAdamOptions>;

struct AdadeltaOptions {
  static constexpr const char* kName = "Adadelta";
  double lr = 1.0;
  double rho = 0.9;
  double eps = 1e-6;
  double weight_decay = 0;
  bool maximize = false;
  Tree::Dict dict() const;
};
/// Adapts the step to the moving average of earlier steps.
using Adadelta = BuiltIn<AdadeltaOptions>;

struct RpropOptions {
  static constexpr const char* kName = "Rprop";
  double lr = 1e-2;
  std::pair<double, double> etas = {0.5, 1.2};
  std::pair<double, double> step_sizes = {1e-6, 50};
  bool maximize = false;
  Tree::Dict dict() const;
};
/// Resilient propagation: uses only the signs of gradients.
using Rprop = BuiltIn<RpropOptions>;

struct ASGDOptions {
  static constexpr const char* kName = "ASGD";
  double lr = 1e-2;
  double lambd = 1e-4;
  double alpha = 0.75;
  double t0 = 1e6;
  double weight_decay = 0;
  bool maximize = false;
  Tree::Dict dict() const;
};
/// Averaged stochastic gradient descent.
using ASGD = BuiltIn<ASGDOptions>;

struct LionOptions {
  static constexpr const char* kName = "Lion";
  double lr = 1e-4;
  std::pair<double, double> betas = {0.9, 0.99};
  double weight_decay = 0;
  bool maximize = false;
  Tree::Dict dict() const;
};
/// Steps by the sign of an average of gradients.
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
  /// "original" or "match_rms_adamw".
  std::optional<std::string> adjust_lr_fn = kNone;
  Tree::Dict dict() const;
};
/// Momentum with orthogonalized updates; for 2-d parameters.
using Muon = BuiltIn<MuonOptions>;

struct LBFGSOptions {
  static constexpr const char* kName = "LBFGS";
  double lr = 1.0;
  int64_t max_iter = 20;
  std::optional<int64_t> max_eval = kNone;
  double tolerance_grad = 1e-7;
  double tolerance_change = 1e-9;
  int64_t history_size = 100;
  std::optional<std::string> line_search_fn = kNone;
  Tree::Dict dict() const;
};
/// Limited-memory BFGS. step() needs a closure that computes the loss and its gradients.
using LBFGS = BuiltIn<LBFGSOptions>;

}  // namespace lucid::optim

#pragma GCC visibility pop
