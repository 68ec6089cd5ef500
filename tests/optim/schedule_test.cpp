#include <gtest/gtest.h>
#include <lucid/lucid.h>

#include "base/error.h"

namespace lucid {
namespace {

using optim::LRScheduler;
using optim::make_scheduler;
using optim::SGD;

std::vector<double> rates(optim::Optimizer& optimizer, LRScheduler& schedule, int steps) {
  std::vector<double> found;
  for (int i = 0; i < steps; ++i) {
    found.push_back(optimizer.param_groups()[0]->options.real("lr"));
    optimizer.step();
    schedule.step();
  }
  return found;
}

TEST(Schedule, SetsTheRates) {
  SGD optimizer({ones({1}).requires_grad_()}, {.lr = 1});
  const auto schedule = make_scheduler("StepLR", optimizer, {{"step_size", 2}, {"gamma", 0.5}});
  EXPECT_EQ(rates(optimizer, *schedule, 5), (std::vector<double>{1, 1, 0.5, 0.5, 0.25}));
  EXPECT_EQ(schedule->last_epoch(), 5);
  EXPECT_FALSE(schedule->is_early());
}

TEST(Schedule, FunctionsAndClosedForms) {
  SGD optimizer({ones({1}).requires_grad_()}, {.lr = 1});
  const auto schedule =
      make_scheduler("LambdaLR", optimizer, {}, {[](int64_t epoch) { return 1.0 / static_cast<double>(1 + epoch); }});
  EXPECT_EQ(rates(optimizer, *schedule, 2), (std::vector<double>{1, 0.5}));
  SGD other({ones({1}).requires_grad_()}, {.lr = 1});
  const auto exponential = make_scheduler("ExponentialLR", other, {{"gamma", 0.5}});
  exponential->step_to(3);
  EXPECT_EQ(exponential->get_last_lr()[0], 0.125);
}

TEST(Schedule, OneAfterAnother) {
  SGD optimizer({ones({1}).requires_grad_()}, {.lr = 1});
  const auto first = make_scheduler("ConstantLR", optimizer, {{"factor", 0.5}, {"total_iters", 10}});
  const auto second = make_scheduler("ExponentialLR", optimizer, {{"gamma", 0.1}});
  const auto both = optim::make_sequential(optimizer, {first, second}, {2});
  const std::vector<double> found = rates(optimizer, *both, 4);
  EXPECT_EQ(found[0], 0.5);
  EXPECT_EQ(found[1], 0.5);
  EXPECT_EQ(found[2], 1);
  EXPECT_DOUBLE_EQ(found[3], 0.1);
}

TEST(Schedule, StatesContinue) {
  SGD optimizer({ones({1}).requires_grad_()}, {.lr = 1});
  const auto schedule = make_scheduler("CosineAnnealingLR", optimizer, {{"T_max", 7}});
  rates(optimizer, *schedule, 3);
  SGD other({ones({1}).requires_grad_()}, {.lr = 1});
  const auto resumed = make_scheduler("CosineAnnealingLR", other, {{"T_max", 7}});
  other.load_state_dict(optimizer.state_dict());
  resumed->load_state_dict(schedule->state_dict());
  EXPECT_EQ(rates(other, *resumed, 6), rates(optimizer, *schedule, 6));
}

TEST(Schedule, Plateaus) {
  SGD optimizer({ones({1}).requires_grad_()}, {.lr = 1});
  const auto schedule = make_scheduler("ReduceLROnPlateau", optimizer, {{"patience", 0}});
  schedule->observe(1);
  schedule->observe(1);
  EXPECT_DOUBLE_EQ(schedule->get_last_lr()[0], 0.1);
  EXPECT_THROW(schedule->step(), TypeError);
}

TEST(Schedule, RejectsInvalidArguments) {
  SGD optimizer({ones({1}).requires_grad_()}, {.lr = 1});
  EXPECT_THROW(make_scheduler("StepLR", optimizer), TypeError);
  EXPECT_THROW(make_scheduler("StepLR", optimizer, {{"step_size", 1}, {"gama", 1.0}}), TypeError);
  EXPECT_THROW(make_scheduler("Nothing", optimizer), ValueError);
  EXPECT_THROW(make_scheduler("ExponentialLR", optimizer, {{"gamma", 0.5}})->observe(1), TypeError);
  EXPECT_THROW(optim::make_chained({}), ValueError);
}

}  // namespace
}  // namespace lucid
