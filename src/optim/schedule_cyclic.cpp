// Schedules that raise and lower the rate.

#include <cmath>
#include <numbers>

#include "base/error.h"
#include "optim/schedule.h"

namespace lucid::optim {
namespace {

/// Half cosine waves, each T_mult times as long as the previous one.
class WarmRestarts : public LRScheduler {
 public:
  WarmRestarts(Optimizer& optimizer, Tree::Dict options) : LRScheduler(optimizer) {
    const int64_t last_epoch = take_last_epoch(options);
    values_ = complete("CosineAnnealingWarmRestarts", options);
    values_.set("T_i", values_.at("T_0"));
    values_["T_cur"] = last_epoch;
    check_values(values_);
    start(last_epoch);
  }

  void step() override {
    if (epoch_ < 0) return step_to(0);
    ++steps_;
    ++epoch_;
    int64_t position = integer("T_cur") + 1;
    if (position >= integer("T_i")) {
      position %= integer("T_i");
      values_["T_i"] = next_length(integer("T_i"));
    }
    values_["T_cur"] = position;
    set_rates(rates());
  }

  void step_to(int64_t epoch) override {
    if (epoch < 0 || epoch > kMaxEpoch)
      throw ValueError("CosineAnnealingWarmRestarts: the epoch must be at least 0 and at most 2^53, got {}", epoch);
    ++steps_;
    epoch_ = epoch;
    int64_t length = integer("T_0");
    int64_t position = epoch;
    if (integer("T_mult") == 1) position %= length;
    while (position >= length) {
      position -= length;
      length = next_length(length);
    }
    values_["T_cur"] = position;
    values_["T_i"] = length;
    set_rates(rates());
  }

 protected:
  void check_values(const Tree::Dict& values) const override {
    const char* const name = "CosineAnnealingWarmRestarts";
    for (const char* period : {"T_0", "T_mult", "T_i"}) require_period(name, values, period, 1);
    require_period(name, values, "T_cur", -kMaxEpoch);
    values.at("eta_min").as_real("eta_min");
  }
  std::vector<double> rates() override {
    const double done = static_cast<double>(integer("T_cur")) / static_cast<double>(integer("T_i"));
    const double height = (1 + std::cos(std::numbers::pi * done)) / 2;
    std::vector<double> rates;
    for (size_t i = 0; i < group_count(); ++i)
      rates.push_back(real("eta_min") + (base_rate(i) - real("eta_min")) * height);
    return rates;
  }

 private:
  /// No wave is longer than kMaxEpoch.
  int64_t next_length(int64_t length) const {
    return length > kMaxEpoch / integer("T_mult") ? kMaxEpoch : length * integer("T_mult");
  }
};

/// Shared by the two schedules that move the momentum opposite to the rate.
class CyclicBase : public LRScheduler {
 protected:
  using LRScheduler::LRScheduler;

  void start_momentum(const char* name, int64_t last_epoch) {
    if (!flag("cycle_momentum")) return;
    const Tree::Dict& defaults = optimizer_.defaults();
    uses_betas_ = defaults.has("betas");
    if (!uses_betas_ && !defaults.has("momentum"))
      throw ValueError("{}: cycle_momentum needs an optimizer with 'momentum' or 'betas'", name);
    const std::vector<double> low = per_group("base_momentum");
    const std::vector<double> high = per_group("max_momentum");
    for (size_t i = 0; last_epoch == -1 && i < group_count(); ++i) {
      set_momentum(i, high[i]);
      group(i).set("max_momentum", high[i]);
      group(i).set("base_momentum", low[i]);
    }
  }

  void set_momentum(size_t i, double momentum) {
    if (uses_betas_) {
      Tree::List betas = group(i).get("betas").as_items("betas");
      betas.at(0) = momentum;
      group(i).set("betas", Tree::Tuple{std::move(betas)});
    } else {
      group(i).set("momentum", momentum);
    }
  }

