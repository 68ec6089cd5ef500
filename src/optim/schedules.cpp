#include <lucid/lr_scheduler.h>

#include "base/error.h"

namespace lucid::optim {
namespace {

std::shared_ptr<LRScheduler> make_by_functions(const char* name, Optimizer& optimizer, RateFunctions functions,
                                               int64_t last_epoch) {
  return make_scheduler(name, optimizer, {{"last_epoch", last_epoch}}, std::move(functions));
}

std::vector<std::shared_ptr<LRScheduler>> pointers_to(const std::vector<Schedule>& schedules) {
  std::vector<std::shared_ptr<LRScheduler>> pointers;
  for (const Schedule& schedule : schedules) pointers.push_back(schedule.pointer());
  return pointers;
}

}  // namespace

Schedule::Schedule(std::shared_ptr<LRScheduler> scheduler) : scheduler_(std::move(scheduler)) {
  if (!scheduler_) throw ValueError("lr_scheduler: the schedule is a null pointer");
}

LambdaLR::LambdaLR(Optimizer& optimizer, RateFunctions functions, int64_t last_epoch)
    : Schedule(make_by_functions("LambdaLR", optimizer, std::move(functions), last_epoch)) {}

MultiplicativeLR::MultiplicativeLR(Optimizer& optimizer, RateFunctions functions, int64_t last_epoch)
    : Schedule(make_by_functions("MultiplicativeLR", optimizer, std::move(functions), last_epoch)) {}

SequentialLR::SequentialLR(Optimizer& optimizer, const std::vector<Schedule>& schedules,
                           std::vector<int64_t> milestones, int64_t last_epoch)
    : Schedule(make_sequential(optimizer, pointers_to(schedules), std::move(milestones), last_epoch)) {}

ChainedScheduler::ChainedScheduler(const std::vector<Schedule>& schedules)
    : Schedule(make_chained(pointers_to(schedules))) {}

}  // namespace lucid::optim
