#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lucid/argument.h"
#include "lucid/lr_scheduler.h"

#pragma GCC visibility push(default)

namespace lucid::optim {

/// A learning rate schedule: `StepLR schedule(optimizer, {.step_size = 20})`, then `schedule.step()` after each epoch.
/// Copies refer to the same schedule. The optimizer must outlive it.
class Schedule {
 public:
  /// Throws ValueError for a null pointer.
  Schedule(std::shared_ptr<LRScheduler> scheduler);  // NOLINT

  /// Advances to the next epoch.
  void step() { scheduler_->step(); }
  /// Reports the value of a metric at the end of an epoch. Throws TypeError unless this is a ReduceLROnPlateau.
  void step(double metric) { scheduler_->observe(metric); }
  /// The current rate of each parameter group.
  std::vector<double> get_last_lr() const { return scheduler_->get_last_lr(); }
  int64_t last_epoch() const { return scheduler_->last_epoch(); }
  /// Options and progress, but not functions.
  Tree state_dict() const { return scheduler_->state_dict(); }
  void load_state_dict(const Tree& state_dict) { scheduler_->load_state_dict(state_dict); }

  LRScheduler* operator->() const { return scheduler_.get(); }
  const std::shared_ptr<LRScheduler>& pointer() const { return scheduler_; }

