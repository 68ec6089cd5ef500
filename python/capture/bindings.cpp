// Bindings of the watch, and of what a walk asks objects, for lucid.compiler only.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/error.h"
#include "base/small_vector.h"
#include "bindings/autograd.h"
#include "bindings/random.h"
#include "capture/builtins.h"
#include "capture/guard_bindings.h"
#include "capture/guards.h"
#include "capture/op_log.h"
#include "capture/watch.h"

namespace lucid::python {
namespace {

using namespace nb::literals;

/// What warnings.filters holds. C code, such as NumPy's, reads it when it warns.
nb::object warning_filters() {
  PyObject* module = PyDict_GetItemString(PyImport_GetModuleDict(), "warnings");
  PyObject* filters =
      module && PyModule_Check(module) ? PyDict_GetItemString(PyModule_GetDict(module), "filters") : nullptr;
  return filters && PyList_CheckExact(filters) ? checked(PyList_AsTuple(filters)) : nb::none();
}

void replace_in(const nb::list& locations) {
  for (nb::handle location : locations)
    to_location(nb::cast<nb::tuple>(location[0])).set(nb::object(location[1]).ptr());
}

void bind_watch(nb::module_& module) {
  nb::class_<Watch>(module, "Watch", nb::type_slots(collected_slots<Watch>()),
                    "Observes which functions run on this thread.")
      .def(nb::init<std::string, std::vector<std::string>, nb::object>(), "own"_a, "libraries"_a,
           "replay_log"_a.none() = nb::none())
      .def("start", &Watch::start)
      .def("stop", &Watch::stop)
      .def("clear", &Watch::clear, "Forgets what it has observed.")
      .def_prop_ro("saw_everything", &Watch::saw_everything)
      .def_prop_ro(
          "ran",
          [](const Watch& self) {
            nb::list list;
            for (const Watch::Ran& ran : self.ran()) list.append(nb::make_tuple(ran.code, ran.function));
            return list;
          },
          "(code, function or None) of the Python functions that ran.")
      .def_prop_ro(
          "called",
          [](const Watch& self) {
            nb::list list;
            for (const Watch::Called& called : self.called())
              list.append(nb::make_tuple(called.function, called.code, called.user_code, called.user_line));
            return list;
          },
          "(function, code, the user's code, its line) of the C functions called by code outside Lucid.");
  module.def(
      "call_log", [] { return Watch::current() ? Watch::current()->replay_log() : nb::none(); },
      "The replay log of the call that this thread records, or None.");
  module.def(
      "running_c_calls", [] { return Watch::current() ? Watch::current()->c_calls() : size_t{0}; },
      "The number of running C functions that the recorded call of this thread has called.");
}

}  // namespace

GuardSet& guards_in(nb::handle object) { return nb::cast<GuardSet&>(object); }

void bind_capture(nb::module_& module) {
  remember_builtins();
  bind_guards(module);
  bind_watch(module);
  bind_op_log(module);
  module.def(
      "object_in", [](const nb::tuple& location) { return nb::borrow(to_location(location).now()); }, "location"_a,
      "What a location of GuardSet.writes() holds.");
  module.def("replace_in", replace_in, "locations"_a,
             "Stores objects in locations of GuardSet.writes(), given as pairs. No other Python code runs meanwhile.");
  module.def(
      "end_retrace",
      [](const nb::list& locations, bool collects, nb::handle tracer) {
        replace_in(locations);
        if (collects) PyGC_Enable();
        nb::borrow(PySys_GetObject("settrace"))(tracer);
      },
      "locations"_a, "collects"_a, "tracer"_a.none(),
      "Puts objects back in locations, enables the garbage collector if it `collects`, and sets the trace function. An "
      "interrupt comes before all of this, or after it.");
  module.def(
      "is_only_thread",
      [] {
        PyThreadState* const first = PyInterpreterState_ThreadHead(PyInterpreterState_Get());
        return !PyThreadState_Next(first);
      },
      "Whether no other thread has run Python code, or is about to.");
  module.def(
      "generator_state",
      [](nb::handle generator) {
        return python::to_object(generator_or_default("generator_state", generator.ptr()).state_cell());
      },
      "generator"_a.none() = nb::none(), "The tensor that holds a generator's state, not a copy of it.");
  module.def("describe_module", describe_module, "module"_a,
             "(parameters, buffers, modules) with their names, and the functions of hooks around forward.");
  module.def("global_hook_functions", global_hook_functions);
  module.def(
      "tensor_hooks",
      [](nb::handle tensor) { return gradient_hook_functions(expect_tensor("tensor_hooks", tensor.ptr())); },
      "tensor"_a, "The functions of gradient hooks on a leaf.");
  module.def(
      "attributes_of",
      [](nb::handle object) {
        PyObject* dict = attributes_of(object.ptr());
        return dict ? nb::borrow(dict) : nb::none();
      },
      "object"_a, "The dict of an object's attributes, without asking the object; None if it has none.");
  module.def(
      "has_attribute_dict", [](nb::handle object) { return has_attribute_dict(object.ptr()); }, "object"_a,
      "Whether an object has a dict of attributes already. attributes_of() creates it.");
  module.def(
      "has_only_names",
      [](nb::handle dict) {
        expect_dict("has_only_names", dict);
        return has_only_names(dict.ptr());
      },
      "dict"_a, "Whether all keys are exact strs. False also for dicts that once had other keys.");
  module.def(
      "derives",
      [](nb::handle type, const nb::args& bases) {
        for (nb::handle base : bases)
          if (PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(type.ptr()),
                               reinterpret_cast<PyTypeObject*>(base.ptr())))
            return true;
        return false;
      },
      "type"_a, "bases"_a, "Whether a class derives from one of these, without asking its metaclass.");
  module.def("warning_filters", warning_filters, "The current warning filters, as a tuple; None if there are none.");
  module.def("class_dict", class_dict, "type"_a, "The dict of what a class says itself. Must not be changed.");
}

}  // namespace lucid::python
