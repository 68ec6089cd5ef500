#include "bindings/jit.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <map>

#include "base/error.h"
#include "bindings/autograd.h"
#include "bindings/call_key.h"
#include "bindings/call_table.h"
#include "bindings/convert.h"
#include "bindings/gil.h"
#include "bindings/graph.h"
#include "bindings/tensor_object.h"
#include "jit/program.h"

namespace lucid::python {
namespace {

using namespace nb::literals;
using jit::Program;
using jit::TracingContext;

/// The folder of this package: its own frames are no user's.
std::string& package_folder() {
  static std::string folder;
  return folder;
}

/// "example.py:4" of the innermost frame outside the package.
std::string source_of_frame() {
  PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
  std::string source;
  while (frame && source.empty()) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    const char* file = PyUnicode_AsUTF8(code->co_filename);
    if (!file) PyErr_Clear();
    const std::string_view path = file ? file : "";
    if (!path.starts_with(package_folder())) {
      const size_t slash = path.rfind('/');
      source = std::string(slash == std::string_view::npos ? path : path.substr(slash + 1)) + ":" +
               std::to_string(PyFrame_GetLineNumber(frame));
    }
    Py_DECREF(code);
    PyFrameObject* back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  Py_XDECREF(frame);
  return source;
}

std::string source_of_user() {
  const GilAcquire lock;
  return source_of_frame();
}

std::vector<TensorRef> tensors_in(nb::handle sequence) {
  std::vector<TensorRef> tensors;
  for (nb::handle item : sequence) tensors.emplace_back(&expect_tensor("compile", item.ptr()));
  return tensors;
}

/// A recording of one call, from its making to stop().
struct PythonTracing {
  TracingContext context{source_of_user};
};

nb::object to_list(std::span<const TensorRef> tensors) {
  nb::list list;
  for (const TensorRef& tensor : tensors) list.append(to_object(tensor));
  return list;
}

/// (key, tensors, classes that the key names)
nb::tuple flatten_arguments(nb::tuple args, nb::dict kwargs) {
  std::vector<PyObject*> values;
  for (nb::handle value : args) values.push_back(value.ptr());
  nb::object names = checked(PyTuple_New(PyDict_GET_SIZE(kwargs.ptr())));
  Py_ssize_t at = 0;
  for (auto [name, value] : kwargs) {
    PyTuple_SET_ITEM(names.ptr(), at++, Py_NewRef(name.ptr()));
    values.push_back(value.ptr());
  }
  Flattened flat;
  flatten_call(values.data(), PyTuple_GET_SIZE(args.ptr()), names.ptr(), flat);
  nb::list tensors;
  for (TensorImpl* tensor : flat.tensors()) tensors.append(to_object(TensorRef(tensor)));
  nb::list classes;
  for (PyObject* type : flat.classes) classes.append(nb::borrow(type));
  return nb::make_tuple(nb::bytes(flat.key.data(), flat.key.size()), tensors, classes);
}

/// Why no plan can be made of a recording. That memory ran out may be different next time, so it is raised instead.
const std::string& lasting(const std::string& obstacle) {
  if (obstacle == jit::kOutOfMemory) throw MemoryError("compile: out of memory while the call was recorded");
  return obstacle;
}

nb::tuple record_trace(PythonTracing& tracing, nb::handle arguments, nb::handle results, nb::handle state,
                       const std::string& name) {
  std::string obstacle;
  const std::vector<TensorRef> given = tensors_in(arguments);
  const std::vector<TensorRef> got = tensors_in(results);
  const std::vector<TensorRef> known = tensors_in(state);
  Ref<Program> program = Program::record(tracing.context, given, got, known, name, obstacle);
  if (!program) return nb::make_tuple(nb::none(), lasting(obstacle));
  return nb::make_tuple(ProgramHandle{std::move(program)}, nb::none());
}

/// Makes the plan here, on this thread: passes may be Python's. Returns why there can be none, or None.
nb::object compile_now(const ProgramHandle& self, nb::handle passes) {
  const PassList list = passes.is_none() ? PassList() : to_passes(passes);
  const std::string obstacle = self.program->compile_now(passes.is_none() ? nullptr : &list);
  return obstacle.empty() ? nb::none() : nb::cast(obstacle);
}

/// How often a thread that waits looks for signals.
constexpr std::chrono::milliseconds kPatience(20);

/// Waits for the compile thread; an interrupt ends the waiting, not the compiling.
void wait_for(const ProgramHandle& self) {
  for (;;) {
    {
      const GilRelease release;
      if (self.program->wait(kPatience)) return;
    }
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }
}

/// Takes the plan in that the compile thread has made. Returns why there can be none, or None.
nb::object finish(const ProgramHandle& self) {
  const std::string obstacle = self.program->finish();
  return obstacle.empty() ? nb::none() : nb::cast(obstacle);
}

/// Handles on the memory from outside that the call touched.
nb::list met(PythonTracing& self) {
  nb::list tensors;
  for (const jit::TracedCell& cell : self.context.trace().cells)
    if (cell.handle) tensors.append(to_object(cell.handle));
  return tensors;
}

/// Numbers what ops read and wrote in the order of being met.
class PlaceNumbers {
 public:
  int64_t operator()(const jit::Place& place) {
    return numbers_.try_emplace(key_of(place), static_cast<int64_t>(numbers_.size())).first->second;
  }

