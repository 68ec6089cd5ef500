#include "bindings/call_table.h"

#include <structmember.h>

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "bindings/call_key.h"
#include "bindings/tensor_object.h"
#include "capture/guards.h"

namespace lucid::python {
namespace {

using jit::Program;

/// One plan for one key.
struct CallPlan {
  nb::object program_object;
  nb::object guards_object;
  /// Makes the result of a list of tensors; None where the result is the one tensor.
  nb::object make_result;
  /// The key names these by address.
  nb::object classes;
  const Program* program = nullptr;
  const GuardSet* guards = nullptr;
  uint64_t hits = 0;
};

struct KeyHash {
  using is_transparent = void;
  size_t operator()(std::string_view key) const { return std::hash<std::string_view>()(key); }
};

struct Known {
  std::vector<std::shared_ptr<CallPlan>> plans;  // the newest first
  /// Calls with this key run as they are written.
  bool runs_eagerly = false;
};

struct Table {
  std::unordered_map<std::string, Known, KeyHash, std::equal_to<>> keys;
  uint64_t hits = 0;
  uint64_t eager = 0;
};

struct TableObject {
  PyObject ob_base;
  vectorcallfunc vectorcall;
  PyObject* target;
  PyObject* miss;
  Table* table;
  PyObject* attributes;
  PyObject* weak_references;
};

PyTypeObject* table_type = nullptr;

/// Of all tables together, those that are gone too; under the interpreter's lock.
uint64_t all_hits = 0;
uint64_t all_eager = 0;

TableObject& table_object(PyObject* self) { return *reinterpret_cast<TableObject*>(self); }

PyObject* to_result(const CallPlan& plan, std::vector<TensorRef>& results) {
  if (plan.make_result.is_none()) return to_python(std::move(results.front()));
  const nb::object list = checked(PyList_New(static_cast<Py_ssize_t>(results.size())));
  for (size_t i = 0; i < results.size(); ++i)
    PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i), to_python(std::move(results[i])));
  return PyObject_CallOneArg(plan.make_result.ptr(), list.ptr());
}

PyObject* call_table(PyObject* self, PyObject* const* values, size_t flagged_count, PyObject* keyword_names) {
  return guarded([&]() -> PyObject* {
    TableObject& object = table_object(self);
    Table& table = *object.table;
    const Py_ssize_t count = PyVectorcall_NARGS(flagged_count);
    // Inside another recording the call is part of that.
    if (jit::TracingContext::is_active())
      return PyObject_Vectorcall(object.target, values, flagged_count, keyword_names);
    Flattened flat;
    flatten_call(values, count, keyword_names, flat);
    auto known = table.keys.find(std::string_view(flat.key));
    for (size_t i = 0; known != table.keys.end() && i < known->second.plans.size(); ++i) {
      const std::shared_ptr<CallPlan> plan = known->second.plans[i];
      if (!plan->guards->check({values, count, keyword_names}) || !plan->program->fits(flat.tensors())) {
        // A guard may have run code that changed the table.
        known = table.keys.find(std::string_view(flat.key));
        continue;
      }
      std::optional<std::vector<TensorRef>> results = plan->program->run(flat.tensors());
      // A check inside failed, before anything was written: the call says how.
      if (!results) return PyObject_Vectorcall(object.target, values, flagged_count, keyword_names);
      ++plan->hits;
      ++table.hits;
      ++all_hits;
      return to_result(*plan, *results);
    }
    if (known != table.keys.end() && known->second.runs_eagerly) {
      ++table.eager;
      ++all_eager;
      return PyObject_Vectorcall(object.target, values, flagged_count, keyword_names);
    }
    return PyObject_Vectorcall(object.miss, values, flagged_count, keyword_names);
  });
}

// ---- What Python fills it with.

std::string_view key_in(PyObject* bytes) {
  if (!PyBytes_Check(bytes)) throw TypeError("CallTable: a key must be bytes");
  return {PyBytes_AS_STRING(bytes), static_cast<size_t>(PyBytes_GET_SIZE(bytes))};
}

