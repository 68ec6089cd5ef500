#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "optim/schedule.h"

namespace lucid::optim {
namespace {

using View = RateRule::View;
using std::numbers::pi;

int64_t milestones_up_to(const View& v, int64_t epoch) {
  const Tree::List& milestones = v.values.at("milestones").as_items("MultiStepLR: milestones");
  return std::count_if(milestones.begin(), milestones.end(),
                       [&](const Tree& item) { return item.as_integer("MultiStepLR: a milestone") <= epoch; });
}

/// Half a cosine wave from 1 at epoch 0 to 0 at `length`.
double wave(double epoch, double length) { return (1 + std::cos(pi * epoch / length)) / 2; }

RateRule step_lr() {
  return {.name = "StepLR",
          .signature = "(step_size: int, gamma: float = 0.1, last_epoch: int = -1)",
          .next =
              [](const View& v, double rate, double) {
                return v.epoch == 0 || v.epoch % v.integer("step_size") != 0 ? rate : rate * v.real("gamma");
              },
          .closed =
              [](const View& v, double base) {
                const int64_t steps = v.epoch / v.integer("step_size");
                return base * std::pow(v.real("gamma"), static_cast<double>(steps));
              },
          .check =
              [](const View& v) {
                require_period("StepLR", v.values, "step_size", 1);
                v.real("gamma");
              }};
}

RateRule multi_step_lr() {
  return {.name = "MultiStepLR",
          .signature = "(milestones: epochs, gamma: float = 0.1, last_epoch: int = -1)",
          .next =
              [](const View& v, double rate, double) {
                const int64_t passed = milestones_up_to(v, v.epoch) - milestones_up_to(v, v.epoch - 1);
                return passed ? rate * std::pow(v.real("gamma"), static_cast<double>(passed)) : rate;
              },
          .closed =
              [](const View& v, double base) {
                return base * std::pow(v.real("gamma"), static_cast<double>(milestones_up_to(v, v.epoch)));
              },
          .check =
              [](const View& v) {
                milestones_up_to(v, 0);
                v.real("gamma");
              }};
}

RateRule constant_lr() {
  return {.name = "ConstantLR",
          .signature = "(factor: float = 0.3333333333333333, total_iters: int = 5, last_epoch: int = -1)",
          .next =
              [](const View& v, double rate, double) {
                if (v.epoch == 0) return rate * v.real("factor");
                return v.epoch == v.integer("total_iters") ? rate * (1 / v.real("factor")) : rate;
              },
          .closed = [](const View& v,
                       double base) { return base * (v.epoch >= v.integer("total_iters") ? 1.0 : v.real("factor")); },
          .check =
              [](const View& v) {
                if (!(v.real("factor") >= 0 && v.real("factor") <= 1))
                  throw ValueError("ConstantLR: factor must be between 0 and 1, got {}", v.real("factor"));
                v.integer("total_iters");
              }};
}

RateRule linear_lr() {
  return {.name = "LinearLR",
          .signature =
              "(start_factor: float = 0.3333333333333333, end_factor: float = 1.0, total_iters: int = 5, "
              "last_epoch: int = -1)",
          .next =
              [](const View& v, double rate, double) {
                const double start = v.real("start_factor");
                const double change = v.real("end_factor") - start;
                const auto total = static_cast<double>(v.integer("total_iters"));
                if (v.epoch == 0) return rate * start;
                if (v.initial || v.epoch > v.integer("total_iters")) return rate;
                return rate * (1 + change / (total * start + static_cast<double>(v.epoch - 1) * change));
              },
          .closed =
              [](const View& v, double base) {
                const double start = v.real("start_factor");
                const int64_t total = v.integer("total_iters");
                if (total <= 0) return base * v.real("end_factor");
                const auto done = static_cast<double>(std::min(total, v.epoch));
                return base * (start + (v.real("end_factor") - start) * done / static_cast<double>(total));
              },
          .check =
              [](const View& v) {
                if (!(v.real("start_factor") > 0 && v.real("start_factor") <= 1))
                  throw ValueError("LinearLR: start_factor must be above 0 and at most 1, got {}",
                                   v.real("start_factor"));
                if (!(v.real("end_factor") >= 0 && v.real("end_factor") <= 1))
                  throw ValueError("LinearLR: end_factor must be between 0 and 1, got {}", v.real("end_factor"));
                v.integer("total_iters");
              }};
}

RateRule exponential_lr() {
  return {.name = "ExponentialLR",
          .signature = "(gamma: float, last_epoch: int = -1)",
          .next = [](const View& v, double rate, double) { return v.initial ? rate : rate * v.real("gamma"); },
          .closed = [](const View& v,
                       double base) { return base * std::pow(v.real("gamma"), static_cast<double>(v.epoch)); },
          .check = [](const View& v) { v.real("gamma"); }};
}

RateRule polynomial_lr() {
  return {.name = "PolynomialLR",
          .signature = "(total_iters: int = 5, power: float = 1.0, last_epoch: int = -1)",
          .next =
              [](const View& v, double rate, double) {
                const int64_t total = v.integer("total_iters");
                if (v.initial || v.epoch > total) return rate;
                const auto left = [&](int64_t epoch) {
                  return 1 - static_cast<double>(epoch) / static_cast<double>(total);
                };
                return rate * std::pow(left(v.epoch) / left(v.epoch - 1), v.real("power"));
              },
          .closed =
              [](const View& v, double base) {
                const int64_t total = v.integer("total_iters");
                const double done = static_cast<double>(std::min(total, v.epoch)) / static_cast<double>(total);
                return base * std::pow(1 - done, v.real("power"));
              },
          .check =
              [](const View& v) {
                require_period("PolynomialLR", v.values, "total_iters", 1);
                v.real("power");
              }};
}

RateRule cosine_annealing_lr() {
  return {.name = "CosineAnnealingLR",
          .signature = "(T_max: int, eta_min: float = 0.0, last_epoch: int = -1)",
          .next =
              [](const View& v, double rate, double base) {
                const int64_t length = v.integer("T_max");
                const auto total = static_cast<double>(length);
                const double low = v.real("eta_min");
                if (v.initial) return rate;
                if (v.steps == 1 && v.epoch > 0) return low + (base - low) * wave(static_cast<double>(v.epoch), total);
                // At the bottom of the wave the ratio of successive values is 0 / 0.
                if ((v.epoch - 1 - length) % (2 * length) == 0)
                  return rate + (base - low) * (1 - std::cos(pi / total)) / 2;
                const double now = 1 + std::cos(pi * static_cast<double>(v.epoch) / total);
                const double before = 1 + std::cos(pi * static_cast<double>(v.epoch - 1) / total);
                return now / before * (rate - low) + low;
              },
          .closed =
              [](const View& v, double base) {
                const double low = v.real("eta_min");
                return low + (base - low) * wave(static_cast<double>(v.epoch), static_cast<double>(v.integer("T_max")));
              },
          .check =
              [](const View& v) {
                require_period("CosineAnnealingLR", v.values, "T_max", 1);
                v.real("eta_min");
              }};
}

}  // namespace

const std::vector<RateRule>& rate_rules() {
  // Never destroyed: used until the process ends.
  static const auto& rules = *new std::vector<RateRule>{
      step_lr(), multi_step_lr(), constant_lr(), linear_lr(), exponential_lr(), polynomial_lr(), cosine_annealing_lr()};
  return rules;
}

}  // namespace lucid::optim
