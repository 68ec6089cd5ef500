#include <gtest/gtest.h>
#include <lucid/lucid.h>

#include "base/error.h"
#include "optim/text_of.h"

namespace lucid {
namespace {

using namespace optim;

std::vector<double> rates(Optimizer& optimizer, Schedule schedule, int steps) {
  std::vector<double> found;
  for (int i = 0; i < steps; ++i) {
    found.push_back(optimizer.param_groups()[0]->options.real("lr"));
    optimizer.step();
    schedule.step();
  }
  return found;
}

SGD make_sgd() { return SGD({ones({1}).requires_grad_()}, {.lr = 1, .momentum = 0.5}); }

TEST(Schedule, SetsTheRates) {
  SGD optimizer = make_sgd();
  const StepLR schedule(optimizer, {.step_size = 2, .gamma = 0.5});
  EXPECT_EQ(rates(optimizer, schedule, 5), (std::vector<double>{1, 1, 0.5, 0.5, 0.25}));
  EXPECT_EQ(schedule.last_epoch(), 5);
  EXPECT_FALSE(schedule->is_early());
}

TEST(Schedule, FunctionsAndClosedForms) {
  SGD optimizer = make_sgd();
  const auto inverse = [](int64_t epoch) { return 1.0 / static_cast<double>(1 + epoch); };
  EXPECT_EQ(rates(optimizer, LambdaLR(optimizer, inverse), 3), (std::vector<double>{1, 0.5, 1.0 / 3}));
  SGD second = make_sgd();
  EXPECT_EQ(rates(second, MultiplicativeLR(second, [](int64_t) { return 0.5; }), 3),
            (std::vector<double>{1, 0.5, 0.25}));
  SGD third = make_sgd();
  const ExponentialLR exponential(third, {.gamma = 0.5});
  exponential->step_to(3);
  EXPECT_EQ(exponential.get_last_lr()[0], 0.125);
}

TEST(Schedule, OneAfterAnother) {
  SGD optimizer = make_sgd();
  const ConstantLR first(optimizer, {.factor = 0.5, .total_iters = 10});
  const ExponentialLR second(optimizer, {.gamma = 0.1});
  const std::vector<double> found = rates(optimizer, SequentialLR(optimizer, {first, second}, {2}), 4);
  EXPECT_EQ(found[0], 0.5);
  EXPECT_EQ(found[1], 0.5);
  EXPECT_EQ(found[2], 1);
  EXPECT_DOUBLE_EQ(found[3], 0.1);
}

TEST(Schedule, SeveralAtOnce) {
  SGD optimizer = make_sgd();
  const ChainedScheduler both(
      {StepLR(optimizer, {.step_size = 1, .gamma = 0.5}), ExponentialLR(optimizer, {.gamma = 0.5})});
  EXPECT_EQ(rates(optimizer, both, 3), (std::vector<double>{1, 0.25, 0.0625}));
}

TEST(Schedule, StatesContinue) {
  SGD optimizer = make_sgd();
  const CosineAnnealingLR schedule(optimizer, {.T_max = 7});
  rates(optimizer, schedule, 3);
  SGD other = make_sgd();
  CosineAnnealingLR resumed(other, {.T_max = 7});
  other.load_state_dict(optimizer.state_dict());
  resumed.load_state_dict(schedule.state_dict());
  EXPECT_EQ(rates(other, resumed, 6), rates(optimizer, schedule, 6));
}

TEST(Schedule, Plateaus) {
  SGD optimizer = make_sgd();
  ReduceLROnPlateau schedule(optimizer, {.patience = 0});
  schedule.step(1.0);
  schedule.step(1.0);
  EXPECT_DOUBLE_EQ(schedule.get_last_lr()[0], 0.1);
  EXPECT_THROW(schedule.step(), TypeError);
}

TEST(Schedule, TheMomentumMovesWithTheRate) {
  SGD optimizer = make_sgd();
  const CyclicLR cyclic(optimizer, {.base_lr = 0.25, .max_lr = 1.25, .step_size_up = 2});
  EXPECT_EQ(rates(optimizer, cyclic, 5), (std::vector<double>{0.25, 0.75, 1.25, 0.75, 0.25}));
  EXPECT_DOUBLE_EQ(optimizer.param_groups()[0]->options.real("momentum"), 0.85);
  SGD second = make_sgd();
  const CyclicLR scaled(second, {.base_lr = 0.0,
                                 .max_lr = 1.0,
                                 .step_size_up = 1,
                                 .scale_fn = [](int64_t) { return 0.5; },
                                 .cycle_momentum = false});
  EXPECT_EQ(rates(second, scaled, 3), (std::vector<double>{0, 0.5, 0}));
  SGD third = make_sgd();
  const OneCycleLR one(third, {.max_lr = Tree::List{2.0}, .total_steps = 10});
  EXPECT_DOUBLE_EQ(rates(third, one, 3)[2], 2.0);
}

TEST(Schedule, DefaultsAreThoseByName) {
  const auto check = []<typename Options>(const Options& options, const Tree::Dict& required) {
    SGD first = make_sgd(), second = make_sgd();
    const Schedule schedule = BuiltInSchedule<Options>(first, options);
    EXPECT_EQ(text_of(schedule.state_dict()), text_of(make_scheduler(Options::kName, second, required)->state_dict()));
  };
  check(StepLROptions{.step_size = 3}, {{"step_size", 3}});
  check(MultiStepLROptions{.milestones = {1, 2}}, {{"milestones", Tree::List{1, 2}}});
  check(ConstantLROptions{}, {});
  check(LinearLROptions{}, {});
  check(ExponentialLROptions{.gamma = 0.5}, {{"gamma", 0.5}});
  check(PolynomialLROptions{}, {});
  check(CosineAnnealingLROptions{.T_max = 4}, {{"T_max", 4}});
  check(CosineAnnealingWarmRestartsOptions{.T_0 = 4}, {{"T_0", 4}});
  check(OneCycleLROptions{.max_lr = 1.0, .epochs = 2, .steps_per_epoch = 3},
        {{"max_lr", 1.0}, {"epochs", 2}, {"steps_per_epoch", 3}});
  check(ReduceLROnPlateauOptions{}, {});
  check(CyclicLROptions{.base_lr = 0.1, .max_lr = 1.0}, {{"base_lr", 0.1}, {"max_lr", 1.0}});
}

TEST(Schedule, RejectsInvalidArguments) {
  SGD optimizer = make_sgd();
  EXPECT_THROW(StepLR{optimizer}, TypeError);
  EXPECT_THROW(ExponentialLR{optimizer}, TypeError);
  EXPECT_THROW(CosineAnnealingWarmRestarts{optimizer}, TypeError);
  EXPECT_THROW(OneCycleLR(optimizer, {.total_steps = 3}), TypeError);
  EXPECT_THROW(CyclicLR{optimizer}, TypeError);
  EXPECT_THROW(make_scheduler("StepLR", optimizer, {{"step_size", 1}, {"gama", 1.0}}), TypeError);
  EXPECT_THROW(make_scheduler("Nothing", optimizer), ValueError);
  EXPECT_THROW(ExponentialLR(optimizer, {.gamma = 0.5}).step(1.0), TypeError);
  EXPECT_THROW(ChainedScheduler({}), ValueError);
  EXPECT_THROW(Schedule(nullptr), ValueError);
  EXPECT_THROW(CyclicLR(optimizer, {.base_lr = 0.1, .max_lr = 1.0, .step_size_up = 0}), ValueError);
  EXPECT_THROW(CyclicLR(optimizer, {.base_lr = 0.1, .max_lr = 1.0, .step_size_down = 0}), ValueError);
  const LinearLR at_once(optimizer, {.total_iters = 0});
  at_once->step_to(5);
  EXPECT_EQ(at_once.get_last_lr()[0], 1);
}

}  // namespace
}  // namespace lucid
