#include "bindings/jit.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/call_key.h"
#include "bindings/call_table.h"
#include "bindings/gil.h"
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
  const nb::gil_scoped_acquire lock;
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
  for (TensorImpl* tensor : flat.tensors) tensors.append(to_object(TensorRef(tensor)));
  nb::list classes;
  for (PyObject* type : flat.classes) classes.append(nb::borrow(type));
  return nb::make_tuple(nb::bytes(flat.key.data(), flat.key.size()), tensors, classes);
}

nb::tuple compile_trace(PythonTracing& tracing, nb::handle arguments, nb::handle results, nb::handle state,
                        const std::string& name) {
  std::string obstacle;
  const std::vector<TensorRef> given = tensors_in(arguments);
  const std::vector<TensorRef> got = tensors_in(results);
  const std::vector<TensorRef> known = tensors_in(state);
  Ref<Program> program = Program::compile(tracing.context, given, got, known, name, nullptr, obstacle);
  if (!program) return nb::make_tuple(nb::none(), obstacle);
  return nb::make_tuple(ProgramHandle{std::move(program)}, nb::none());
}

}  // namespace

void bind_jit(nb::module_& module) {
  nb::class_<PythonTracing>(module, "Tracing")
      .def(nb::init<>())
      .def("stop", [](PythonTracing& self) { self.context.stop(); })
      .def_prop_ro("obstacle", [](PythonTracing& self) { return self.context.trace().obstacle; });
  nb::class_<ProgramHandle>(module, "Program")
      .def_prop_ro("text", [](const ProgramHandle& self) { return to_text(self.program->graph()); })
      .def_prop_ro("nodes", [](const ProgramHandle& self) { return self.program->graph().nodes.size(); })
      .def_prop_ro("kernels", [](const ProgramHandle& self) { return self.program->plan().steps.size(); })
      .def_prop_ro("arena_bytes", [](const ProgramHandle& self) { return self.program->plan().arena_bytes; })
      .def_prop_ro("passes", [](const ProgramHandle& self) { return to_text(self.program->report()); })
      .def_prop_ro("state", [](const ProgramHandle& self) { return to_list(self.program->state()); });
  module.def("flatten_call", &flatten_arguments, "args"_a, "kwargs"_a);
  bind_call_table(module);
  module.def("is_tracing", [] { return TracingContext::is_active(); });
  module.def("set_package_folder", [](std::string folder) { package_folder() = std::move(folder); });
  module.def("compile_trace", &compile_trace, "tracing"_a, "arguments"_a, "results"_a, "state"_a, "name"_a);
}

}  // namespace lucid::python
