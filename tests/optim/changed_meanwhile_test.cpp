// Optimizers that other threads change while a step gives up the caller's lock, and closures that change their own.
// Here the lock is a hook, which does at once what another thread might do meanwhile.

#include <gtest/gtest.h>
#include <lucid/lucid.h>

#include "base/blocking.h"
#include "base/error.h"
#include "tensor/plan_cache.h"

namespace lucid {
namespace {

using optim::Optimizer;

/// Does something each time the lock is given up.
std::function<void()> g_meanwhile;
int g_times = 0;

class ChangedMeanwhile : public ::testing::TestWithParam<std::string> {
 protected:
  ChangedMeanwhile() {
    set_blocking_hooks({.begin = []() -> void* {
                          if (const auto act = std::exchange(g_meanwhile, nullptr)) {
                            ++g_times;
                            act();
                            g_meanwhile = act;
                          }
                          return nullptr;
                        },
                        .end = [](void*) {}});
    for (int64_t i = 0; i < 4; ++i) {
      // Each has a shape of its own, so that each step compiles.
      params_.push_back(full({i + 2, 3}, 1.0).requires_grad_());
      params_.back().set_grad(full({i + 2, 3}, 0.5));
    }
    Tree::Dict options;
    if (GetParam() == "SGD") options = {{"momentum", 0.9}};
    optimizer_.emplace(GetParam(), std::vector<Optimizer::Group>{{params_}}, options);
    clear_eager_plans();
    g_times = 0;
  }
  ~ChangedMeanwhile() override {
    g_meanwhile = nullptr;
    set_blocking_hooks({});
  }

  /// Steps while `act` is done at each opportunity.
  void step_while(const std::function<void()>& act) {
    g_meanwhile = act;
    for (int i = 0; i < 3; ++i) {
      clear_eager_plans();
      try {
        optimizer_->step();
      } catch (const ValueError&) {  // an option or entry of the state that was taken away
      }
    }
    g_meanwhile = nullptr;
    EXPECT_GT(g_times, 0);
    // It is whole afterwards.
    optimizer_->clear_state();
    for (const char* name : {"lr", "weight_decay"})
      if (optimizer_->defaults().has(name))
        for (const auto& group : optimizer_->param_groups()) group->options.set(name, 0.125);
    optimizer_->step();
  }

  std::vector<Tensor> params_;
  std::optional<Optimizer> optimizer_;
};

TEST_P(ChangedMeanwhile, TheStateIsCleared) {
  step_while([&] { optimizer_->clear_state(); });
}

TEST_P(ChangedMeanwhile, TheStateIsLoaded) {
  step_while([&] { optimizer_->load_state_dict(optimizer_->state_dict()); });
}

TEST_P(ChangedMeanwhile, GroupsAreAdded) {
  step_while([&] {
    for (int i = 0; i < 8; ++i) optimizer_->add_param_group({{full({2, 2}, 1.0).requires_grad_()}});
  });
}

TEST_P(ChangedMeanwhile, EntriesOfTheStateAreReplacedAddedAndRemoved) {
  step_while([&] {
    for (const Tensor& param : params_) {
      const Optimizer::State state = optimizer_->state(param);
      std::vector<Tree::Key> keys;
      for (const auto& [key, value] : *state) keys.push_back(key);
      for (const Tree::Key& key : keys) state->erase(key);
      for (int i = 0; i < 40; ++i) state->set("entry " + std::to_string(i), full({3}, 1.0));
    }
  });
}

TEST_P(ChangedMeanwhile, OptionsAreReplacedAddedAndRemoved) {
  step_while([&] {
    optim::Options& options = optimizer_->param_groups()[0]->options;
    for (const std::string& name : options.names()) {
      const Tree value = options.get(name);
      options.erase(name);
      options.set(name, value);
    }
    for (int i = 0; i < 40; ++i) options.set("option " + std::to_string(g_times * 100 + i), 1.5);
    options.set("lr", scalar(0.25));
    options.set("lr", 0.125);
  });
}

INSTANTIATE_TEST_SUITE_P(Optimizers, ChangedMeanwhile,
                         ::testing::Values("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "Adamax", "NAdam", "RAdam",
                                           "Adadelta", "Rprop", "ASGD", "Lion", "Muon"),
                         [](const auto& info) { return info.param; });

class Lbfgs : public ::testing::Test {
 protected:
  Tensor closure() {
    optimizer_.zero_grad();
    const Tensor loss = sum(square(square(param_ - 2.0)));
    loss.backward();
    return loss;
  }

  Tensor param_ = full({3}, 1.0).requires_grad_();
  optim::LBFGS optimizer_{{param_}, {.max_iter = 4}};
};

TEST_F(Lbfgs, TheClosureClearsTheState) {
  for (int i = 0; i < 5; ++i)
    optimizer_.step([&] {
      optimizer_.clear_state();
      return closure();
    });
}

TEST_F(Lbfgs, TheClosureLoadsTheState) {
  optimizer_.step([&] { return closure(); });
  for (int i = 0; i < 5; ++i)
    optimizer_.step([&] {
      optimizer_.load_state_dict(optimizer_.state_dict());
      return closure();
    });
}

TEST_F(Lbfgs, TheClosureAddsGroups) {
  optimizer_.step([&] {
    for (int i = 0; i < 8; ++i) optimizer_.add_param_group({{full({2}, 1.0).requires_grad_()}});
    return closure();
  });
  EXPECT_THROW(optimizer_.step([&] { return closure(); }), ValueError);
}

}  // namespace
}  // namespace lucid
