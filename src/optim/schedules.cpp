#include "lucid/schedules.h"

#include "base/error.h"
#include "optim/tree_of.h"

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

Tree::Dict StepLROptions::dict() const {
  return {{"step_size", tree_of(step_size)}, {"gamma", gamma}, {"last_epoch", last_epoch}};
}

Tree::Dict MultiStepLROptions::dict() const {
  return {
      {"milestones", Tree::List(milestones.begin(), milestones.end())}, {"gamma", gamma}, {"last_epoch", last_epoch}};
}

Tree::Dict ConstantLROptions::dict() const {
  return {{"factor", factor}, {"total_iters", total_iters}, {"last_epoch", last_epoch}};
}

Tree::Dict LinearLROptions::dict() const {
  return {{"start_factor", start_factor},
          {"end_factor", end_factor},
          {"total_iters", total_iters},
          {"last_epoch", last_epoch}};
}

Tree::Dict ExponentialLROptions::dict() const { return {{"gamma", tree_of(gamma)}, {"last_epoch", last_epoch}}; }

Tree::Dict PolynomialLROptions::dict() const {
  return {{"total_iters", total_iters}, {"power", power}, {"last_epoch", last_epoch}};
}

Tree::Dict CosineAnnealingLROptions::dict() const {
  return {{"T_max", tree_of(T_max)}, {"eta_min", eta_min}, {"last_epoch", last_epoch}};
}

Tree::Dict CosineAnnealingWarmRestartsOptions::dict() const {
  return {{"T_0", tree_of(T_0)}, {"T_mult", T_mult}, {"eta_min", eta_min}, {"last_epoch", last_epoch}};
}

Tree::Dict OneCycleLROptions::dict() const {
  return {{"max_lr", max_lr},
          {"total_steps", tree_of(total_steps)},
          {"epochs", tree_of(epochs)},
          {"steps_per_epoch", tree_of(steps_per_epoch)},
          {"pct_start", pct_start},
          {"anneal_strategy", anneal_strategy},
          {"cycle_momentum", cycle_momentum},
          {"base_momentum", base_momentum},
          {"max_momentum", max_momentum},
          {"div_factor", div_factor},
          {"final_div_factor", final_div_factor},
          {"three_phase", three_phase},
          {"last_epoch", last_epoch}};
}

Tree::Dict ReduceLROnPlateauOptions::dict() const {
  return {{"mode", mode},
          {"factor", factor},
          {"patience", patience},
          {"threshold", threshold},
          {"threshold_mode", threshold_mode},
          {"cooldown", cooldown},
          {"min_lr", min_lr},
          {"eps", eps}};
}

CyclicLR::CyclicLR(Optimizer& optimizer, const CyclicLROptions& options)
    : Schedule(make_scheduler("CyclicLR", optimizer,
                              {{"base_lr", options.base_lr},
                               {"max_lr", options.max_lr},
                               {"step_size_up", options.step_size_up},
                               {"step_size_down", tree_of(options.step_size_down)},
                               {"mode", options.mode},
                               {"gamma", options.gamma},
                               {"scale_mode", options.scale_mode},
                               {"cycle_momentum", options.cycle_momentum},
                               {"base_momentum", options.base_momentum},
                               {"max_momentum", options.max_momentum},
                               {"last_epoch", options.last_epoch}},
                              options.scale_fn ? RateFunctions{options.scale_fn} : RateFunctions{})) {}

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
