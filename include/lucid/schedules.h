// Generated from the signatures in src/optim by tools/generate; do not edit.
// clang-format off
#pragma once

#include <array>
#include "lucid/lr_scheduler.h"

#pragma GCC visibility push(default)
namespace lucid::optim {

struct StepLROptions {
  static constexpr const char* kName = "StepLR";
  std::optional<int64_t> step_size = std::nullopt;
  double gamma = 0.1;
  int64_t last_epoch = -1;
  Tree::Dict dict() const;
};
/// Multiplies the learning rates by `gamma` every `step_size` epochs.
using StepLR = BuiltInSchedule<StepLROptions>;

struct MultiStepLROptions {
  static constexpr const char* kName = "MultiStepLR";
  std::vector<int64_t> milestones = {};
  double gamma = 0.1;
  int64_t last_epoch = -1;
  Tree::Dict dict() const;
};
/// Multiplies the learning rates by `gamma` at each milestone.
using MultiStepLR = BuiltInSchedule<MultiStepLROptions>;

struct ConstantLROptions {
  static constexpr const char* kName = "ConstantLR";
  double factor = 0.3333333333333333;
  int64_t total_iters = 5;
  int64_t last_epoch = -1;
  Tree::Dict dict() const;
};
/// Multiplies the learning rates by `factor` for the first `total_iters` epochs.
using ConstantLR = BuiltInSchedule<ConstantLROptions>;

struct LinearLROptions {
  static constexpr const char* kName = "LinearLR";
  double start_factor = 0.3333333333333333;
  double end_factor = 1.0;
  int64_t total_iters = 5;
  int64_t last_epoch = -1;
  Tree::Dict dict() const;
};
/// Multiplies the learning rates by a factor that changes linearly over `total_iters` epochs: a warm-up.
using LinearLR = BuiltInSchedule<LinearLROptions>;

struct ExponentialLROptions {
  static constexpr const char* kName = "ExponentialLR";
  std::optional<double> gamma = std::nullopt;
  int64_t last_epoch = -1;
  Tree::Dict dict() const;
};
/// Multiplies the learning rates by `gamma` every epoch.
using ExponentialLR = BuiltInSchedule<ExponentialLROptions>;

struct PolynomialLROptions {
  static constexpr const char* kName = "PolynomialLR";
  int64_t total_iters = 5;
  double power = 1.0;
  int64_t last_epoch = -1;
  Tree::Dict dict() const;
};
/// Decays the learning rates to 0 over `total_iters` epochs, along a polynomial of degree `power`.
using PolynomialLR = BuiltInSchedule<PolynomialLROptions>;

struct CosineAnnealingLROptions {
  static constexpr const char* kName = "CosineAnnealingLR";
  std::optional<int64_t> T_max = std::nullopt;
  double eta_min = 0.0;
  int64_t last_epoch = -1;
  Tree::Dict dict() const;
};
/// Decays the learning rates to `eta_min` over `T_max` epochs, along half a cosine wave.
using CosineAnnealingLR = BuiltInSchedule<CosineAnnealingLROptions>;

struct CosineAnnealingWarmRestartsOptions {
  static constexpr const char* kName = "CosineAnnealingWarmRestarts";
  std::optional<int64_t> T_0 = std::nullopt;
  int64_t T_mult = 1;
  double eta_min = 0.0;
  int64_t last_epoch = -1;
  Tree::Dict dict() const;
};
/// Repeats cosine annealing from the initial learning rates.
using CosineAnnealingWarmRestarts = BuiltInSchedule<CosineAnnealingWarmRestartsOptions>;

struct CyclicLROptions {
  static constexpr const char* kName = "CyclicLR";
  /// Lower bound, for all groups or one per group.
  Tree base_lr = {};
  /// Upper bound.
  Tree max_lr = {};
  /// Steps from the lower to the upper bound.
  int64_t step_size_up = 2000;
  /// Steps back; `step_size_up` by default.
  std::optional<int64_t> step_size_down = std::nullopt;
  /// 'triangular', 'triangular2' (amplitude halves every cycle) or 'exp_range' (scaled by gamma ** step).
  std::string mode = "triangular";
  double gamma = 1.0;
  /// A function that scales the amplitude, instead of `mode`.
  std::function<double(int64_t)> scale_fn = nullptr;
  /// Whether scale_fn takes the cycle ('cycle') or the step ('iterations').
  std::string scale_mode = "cycle";
  /// Whether to cycle the momentum between `base_momentum` and `max_momentum`.
  bool cycle_momentum = true;
  Tree base_momentum = 0.8;
  Tree max_momentum = 0.9;
  int64_t last_epoch = -1;
  Tree::Dict dict() const;
};
/// Cycles the learning rates between two bounds, and the momentum in the opposite direction.
using CyclicLR = BuiltInSchedule<CyclicLROptions>;

struct OneCycleLROptions {
  static constexpr const char* kName = "OneCycleLR";
  /// Highest rate, for all groups or one per group. The same holds for the bounds of the momentum.
  Tree max_lr = {};
  std::optional<int64_t> total_steps = std::nullopt;
  std::optional<int64_t> epochs = std::nullopt;
  std::optional<int64_t> steps_per_epoch = std::nullopt;
  /// Fraction of the steps that raise the rate.
  double pct_start = 0.3;
  /// 'cos' or 'linear'.
  std::string anneal_strategy = "cos";
  bool cycle_momentum = true;
  Tree base_momentum = 0.85;
  Tree max_momentum = 0.95;
  /// `max_lr` divided by the initial rate.
  double div_factor = 25.0;
  /// The initial rate divided by the final rate.
  double final_div_factor = 1e4;
  /// Whether to return to the initial rate before the final phase.
  bool three_phase = false;
  int64_t last_epoch = -1;
  Tree::Dict dict() const;
};
/// The 1cycle policy: raises the learning rates to `max_lr`, then anneals them far below the initial rate.
using OneCycleLR = BuiltInSchedule<OneCycleLROptions>;

struct ReduceLROnPlateauOptions {
  static constexpr const char* kName = "ReduceLROnPlateau";
  /// Whether the metric improves downwards ('min') or upwards ('max').
  std::string mode = "min";
  double factor = 0.1;
  int64_t patience = 10;
  /// How much better a metric must be to count as an improvement.
  double threshold = 1e-4;
  /// Whether the threshold is relative ('rel') or absolute ('abs').
  std::string threshold_mode = "rel";
  /// Epochs to wait after a reduction.
  int64_t cooldown = 0;
  /// Lower bound of the rates.
  Tree min_lr = 0.0;
  /// Reductions by less than this are skipped.
  double eps = 1e-8;
  Tree::Dict dict() const;
};
/// Multiplies the learning rates by `factor` when a metric has not improved for `patience` epochs.
using ReduceLROnPlateau = BuiltInSchedule<ReduceLROnPlateauOptions>;

}  // namespace lucid::optim
#pragma GCC visibility pop
