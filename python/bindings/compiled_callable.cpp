#include "bindings/compiled_callable.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <structmember.h>

#include "bindings/jit.h"
#include "bindings/python_call.h"
#include "jit/plan_table_calls.h"
#include "jit/shadow_run.h"

namespace lucid::python {

PyTypeObject* compiled_callable_type = nullptr;

namespace {

using jit::PlanTable;
using jit::TablePlan;

struct CallableObject {
  PyObject ob_base;
  vectorcallfunc vectorcall;
  CallTarget target;
  std::shared_ptr<PlanTable>* table;
  Parts* parts;
  PyObject* attributes;
  PyObject* weak_references;
};

CallableObject& callable(PyObject* self) { return *reinterpret_cast<CallableObject*>(self); }

PlanTable& table_of(PyObject* self) {
  CallableObject& object = callable(self);
  if (!*object.table) throw RuntimeError("CompiledCallable: connect() has not been called");
  return **object.table;
}

PyObject* call(PyObject* self, PyObject* const* values, size_t flagged_count, PyObject* names) {
  return guarded([&]() -> PyObject* {
    CallableObject& object = callable(self);
    // Inside another recording, the call is part of that recording.
    if (jit::TracingContext::is_active())
      return PyObject_Vectorcall(object.target.function, values, flagged_count, names);
    // Held: the call may destroy the callable.
    const std::shared_ptr<PlanTable> table = *object.table;
    if (!table) throw RuntimeError("CompiledCallable: connect() has not been called");
    // A debugger stops only in code that runs.
    if (PyThreadState_Get()->c_tracefunc) [[unlikely]] {
      table->log_eager_call("a trace function is set");
      return PyObject_Vectorcall(object.target.function, values, flagged_count, names);
    }
    return table->call(PythonCall(object.target, values, flagged_count, names));
  });
}

// ---- Queries.

/// The arguments of a call in vectorcall's layout.
struct ArgumentVector {
  ArgumentVector(const nb::tuple& args, const nb::dict& kwargs)
      : names(checked(PyTuple_New(Py_ssize_t(kwargs.size())))) {
    for (nb::handle value : args) values.push_back(value.ptr());
    positional = static_cast<Py_ssize_t>(values.size());
    for (auto [name, value] : kwargs) {
      PyTuple_SET_ITEM(names.ptr(), static_cast<Py_ssize_t>(values.size()) - positional, Py_NewRef(name.ptr()));
      values.push_back(value.ptr());
    }
  }