 private:
  std::shared_ptr<LRScheduler> scheduler_;
};

/// A schedule with options, which have the names and the defaults of Python. Throws TypeError if an option that has no
/// default in Python is kNone.
template <typename Options>
class BuiltInSchedule : public Schedule {
 public:
  explicit BuiltInSchedule(Optimizer& optimizer, const Options& options = {})
      : Schedule(make_scheduler(Options::kName, optimizer, options.dict())) {}
};

struct StepLROptions {
  static constexpr const char* kName = "StepLR";
  std::optional<int64_t> step_size = kNone;
  double gamma = 0.1;
  int64_t last_epoch = -1;
  Tree::Dict dict() const;
};
/// Multiplies the rates by `gamma` every `step_size` epochs.
using StepLR = BuiltInSchedule<StepLROptions>;

struct MultiStepLROptions {
  static constexpr const char* kName = "MultiStepLR";
  std::vector<int64_t> milestones = {};
  double gamma = 0.1;
  int64_t last_epoch = -1;
  Tree::Dict dict() const;
};
/// Multiplies the rates by `gamma` at each milestone.
using MultiStepLR = BuiltInSchedule<MultiStepLROptions>;

struct ConstantLROptions {
  static constexpr const char* kName = "ConstantLR";
  double factor = 1.0 / 3;
  int64_t total_iters = 5;
  int64_t last_epoch = -1;
  Tree::Dict dict() const;
};
/// Multiplies the rates by `factor` for the first `total_iters` epochs.
using ConstantLR = BuiltInSchedule<ConstantLROptions>;

struct LinearLROptions {
  static constexpr const char* kName = "LinearLR";
  double start_factor = 1.0 / 3;
  double end_factor = 1.0;
  int64_t total_iters = 5;
  int64_t last_epoch = -1;
  Tree::Dict dict() const;
};
/// Multiplies the rates by a factor that changes linearly over `total_iters` epochs: a warm-up.
using LinearLR = BuiltInSchedule<LinearLROptions>;

struct ExponentialLROptions {
  static constexpr const char* kName = "ExponentialLR";
  std::optional<double> gamma = kNone;
  int64_t last_epoch = -1;
  Tree::Dict dict() const;
};
/// Multiplies the rates by `gamma` every epoch.
using ExponentialLR = BuiltInSchedule<ExponentialLROptions>;

struct PolynomialLROptions {
  static constexpr const char* kName = "PolynomialLR";
  int64_t total_iters = 5;
  double power = 1.0;
  int64_t last_epoch = -1;
  Tree::Dict dict() const;
};
/// Decays the rates to 0 over `total_iters` epochs, along a polynomial of degree `power`.
using PolynomialLR = BuiltInSchedule<PolynomialLROptions>;

struct CosineAnnealingLROptions {
  static constexpr const char* kName = "CosineAnnealingLR";
  std::optional<int64_t> T_max = kNone;
  double eta_min = 0.0;
  int64_t last_epoch = -1;
  Tree::Dict dict() const;
};
/// Decays the rates to `eta_min` over `T_max` epochs, along half a cosine wave.
using CosineAnnealingLR = BuiltInSchedule<CosineAnnealingLROptions>;

struct CosineAnnealingWarmRestartsOptions {
  static constexpr const char* kName = "CosineAnnealingWarmRestarts";
  std::optional<int64_t> T_0 = kNone;
  int64_t T_mult = 1;
  double eta_min = 0.0;
  int64_t last_epoch = -1;
  Tree::Dict dict() const;
};
/// Repeats cosine annealing from the initial rates. The first cycle takes `T_0` epochs; each is `T_mult` times as long
/// as the previous one.
using CosineAnnealingWarmRestarts = BuiltInSchedule<CosineAnnealingWarmRestartsOptions>;

struct OneCycleLROptions {
  static constexpr const char* kName = "OneCycleLR";
  /// One number, or a list with one for each parameter group. The same holds for the bounds of the momentum.
  Tree max_lr = {};
  std::optional<int64_t> total_steps = kNone;
  std::optional<int64_t> epochs = kNone;
  std::optional<int64_t> steps_per_epoch = kNone;
  double pct_start = 0.3;
  std::string anneal_strategy = "cos";
  bool cycle_momentum = true;
  Tree base_momentum = 0.85;
  Tree max_momentum = 0.95;
  double div_factor = 25.0;
  double final_div_factor = 1e4;
  bool three_phase = false;
  int64_t last_epoch = -1;
  Tree::Dict dict() const;
};
/// Raises the rates to `max_lr`, then anneals them far below the initial rate. The number of steps is `total_steps`, or
/// `epochs * steps_per_epoch`.
using OneCycleLR = BuiltInSchedule<OneCycleLROptions>;

struct ReduceLROnPlateauOptions {
  static constexpr const char* kName = "ReduceLROnPlateau";
  /// "min" if lower values of the metric are better, "max" if higher values are.
  std::string mode = "min";
  double factor = 0.1;
  int64_t patience = 10;
  double threshold = 1e-4;
  std::string threshold_mode = "rel";
  int64_t cooldown = 0;
  /// One number, or a list with one for each parameter group.
  Tree min_lr = 0.0;
  double eps = 1e-8;
  Tree::Dict dict() const;
};
/// Multiplies the rates by `factor` when a metric has not improved for `patience` epochs: call `step(metric)`.
using ReduceLROnPlateau = BuiltInSchedule<ReduceLROnPlateauOptions>;

struct CyclicLROptions {
  /// The bounds: one number, or a list with one for each parameter group. The same holds for those of the momentum.
  Tree base_lr = {};
  Tree max_lr = {};
  int64_t step_size_up = 2000;
  std::optional<int64_t> step_size_down = kNone;
  /// "triangular", "triangular2" (the amplitude halves every cycle) or "exp_range" (scaled by gamma to the step).
  std::string mode = "triangular";
  double gamma = 1.0;
  /// Scales the amplitude, instead of `mode`. It takes the cycle or the step, as scale_mode says.
  std::function<double(int64_t)> scale_fn = nullptr;
  /// "cycle" or "iterations".
  std::string scale_mode = "cycle";
  bool cycle_momentum = true;
  Tree base_momentum = 0.8;
  Tree max_momentum = 0.9;
  int64_t last_epoch = -1;
};
/// Cycles the rates between two bounds, and the momentum in the opposite direction.
class CyclicLR : public Schedule {
 public:
  explicit CyclicLR(Optimizer& optimizer, const CyclicLROptions& options = {});
};

/// Multiplies the initial rates by a function of the epoch: one, or one for each parameter group.
class LambdaLR : public Schedule {
 public:
  LambdaLR(Optimizer& optimizer, std::function<double(int64_t epoch)> function, int64_t last_epoch = -1)
      : LambdaLR(optimizer, RateFunctions{std::move(function)}, last_epoch) {}
  LambdaLR(Optimizer& optimizer, RateFunctions functions, int64_t last_epoch = -1);
};

/// Multiplies the current rates by a function of the epoch: one, or one for each parameter group.
class MultiplicativeLR : public Schedule {
 public:
  MultiplicativeLR(Optimizer& optimizer, std::function<double(int64_t epoch)> function, int64_t last_epoch = -1)
      : MultiplicativeLR(optimizer, RateFunctions{std::move(function)}, last_epoch) {}
  MultiplicativeLR(Optimizer& optimizer, RateFunctions functions, int64_t last_epoch = -1);
};

/// Runs schedules one after another, each from its milestone on.
class SequentialLR : public Schedule {
 public:
  SequentialLR(Optimizer& optimizer, const std::vector<Schedule>& schedules, std::vector<int64_t> milestones,
               int64_t last_epoch = -1);
};

/// Applies several schedules together.
class ChainedScheduler : public Schedule {
 public:
  explicit ChainedScheduler(const std::vector<Schedule>& schedules);
};

}  // namespace lucid::optim

#pragma GCC visibility pop
