// Schedules that combine other schedules.

#include <algorithm>

#include "base/error.h"
#include "optim/schedule.h"

namespace lucid::optim {
namespace {

Tree states_of(const std::vector<std::shared_ptr<LRScheduler>>& schedules) {
  Tree::List states;
  for (const auto& schedule : schedules) states.push_back(schedule->state_dict());
  return states;
}

/// Checks the states of all schedules, and returns a function that loads them.
std::function<void()> loader_of_parts(const std::vector<std::shared_ptr<LRScheduler>>& schedules, const Tree& state) {
  const Tree& states = state.as_dict("lr_scheduler: state_dict").at("_schedulers");
  const Tree::List& list = states.as_items("lr_scheduler: _schedulers");
  if (list.size() != schedules.size())
    throw ValueError("lr_scheduler: the state has {} schedules, but there are {}", list.size(), schedules.size());
  std::vector<std::function<void()>> loaders;
  for (size_t i = 0; i < list.size(); ++i) loaders.push_back(schedules[i]->loader_of(list[i]));
  return [loaders = std::move(loaders)] {
    for (const auto& load : loaders) load();
  };
}

void check_parts(const char* name, const Optimizer* optimizer,
                 const std::vector<std::shared_ptr<LRScheduler>>& schedules) {
  if (schedules.empty()) throw ValueError("{}: pass at least one schedule", name);
  for (const auto& schedule : schedules) {
    if (&schedule->optimizer() != optimizer)
      throw ValueError("{}: all schedules must belong to the same optimizer", name);
    if (schedule->needs_metric())
      throw ValueError("{}: ReduceLROnPlateau needs a metric, so it cannot be part of another schedule", name);
  }
}

class ChainedSchedule : public LRScheduler {
 public:
  explicit ChainedSchedule(std::vector<std::shared_ptr<LRScheduler>> schedules)
      : LRScheduler(schedules.at(0)->optimizer()), schedules_(std::move(schedules)) {
    check_parts("ChainedScheduler", &optimizer_, schedules_);
    read_rates();
    base_rates_ = schedules_[0]->base_lrs();
    epoch_ = schedules_[0]->last_epoch();
  }

  void step() override {
    for (const auto& schedule : schedules_) schedule->step();
    ++epoch_;
    ++steps_;
    read_rates();
  }
  void step_to(int64_t) override { throw TypeError("ChainedScheduler: step() takes no epoch"); }

  Tree state_dict() const override {
    Tree state = LRScheduler::state_dict();
    (*state.dict_or_null())["_schedulers"] = states_of(schedules_);
    return state;
  }
  std::function<void()> loader_of(const Tree& state_dict) override {
    return [parts = loader_of_parts(schedules_, state_dict), own = LRScheduler::loader_of(state_dict)] {
      parts();
      own();
    };
  }

 private:
  std::vector<std::shared_ptr<LRScheduler>> schedules_;
};

}  // namespace

class SequentialSchedule : public LRScheduler {
 public:
  SequentialSchedule(Optimizer& optimizer, std::vector<std::shared_ptr<LRScheduler>> schedules,
                     std::vector<int64_t> milestones, int64_t last_epoch)
      : LRScheduler(optimizer), schedules_(std::move(schedules)), milestones_(std::move(milestones)) {
    check_parts("SequentialLR", &optimizer_, schedules_);
    if (milestones_.size() + 1 != schedules_.size())
      throw ValueError("SequentialLR: {} schedules need {} milestones, got {}", schedules_.size(),
                       schedules_.size() - 1, milestones_.size());
    epoch_ = last_epoch + 1;
    base_rates_ = schedules_[0]->base_lrs();
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
  void step_to(int64_t) override { throw TypeError("SequentialLR: step() takes no epoch"); }

  Tree state_dict() const override {
    Tree state = LRScheduler::state_dict();
    (*state.dict_or_null())["_milestones"] = Tree::List(milestones_.begin(), milestones_.end());
    (*state.dict_or_null())["_schedulers"] = states_of(schedules_);
    return state;
  }
  std::function<void()> loader_of(const Tree& state_dict) override {
    return [parts = loader_of_parts(schedules_, state_dict), own = LRScheduler::loader_of(state_dict)] {
      parts();
      own();
    };
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

  std::vector<std::shared_ptr<LRScheduler>> schedules_;
  std::vector<int64_t> milestones_;
};

std::shared_ptr<LRScheduler> make_sequential(Optimizer& optimizer, std::vector<std::shared_ptr<LRScheduler>> schedules,
                                             std::vector<int64_t> milestones, int64_t last_epoch) {
  return std::make_shared<SequentialSchedule>(optimizer, std::move(schedules), std::move(milestones), last_epoch);
}

std::shared_ptr<LRScheduler> make_chained(std::vector<std::shared_ptr<LRScheduler>> schedules) {
  if (schedules.empty()) throw ValueError("ChainedScheduler: pass at least one schedule");
  return std::make_shared<ChainedSchedule>(std::move(schedules));
}

}  // namespace lucid::optim