  std::vector<PyObject*> values;
  Py_ssize_t positional = 0;
  nb::object names;
};

/// Calls `use` with the table and the call that `arguments` (a tuple and a dict) describe.
template <typename Use>
PyObject* with_call(PyObject* self, PyObject* const* arguments, Py_ssize_t count, const Use& use) {
  return guarded([&]() -> PyObject* {
    if (count != 2 || !PyTuple_Check(arguments[0]) || !PyDict_Check(arguments[1]))
      throw TypeError("CompiledCallable: expected a tuple and a dict");
    const ArgumentVector vector(nb::borrow<nb::tuple>(arguments[0]), nb::borrow<nb::dict>(arguments[1]));
    PlanTable& table = table_of(self);
    table.finish_recordings();
    return use(table, PythonCall(callable(self).target, vector.values.data(), static_cast<size_t>(vector.positional),
                                 vector.names.ptr()))
        .release()
        .ptr();
  });
}

/// find(args, kwargs): the program that a call with these arguments would run, or None.
PyObject* find(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return with_call(self, arguments, count, [](PlanTable& table, const PythonCall& call) -> nb::object {
    const Ref<TablePlan> plan = table.find(call);
    return plan ? nb::cast(ProgramHandle{plan->program}) : nb::none();
  });
}

/// time_steps(args, kwargs): runs the plan of a call with these arguments without any effect. Returns its text with the
/// times of its steps, or None if there is no plan.
PyObject* time_steps(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return with_call(self, arguments, count, [](PlanTable& table, const PythonCall& call) -> nb::object {
    jit::Program::Handles handles;
    const Ref<TablePlan> plan = table.find(call, handles);
    return plan ? nb::cast(jit::ShadowRun::text_with_times(*plan->program, handles)) : nb::none();
  });
}

/// explain_call(args, kwargs): describes what a call with these arguments would do now.
PyObject* explain_call(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return with_call(self, arguments, count, [](PlanTable& table, const PythonCall& call) -> nb::object {
    const Ref<TablePlan> found = table.find(call);
    const Ref<TablePlan> newest = table.newest(call.key());
    return nb::cast(
        table.explain_call(call.key(), found.get(), newest && !found ? call.difference(*newest) : std::string()));
  });
}

/// eager_reason(args, kwargs): why a call with these arguments runs eagerly, or None.
PyObject* eager_reason(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return with_call(self, arguments, count, [](PlanTable& table, const PythonCall& call) -> nb::object {
    const std::string reason = table.reason(call.key());
    return reason.empty() ? nb::none() : nb::cast(reason);
  });
}

template <typename Use>
PyObject* with_table(PyObject* self, const Use& use) {
  return guarded([&]() -> PyObject* { return nb::object(use(table_of(self))).release().ptr(); });
}

/// add_fixed(structure, fixed): calls with this structure depend on these numbers, which are positions in the key and
/// names of locations.
PyObject* add_fixed(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return with_table(self, [&](PlanTable& table) -> nb::object {
    if (count != 2) throw TypeError("CompiledCallable.add_fixed: expected 2 arguments, got {}", count);
    const auto structure = nb::cast<nb::bytes>(nb::handle(arguments[0]));
    jit::FixedNumbers fixed;
    for (nb::handle each : nb::handle(arguments[1])) {
      if (nb::isinstance<nb::str>(each))
        fixed.locations.insert(nb::cast<std::string>(each));
      else
        fixed.positions.insert(nb::cast<uint32_t>(each));
    }
    table.add_fixed({structure.c_str(), structure.size()}, std::move(fixed));
    return nb::none();
  });
}

/// The counters, in the order of lucid.compiler.CacheInfo.
PyObject* cache_info(PyObject* self, PyObject*) {
  return with_table(self, [](PlanTable& table) -> nb::object {
    const jit::PlanCounters counters = table.counters();
    const std::vector<Ref<TablePlan>> plans = table.plans();
    size_t bytes = 0;
    for (const Ref<TablePlan>& plan : plans) bytes += plan->program->plan().arena_bytes;
    return nb::make_tuple(counters.hits, counters.misses, counters.compiles, counters.eager_calls, table.filled(),
                          table.max_plans(), bytes, counters.piecewise_calls);
  });
}

/// The plans as (key, program, guards, names of captured tensors), oldest first.
PyObject* plans(PyObject* self, PyObject*) {
  return with_table(self, [](PlanTable& table) -> nb::object {
    nb::list list;
    for (const Ref<TablePlan>& plan : table.plans()) list.append(as_python(*plan).description());
    return list;
  });
}

PyObject* explain(PyObject* self, PyObject*) {
  return with_table(self, [&](PlanTable& table) -> nb::object {
    return nb::cast(table.explain() + callable(self).parts->explain());
  });
}

PyObject* invalidate(PyObject* self, PyObject*) {
  return with_table(self, [&](PlanTable& table) -> nb::object {
    table.clear();
    callable(self).parts->clear();
    return nb::none();
  });
}

// For tests. These do not finish pending recordings.
PyObject* pending(PyObject* self, void*) {
  return with_table(self, [](PlanTable& table) -> nb::object { return nb::cast(table.pending()); });
}
PyObject* known_keys(PyObject* self, void*) {
  return with_table(self, [](PlanTable& table) -> nb::object { return nb::cast(table.known_keys()); });
}
PyObject* hits(PyObject* self, void*) {
  return with_table(self, [](PlanTable& table) -> nb::object { return nb::cast(table.hits()); });
}

// ---- The type.

PyObject* new_callable(PyTypeObject* type, PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    nb::object self = checked(type->tp_alloc(type, 0));
    CallableObject& object = callable(self.ptr());
    object.vectorcall = call;
    object.target.function = Py_NewRef(Py_None);
    object.target.recorder = Py_NewRef(Py_None);
    object.target.passes = Py_NewRef(Py_None);
    object.table = new std::shared_ptr<PlanTable>;
    object.parts = new Parts;
    object.target.parts = object.parts;
    return self.release().ptr();
  });
}

/// connect(target, recorder, name, max_plans, passes, waits, verify, dynamic)
PyObject* connect(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    if (count != 8) throw TypeError("CompiledCallable.connect: expected 8 arguments, got {}", count);
    CallableObject& object = callable(self);
    const int64_t verify = arguments[6] == Py_None ? options().verify : nb::cast<int64_t>(nb::handle(arguments[6]));
    *object.table = PlanTable::make(
        nb::cast<std::string>(nb::handle(arguments[2])), nb::cast<size_t>(nb::handle(arguments[3])),
        nb::cast<bool>(nb::handle(arguments[5])), verify, nb::cast<std::optional<bool>>(nb::handle(arguments[7])));
    Py_SETREF(object.target.function, Py_NewRef(arguments[0]));
    Py_SETREF(object.target.recorder, Py_NewRef(arguments[1]));
    Py_SETREF(object.target.passes, Py_NewRef(arguments[4]));
    Py_RETURN_NONE;
  });
}