/// add(key, program, guards, make_result, classes)
PyObject* add_plan(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    if (count != 5) throw TypeError("CallTable.add: expected 5 arguments, got {}", count);
    auto plan = std::make_shared<CallPlan>();
    plan->program_object = nb::borrow(arguments[1]);
    plan->guards_object = nb::borrow(arguments[2]);
    plan->make_result = nb::borrow(arguments[3]);
    plan->classes = nb::borrow(arguments[4]);
    plan->program = nb::cast<ProgramHandle&>(plan->program_object).program.get();
    plan->guards = &guards_in(plan->guards_object);
    auto& plans = table_object(self).table->keys[std::string(key_in(arguments[0]))].plans;
    plans.insert(plans.begin(), std::move(plan));
    Py_RETURN_NONE;
  });
}

/// remove(key, program)
PyObject* remove_plan(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    if (count != 2) throw TypeError("CallTable.remove: expected 2 arguments, got {}", count);
    auto& keys = table_object(self).table->keys;
    const auto known = keys.find(key_in(arguments[0]));
    if (known == keys.end()) Py_RETURN_NONE;
    // Destroyed last: what they hold may call back.
    const auto dropped = known->second.plans;
    std::erase_if(known->second.plans, [&](const auto& plan) { return plan->program_object.is(arguments[1]); });
    if (known->second.plans.empty() && !known->second.runs_eagerly) keys.erase(known);
    Py_RETURN_NONE;
  });
}

PyObject* run_eagerly(PyObject* self, PyObject* key) {
  return guarded([&]() -> PyObject* {
    table_object(self).table->keys[std::string(key_in(key))].runs_eagerly = true;
    Py_RETURN_NONE;
  });
}

PyObject* forget_key(PyObject* self, PyObject* key) {
  return guarded([&]() -> PyObject* {
    auto& keys = table_object(self).table->keys;
    const auto known = keys.find(key_in(key));
    if (known == keys.end()) Py_RETURN_NONE;
    // Destroyed last: what they hold may call back.
    const auto dropped = std::move(known->second);
    keys.erase(known);
    Py_RETURN_NONE;
  });
}

PyObject* clear_table(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    const auto dropped = std::exchange(table_object(self).table->keys, {});
    Py_RETURN_NONE;
  });
}

PyObject* hits_of(PyObject* self, PyObject* program) {
  return guarded([&]() -> PyObject* {
    uint64_t hits = 0;
    for (const auto& [key, known] : table_object(self).table->keys)
      for (const auto& plan : known.plans)
        if (plan->program_object.is(program)) hits += plan->hits;
    return PyLong_FromUnsignedLongLong(hits);
  });
}

/// find(args, kwargs): the program that such a call would run, or None.
PyObject* find_plan(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    if (count != 2 || !PyTuple_Check(arguments[0]) || !PyDict_Check(arguments[1]))
      throw TypeError("CallTable.find: expected a tuple and a dict");
    std::vector<PyObject*> values;
    for (nb::handle value : nb::borrow<nb::tuple>(arguments[0])) values.push_back(value.ptr());
    const auto positional = static_cast<Py_ssize_t>(values.size());
    const nb::object names = checked(PyTuple_New(PyDict_GET_SIZE(arguments[1])));
    for (auto [name, value] : nb::borrow<nb::dict>(arguments[1])) {
      PyTuple_SET_ITEM(names.ptr(), static_cast<Py_ssize_t>(values.size()) - positional, Py_NewRef(name.ptr()));
      values.push_back(value.ptr());
    }
    Flattened flat;
    flatten_call(values.data(), positional, names.ptr(), flat);
    const auto& keys = table_object(self).table->keys;
    const auto known = keys.find(std::string_view(flat.key));
    if (known == keys.end()) Py_RETURN_NONE;
    for (const auto& plan : known->second.plans)
      if (plan->guards->check({values.data(), positional, names.ptr()}) && plan->program->fits(flat.tensors()))
        return plan->program_object.inc_ref().ptr();
    Py_RETURN_NONE;
  });
}

PyObject* hits(PyObject* self, void*) { return PyLong_FromUnsignedLongLong(table_object(self).table->hits); }
PyObject* eager_calls(PyObject* self, void*) { return PyLong_FromUnsignedLongLong(table_object(self).table->eager); }

// ---- The type.

PyObject* new_table(PyTypeObject* type, PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    PyObject* self = type->tp_alloc(type, 0);
    if (!self) return nullptr;
    table_object(self).vectorcall = call_table;
    table_object(self).target = Py_NewRef(Py_None);
    table_object(self).miss = Py_NewRef(Py_None);
    table_object(self).table = new Table;
    return self;
  });
}

