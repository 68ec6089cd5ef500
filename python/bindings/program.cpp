#include <lucid/program.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/files.h"
#include "bindings/jit.h"
#include "bindings/tensor_object.h"
#include "bindings/tracing.h"
#include "data/output_file.h"
#include "program/example_calls.h"
#include "tensor/api.h"

namespace lucid::python {
namespace {

using namespace nb::literals;

/// (name, low, high).
using SymbolTuple = std::tuple<std::string, int64_t, int64_t>;

/// The contents of Python's `_core.ExampleCalls`: calls of a function that become a program.
struct PythonExamples {
  explicit PythonExamples(const std::string& name) { request.name = name; }

  program::ExportRequest request;
  program::ExampleCalls calls{"lucid.export", request};
};

void add_input(PythonExamples& self, const std::string& name, nb::handle example,
               const std::map<int64_t, SymbolTuple>& dynamic) {
  std::map<int64_t, program::Symbol> symbols;
  for (const auto& [dim, symbol] : dynamic)
    symbols[dim] = {std::get<0>(symbol), std::get<1>(symbol), std::get<2>(symbol)};
  self.calls.add_input(name, expect_tensor("export", example.ptr()), symbols);
}

/// `record` gets the index of an example, tensors and a name for their sizes, and returns a program with the names of
/// its state.
void record(PythonExamples& self, const std::vector<nb::object>& examples, const nb::callable& record) {
  std::vector<program::ExampleCalls::Example> tensors;
  for (const nb::object& example : examples) tensors.push_back(tensors_in(example));
  self.calls.record(tensors, [&](size_t index, const auto& given, const std::string& sizes) {
    const auto [handle, names] =
        nb::cast<std::tuple<ProgramHandle, std::vector<std::string>>>(record(index, tensor_list(given), sizes));
    return program::ExportedCall{.program = handle.program, .state_names = names};
  });
}

nb::list dims_of(const PythonExamples& self) {
  nb::list inputs;
  for (size_t i = 0; i < self.request.inputs.size(); ++i) {
    nb::list dims;
    for (const jit::TracedSizes::Dimension& each : self.calls.traced_dims(i))
      dims.append(nb::make_tuple(each.dim, each.range.low, each.range.high));
    inputs.append(dims);
  }
  return inputs;
}

/// Whether a program of some of the calls has one for these sizes.
bool has_sizes(const PythonExamples& self, const std::vector<int64_t>& sizes, const std::vector<size_t>& calls) {
  program::ExportRequest part{.name = self.request.name, .inputs = self.request.inputs};
  for (size_t i = 0; i < sizes.size(); ++i) part.symbols.push_back({self.request.symbols[i].name, sizes[i], sizes[i]});
  for (const size_t index : calls) part.calls.push_back(self.request.calls[index]);
  return !program::missing_sizes(part);
}

void write(const PythonExamples& self, const nb::bytes& path, const std::vector<std::string>& output_names,
           const std::string& structure, const std::vector<std::string>& targets,
           const std::optional<std::string>& symbol) {
  program::ExportRequest request = self.request;
  request.output_names = output_names;
  request.structure = structure;
  for (const std::string& target : targets) request.add_level(program::level_named(target));
  with_file([&, path = path_of(path)] {
    write_file("export", path, symbol ? program::export_object(request, *symbol) : program::export_program(request));
  });
}

nb::list run_program(const Program& self, nb::handle inputs) {
  std::vector<Tensor> tensors;
  for (const TensorRef& tensor : tensors_in(inputs)) tensors.push_back(wrap(tensor));
  nb::list results;
  for (const Tensor& result : self.run(tensors)) results.append(to_object(ref_of(result)));
  return results;
}

}  // namespace

void bind_program(nb::module_& module) {
  module.def("cpu_level", [] { return std::string(name_of(chosen_level())); });
  nb::class_<PythonExamples>(module, "ExampleCalls")
      .def(nb::init<const std::string&>(), "name"_a)
      .def("add_input", &add_input, "name"_a, "example"_a, "dynamic"_a)
      .def("record", &record, "examples"_a, "record"_a)
      .def(
          "resized",
          [](const PythonExamples& self, nb::handle example, const std::vector<int64_t>& sizes) {
            return tensor_list(program::ExampleCalls::copies_of(self.calls.resized(tensors_in(example), sizes)));
          },
          "example"_a, "sizes"_a)
      .def(
          "check", [](const PythonExamples& self, const PythonTracing& tracing) { self.calls.check(tracing.recorder); },
          "tracing"_a)
      .def("has_sizes", &has_sizes, "sizes"_a, "calls"_a)
      .def("write", &write, "path"_a, "output_names"_a, "structure"_a, "targets"_a, "symbol"_a.none())
      .def_prop_rw(
          "hint", [](const PythonExamples& self) { return self.calls.hint; },
          [](PythonExamples& self, const std::string& hint) { self.calls.hint = hint; })
      .def_prop_ro("bounds",
                   [](const PythonExamples& self) {
                     std::vector<std::tuple<int64_t, int64_t>> bounds;
                     for (const program::Symbol& symbol : self.request.symbols)
                       bounds.emplace_back(symbol.low, symbol.high);
                     return bounds;
                   })
      .def_prop_ro("dims", &dims_of)
      .def_prop_ro("sizes", [](const PythonExamples& self) {
        nb::list calls;
        for (const program::ExportedCall& call : self.request.calls)
          calls.append(nb::tuple(nb::cast(self.calls.sizes_of(call))));
        return calls;
      });
  nb::class_<Program>(module, "LoadedProgram")
      .def("run", &run_program, "inputs"_a)
      .def("copy", &Program::copy)
      .def("reset", &Program::reset)
      .def_prop_ro("name", &Program::name)
      .def_prop_ro("inputs", &Program::inputs)
      .def_prop_ro("outputs", &Program::outputs)
      .def_prop_ro("structure", &Program::structure)
      .def_prop_ro("state_names", &Program::state_names)
      .def("state", [](const Program& self, const std::string& name) { return to_object(ref_of(self.state(name))); })
      .def_prop_ro("graph", &Program::graph);
  module.def(
      "load_program",
      [](const nb::bytes& path, bool trusted) {
        return with_file([&, path = path_of(path)] { return Program::load(path, {.trusted = trusted}); });
      },
      "path"_a, "trusted"_a);
}

}  // namespace lucid::python