 private:
  using Key = std::tuple<int32_t, int32_t, Dtype, std::vector<int64_t>>;
  static Key key_of(const jit::Place& place) {
    std::vector<int64_t> geometry(place.geometry.sizes.begin(), place.geometry.sizes.end());
    geometry.insert(geometry.end(), place.geometry.strides.begin(), place.geometry.strides.end());
    geometry.push_back(place.geometry.offset);
    return {place.cell, place.version, place.dtype, std::move(geometry)};
  }

  std::map<Key, int64_t> numbers_;
};

/// What ran, one (op, inputs, outputs, shape of the first output, source) for each; the call's inputs are numbered
/// first.
nb::list records(PythonTracing& self, nb::handle inputs) {
  PlaceNumbers numbers;
  for (const TensorRef& input : tensors_in(inputs)) {
    jit::Place place = self.context.place_of(*input);
    place.version = 0;
    numbers(place);
  }
  nb::list list;
  for (const jit::Event& event : *self.context.trace().events) {
    if (!event.op) continue;
    nb::list reads;
    for (const jit::TracedOperand& operand : event.operands)
      if (operand.place) reads.append(numbers(*operand.place));
    nb::list writes;
    for (const jit::Place& place : event.results) writes.append(numbers(place));
    list.append(nb::make_tuple(event.op->name(), reads, writes,
                               checked(from_ints(event.results.front().geometry.sizes)), event.source));
  }
  return list;
}

/// Python's objects that copies of the gradient graph share, each with what it is.
nb::list kept_objects(const ProgramHandle& self) {
  nb::list kept;
  for (const Ref<GradNode>& node : self.program->outcome().gradients().nodes()) list_kept(*node, kept);
  return kept;
}

/// A line of text for each.
std::vector<std::string> backward_plans(const ProgramHandle& self) {
  std::vector<std::string> lines;
  for (const jit::BackwardPlanInfo& plan : self.program->outcome().gradients().backward_plans())
    lines.push_back(to_text(plan));
  return lines;
}

/// The results of a plan, or None where it does not fit or a check failed: then nothing has happened.
nb::object run_program(const ProgramHandle& self, nb::handle arguments) {
  const std::vector<TensorRef> held = tensors_in(arguments);
  std::vector<TensorImpl*> pointers;
  for (const TensorRef& tensor : held) pointers.push_back(tensor.get());
  if (!self.program->fits(pointers)) return nb::none();
  const auto results = self.program->run(pointers);
  return results ? to_list(*results) : nb::none();
}

/// The steps of every call, or those that pack an input and run again only when it has changed.
std::vector<std::string> kernel_names(const Plan& plan, bool packing) {
  std::vector<std::string> names;
  for (const PlanStep& step : plan.steps)
    if ((step.packs >= 0) == packing) names.push_back(step.name);
  return names;
}

/// Each step as (name, units, launches, places, turns); a place is (area, index, offset) and a turn (name, reads,
/// writes), which number places, then what the turns alone see.
nb::list steps_of(const Plan& plan) {
  constexpr const char* kAreas[] = {"input", "output", "memory", "packed", "checks"};
  nb::list steps;
  for (const PlanStep& step : plan.steps) {
    nb::list places;
    for (const Slot& slot : step.parts.front().slots)
      places.append(nb::make_tuple(kAreas[static_cast<size_t>(slot.area)], slot.index, slot.byte_offset));
    nb::list turns;
    for (const PlanStep::Turn& turn : step.turns) turns.append(nb::make_tuple(turn.name, turn.reads, turn.writes));
    steps.append(nb::make_tuple(step.name, step.items(), step.parts.size(), places, turns));
  }
  return steps;
}

}  // namespace

void bind_jit(nb::module_& module) {
  nb::class_<PythonTracing>(module, "Tracing")
      .def(nb::init<>())
      .def("stop", [](PythonTracing& self) { self.context.stop(); })
      .def_prop_ro("met", &met)
      .def("records", &records, "inputs"_a)
      .def_prop_ro("obstacle", [](PythonTracing& self) { return lasting(self.context.trace().obstacle); });
  bind_graph(module);
  nb::class_<ProgramHandle>(module, "Program")
      .def_prop_ro(
          "graph",
          [](const ProgramHandle& self) { return GraphHandle{std::make_shared<IRGraph>(self.program->graph())}; })
      .def("compile_now", &compile_now, "passes"_a = nb::none())
      .def("compile_later", [](const ProgramHandle& self) { self.program->compile_later(); })
      .def("wait", &wait_for)
      .def("finish", &finish)
      .def("run", &run_program, "arguments"_a)
      .def_prop_ro("kept", &kept_objects)
      .def_prop_ro("backward_plans", &backward_plans)
      .def_prop_ro("text", [](const ProgramHandle& self) { return to_text(self.program->graph()); })
      .def_prop_ro("nodes", [](const ProgramHandle& self) { return self.program->graph().nodes.size(); })
      .def_prop_ro("kernels", [](const ProgramHandle& self) { return self.program->plan().kernel_count(); })
      .def_prop_ro("kernel_names", [](const ProgramHandle& self) { return kernel_names(self.program->plan(), false); })
      .def_prop_ro("packing_names", [](const ProgramHandle& self) { return kernel_names(self.program->plan(), true); })
      .def_prop_ro("arena_bytes", [](const ProgramHandle& self) { return self.program->plan().arena_bytes; })
      .def_prop_ro("plan_text", [](const ProgramHandle& self) { return to_text(self.program->plan()); })
      .def_prop_ro("steps", [](const ProgramHandle& self) { return steps_of(self.program->plan()); })
      .def_prop_ro("passes", [](const ProgramHandle& self) { return to_text(self.program->report()); })
      .def_prop_ro("state", [](const ProgramHandle& self) { return to_list(self.program->state()); });
  module.def("flatten_call", &flatten_arguments, "args"_a, "kwargs"_a);
  bind_call_table(module);
  module.def("backward_counters", [] {
    const jit::BackwardCounters counters = jit::backward_counters();
    return nb::make_tuple(counters.plans, counters.runs);
  });
  module.def("is_tracing", [] { return TracingContext::is_active(); });
  module.def("set_package_folder", [](std::string folder) { package_folder() = std::move(folder); });
  module.def("record_trace", &record_trace, "tracing"_a, "arguments"_a, "results"_a, "state"_a, "name"_a);
  module.def("wait_for_compile_tasks", [] {
    const GilRelease release;
    jit::wait_for_compile_tasks();
  });
  module.def("stop_compile_thread", [] {
    const GilRelease release;
    jit::stop_compile_thread();
  });
}

}  // namespace lucid::python
