// Threads that share one lock as Python's threads share the GIL: they hold it, and ops give it up. They step
// optimizers, change them, and change the shapes of tensors that others compute with. These tests also run under the
// thread sanitizer. Kernels are not instrumented: the sanitizer sees only the code around them.

#include <gtest/gtest.h>
#include <lucid/compile.h>
#include <lucid/lucid.h>

#include <chrono>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "base/blocking.h"
#include "base/error.h"
#include "tensor/api.h"
#include "tensor/autograd_meta.h"
#include "tensor/inplace.h"
#include "tensor/plan_cache.h"

namespace lucid {
namespace {

using optim::Optimizer;
using Clock = std::chrono::steady_clock;

std::mutex g_lock;
thread_local bool t_holds_lock = false;

void take_lock() {
  g_lock.lock();
  t_holds_lock = true;
}
void give_up_lock() {
  t_holds_lock = false;
  g_lock.unlock();
}

/// Runs each function in its own thread, repeatedly, with the index of the round, until the time is up. Errors that say
/// that something does not fit are those of Python programs that do this.
void run_all(const std::vector<std::function<void(int64_t)>>& works) {
  set_blocking_hooks({.begin = []() -> void* {
                        if (!t_holds_lock) return nullptr;
                        give_up_lock();
                        return &g_lock;
                      },
                      .end = [](void*) { take_lock(); }});
  const char* const seconds = std::getenv("LUCID_STRESS_SECONDS");
  const Clock::time_point end = Clock::now() + std::chrono::seconds(seconds ? std::atoi(seconds) : 3);
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (const auto& work : works)
    threads.emplace_back([&] {
      for (int64_t round = 0; Clock::now() < end; ++round) {
        take_lock();
        try {
          work(round);
        } catch (const InternalError& error) {
          if (++failures < 5) ADD_FAILURE() << error.what();
        } catch (const Error&) {
        }
        give_up_lock();
      }
    });
  for (std::thread& thread : threads) thread.join();
  set_blocking_hooks({});
}

TEST(Stress, OptimizersAndShapesThatOtherThreadsChange) {
  const std::vector<std::string> names = {"SGD", "Adam", "RMSprop", "NAdam", "ASGD", "Lion", "Muon"};
  std::vector<Tensor> params;
  for (int64_t i = 0; i < 3; ++i) params.push_back(full({200, 100 + i}, 1.0).requires_grad_());
  std::shared_ptr<Optimizer> shared;
  const auto renew = [&](int64_t round) {
    const std::string& name = names[static_cast<size_t>(round) % names.size()];
    shared = std::make_shared<Optimizer>(name, std::vector<Optimizer::Group>{{params}},
                                         name == "SGD" ? Tree::Dict{{"momentum", 0.9}} : Tree::Dict());
  };
  renew(0);
  Tensor changing = full({5}, 1.0), watched = full({5}, 1.0).requires_grad_();
  // Looks at its argument once: eagerly, other threads may run between two ops.
  const auto f = compile([](const Tensor& x) { return sum(x * 2.0) * 0.5; });
  const auto expect = [wrong = std::make_shared<int>()](bool is_right, const char* what, double found) {
    if (!is_right && ++*wrong < 5) ADD_FAILURE() << what << ": " << found;
  };
  const auto step = [&](int64_t round) {
    if (round % 100 == 0) renew(round / 100);
    const std::shared_ptr<Optimizer> optimizer = shared;
    for (Tensor& param : params) param.set_grad(full({param.size(0), param.size(1)}, 0.5));
    optimizer->step();
  };
  const auto bind = [](Tensor& tensor, int64_t round) {
    const int64_t size = round % 40 + 1;
    const Tensor other = round % 2 ? full({size}, 1.0) : full({size, round % 7 + 1}, 1.0);
    set_data(unwrap(tensor), unwrap(other));
  };
  run_all({
      step,
      step,
      [&](int64_t round) {
        const std::shared_ptr<Optimizer> optimizer = shared;
        const Optimizer::State state = optimizer->state(params[static_cast<size_t>(round % 3)]);
        optim::Options& options = optimizer->param_groups()[0]->options;
        switch (round % 5) {
          case 0:
            optimizer->clear_state();
            break;
          case 1:
            if (optimizer->param_groups().size() < 30)
              optimizer->add_param_group({{full({2, 2}, 1.0).requires_grad_()}});
            break;
          case 2:
            optimizer->load_state_dict(optimizer->state_dict());
            break;
          case 3:
            for (int i = 0; i < 20; ++i) state->set("entry " + std::to_string(i), full({3}, 1.0));
            for (int i = 0; i < 20; ++i) state->erase("entry " + std::to_string(i));
            break;
          default:
            options.set("lr", scalar(0.01));
            options.set("lr", 0.01);
            options.set("option " + std::to_string(round % 50), 1.5);
        }
      },
      [&](int64_t round) {
        bind(changing, round);
        if (round % 5 == 0 && changing.dim() == 2) {
          const Op& turn = op_table().at("transpose");
          view_in_place(turn, unwrap(changing), {int64_t{0}, int64_t{1}});
        }
        if (round % 200 == 0) clear_eager_plans();
      },
      [&](int64_t round) {
        const Tensor doubled = changing * 2.0;
        for (const double element : doubled.to_vector<double>()) expect(element == 2, "an element", element);
        for (const double element : changing.detach().clone().add_(1.0).to_vector<double>())
          expect(element == 2, "an element written in place", element);
        const Tensor fresh = full({round % 40 + 1}, 1.0) * 2.0;
        expect(fresh.numel() == round % 40 + 1, "the size of a fresh tensor", double(fresh.numel()));
      },
      [&](int64_t) {
        const double found = f(changing).item<double>();
        expect(found >= 1 && found <= 40 * 7, "a compiled call", found);
      },
      [&](int64_t) {
        // The gradient is accumulated without the lock.
        const Tensor loss = sum(watched * 3.0);
        loss.backward();
      },
      [&](int64_t round) {
        if (round % 3 == 0) {
          bind(watched, round);
          watched.set_grad(Tensor());
        } else if (Tensor gradient = watched.grad(); gradient.defined()) {
          set_data(unwrap(gradient), unwrap(full(gradient.shape(), 0.0)));
        }
      },
  });
}

}  // namespace
}  // namespace lucid
