#include <lucid/lr_scheduler.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/error.h"
#include "bindings/gil.h"
#include "bindings/optim.h"
#include "bindings/tensor_object.h"
#include "bindings/tree.h"
#include "tensor/api.h"

namespace lucid::python {
namespace {

using namespace nb::literals;
using optim::LRScheduler;
using optim::Optimizer;

struct ScheduleHandle {
  std::shared_ptr<Optimizer> optimizer;  // outlives the schedule
  std::shared_ptr<LRScheduler> schedule;
};

optim::RateFunctions functions_of(nb::handle functions) {
  optim::RateFunctions result;
  for (nb::handle function : functions)
    result.push_back([held = SharedObject(nb::borrow(function))](int64_t epoch) {
      const GilAcquire lock;
      return nb::cast<double>(nb::float_(held.get()(epoch)));
    });
  return result;
}

std::vector<std::shared_ptr<LRScheduler>> schedules_of(nb::handle schedules) {
  std::vector<std::shared_ptr<LRScheduler>> result;
  for (nb::handle item : schedules) result.push_back(nb::cast<ScheduleHandle&>(item).schedule);
  return result;
}

}  // namespace

void bind_schedules(nb::module_& module) {
  nb::class_<ScheduleHandle>(module, "Schedule", "A learning rate schedule, for lucid.optim.lr_scheduler.")
      .def_static(
          "make",
          [](const std::string& name, nb::handle optimizer, nb::handle options, nb::handle functions) {
            const auto held = optimizer_in(optimizer);
            const Tree given = to_tree(name, options, Unsupported::kReject);
            return ScheduleHandle{held,
                                  make_scheduler(name, *held, given.as_dict(name.c_str()), functions_of(functions))};
          },
          "name"_a, "optimizer"_a, "options"_a, "functions"_a)
      .def_static(
          "make_custom",
          [](nb::handle optimizer, nb::object rates, int64_t last_epoch) {
            const auto held = optimizer_in(optimizer);
            auto function = [rates = SharedObject(std::move(rates))](const LRScheduler& schedule) {
              const GilAcquire lock;
              return nb::cast<std::vector<double>>(rates.get()(schedule.last_epoch(), schedule.base_lrs()));
            };
            return ScheduleHandle{held, optim::make_scheduler(*held, std::move(function), last_epoch)};
          },
          "optimizer"_a, "rates"_a, "last_epoch"_a)
      .def_static(
          "make_sequential",
          [](nb::handle optimizer, nb::handle schedules, std::vector<int64_t> milestones, int64_t last_epoch) {
            const auto held = optimizer_in(optimizer);
            return ScheduleHandle{
                held, optim::make_sequential(*held, schedules_of(schedules), std::move(milestones), last_epoch)};
          },
          "optimizer"_a, "schedules"_a, "milestones"_a, "last_epoch"_a)
      .def_static(
          "make_chained",
          [](nb::handle optimizer, nb::handle schedules) {
            return ScheduleHandle{optimizer_in(optimizer), optim::make_chained(schedules_of(schedules))};
          },
          "optimizer"_a, "schedules"_a)
      .def("step", [](ScheduleHandle& self) { self.schedule->step(); })
      .def(
          "can_repeat_step",
          [](ScheduleHandle& self) { return !self.schedule->is_early() && self.schedule->only_computes(); },
          "Whether the next step neither warns, nor fails, nor runs code of the user.")
      .def(
          "acts_on",
          [](ScheduleHandle& self, nb::handle optimizer) { return optimizer_in(optimizer) == self.optimizer; },
          "optimizer"_a)
      .def(
          "cells",
          [](ScheduleHandle& self) {
            nb::list cells;
            for (const auto& group : self.optimizer->param_groups())
              for (const Tensor& cell : group->options.cells()) cells.append(to_object(ref_of(cell)));
            return cells;
          },
          "The tensors that hold the numbers among the options of the optimizer.")
      .def(
          "step_to", [](ScheduleHandle& self, int64_t epoch) { self.schedule->step_to(epoch); }, "epoch"_a)
      .def(
          "observe", [](ScheduleHandle& self, double metric) { self.schedule->observe(metric); }, "metric"_a)
      .def_prop_ro("is_early", [](ScheduleHandle& self) { return self.schedule->is_early(); })
      .def_prop_ro("last_epoch", [](ScheduleHandle& self) { return self.schedule->last_epoch(); })
      .def_prop_ro("base_lrs", [](ScheduleHandle& self) { return self.schedule->base_lrs(); })
      .def("get_last_lr", [](ScheduleHandle& self) { return self.schedule->get_last_lr(); })
      .def("state_dict", [](ScheduleHandle& self) { return from_tree(self.schedule->state_dict()); })
      .def(
          "load_state_dict",
          [](ScheduleHandle& self, nb::handle state) {
            self.schedule->load_state_dict(to_tree("lr_scheduler: state_dict", state, Unsupported::kReject));
          },
          "state_dict"_a)
      .def(
          "option",
          [](ScheduleHandle& self, const std::string& name) -> nb::object {
            if (const Tree* found = self.schedule->find(name)) return from_tree(*found);
            throw nb::attribute_error(name.c_str());
          },
          "name"_a);
}

}  // namespace lucid::python
