#include "bindings/compiled_callable.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <structmember.h>

#include "base/out_of_memory.h"
#include "base/size_trace.h"
#include "bindings/call_key.h"
#include "bindings/gil.h"
#include "bindings/graph.h"
#include "bindings/jit.h"
#include "bindings/python_plan.h"
#include "bindings/tensor_object.h"
#include "bindings/tracing.h"
#include "jit/plan_table.h"

namespace lucid::python {

PyTypeObject* compiled_callable_type = nullptr;

namespace {

using jit::PlanTable;
using jit::TablePlan;

struct CallableObject {
  PyObject ob_base;
  vectorcallfunc vectorcall;
  /// The function or module to compile.
  PyObject* target;
  /// Records calls of the target: a lucid.compiler._compiled.Compiled.
  PyObject* recorder;
  /// A list of passes, or None for the standard ones.
  PyObject* passes;
  std::shared_ptr<PlanTable>* table;
  PyObject* attributes;
  PyObject* weak_references;
};

CallableObject& callable(PyObject* self) { return *reinterpret_cast<CallableObject*>(self); }

PlanTable& table_of(PyObject* self) {
  CallableObject& object = callable(self);
  if (!*object.table) throw RuntimeError("CompiledCallable: connect() has not been called");
  return **object.table;
}

/// One call from Python.
class PythonCall {
 public:
  using Result = PyObject*;

  PythonCall(CallableObject& object, PyObject* const* values, size_t flagged_count, PyObject* names)
      : object_(object),
        values_(values),
        flagged_count_(flagged_count),
        count_(PyVectorcall_NARGS(flagged_count)),
        names_(names) {
    flatten_call(values, count_, names, flat_);
  }

  const jit::CallKey& key() const { return flat_.key; }
  std::span<TensorImpl* const> tensors() const { return flat_.tensors(); }
  bool holds(const TablePlan& plan, jit::Program::Handles& handles) const {
    const GuardSet& guards = as_python(plan).guard_set();
    return guards.check({values_, count_, names_}, tensors(), handles.found) &&
           as_python(plan).find_numbers(key().numbers(), handles.numbers);
  }
  PyObject* run() const { return checked(call_target()).release().ptr(); }
  std::optional<PyObject*> replay(const TablePlan& plan, const jit::Program::Handles& handles,
                                  jit::Program::Branch& branch) const {
    jit::CallResults results;
    if (!plan.program->run(handles, results, branch)) return std::nullopt;
    return as_python(plan).rebuild(results);
  }

  void missed(PlanTable& table, bool records) const {
    if (const Ref<TablePlan> stale = records ? table.newest(key()) : nullptr)
      table.note("recorded again: " + difference(*stale));
    drop_unreachable_plans(table);
  }

  PyObject* record(PlanTable::Recording& recording) const {
    if (flat_.is_too_deep) {
      PyObject* const result = run();
      recording.returned(
          false,
          [](std::string& obstacle) {
            obstacle = "takes an argument that contains itself or is nested too deeply";
            return Ref<TablePlan>();
          },
          nullptr);
      return result;
    }
    const nb::object recorder = nb::borrow(object_.recorder);
    const nb::list given = given_tensors();
    const auto [walk, shown_key] =
        nb::cast<std::pair<nb::object, nb::object>>(recorder.attr("begin")(positional(), named(), given));
    const nb::object varying = varying_arguments(recording);
    const nb::object tracing = nb::cast(new PythonTracing, nb::rv_policy::take_ownership);
    const nb::object result = watched_call(walk, nb::cast<PythonTracing&>(tracing), recording);
    const PassList passes = object_.passes == Py_None ? PassList() : to_passes(object_.passes);
    without_memory_error([&] {
      recording.returned(
          nb::cast<PythonTracing&>(tracing).reads_values(),
          [&](std::string& obstacle) {
            return plan_of(recorder.attr("finish")(walk, shown_key, tracing, given, result, varying), obstacle);
          },
          object_.passes == Py_None ? nullptr : &passes);
    });
    return nb::object(result).release().ptr();
  }

  /// Why a plan with the structure of this key does not match the call.
  std::string difference(const TablePlan& plan) const {
    if (!plan.pattern.matches(key().numbers())) {
      const auto names = nb::cast<std::vector<std::string>>(
          nb::handle(object_.recorder).attr("argument_names")(positional(), named()));
      auto others = plan.pattern.numbers;
      for (const uint32_t position : plan.pattern.varying) others[position] = key().numbers()[position];
      return differing_argument(values_, names, key().numbers(), others);
    }
    std::string failed = as_python(plan).guard_set().failed({values_, count_, names_});
    if (!failed.empty()) return failed;
    jit::Program::Handles handles;
    if (!as_python(plan).find_numbers(key().numbers(), handles.numbers))
      return "the call depends on " + plan.varying.front();
    if (!as_python(plan).guard_set().check({values_, count_, names_}, tensors(), handles.found))
      return "tensors that it finds outside its arguments are other arguments";
    if (plan.program->reads_values() && plan.program->fits(tensors(), handles)) return jit::kReadsOtherValues;
    if (plan.program->family() && !plan.program->fits(tensors(), handles))
      return "the call goes another way for these sizes, or they have other strides";
    return "tensors that it uses have different types or share memory differently";
  }

