#pragma once

#include <lucid/lr_scheduler.h>

namespace lucid::optim {

/// A schedule whose rate depends only on the epoch, the previous rate and the initial rate of each group.
struct RateRule {
  std::string name;
  /// Options with their defaults; None marks an option that must be given.
  Tree::Dict defaults;
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

/// `defaults` overridden by `given`. Throws TypeError for unknown options.
Tree::Dict complete(const std::string& name, Tree::Dict defaults, const Tree::Dict& given);
/// Removes "last_epoch" from the options and returns it, or -1 if it is not there.
int64_t take_last_epoch(Tree::Dict& options);

std::shared_ptr<LRScheduler> make_warm_restarts(Optimizer& optimizer, const Tree::Dict& options);
std::shared_ptr<LRScheduler> make_cyclic(Optimizer& optimizer, const Tree::Dict& options, RateFunctions functions);
std::shared_ptr<LRScheduler> make_one_cycle(Optimizer& optimizer, const Tree::Dict& options);

}  // namespace lucid::optim
