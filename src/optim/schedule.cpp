#include "optim/schedule.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "optim/declared.h"
#include "tensor/observer.h"

namespace lucid::optim {
namespace {

void check_epoch(int64_t epoch) {
  if (epoch > kMaxEpoch || epoch < -kMaxEpoch)
    throw ValueError("lr_scheduler: the epoch must be between -2^53 and 2^53, got {}", epoch);
}

}  // namespace

void require_period(const char* schedule, const Tree::Dict& values, const char* name, int64_t low) {
  const int64_t value = values.at(name).as_integer(name);
  if (value < low) throw ValueError("{}: {} must be at least {}, got {}", schedule, name, low, value);
  if (value > kMaxEpoch) throw ValueError("{}: {} must be at most 2^53, got {}", schedule, name, value);
}

LRScheduler::~LRScheduler() = default;

void LRScheduler::start(int64_t last_epoch) {
  for (size_t i = 0; i < group_count(); ++i) {
    if (last_epoch == -1 && !group(i).has("initial_lr")) group(i).set("initial_lr", group(i).real("lr"));
    if (!group(i).has("initial_lr"))
      throw ValueError(
          "lr_scheduler: parameter group {} has no 'initial_lr', which last_epoch={} needs; load the optimizer's state "
          "first",
          i, last_epoch);
  }
  base_rates_.clear();
  for (size_t i = 0; i < group_count(); ++i) base_rates_.push_back(group(i).real("initial_lr"));
  epoch_ = last_epoch;
  steps_ = 0;
  initial_ = true;
  step();
  initial_ = false;
}

void LRScheduler::step() {
  ++steps_;
  check_epoch(++epoch_);
  set_rates(rates());
}

void LRScheduler::step_to(int64_t epoch) {
  ++steps_;
  advance_to(epoch);
}

void LRScheduler::advance_to(int64_t epoch) {
  check_epoch(epoch);
  epoch_ = epoch;
  const std::vector<double> closed = closed_rates();
  set_rates(closed.empty() ? rates() : closed);
}

void LRScheduler::observe(double) {
  throw TypeError("lr_scheduler: only ReduceLROnPlateau takes a metric; call step() without arguments");
}

// Plans do not depend on schedules: calls that use one run eagerly.

int64_t LRScheduler::last_epoch() const {
  on_external_effect("reads a learning rate schedule");
  return epoch_;
}

std::vector<double> LRScheduler::get_last_lr() const {
  on_external_effect("reads a learning rate schedule");
  return last_rates_;
}

const std::vector<double>& LRScheduler::base_lrs() const {
  on_external_effect("reads a learning rate schedule");
  return base_rates_;
}

const Tree* LRScheduler::find(const std::string& name) const {
  on_external_effect("reads a learning rate schedule");
  return values_.find(name);
}

bool LRScheduler::is_early() const {
  on_external_effect("reads a learning rate schedule");
  return steps_ == 1 && optimizer_.steps_taken() == 0;
}

bool LRScheduler::only_computes() const { return epoch_ < kMaxEpoch; }

std::vector<double> LRScheduler::rates() { return last_rates_; }

void LRScheduler::set_rates(const std::vector<double>& rates) {
  if (rates.size() != group_count())
    throw ValueError("lr_scheduler: got {} rates for {} parameter groups", rates.size(), group_count());
  for (size_t i = 0; i < rates.size(); ++i) group(i).set("lr", rates[i]);
  read_rates();
}

void LRScheduler::read_rates() {
  on_external_effect("steps a learning rate schedule");
  last_rates_.clear();
  for (size_t i = 0; i < group_count(); ++i) last_rates_.push_back(group(i).real("lr"));
}

double LRScheduler::base_rate(size_t i) {
  while (base_rates_.size() <= i) base_rates_.push_back(group(base_rates_.size()).real("lr"));
  return base_rates_[i];
}

std::vector<double> LRScheduler::per_group(const Tree::Dict& values, const char* name) const {
  const Tree& value = values.at(name);
  const Tree::List* items = value.items_or_null();
  if (!items) return std::vector<double>(group_count(), value.as_real(name));
  if (items->size() != group_count())
    throw ValueError("lr_scheduler: {} has {} numbers for {} parameter groups", name, items->size(), group_count());
  std::vector<double> numbers;
  for (const Tree& item : *items) numbers.push_back(item.as_real(name));
  return numbers;
}

namespace {

Tree::List list_of(const std::vector<double>& numbers) { return {numbers.begin(), numbers.end()}; }

std::vector<double> numbers_of(const Tree& tree, const char* what) {
  std::vector<double> numbers;
  for (const Tree& item : tree.as_items(what)) numbers.push_back(item.as_real(what));
  return numbers;
}

}  // namespace

Tree LRScheduler::state_dict() const {
  on_external_effect("reads a learning rate schedule");
  Tree::Dict state = values_;
  state["base_lrs"] = list_of(base_rates_);
  state["last_epoch"] = epoch_;
  state["_step_count"] = steps_;
  state["_last_lr"] = list_of(last_rates_);
  return state;
}

void LRScheduler::load_state_dict(const Tree& state_dict) {
  on_external_effect("loads the state of a learning rate schedule");
  loader_of(state_dict)();
}

std::function<void()> LRScheduler::loader_of(const Tree& state_dict) {
  const Tree::Dict& state = state_dict.as_dict("lr_scheduler: state_dict");
  std::vector<double> base = numbers_of(state.at("base_lrs"), "base_lrs");
  std::vector<double> last = numbers_of(state.at("_last_lr"), "_last_lr");
  for (const auto& rates : {base, last})
    if (rates.size() != group_count())
      throw ValueError("lr_scheduler: the state has {} parameter groups, but the optimizer has {}", rates.size(),
                       group_count());
  const int64_t epoch = state.at("last_epoch").as_integer("last_epoch");
  const int64_t steps = state.at("_step_count").as_integer("_step_count");
  check_epoch(epoch);
  if (steps < 0 || steps > kMaxEpoch) throw ValueError("lr_scheduler: the state has taken {} steps", steps);
  Tree::Dict values = values_;
  for (const auto& [key, value] : values_)
    if (const Tree* loaded = state.find(key)) values[key] = *loaded;
  for (const auto& [key, value] : values)
    if (const int64_t* number = value.get_if<int64_t>(); number && (*number > kMaxEpoch || *number < -kMaxEpoch))
      throw ValueError("lr_scheduler: {} must be between -2^53 and 2^53, got {}", to_string(key), *number);
  check_values(values);
  return [this, epoch, steps, base = std::move(base), last = std::move(last), values = std::move(values)]() mutable {
    base_rates_.swap(base);
    last_rates_.swap(last);
    std::swap(values_, values);
    epoch_ = epoch;
    steps_ = steps;
  };
}

Tree::Dict complete(const std::string& name, const Tree::Dict& given) {
  Tree::Dict defaults = declared_defaults(name);
  for (const auto& [key, value] : given) {
    Tree* default_value = defaults.find(key);
    if (!default_value) throw TypeError("{}: there is no option {}", name, to_string(key));
    *default_value = value;
  }
  return defaults;
}

int64_t take_last_epoch(Tree::Dict& options) {
  const Tree* given = options.find("last_epoch");
  const int64_t epoch = given ? given->as_integer("last_epoch") : -1;
  options.erase("last_epoch");
  return epoch;
}

namespace {

class RuleSchedule : public LRScheduler {
 public:
  RuleSchedule(const RateRule& rule, Optimizer& optimizer, Tree::Dict options) : LRScheduler(optimizer), rule_(rule) {
    const int64_t last_epoch = take_last_epoch(options);
    values_ = complete(rule.name, options);
    for (const auto& [key, value] : values_)
      if (value.is_none()) throw TypeError("{}: {} must be given", rule.name, to_string(key));
    check_values(values_);
    start(last_epoch);
  }

