#include "bindings/recorded_call.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/error.h"
#include "bindings/autograd.h"
#include "bindings/graph.h"
#include "bindings/jit.h"
#include "bindings/tensor_object.h"

namespace lucid::python {
namespace {

using namespace nb::literals;

jit::RecordedCall& call_of(RecordedCallHandle& self) {
  if (!self.call) throw RuntimeError("compile: a program has been made of this recorded call");
  return *self.call;
}

/// The contents of Python's `_core.FunctionGraph`.
struct FunctionHandle {
  jit::FunctionGraph function;
  std::vector<TensorRef> captured;

  size_t argument_count() const { return function.handles.size() - captured.size(); }
};

FunctionHandle function_of(RecordedCallHandle& self) {
  const jit::RecordedCall& call = call_of(self);
  FunctionHandle handle{call.function(), call.captured};
  if (!handle.function.obstacle.empty())
    throw RuntimeError("the recording cannot become a graph: it {}", handle.function.obstacle);
  handle.function.handles.resize(call.argument_count() + call.captured.size());  // without gradients
  return handle;
}

GraphHandle graph_of(RecordedCallHandle& self) {
  jit::CallGraph call = call_of(self).graph();
  if (!call.obstacle.empty()) throw RuntimeError("the recording cannot become a graph: it {}", call.obstacle);
  return {std::make_shared<IRGraph>(std::move(call.graph))};
}

nb::dict captured_tensors(const FunctionHandle& self) {
  nb::dict captured;
  for (size_t i = 0; i < self.captured.size(); ++i)
    captured[nb::cast(self.function.handles[self.argument_count() + i])] = to_object(self.captured[i]);
  return captured;
}

nb::dict constants_of(const FunctionHandle& self) {
  nb::dict constants;
  for (const auto& [id, contents] : self.function.constants) {
    const TensorType& type = self.function.graph.type(id);
    const Dims strides = contiguous_strides(type.shape);
    constants[nb::cast(id)] =
        to_object(make_ref<TensorImpl>(type.dtype, type.shape, strides, 0, make_ref<Cell>(contents->copy())));
  }
  return constants;
}

/// What must hold for the symbols of a call whose sizes are traced.
std::vector<std::string> conditions_of(RecordedCallHandle& self) {
  const auto& sizes = call_of(self).record.sizes;
  return sizes ? sizes->trace.conditions() : std::vector<std::string>();
}

nb::list captured_by(RecordedCallHandle& self) { return tensor_list(call_of(self).captured); }

/// The Python objects that copies of the gradient graph share, as (description, object).
nb::list shared_objects(RecordedCallHandle& self) {
  nb::list objects;
  for (const Ref<GradNode>& node : call_of(self).outcome->gradients().nodes()) list_shared_objects(*node, objects);
  return objects;
}

}  // namespace

Ref<jit::Program> take_program(RecordedCallHandle& handle) {
  auto program = make_ref<jit::Program>(std::move(call_of(handle)));
  handle.call.reset();
  return program;
}

void bind_recorded_call(nb::module_& module) {
  nb::class_<FunctionHandle>(module, "FunctionGraph")
      .def_prop_ro(
          "graph",
          [](const FunctionHandle& self) { return GraphHandle{std::make_shared<IRGraph>(self.function.graph)}; })
      .def_prop_ro("argument_ids",
                   [](const FunctionHandle& self) {
                     const auto& handles = self.function.handles;
                     return std::vector<ValueId>(handles.begin(),
                                                 handles.begin() + static_cast<std::ptrdiff_t>(self.argument_count()));
                   })
      .def(
          "run_passes",
          [](FunctionHandle& self, nb::handle passes) {
            const std::optional<PassList> list = to_passes(passes);
            jit::run_passes(self.function, list ? &*list : nullptr);
          },
          "passes"_a.none())
      .def_prop_ro("captured", &captured_tensors)
      .def_prop_ro("constants", &constants_of);
  nb::class_<RecordedCallHandle>(module, "RecordedCall")
      .def_prop_ro("graph", &graph_of)
      .def("function", &function_of)
      .def("program", [](RecordedCallHandle& self) { return ProgramHandle{take_program(self)}; })
      .def_prop_ro("captured", &captured_by)
      .def_prop_ro("conditions", &conditions_of)
      .def_prop_ro("reads_values", [](RecordedCallHandle& self) { return !call_of(self).branch.empty(); })
      .def_prop_ro("kept", &shared_objects);
}

}  // namespace lucid::python