 private:
  bool uses_betas_ = false;
};

class Cyclic : public CyclicBase {
 public:
  Cyclic(Optimizer& optimizer, Tree::Dict options, RateFunctions functions) : CyclicBase(optimizer) {
    const int64_t last_epoch = take_last_epoch(options);
    values_ = complete("CyclicLR", options);
    if (!functions.empty()) scale_ = functions[0];
    if (values_["step_size_down"].is_none()) values_["step_size_down"] = values_["step_size_up"];
    check_values(values_);
    const std::vector<double> lows = per_group("base_lr");
    for (size_t i = 0; last_epoch == -1 && i < group_count(); ++i) group(i).set("lr", lows[i]);
    start_momentum("CyclicLR", last_epoch);
    start(last_epoch);
    base_rates_ = lows;
  }

  bool only_computes() const override { return !scale_ && CyclicBase::only_computes(); }

 protected:
  void check_values(const Tree::Dict& values) const override {
    const std::string& mode = values.at("mode").as_text("mode");
    if (!scale_ && mode != "triangular" && mode != "triangular2" && mode != "exp_range")
      throw ValueError("CyclicLR: mode must be 'triangular', 'triangular2' or 'exp_range', got '{}'", mode);
    for (const char* name : {"step_size_up", "step_size_down"})
      if (const double size = values.at(name).as_real(name); !(size > 0))
        throw ValueError("CyclicLR: {} must be above 0, got {}", name, size);
    for (const char* name : {"base_lr", "max_lr"}) per_group(values, name);
  }
  std::vector<double> rates() override {
    const double up = real("step_size_up");
    const double length = up + real("step_size_down");
    const double ratio = up / length;
    const auto epoch = static_cast<double>(epoch_);
    const double cycle = std::floor(1 + epoch / length);
    const double x = 1 + epoch / length - cycle;
    const double height = x <= ratio ? x / ratio : (x - 1) / (ratio - 1);
    const double scaled = height * scale(cycle);
    const std::vector<double> highs = per_group("max_lr");
    std::vector<double> rates;
    for (size_t i = 0; i < group_count(); ++i) {
      rates.push_back(base_rate(i) + (highs[i] - base_rate(i)) * scaled);
      if (!flag("cycle_momentum")) continue;
      const double low = per_group("base_momentum")[i];
      const double high = per_group("max_momentum")[i];
      set_momentum(i, high - (high - low) * scaled);
    }
    return rates;
  }

 private:
  double scale(double cycle) const {
    if (scale_ && text("scale_mode") != "cycle") return scale_(epoch_);
    if (scale_)
      return scale_(std::abs(cycle) < static_cast<double>(kMaxEpoch) ? static_cast<int64_t>(cycle) : kMaxEpoch);
    if (text("mode") == "triangular2") return 1 / std::pow(2.0, cycle - 1);
    if (text("mode") == "exp_range") return std::pow(real("gamma"), static_cast<double>(epoch_));
    return 1;
  }
  std::function<double(int64_t)> scale_;
};

class OneCycle : public CyclicBase {
 public:
  OneCycle(Optimizer& optimizer, Tree::Dict options) : CyclicBase(optimizer) {
    const int64_t last_epoch = take_last_epoch(options);
    values_ = complete("OneCycleLR", options);
    if (values_["total_steps"].is_none()) {
      if (values_["epochs"].is_none() || values_["steps_per_epoch"].is_none())
        throw ValueError("OneCycleLR: pass total_steps, or epochs and steps_per_epoch");
      for (const char* name : {"epochs", "steps_per_epoch"}) require_period("OneCycleLR", values_, name, 1);
      int64_t steps = 0;
      if (__builtin_mul_overflow(integer("epochs"), integer("steps_per_epoch"), &steps)) steps = kMaxEpoch + 1;
      values_["total_steps"] = steps;
    }
    check_values(values_);
    const std::vector<double> highs = per_group("max_lr");
    for (size_t i = 0; last_epoch == -1 && i < group_count(); ++i) {
      group(i).set("initial_lr", highs[i] / real("div_factor"));
      group(i).set("max_lr", highs[i]);
      group(i).set("min_lr", highs[i] / real("div_factor") / real("final_div_factor"));
    }
    start_momentum("OneCycleLR", last_epoch);
    start(last_epoch);
  }

  bool only_computes() const override { return epoch_ < integer("total_steps"); }

