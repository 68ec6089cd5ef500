#pragma once

#include <lucid/lr_scheduler.h>

namespace lucid::optim {

/// A schedule whose rate depends only on the epoch, the previous rate and the initial rate of each group.
struct RateRule {
  std::string name;
  const char* signature;
  /// The options and the progress that a rule reads.
  struct View {
    const Tree::Dict& values;
    int64_t epoch;
    bool initial;
    int64_t steps;
    double real(const char* name) const { return values.at(name).as_real(name); }
    int64_t integer(const char* name) const { return values.at(name).as_integer(name); }
  };
  /// The next rate of a group, given its current rate and its initial rate `base`.
  double (*next)(const View& view, double rate, double base);
  /// The rate at the epoch, given only the initial rate. May be null.
  double (*closed)(const View& view, double base);
  void (*check)(const View& view) = nullptr;
};

const std::vector<RateRule>& rate_rules();

/// Sums and differences of epochs and periods up to this fit into 64 bits, and are exact as floats.
inline constexpr int64_t kMaxEpoch = int64_t{1} << 53;
/// Throws ValueError unless an option is an integer from `low` to kMaxEpoch.
void require_period(const char* schedule, const Tree::Dict& values, const char* name, int64_t low);

/// The defaults of a schedule, overridden by `given`. Throws TypeError for unknown options.
Tree::Dict complete(const std::string& name, const Tree::Dict& given);
/// Removes "last_epoch" from the options and returns it, or -1 if it is not there.
int64_t take_last_epoch(Tree::Dict& options);

/// A schedule with a class of its own.
struct ScheduleClass {
  std::string name;
  const char* signature;
  std::shared_ptr<LRScheduler> (*make)(Optimizer& optimizer, const Tree::Dict& options, RateFunctions functions);
};
ScheduleClass warm_restarts();
ScheduleClass cyclic();
ScheduleClass one_cycle();

}  // namespace lucid::optim
