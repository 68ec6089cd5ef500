#include "bindings/jit.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/compiled_callable.h"
#include "bindings/gil.h"
#include "bindings/graph.h"
#include "bindings/recorded_call.h"
#include "bindings/tensor_object.h"
#include "bindings/traced_size.h"
#include "bindings/tracing.h"
#include "capture/number_program.h"
#include "jit/shadow_run.h"

namespace lucid::python {
namespace {

using namespace nb::literals;

/// Compiles the plan on this thread, because passes may be written in Python. Returns None, or the reason why there is
/// no plan.
nb::object compile_now(const ProgramHandle& self, nb::handle passes) {
  const std::optional<PassList> list = to_passes(passes);
  const std::string obstacle = self.program->compile_now(list ? &*list : nullptr);
  return obstacle.empty() ? nb::none() : nb::cast(obstacle);
}

/// One line of text for each backward plan.
std::vector<std::string> backward_plans(const ProgramHandle& self) {
  std::vector<std::string> lines;
  for (const jit::BackwardPlanInfo& plan : self.program->recorded().outcome->gradients().backward_plans())
    lines.push_back(to_text(plan));
  return lines;
}

/// Runs the plan and returns its results. Returns None, without side effects, if the plan does not match or a check
/// failed.
nb::object run_program(const ProgramHandle& self, nb::handle arguments) {
  const std::vector<TensorRef> held = tensors_in(arguments);
  std::vector<TensorImpl*> pointers;
  for (const TensorRef& tensor : held) pointers.push_back(tensor.get());
  jit::Program::Handles handles;
  if (!self.program->fits(pointers, handles)) return nb::none();
  jit::CallResults results;
  jit::Program::Branch branch;
  if (!self.program->run(handles, results, branch)) return nb::none();
  nb::list list;
  for (size_t i = 0; i < results.size(); ++i) list.append(to_object(results.take(i)));
  return list;
}

/// Each step as (name, tiles, launches, locations, stages); a location is (area, index, offset) and a stage (name,
/// reads, writes), which index locations, then the buffers that only the stages use.
nb::list steps_of(const Plan& plan) {
  constexpr const char* kAreas[] = {"input", "output", "memory", "packed", "checks"};
  nb::list steps;
  for (const PlanStep& step : plan.steps) {
    nb::list locations;
    for (const Slot& slot : step.launches.front().slots)
      locations.append(nb::make_tuple(kAreas[static_cast<size_t>(slot.area)], slot.index, slot.byte_offset));
    nb::list stages;
    for (const PlanStep::Stage& stage : step.stages)
      stages.append(nb::make_tuple(stage.name, stage.reads, stage.writes));
    steps.append(nb::make_tuple(step.name, step.items(), step.launches.size(), locations, stages));
  }
  return steps;
}

}  // namespace

void bind_jit(nb::module_& module) {
  bind_graph(module);
  nb::class_<ProgramHandle>(module, "Program")
      .def_prop_ro(
          "graph",
          [](const ProgramHandle& self) { return GraphHandle{std::make_shared<IRGraph>(self.program->graph())}; })
      .def("compile_now", &compile_now, "passes"_a = nb::none())
      .def("run", &run_program, "arguments"_a)
      .def_prop_ro("backward_plans", &backward_plans)
      .def_prop_ro("text", [](const ProgramHandle& self) { return to_text(self.program->graph()); })
      .def_prop_ro("nodes", [](const ProgramHandle& self) { return self.program->graph().nodes.size(); })
      .def_prop_ro("kernels", [](const ProgramHandle& self) { return self.program->plan().kernel_count(); })
      .def_prop_ro("packing_names", [](const ProgramHandle& self) { return self.program->plan().kernel_names(true); })
      .def_prop_ro("arena_bytes", [](const ProgramHandle& self) { return self.program->plan().arena_bytes; })
      .def_prop_ro("plan_text", [](const ProgramHandle& self) { return to_text(self.program->plan()); })
      .def_prop_ro("steps", [](const ProgramHandle& self) { return steps_of(self.program->plan()); })
      .def_prop_ro("passes", [](const ProgramHandle& self) { return to_text(self.program->report()); })
      .def_prop_ro("state", [](const ProgramHandle& self) { return tensor_list(self.program->recorded().captured); });
  bind_recorded_call(module);
  bind_tracing(module);
  bind_traced_size(module);
  bind_numbers(module);
  bind_compiled_callable(module);
  module.def(
      "first_difference",
      [](nb::handle a, nb::handle b) {
        const auto tensor = [](nb::handle value) { return TensorRef(&expect_tensor("first_difference", value.ptr())); };
        return jit::first_difference(tensor(a), tensor(b));
      },
      "a"_a, "b"_a);
  module.def("backward_counters", [] {
    const jit::BackwardCounters counters = jit::backward_counters();
    return nb::make_tuple(counters.plans, counters.runs);
  });
  module.def("stop_compile_thread", [] {
    const GilRelease release;
    jit::stop_compile_thread();
  });
}

}  // namespace lucid::python