 protected:
  void check_values(const Tree::Dict& values) const override {
    if (rule_.check) rule_.check({values, epoch_, initial_, steps_});
  }
  std::vector<double> rates() override {
    std::vector<double> rates;
    for (size_t i = 0; i < group_count(); ++i) rates.push_back(rule_.next(view(), group(i).real("lr"), base_rate(i)));
    return rates;
  }
  std::vector<double> closed_rates() override {
    std::vector<double> rates;
    for (size_t i = 0; i < group_count(); ++i) rates.push_back(rule_.closed(view(), base_rate(i)));
    return rates;
  }

 private:
  RateRule::View view() const { return {values_, epoch_, initial_, steps_}; }
  const RateRule& rule_;
};

class FunctionSchedule : public LRScheduler {
 public:
  FunctionSchedule(Optimizer& optimizer, RateFunctions functions, bool multiplies, Tree::Dict options)
      : LRScheduler(optimizer), functions_(std::move(functions)), multiplies_(multiplies) {
    const char* name = multiplies ? "MultiplicativeLR" : "LambdaLR";
    if (functions_.size() == 1) functions_.resize(group_count(), functions_[0]);
    if (functions_.size() != group_count())
      throw ValueError("{}: got {} functions for {} parameter groups", name, functions_.size(), group_count());
    const int64_t last_epoch = take_last_epoch(options);
    complete(name, options);
    start(last_epoch);
  }

  bool only_computes() const override { return false; }

 protected:
  std::vector<double> rates() override {
    std::vector<double> rates;
    for (size_t i = 0; i < group_count(); ++i) {
      const double now = group(i).real("lr");
      if (i >= functions_.size() || (multiplies_ && initial_))
        rates.push_back(now);  // a group that was added later has no function
      else
        rates.push_back((multiplies_ ? now : base_rate(i)) * functions_[i](epoch_));
    }
    return rates;
  }

