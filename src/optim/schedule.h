#pragma once

#include <lucid/lr_scheduler.h>

namespace lucid::optim {

/// A schedule whose rate follows from the epoch, the rate before and the rate at the beginning, group by group.
struct RateRule {
  std::string name;
  /// Options with their defaults; None where there is none and one must be given.
  Tree::Dict defaults;
  /// Options as the rule sees them.
  struct View {
    const Tree::Dict& values;
    int64_t epoch;
    bool initial;
    int64_t steps;
    double real(const char* name) const { return values.at(name).as_real(name); }
    int64_t integer(const char* name) const { return values.at(name).as_integer(name); }
  };
  double (*next)(const View& view, double rate, double base);
  /// May be null.
  double (*closed)(const View& view, double base);
  void (*check)(const View& view) = nullptr;
};

const std::vector<RateRule>& rate_rules();

/// `defaults` with what was given; throws TypeError for options that do not exist.
Tree::Dict complete(const std::string& name, Tree::Dict defaults, const Tree::Dict& given);
/// Removes "last_epoch" from the options; -1 if it is not there.
int64_t take_last_epoch(Tree::Dict& options);

std::shared_ptr<LRScheduler> make_warm_restarts(Optimizer& optimizer, const Tree::Dict& options);
std::shared_ptr<LRScheduler> make_cyclic(Optimizer& optimizer, const Tree::Dict& options, RateFunctions functions);
std::shared_ptr<LRScheduler> make_one_cycle(Optimizer& optimizer, const Tree::Dict& options);

}  // namespace lucid::optim
