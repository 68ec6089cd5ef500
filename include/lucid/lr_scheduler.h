#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lucid/optim.h"

#pragma GCC visibility push(default)

namespace lucid::optim {

/// Changes the learning rates of an optimizer from epoch to epoch (or from step to step). Call step() after the step of
/// the optimizer. Several schedules may act on one optimizer: most of them multiply the current rate. Compiled
/// functions that use a schedule run eagerly.
class LRScheduler {
 public:
  LRScheduler(const LRScheduler&) = delete;
  LRScheduler& operator=(const LRScheduler&) = delete;
  virtual ~LRScheduler();

  Optimizer& optimizer() const { return optimizer_; }
  /// Advances to the next epoch.
  virtual void step();
  /// Jumps to an epoch, by the closed form of the schedule if it has one.
  virtual void step_to(int64_t epoch);
  /// Reports the value of a metric at the end of an epoch. Throws TypeError unless the schedule needs_metric().
  virtual void observe(double metric);
  virtual bool needs_metric() const { return false; }

  int64_t last_epoch() const;
  /// The current rate of each parameter group.
  std::vector<double> get_last_lr() const;
  const std::vector<double>& base_lrs() const;
  /// True if neither the schedule nor the optimizer has taken a step yet. A step() now would skip the first rate.
  bool is_early() const;

  /// Whether the next step() calls no function of the user, and cannot fail while the options of the optimizer keep
  /// their types.
  virtual bool only_computes() const;

  /// Options and progress, but not functions.
  virtual Tree state_dict() const;
  /// Throws ValueError or TypeError, and changes nothing, if the state does not describe such a schedule.
  void load_state_dict(const Tree& state_dict);
  /// Checks a state, and returns a function that loads it, which cannot fail.
  virtual std::function<void()> loader_of(const Tree& state_dict);

  /// An option or state value by name; null if there is none.
  const Tree* find(const std::string& name) const;

 protected:
  explicit LRScheduler(Optimizer& optimizer) : optimizer_(optimizer) {}
  /// Checks options and progress, those of a constructor or of a loaded state.
  virtual void check_values(const Tree::Dict& /*values*/) const {}
  /// Sets the first rates. With `last_epoch` -1, the current rates of the optimizer are the initial rates; otherwise
  /// its groups must have an "initial_lr".
  void start(int64_t last_epoch);
  /// The rates at epoch_, computed from the current rates of the groups.
  virtual std::vector<double> rates();
  /// The rates at epoch_, computed from the initial rates; empty if the schedule has no closed form.
  virtual std::vector<double> closed_rates() { return {}; }

  size_t group_count() const { return optimizer_.param_groups().size(); }
  Options& group(size_t i) const { return optimizer_.param_groups()[i]->options; }
  void set_rates(const std::vector<double>& rates);
  void read_rates();
  double real(const char* name) const { return values_.at(name).as_real(name); }
  int64_t integer(const char* name) const { return values_.at(name).as_integer(name); }
  std::string text(const char* name) const { return values_.at(name).as_text(name); }
  bool flag(const char* name) const { return values_.at(name).as_bool(name); }
  /// One number for each group, from an option that is one number or a list with one for each.
  std::vector<double> per_group(const char* name) const { return per_group(values_, name); }
  std::vector<double> per_group(const Tree::Dict& values, const char* name) const;
  /// The initial rate of a group. A group that was added later begins with the rate that it has.
  double base_rate(size_t i);

  Optimizer& optimizer_;
  Tree::Dict values_;
  std::vector<double> base_rates_;
  std::vector<double> last_rates_;
  int64_t epoch_ = -1;
  int64_t steps_ = 0;
  bool initial_ = false;

 private:
  friend class SequentialSchedule;
  void advance_to(int64_t epoch);
};

/// A function of the epoch for each group.
using RateFunctions = std::vector<std::function<double(int64_t epoch)>>;

/// Creates a schedule by name: StepLR, MultiStepLR, ConstantLR, LinearLR, ExponentialLR, PolynomialLR,
/// CosineAnnealingLR, CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR, ReduceLROnPlateau, LambdaLR or
/// MultiplicativeLR. Options, including "last_epoch", have the same names and defaults as in Python. `functions` are
/// for LambdaLR and MultiplicativeLR (one, or one for each group) and for scale_fn of CyclicLR. The optimizer must
/// outlive the schedule.
std::shared_ptr<LRScheduler> make_scheduler(const std::string& name, Optimizer& optimizer,
                                            const Tree::Dict& options = {}, RateFunctions functions = {});

/// Creates a user-defined schedule: `rates` returns the rates of all groups.
std::shared_ptr<LRScheduler> make_scheduler(Optimizer& optimizer,
                                            std::function<std::vector<double>(const LRScheduler& schedule)> rates,
                                            int64_t last_epoch = -1);

/// Runs schedules one after another, each from its milestone on.
std::shared_ptr<LRScheduler> make_sequential(Optimizer& optimizer, std::vector<std::shared_ptr<LRScheduler>> schedules,
                                             std::vector<int64_t> milestones, int64_t last_epoch = -1);
/// Applies several schedules together.
std::shared_ptr<LRScheduler> make_chained(std::vector<std::shared_ptr<LRScheduler>> schedules);

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
      : Schedule(make_scheduler(Options::kName, optimizer, options.dict(), functions_of(options))) {}

 private:
  static RateFunctions functions_of(const Options& options) {
    if constexpr (requires { options.scale_fn; })
      if (options.scale_fn) return {options.scale_fn};
    return {};
  }
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