 protected:
  void check_values(const Tree::Dict& values) const override {
    require_period("OneCycleLR", values, "total_steps", 1);
    if (const double start = values.at("pct_start").as_real("pct_start"); !(start >= 0 && start <= 1))
      throw ValueError("OneCycleLR: pct_start must be between 0 and 1, got {}", start);
    if (const std::string& name = values.at("anneal_strategy").as_text("anneal_strategy");
        name != "cos" && name != "linear")
      throw ValueError("OneCycleLR: anneal_strategy must be 'cos' or 'linear', got '{}'", name);
  }
  /// Moves rate and momentum from one pair of group options to another, until step `end`.
  struct Phase {
    double end;
    const char* from_rate;
    const char* to_rate;
    const char* from_momentum;
    const char* to_momentum;
  };

  std::vector<double> rates() override {
    const int64_t total = integer("total_steps");
    if (epoch_ > total) throw ValueError("OneCycleLR: step {} is beyond the {} steps of the schedule", epoch_, total);
    const double first = real("pct_start") * static_cast<double>(total) - 1;
    const auto last = static_cast<double>(total - 1);
    std::vector<Phase> phases = {{first, "initial_lr", "max_lr", "max_momentum", "base_momentum"}};
    if (flag("three_phase")) {
      phases.push_back({2 * real("pct_start") * static_cast<double>(total) - 2, "max_lr", "initial_lr", "base_momentum",
                        "max_momentum"});
      phases.push_back({last, "initial_lr", "min_lr", "max_momentum", "max_momentum"});
    } else {
      phases.push_back({last, "max_lr", "min_lr", "base_momentum", "max_momentum"});
    }
    const auto epoch = static_cast<double>(epoch_);
    double begin = 0;
    size_t phase = 0;
    while (phase + 1 < phases.size() && epoch > phases[phase].end) begin = phases[phase++].end;
    const Phase& now = phases[phase];
    const double done = (epoch - begin) / (now.end - begin);
    std::vector<double> rates;
    for (size_t i = 0; i < group_count(); ++i) {
      rates.push_back(between(group(i).real(now.from_rate), group(i).real(now.to_rate), done));
      if (flag("cycle_momentum"))
        set_momentum(i, between(group(i).real(now.from_momentum), group(i).real(now.to_momentum), done));
    }
    return rates;
  }

 private:
  double between(double from, double to, double done) const {
    if (text("anneal_strategy") == "linear") return (to - from) * done + from;
    return to + (from - to) / 2 * (std::cos(std::numbers::pi * done) + 1);
  }
};

}  // namespace

ScheduleClass warm_restarts() {
  return {.name = "CosineAnnealingWarmRestarts",
          .signature = "(T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1)",
          .make = [](Optimizer& optimizer, const Tree::Dict& options, RateFunctions) -> std::shared_ptr<LRScheduler> {
            return std::make_shared<WarmRestarts>(optimizer, options);
          }};
}

ScheduleClass cyclic() {
  return {
      .name = "CyclicLR",
      .signature =
          "(base_lr: rates, max_lr: rates, step_size_up: int = 2000, step_size_down: int? = None, "
          "mode: str = 'triangular', gamma: float = 1.0, scale_fn: function? = None, scale_mode: str = 'cycle', "
          "cycle_momentum: bool = True, base_momentum: rates = 0.8, max_momentum: rates = 0.9, last_epoch: int = -1)",
      .make = [](Optimizer& optimizer, const Tree::Dict& options,
                 RateFunctions functions) -> std::shared_ptr<LRScheduler> {
        return std::make_shared<Cyclic>(optimizer, options, std::move(functions));
      }};
}

ScheduleClass one_cycle() {
  return {.name = "OneCycleLR",
          .signature =
              "(max_lr: rates, total_steps: int? = None, epochs: int? = None, steps_per_epoch: int? = None, "
              "pct_start: float = 0.3, anneal_strategy: str = 'cos', cycle_momentum: bool = True, "
              "base_momentum: rates = 0.85, max_momentum: rates = 0.95, div_factor: float = 25.0, "
              "final_div_factor: float = 1e4, three_phase: bool = False, last_epoch: int = -1)",
          .make = [](Optimizer& optimizer, const Tree::Dict& options, RateFunctions) -> std::shared_ptr<LRScheduler> {
            return std::make_shared<OneCycle>(optimizer, options);
          }};
}

}  // namespace lucid::optim
