// Schedules that combine other schedules.

#include <algorithm>

#include "base/error.h"
#include "optim/schedule.h"

namespace lucid::optim {
namespace {

using Schedules = std::vector<std::shared_ptr<LRScheduler>>;

/// A schedule made of other schedules of the same optimizer.
class CombinedSchedule : public LRScheduler {
 public:
  CombinedSchedule(const char* name, Optimizer& optimizer, Schedules schedules)
      : LRScheduler(optimizer), schedules_(std::move(schedules)), name_(name) {
    if (schedules_.empty()) throw ValueError("{}: pass at least one schedule", name);
    for (const auto& schedule : schedules_) {
      if (&schedule->optimizer() != &optimizer)
        throw ValueError("{}: all schedules must belong to the same optimizer", name);
      if (schedule->needs_metric())
        throw ValueError("{}: ReduceLROnPlateau needs a metric, so it cannot be part of another schedule", name);
    }
    base_rates_ = schedules_[0]->base_lrs();
  }

  void step_to(int64_t) override { throw TypeError("{}: step() takes no epoch", name_); }
  bool only_computes() const override {
    return std::ranges::all_of(schedules_, [](const auto& schedule) { return schedule->only_computes(); });
  }

  Tree state_dict() const override {
    Tree state = LRScheduler::state_dict();
    Tree::List states;
    for (const auto& schedule : schedules_) states.push_back(schedule->state_dict());
    (*state.dict_or_null())["_schedulers"] = std::move(states);
    return state;
  }

  std::function<void()> loader_of(const Tree& state_dict) override {
    const Tree& states = state_dict.as_dict("lr_scheduler: state_dict").at("_schedulers");
    const Tree::List list = states.as_items("lr_scheduler: _schedulers");
    if (list.size() != schedules_.size())
      throw ValueError("lr_scheduler: the state has {} schedules, but there are {}", list.size(), schedules_.size());
    std::vector<std::function<void()>> loaders;
    for (size_t i = 0; i < list.size(); ++i) loaders.push_back(schedules_[i]->loader_of(list[i]));
    loaders.push_back(LRScheduler::loader_of(state_dict));
    return [loaders = std::move(loaders)] {
      for (const auto& load : loaders) load();
    };
  }

 protected:
  const Schedules schedules_;

 private:
  const char* const name_;
};

class ChainedSchedule : public CombinedSchedule {
 public:
  ChainedSchedule(Optimizer& optimizer, Schedules schedules)
      : CombinedSchedule("ChainedScheduler", optimizer, std::move(schedules)) {
    read_rates();
    epoch_ = schedules_[0]->last_epoch();
  }

  void step() override {
    for (const auto& schedule : schedules_) schedule->step();
    ++epoch_;
    ++steps_;
    read_rates();
  }
};

}  // namespace

class SequentialSchedule : public CombinedSchedule {
 public:
  SequentialSchedule(Optimizer& optimizer, Schedules schedules, std::vector<int64_t> milestones, int64_t last_epoch)
      : CombinedSchedule("SequentialLR", optimizer, std::move(schedules)), milestones_(std::move(milestones)) {
    if (milestones_.size() + 1 != schedules_.size())
      throw ValueError("SequentialLR: {} schedules need {} milestones, got {}", schedules_.size(),
                       schedules_.size() - 1, milestones_.size());
    epoch_ = last_epoch + 1;
    // Each schedule has set its first rate when it was created; only that of the active one may remain.
    for (size_t i = 0; i < group_count(); ++i) group(i).set("lr", group(i).real("initial_lr"));
    for (const auto& schedule : schedules_) undo(*schedule);
    LRScheduler& first = *schedules_[active(0)];
    first.steps_ = 0;
    first.initial_ = true;
    first.step();
    first.initial_ = false;
    last_rates_ = first.last_rates_;
  }

  void step() override {
    ++epoch_;
    ++steps_;
    const size_t now = active(epoch_);
    LRScheduler& schedule = *schedules_[now];
    if (now > 0 && milestones_[now - 1] == epoch_)
      schedule.advance_to(0);
    else
      schedule.step();
    last_rates_ = schedule.last_rates_;
  }
  Tree state_dict() const override {
    Tree state = CombinedSchedule::state_dict();
    (*state.dict_or_null())["_milestones"] = Tree::List(milestones_.begin(), milestones_.end());
    return state;
  }

 private:
  size_t active(int64_t epoch) const {
    return static_cast<size_t>(std::upper_bound(milestones_.begin(), milestones_.end(), epoch) - milestones_.begin());
  }
  static void undo(LRScheduler& schedule) {
    if (auto* sequence = dynamic_cast<SequentialSchedule*>(&schedule))
      for (const auto& part : sequence->schedules_) undo(*part);
    else
      --schedule.epoch_;
  }

  std::vector<int64_t> milestones_;
};

std::shared_ptr<LRScheduler> make_sequential(Optimizer& optimizer, std::vector<std::shared_ptr<LRScheduler>> schedules,
                                             std::vector<int64_t> milestones, int64_t last_epoch) {
  return std::make_shared<SequentialSchedule>(optimizer, std::move(schedules), std::move(milestones), last_epoch);
}

std::shared_ptr<LRScheduler> make_chained(std::vector<std::shared_ptr<LRScheduler>> schedules) {
  if (schedules.empty()) throw ValueError("ChainedScheduler: pass at least one schedule");
  Optimizer& optimizer = schedules[0]->optimizer();
  return std::make_shared<ChainedSchedule>(optimizer, std::move(schedules));
}

}  // namespace lucid::optim