/// connect(target, miss): what is compiled, and what is called where no plan fits.
PyObject* connect(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    if (count != 2) throw TypeError("CallTable.connect: expected 2 arguments, got {}", count);
    Py_SETREF(table_object(self).target, Py_NewRef(arguments[0]));
    Py_SETREF(table_object(self).miss, Py_NewRef(arguments[1]));
    Py_RETURN_NONE;
  });
}

int traverse_table(PyObject* self, visitproc visit, void* arg) {
  TableObject& object = table_object(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(object.target);
  Py_VISIT(object.miss);
  Py_VISIT(object.attributes);
  if (!object.table) return 0;
  for (const auto& [key, known] : object.table->keys)
    for (const auto& plan : known.plans) {
      if (plan.use_count() != 1) continue;  // a call that runs holds it
      Py_VISIT(plan->program_object.ptr());
      Py_VISIT(plan->guards_object.ptr());
      Py_VISIT(plan->make_result.ptr());
      Py_VISIT(plan->classes.ptr());
    }
  return 0;
}

int clear_object(PyObject* self) {
  TableObject& object = table_object(self);
  Py_CLEAR(object.target);
  Py_CLEAR(object.miss);
  Py_CLEAR(object.attributes);
  if (object.table) const auto dropped = std::exchange(object.table->keys, {});
  return 0;
}

void dealloc_table(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  if (table_object(self).weak_references) PyObject_ClearWeakRefs(self);
  clear_object(self);
  delete table_object(self).table;
  type->tp_free(self);
  Py_DECREF(type);
}

/// Classes written in Python inherit how their instances are called, but before Python 3.12 not that it may be done
/// without making a tuple of the arguments.
PyObject* init_subclass(PyObject* type, PyObject*) {
  auto* subclass = reinterpret_cast<PyTypeObject*>(type);
  if (subclass->tp_call == PyVectorcall_Call) subclass->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
  Py_RETURN_NONE;
}

template <typename F>
PyCFunction method(F function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

PyMethodDef methods[] = {{"connect", method(connect), METH_FASTCALL, nullptr},
                         {"add", method(add_plan), METH_FASTCALL, nullptr},
                         {"remove", method(remove_plan), METH_FASTCALL, nullptr},
                         {"run_eagerly", run_eagerly, METH_O, nullptr},
                         {"forget", forget_key, METH_O, nullptr},
                         {"clear", clear_table, METH_NOARGS, nullptr},
                         {"hits_of", hits_of, METH_O, nullptr},
                         {"find", method(find_plan), METH_FASTCALL, nullptr},
                         {"__init_subclass__", init_subclass, METH_NOARGS | METH_CLASS, nullptr},
                         {}};
PyGetSetDef properties[] = {{"hits", hits, nullptr, nullptr, nullptr},
                            {"eager_calls", eager_calls, nullptr, nullptr, nullptr},
                            {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
                            {}};
PyMemberDef members[] = {{"__vectorcalloffset__", T_PYSSIZET, offsetof(TableObject, vectorcall), READONLY, nullptr},
                         {"__dictoffset__", T_PYSSIZET, offsetof(TableObject, attributes), READONLY, nullptr},
                         {"__weaklistoffset__", T_PYSSIZET, offsetof(TableObject, weak_references), READONLY, nullptr},
                         {}};
PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(new_table)},
                       {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                       {Py_tp_traverse, reinterpret_cast<void*>(traverse_table)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear_object)},
                       {Py_tp_dealloc, reinterpret_cast<void*>(dealloc_table)},
                       {Py_tp_methods, methods},
                       {Py_tp_getset, properties},
                       {Py_tp_members, members},
                       {0, nullptr}};
PyType_Spec spec = {"lucid._core.CallTable", sizeof(TableObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_VECTORCALL, slots};

}  // namespace

void bind_call_table(nb::module_& module) {
  nb::object type = checked(PyType_FromSpec(&spec));
  table_type = reinterpret_cast<PyTypeObject*>(type.ptr());
  module.attr("CallTable") = type;
  module.def("call_counters", [] { return nb::make_tuple(all_hits, all_eager); });
}

}  // namespace lucid::python