 private:
  RateFunctions functions_;
  bool multiplies_;
};

class CallbackSchedule : public LRScheduler {
 public:
  CallbackSchedule(Optimizer& optimizer, std::function<std::vector<double>(const LRScheduler&)> rates,
                   int64_t last_epoch)
      : LRScheduler(optimizer), rates_(std::move(rates)) {
    start(last_epoch);
  }

  bool only_computes() const override { return false; }

 protected:
  std::vector<double> rates() override { return rates_(*this); }

 private:
  std::function<std::vector<double>(const LRScheduler&)> rates_;
};

/// Lowers the rates when a metric has stopped improving.
class Plateau : public LRScheduler {
 public:
  Plateau(Optimizer& optimizer, const Tree::Dict& options) : LRScheduler(optimizer) {
    values_ = complete("ReduceLROnPlateau", options);
    check_values(values_);
    const double infinity = std::numeric_limits<double>::infinity();
    values_["best"] = text("mode") == "min" ? infinity : -infinity;
    values_["cooldown_counter"] = 0;
    values_["num_bad_epochs"] = 0;
    epoch_ = 0;
    for (size_t i = 0; i < group_count(); ++i) base_rates_.push_back(group(i).real("lr"));
    read_rates();
  }

  bool needs_metric() const override { return true; }
  bool only_computes() const override { return false; }
  void step() override { throw TypeError("ReduceLROnPlateau: step() needs the value of the metric"); }
  void step_to(int64_t) override { step(); }

  void observe(double metric) override {
    ++epoch_;
    ++steps_;
    const bool better = is_better(metric);
    if (better) values_["best"] = metric;
    int64_t bad = better ? 0 : integer("num_bad_epochs") + 1;
    if (integer("cooldown_counter") > 0) {
      values_["cooldown_counter"] = integer("cooldown_counter") - 1;
      bad = 0;
    }
    if (bad > integer("patience")) {
      lower_rates();
      values_["cooldown_counter"] = integer("cooldown");
      bad = 0;
    }
    values_["num_bad_epochs"] = bad;
    read_rates();
  }

 protected:
  void check_values(const Tree::Dict& values) const override {
    if (const double factor = values.at("factor").as_real("factor"); factor >= 1)
      throw ValueError("ReduceLROnPlateau: factor must be below 1, got {}", factor);
    if (const std::string& mode = values.at("mode").as_text("mode"); mode != "min" && mode != "max")
      throw ValueError("ReduceLROnPlateau: mode must be 'min' or 'max', got '{}'", mode);
    if (const std::string& mode = values.at("threshold_mode").as_text("threshold_mode"); mode != "rel" && mode != "abs")
      throw ValueError("ReduceLROnPlateau: threshold_mode must be 'rel' or 'abs', got '{}'", mode);
    per_group(values, "min_lr");
  }

 private:
  bool is_better(double metric) const {
    const double best = real("best");
    const double threshold = real("threshold");
    const bool relative = text("threshold_mode") == "rel";
    if (text("mode") == "min") return metric < (relative ? best * (1 - threshold) : best - threshold);
    return metric > (relative ? best * (threshold + 1) : best + threshold);
  }

  void lower_rates() {
    const std::vector<double> lowest = per_group("min_lr");
    for (size_t i = 0; i < group_count(); ++i) {
      const double before = group(i).real("lr");
      const double after = std::max(before * real("factor"), lowest[i]);
      if (before - after > real("eps")) group(i).set("lr", after);
    }
  }
};

ScheduleClass plateau() {
  return {.name = "ReduceLROnPlateau",
          .signature =
              "(mode: str = 'min', factor: float = 0.1, patience: int = 10, threshold: float = 1e-4, "
              "threshold_mode: str = 'rel', cooldown: int = 0, min_lr: rates = 0.0, eps: float = 1e-8)",
          .make = [](Optimizer& optimizer, const Tree::Dict& options, RateFunctions) -> std::shared_ptr<LRScheduler> {
            return std::make_shared<Plateau>(optimizer, options);
          }};
}

}  // namespace

std::shared_ptr<LRScheduler> make_scheduler(const std::string& name, Optimizer& optimizer, const Tree::Dict& options,
                                            RateFunctions functions) {
  for (const RateRule& rule : rate_rules())
    if (rule.name == name) return std::make_shared<RuleSchedule>(rule, optimizer, options);
  if (name == "LambdaLR" || name == "MultiplicativeLR")
    return std::make_shared<FunctionSchedule>(optimizer, std::move(functions), name == "MultiplicativeLR", options);
  for (const ScheduleClass& each : {warm_restarts(), cyclic(), one_cycle(), plateau()})
    if (each.name == name) return each.make(optimizer, options, std::move(functions));
  throw ValueError("lr_scheduler: there is no schedule named '{}'", name);
}

std::shared_ptr<LRScheduler> make_scheduler(Optimizer& optimizer,
                                            std::function<std::vector<double>(const LRScheduler&)> rates,
                                            int64_t last_epoch) {
  return std::make_shared<CallbackSchedule>(optimizer, std::move(rates), last_epoch);
}

}  // namespace lucid::optim