 private:
  PyObject* call_target() const { return PyObject_Vectorcall(object_.target, values_, flagged_count_, names_); }

  nb::object positional() const {
    nb::object args = checked(PyTuple_New(count_));
    for (Py_ssize_t i = 0; i < count_; ++i) PyTuple_SET_ITEM(args.ptr(), i, Py_NewRef(values_[i]));
    return args;
  }
  nb::dict named() const {
    nb::dict kwargs;
    const Py_ssize_t count = names_ ? PyTuple_GET_SIZE(names_) : 0;
    for (Py_ssize_t i = 0; i < count; ++i) kwargs[PyTuple_GET_ITEM(names_, i)] = nb::borrow(values_[count_ + i]);
    return kwargs;
  }
  nb::list given_tensors() const {
    nb::list tensors;
    for (TensorImpl* tensor : flat_.tensors()) tensors.append(to_object(TensorRef(tensor)));
    return tensors;
  }

  /// Whether the user has marked a dimension (lucid.compiler.mark_dynamic).
  bool is_marked(TensorImpl& tensor, size_t dim) const {
    const nb::object marked = nb::handle(object_.recorder).attr("marked_dims")(to_object(TensorRef(&tensor)));
    return nb::cast<nb::dict>(marked).contains(dim);
  }

  /// What varies of the arguments: a list of numbers, as pairs of the argument's index and the position in the key, and
  /// a list of tensors, as tuples of the argument's index, its index among the tensors, the position of its first size,
  /// and the dimensions whose sizes vary.
  nb::tuple varying_arguments(const PlanTable::Recording& recording) const {
    const auto named = static_cast<size_t>(names_ ? PyTuple_GET_SIZE(names_) : 0);
    // Their positions are those in the key of the call, in which names of arguments have no numbers.
    const std::vector<NumberArgument> arguments = number_arguments(values_, static_cast<size_t>(count_) + named);
    std::vector<uint32_t> positions;
    for (const NumberArgument& argument : arguments) {
      const size_t count = argument.tensor ? 2 * argument.tensor->sizes().size() : 1;
      for (size_t i = 0; i < count; ++i) positions.push_back(argument.position + static_cast<uint32_t>(i));
    }
    const std::vector<uint32_t> found = recording.table().varying_numbers(key(), positions);
    const nb::object dynamic = nb::handle(object_.recorder).attr("dynamic");
    const auto varies = [&](const NumberArgument& tensor, size_t dim) {
      if (!dynamic.is_none()) return dynamic.is(nb::handle(Py_True));
      return std::ranges::binary_search(found, tensor.position + static_cast<uint32_t>(dim)) ||
             is_marked(*tensor.tensor, dim);
    };
    nb::list numbers, tensors;
    for (const NumberArgument& argument : arguments) {
      if (!argument.tensor) {
        if (std::ranges::binary_search(found, argument.position))
          numbers.append(nb::make_tuple(argument.argument, argument.position));
        continue;
      }
      nb::list dims;
      for (size_t i = 0; i < argument.tensor->sizes().size(); ++i)
        if (SizeTrace::is_traceable(argument.tensor->sizes()[i]) && varies(argument, i)) dims.append(i);
      const auto all = flat_.tensors();
      if (nb::len(dims) > 0 && std::ranges::count(all, argument.tensor) == 1)
        tensors.append(nb::make_tuple(argument.argument, std::ranges::find(all, argument.tensor) - all.begin(),
                                      argument.position, dims));
    }
    return nb::make_tuple(numbers, tensors);
  }

  /// Calls the target between `__enter__` and `__exit__` of `walk`. Adds no Python frame between caller and target.
  nb::object watched_call(const nb::object& walk, PythonTracing& tracing, PlanTable::Recording& recording) const {
    walk.attr("__enter__")();
    nb::object result = nb::steal(call_target());
    std::optional<nb::python_error> error;
    if (!result.is_valid()) error.emplace();
    tracing.stop();
    walk.attr("__exit__")(nb::none(), nb::none(), nb::none());
    if (!error) return result;
    if (error->matches(PyExc_Exception)) {
      // Not `__name__`, which a metaclass may define.
      const std::string_view name = reinterpret_cast<PyTypeObject*>(error->type().ptr())->tp_name;
      recording.raised(std::string(name.substr(name.rfind('.') + 1)));
    }
    throw nb::python_error(*error);
  }

  /// Creates a plan from `made`, the result of Compiled.finish: the parts of a plan, a string with the reason why there
  /// is no plan, or None to record the next call again.
  Ref<TablePlan> plan_of(const nb::object& made, std::string& obstacle) const {
    if (made.is_none()) return nullptr;
    if (nb::isinstance<nb::str>(made)) {
      obstacle = nb::cast<std::string>(made);
      return nullptr;
    }
    nb::list classes;
    for (PyObject* type : flat_.classes) classes.append(nb::borrow(type));
    return make_ref<PythonPlan>(key(), nb::cast<nb::tuple>(made), std::move(classes));
  }