int traverse_callable(PyObject* self, visitproc visit, void* arg) {
  CallableObject& object = callable(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(object.target.function);
  Py_VISIT(object.target.recorder);
  Py_VISIT(object.target.passes);
  Py_VISIT(object.attributes);
  if (object.parts)
    if (const int status = object.parts->traverse(visit, arg)) return status;
  // While a call runs, it shares ownership of the table.
  if (!object.table || object.table->use_count() != 1) return 0;
  int status = 0;
  (*object.table)->for_each_plan([&](const TablePlan& plan, uint32_t references) {
    if (status == 0 && plan.use_count() == references) status = as_python(plan).traverse(visit, arg);
  });
  return status;
}

int clear_callable(PyObject* self) {
  CallableObject& object = callable(self);
  Py_CLEAR(object.target.function);
  Py_CLEAR(object.target.recorder);
  Py_CLEAR(object.target.passes);
  Py_CLEAR(object.attributes);
  if (object.parts) object.parts->clear();
  if (object.table && *object.table) (*object.table)->drop();
  return 0;
}

void dealloc_callable(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (callable(self).weak_references) PyObject_ClearWeakRefs(self);
  clear_callable(self);
  delete callable(self).table;
  delete callable(self).parts;
  type->tp_free(self);
  Py_DECREF(type);
}

/// Subclasses written in Python inherit tp_call, but before Python 3.12 not the vectorcall flag.
PyObject* init_subclass(PyObject* type, PyObject*) {
  auto* subclass = reinterpret_cast<PyTypeObject*>(type);
  if (subclass->tp_call == PyVectorcall_Call) subclass->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"connect", method(connect), METH_FASTCALL,
     "connect($self, target, recorder, name, max_plans, passes, waits, verify, dynamic, /)\n--\n\n"},
    {"add_fixed", method(add_fixed), METH_FASTCALL, "add_fixed($self, structure, fixed, /)\n--\n\n"},
    {"find", method(find), METH_FASTCALL, "find($self, args, kwargs, /)\n--\n\n"},
    {"time_steps", method(time_steps), METH_FASTCALL, "time_steps($self, args, kwargs, /)\n--\n\n"},
    {"explain_call", method(explain_call), METH_FASTCALL, "explain_call($self, args, kwargs, /)\n--\n\n"},
    {"eager_reason", method(eager_reason), METH_FASTCALL, "eager_reason($self, args, kwargs, /)\n--\n\n"},
    {"counters", cache_info, METH_NOARGS, "counters($self)\n--\n\n"},
    {"plans", plans, METH_NOARGS, "plans($self)\n--\n\n"},
    {"explain_plans", explain, METH_NOARGS, "explain_plans($self)\n--\n\n"},
    {"invalidate", invalidate, METH_NOARGS, "invalidate($self)\n--\n\n"},
    {"__init_subclass__", init_subclass, METH_NOARGS | METH_CLASS, nullptr},
    {}};
PyGetSetDef properties[] = {{"pending", pending, nullptr, nullptr, nullptr},
                            {"known_keys", known_keys, nullptr, nullptr, nullptr},
                            {"hits", hits, nullptr, nullptr, nullptr},
                            {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
                            {}};
PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(CallableObject, vectorcall), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(CallableObject, attributes), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(CallableObject, weak_references), READONLY, nullptr},
    {}};
PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(new_callable)},
                       {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                       {Py_tp_traverse, reinterpret_cast<void*>(traverse_callable)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear_callable)},
                       {Py_tp_dealloc, reinterpret_cast<void*>(dealloc_callable)},
                       {Py_tp_methods, methods},
                       {Py_tp_getset, properties},
                       {Py_tp_members, members},
                       {0, nullptr}};
PyType_Spec spec = {"lucid._core.CompiledCallable", sizeof(CallableObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_VECTORCALL, slots};

}  // namespace

bool Parts::is_small(const nb::object& compiled) {
  if (!compiled.is_valid()) return false;
  size_t plans = 0, large = 0;
  (*callable(compiled.ptr()).table)->for_each_plan([&](const TablePlan& plan, uint32_t references) {
    if (references == 1) return;  // it is being compiled
    ++plans;
    large += plan.program->graph().nodes.size() >= kFewNodes;
  });
  return plans > 0 && large == 0;
}

Parts& Parts::parts_of(const nb::object& compiled) { return *callable(compiled.ptr()).parts; }

void bind_compiled_callable(nb::module_& module) {
  // The key by which plans are found, for comparing calls.
  module.def("call_key", [](const nb::tuple& args, const nb::dict& kwargs) {
    const ArgumentVector arguments(args, kwargs);
    Flattened flat;
    flatten_call(arguments.values.data(), arguments.positional, arguments.names.ptr(), flat);
    const std::span<const int64_t> numbers = flat.key.numbers();
    return nb::make_tuple(nb::bytes(flat.key.structure().data(), flat.key.structure().size()),
                          nb::bytes(numbers.data(), numbers.size_bytes()));
  });
  const nb::object type = checked(PyType_FromSpec(&spec));
  compiled_callable_type = reinterpret_cast<PyTypeObject*>(type.ptr());
  module.attr("CompiledCallable") = type;
  module.def("finish_all_recordings", &jit::finish_all_recordings);
  // hits, misses, compiles, recompiles, eager calls
  module.def("call_counters", [] {
    const jit::PlanCounters total = jit::total_counters();
    return nb::make_tuple(total.hits, total.misses, total.compiles, total.recompiles, total.eager_calls);
  });
}

}  // namespace lucid::python
