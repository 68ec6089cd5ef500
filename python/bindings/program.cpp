#include <lucid/program.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "bindings/files.h"
#include "bindings/jit.h"
#include "bindings/tensor_object.h"
#include "bindings/tracing.h"
#include "data/output_file.h"
#include "program/export.h"
#include "tensor/api.h"

namespace lucid::python {
namespace {

using namespace nb::literals;

/// (name, low, high).
using SymbolTuple = std::tuple<std::string, int64_t, int64_t>;
/// A size as (number, symbol or -1).
using SizeTuple = std::tuple<int64_t, int32_t>;
/// (name, tensor of the dtype, sizes).
using InputTuple = std::tuple<std::string, nb::object, std::vector<SizeTuple>>;
/// (program, names of the state, shapes of the arguments).
using CallTuple = std::tuple<ProgramHandle, std::vector<std::string>, std::vector<std::vector<int64_t>>>;

program::ExportRequest request_of(const std::string& name, const std::vector<SymbolTuple>& symbols,
                                  const std::vector<InputTuple>& inputs, const std::vector<CallTuple>& calls) {
  program::ExportRequest request{.name = name};
  for (const auto& [symbol, low, high] : symbols) request.symbols.push_back({symbol, low, high});
  for (const auto& [input, tensor, sizes] : inputs) {
    program::Signature& signature = request.inputs.emplace_back();
    signature.name = input;
    signature.dtype = expect_tensor("export", tensor.ptr()).dtype();
    for (const auto& [number, symbol] : sizes) signature.shape.push_back({number, symbol});
  }
  for (const auto& [handle, names, shapes] : calls) request.calls.push_back({handle.program, names, shapes});
  return request;
}

void export_program(const nb::bytes& path, const std::string& name, const std::vector<SymbolTuple>& symbols,
                    const std::vector<InputTuple>& inputs, const std::vector<CallTuple>& calls,
                    const std::vector<std::string>& output_names, const std::string& structure,
                    const std::vector<std::string>& targets, const std::optional<std::string>& symbol) {
  program::ExportRequest request = request_of(name, symbols, inputs, calls);
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
  module.def("export_program", &export_program, "path"_a, "name"_a, "symbols"_a, "inputs"_a, "calls"_a,
             "output_names"_a, "structure"_a, "targets"_a, "symbol"_a.none());
  module.def(
      "missing_sizes",
      [](const std::string& name, const std::vector<SymbolTuple>& symbols, const std::vector<InputTuple>& inputs,
         const std::vector<CallTuple>& calls) {
        return program::missing_sizes(request_of(name, symbols, inputs, calls));
      },
      "name"_a, "symbols"_a, "inputs"_a, "calls"_a);
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