  /// Ignores a lack of memory: the call itself is done, and the next call is recorded again.
  template <typename Step>
  static void without_memory_error(const Step& step) {
    try {
      has_memory_for(step);
    } catch (const nb::python_error& error) {
      if (!error.matches(PyExc_MemoryError)) throw;
    }
  }

  CallableObject& object_;
  PyObject* const* values_;
  size_t flagged_count_;
  Py_ssize_t count_;
  PyObject* names_;
  Flattened flat_;
};

PyObject* call(PyObject* self, PyObject* const* values, size_t flagged_count, PyObject* names) {
  return guarded([&]() -> PyObject* {
    CallableObject& object = callable(self);
    // Inside another recording, the call is part of that recording.
    if (jit::TracingContext::is_active()) return PyObject_Vectorcall(object.target, values, flagged_count, names);
    // Held: the call may destroy the callable.
    const std::shared_ptr<PlanTable> table = *object.table;
    if (!table) throw RuntimeError("CompiledCallable: connect() has not been called");
    return table->call(PythonCall(object, values, flagged_count, names));
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
    return use(table, PythonCall(callable(self), vector.values.data(), static_cast<size_t>(vector.positional),
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

/// The counters, in the order of lucid.compiler.CacheInfo.
PyObject* cache_info(PyObject* self, PyObject*) {
  return with_table(self, [](PlanTable& table) -> nb::object {
    const jit::PlanCounters counters = table.counters();
    const std::vector<Ref<TablePlan>> plans = table.plans();
    size_t bytes = 0;
    for (const Ref<TablePlan>& plan : plans) bytes += plan->program->plan().arena_bytes;
    return nb::make_tuple(counters.hits, counters.misses, counters.compiles, counters.eager_calls, table.filled(),
                          table.max_plans(), bytes);
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
  return with_table(self, [](PlanTable& table) -> nb::object { return nb::cast(table.explain()); });
}

PyObject* invalidate(PyObject* self, PyObject*) {
  return with_table(self, [](PlanTable& table) -> nb::object {
    table.clear();
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
    object.target = Py_NewRef(Py_None);
    object.recorder = Py_NewRef(Py_None);
    object.passes = Py_NewRef(Py_None);
    object.table = new std::shared_ptr<PlanTable>;
    return self.release().ptr();
  });
}

/// connect(target, recorder, name, max_plans, passes, waits)
PyObject* connect(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    if (count != 6) throw TypeError("CompiledCallable.connect: expected 6 arguments, got {}", count);
    CallableObject& object = callable(self);
    *object.table =
        PlanTable::make(nb::cast<std::string>(nb::handle(arguments[2])), nb::cast<size_t>(nb::handle(arguments[3])),
                        nb::cast<bool>(nb::handle(arguments[5])));
    Py_SETREF(object.target, Py_NewRef(arguments[0]));
    Py_SETREF(object.recorder, Py_NewRef(arguments[1]));
    Py_SETREF(object.passes, Py_NewRef(arguments[4]));
    Py_RETURN_NONE;
  });
}

int traverse_callable(PyObject* self, visitproc visit, void* arg) {
  CallableObject& object = callable(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(object.target);
  Py_VISIT(object.recorder);
  Py_VISIT(object.passes);
  Py_VISIT(object.attributes);
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
  Py_CLEAR(object.target);
  Py_CLEAR(object.recorder);
  Py_CLEAR(object.passes);
  Py_CLEAR(object.attributes);
  if (object.table && *object.table) (*object.table)->drop();
  return 0;
}

void dealloc_callable(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (callable(self).weak_references) PyObject_ClearWeakRefs(self);
  clear_callable(self);
  delete callable(self).table;
  type->tp_free(self);
  Py_DECREF(type);
}

/// Subclasses written in Python inherit tp_call, but before Python 3.12 not the vectorcall flag.
PyObject* init_subclass(PyObject* type, PyObject*) {
  auto* subclass = reinterpret_cast<PyTypeObject*>(type);
  if (subclass->tp_call == PyVectorcall_Call) subclass->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
  Py_RETURN_NONE;
}

template <typename F>
PyCFunction method(F function) noexcept {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef methods[] = {{"connect", method(connect), METH_FASTCALL, nullptr},
                         {"find", method(find), METH_FASTCALL, nullptr},
                         {"explain_call", method(explain_call), METH_FASTCALL, nullptr},
                         {"eager_reason", method(eager_reason), METH_FASTCALL, nullptr},
                         {"counters", cache_info, METH_NOARGS, nullptr},
                         {"plans", plans, METH_NOARGS, nullptr},
                         {"explain_plans", explain, METH_NOARGS, nullptr},
                         {"invalidate", invalidate, METH_NOARGS, nullptr},
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
