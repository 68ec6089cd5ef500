// Bindings of guards, for lucid.compiler only.

#include "capture/guard_bindings.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/error.h"
#include "base/small_vector.h"
#include "bindings/autograd.h"
#include "capture/guards.h"

namespace lucid::python {
namespace {

using namespace nb::literals;

/// A tuple and a dict of arguments in vectorcall form.
class Arguments {
 public:
  Arguments(nb::handle positional, nb::handle named) {
    const nb::object tuple = positional.is_none() ? nb::tuple() : nb::borrow(positional);
    if (!PyTuple_Check(tuple.ptr())) throw TypeError("guards: args must be a tuple");
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple.ptr()); ++i) values_.push_back(PyTuple_GET_ITEM(tuple.ptr(), i));
    passed_.count = PyTuple_GET_SIZE(tuple.ptr());
    if (!named.is_none()) {
      if (!PyDict_Check(named.ptr())) throw TypeError("guards: kwargs must be a dict or None");
      names_ = checked(PyTuple_New(PyDict_GET_SIZE(named.ptr())));
      PyObject *key = nullptr, *value = nullptr;
      Py_ssize_t i = 0;
      for (Py_ssize_t at = 0; PyDict_Next(named.ptr(), &at, &key, &value);) {
        PyTuple_SET_ITEM(names_.ptr(), i++, Py_NewRef(key));
        values_.push_back(value);
      }
      passed_.keyword_names = names_.ptr();
    }
    passed_.values = values_.data();
  }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;
  const PassedArguments& passed() const { return passed_; }

 private:
  SmallVector<PyObject*, 8> values_;
  nb::object names_;
  PassedArguments passed_;
};

DictGuard::Style style_of(const std::string& name) {
  if (name == "global") return DictGuard::Style::kGlobal;
  if (name == "attribute") return DictGuard::Style::kAttribute;
  if (name == "item") return DictGuard::Style::kItem;
  throw ValueError("guards: no style '{}'", name);
}

nb::object or_missing(const nb::object& value) { return value.is_valid() ? value : nb::ellipsis(); }

NumberTest::Op op_of(std::string_view name) {
  static constexpr std::string_view kNames[] = {"<", "<=", "==", "!=", ">", ">="};
  const auto* const found = std::ranges::find(kNames, name);
  if (found == std::end(kNames)) throw ValueError("test: unknown operator '{}'", name);
  return static_cast<NumberTest::Op>(found - kNames);
}

/// (source, name, before, now), or None.
nb::object to_object(const std::optional<Difference>& difference) {
  if (!difference) return nb::none();
  return nb::make_tuple(difference->source, difference->name, difference->before, difference->now);
}

/// What can be guarded.
void bind_kinds(nb::class_<GuardSet>& guards) {
  guards.def(nb::init<>())
      .def(
          "named",
          [](GuardSet& self, nb::handle dict, nb::handle names, std::string source, const std::string& style) {
            expect_dict("named", dict);
            if (!PyFrozenSet_CheckExact(names.ptr())) throw TypeError("named: expected a frozenset");
            self.add<DictGuard>(dict.ptr(), names.ptr(), std::move(source), style_of(style));
            self.known().insert(dict.ptr());
          },
          "dict"_a, "names"_a, "source"_a, "style"_a, "Guards the entries with these names, including missing ones.")
      .def(
          "whole",
          [](GuardSet& self, nb::handle dict, std::string source, const std::string& style) {
            expect_dict("whole", dict);
            self.add<DictGuard>(dict.ptr(), nullptr, std::move(source), style_of(style));
            self.known().insert(dict.ptr());
          },
          "dict"_a, "source"_a, "style"_a, "Guards all entries and their order.")
      .def(
          "class_",
          [](GuardSet& self, nb::handle type, const std::string& source) {
            self.add<ClassGuard>(type.ptr(), source);
            self.add<DictGuard>(class_dict(type).ptr(), nullptr, source, DictGuard::Style::kClass);
          },
          "type"_a, "source"_a, "Guards the bases of a class and all attributes that it defines itself.")
      .def(
          "instance",
          [](GuardSet& self, nb::handle object, std::string source) {
            self.add<InstanceGuard>(object.ptr(), std::move(source));
            self.known().insert(object.ptr());
          },
          "object"_a, "source"_a, "Guards the class of an object and the identity of its attribute dict.")
      .def(
          "bare",
          [](GuardSet& self, const nb::list& objects, nb::handle names) {
            for (nb::handle item : objects) {
              PyObject* object = PyTuple_GET_ITEM(item.ptr(), 0);
              const auto source = nb::cast<std::string>(nb::handle(PyTuple_GET_ITEM(item.ptr(), 1)));
              const InstanceGuard& guard = self.add<InstanceGuard>(object, source);
              self.known().insert(object);
              if (guard.dict)
                self.add<DictGuard>(guard.dict, names.is_none() ? nullptr : names.ptr(), source,
                                    DictGuard::Style::kAttribute);
            }
          },
          "objects"_a, "names"_a.none(), "Guards the attributes of many objects, given as (object, source), at once.")
      .def(
          "tensors",
          [](GuardSet& self, const nb::list& tensors, bool reads_grad) {
            for (nb::handle item : tensors) {
              PyObject* object = PyTuple_GET_ITEM(item.ptr(), 0);
              expect_tensor("tensors", object);
              self.add<TensorGuard>(object, nb::cast<std::string>(nb::handle(PyTuple_GET_ITEM(item.ptr(), 1))),
                                    reads_grad);
            }
          },
          "tensors"_a, "reads_grad"_a, "Guards all properties but the values of tensors, given as (tensor, source).")
      .def(
          "cell",
          [](GuardSet& self, nb::handle cell, std::string source) {
            self.add<SlotGuard>(cell.ptr(), nullptr, std::move(source));
          },
          "cell"_a, "source"_a)
      .def(
          "slot",
          [](GuardSet& self, nb::handle object, nb::handle member, std::string source) {
            self.add<SlotGuard>(object.ptr(), member.ptr(), std::move(source));
          },
          "object"_a, "member"_a, "source"_a)
      .def(
          "sequence",
          [](GuardSet& self, nb::handle holder, std::string source) {
            self.add<SequenceGuard>(holder.ptr(), std::move(source));
            self.known().insert(holder.ptr());
          },
          "holder"_a, "source"_a)
      .def(
          "function",
          [](GuardSet& self, nb::handle function, const std::string& source) {
            self.add<FunctionGuard>(function.ptr(), source);
            if (PyObject* defaults = PyFunction_GET_KW_DEFAULTS(function.ptr()))
              self.add<DictGuard>(defaults, nullptr, source + ".__kwdefaults__", DictGuard::Style::kItem);
          },
          "function"_a, "source"_a)
      .def(
          "bytes",
          [](GuardSet& self, nb::handle holder, std::string source) {
            self.add<BytesGuard>(holder.ptr(), std::move(source));
          },
          "holder"_a, "source"_a)
      .def(
          "context",
          [](GuardSet& self, nb::handle variable, std::string source) {
            self.add<ContextGuard>(variable.ptr(), std::move(source));
          },
          "variable"_a, "source"_a, "Guards the value of a context variable.")
      .def(
          "know",
          [](GuardSet& self, const nb::list& objects) {
            for (nb::handle object : objects) self.known().insert(object.ptr());
          },
          "objects"_a, "Names objects that the call reaches otherwise than by its arguments. Others hold them.")
      .def(
          "call",
          [](GuardSet& self, nb::handle function, std::string source) {
            self.add<CallGuard>(function.ptr(), std::move(source));
          },
          "function"_a, "source"_a, "Guards the result of a C function without arguments.")
      .def(
          "module",
          [](GuardSet& self, nb::handle module, std::string source) {
            self.add<ModuleGuard>(module.ptr(), std::move(source));
            self.known().insert(module.ptr());
          },
          "module"_a, "source"_a)
      .def("global_hooks", [](GuardSet& self) { self.add<GlobalHooksGuard>(); })
      .def(
          "optimizer",
          [](GuardSet& self, nb::handle optimizer, std::string source) {
            std::vector<FoundTensor> tensors;
            self.add<OptimizerGuard>(optimizer.ptr(), std::move(source), tensors);
            self.known().insert(optimizer.ptr());
            nb::list found;
            for (const FoundTensor& tensor : tensors) found.append(nb::make_tuple(tensor.tensor, tensor.source));
            return found;
          },
          "optimizer"_a, "source"_a, "Returns the tensors of the optimizer, with their sources.")
      .def(
          "argument",
          [](GuardSet& self, nb::handle where, const std::string& name, nb::handle description) {
            self.arguments().add(where, name, description);
          },
          "where"_a, "name"_a, "description"_a)
      .def("compare_identity", &GuardSet::compare_identity, "compares"_a,
           "Says whether equal constants must be the same object.")
      .def("set_sites", &GuardSet::set_sites, "sites"_a)
      .def("holds_state", &GuardSet::holds_state, "Whether all guards but those of arguments hold.")
      .def("add_state_of", &GuardSet::add_state_of, "other"_a,
           "Adds the guards of another set, except those of arguments.")
      .def("remember", &GuardSet::remember, "memory"_a, "objects"_a,
           "Keeps what the next recording may use of this one's walk.")
      .def_prop_ro(
          "memory",
          [](const GuardSet& self) { return self.memory().is_valid() ? nb::borrow(self.memory()) : nb::none(); })
      .def_prop_ro("remembered", [](const GuardSet& self) {
        nb::list objects;
        for (PyObject* object : self.remembered()) objects.append(nb::handle(object));
        return objects;
      });
}

/// What later calls write, and where calls may differ.
void bind_stores(nb::class_<GuardSet>& guards) {
  guards
      .def(
          "writes",
          [](const GuardSet& self, nb::handle made) -> nb::object {
            std::unordered_set<PyObject*> objects;
            for (nb::handle object : made) objects.insert(object.ptr());
            const std::optional<std::vector<Write>> writes = self.writes(objects);
            if (!writes) return nb::none();
            nb::list list;
            for (const Write& write : *writes)
              list.append(nb::make_tuple(
                  nb::make_tuple(static_cast<int>(write.location.kind), nb::handle(write.location.holder),
                                 write.location.key ? nb::borrow(write.location.key) : nb::none(),
                                 write.location.offset),
                  write.name, or_missing(write.before), write.now));
            return list;
          },
          "made"_a,
          "After the recorded call: (location, its name, before, now) of the locations whose contents it replaced. "
          "Nothing "
          "is "
          "shown as `...`. None if the call changed anything else.")
      .def(
          "store",
          [](GuardSet& self, const nb::tuple& location, std::string name, nb::handle input, bool counts) {
            const Location where = to_location(location);
            TensorImpl* const tensor = input.is_none() ? nullptr : &expect_tensor("store", input.ptr());
            if (tensor || counts || where.kind == Location::Kind::kEnd) self.release(where);
            self.stores().add(where, std::move(name), tensor, counts);
          },
          "location"_a, "name"_a, "input"_a.none(), "counts"_a,
          "Says that later calls write there. `input` is the tensor that it held, if later calls may find another. "
          "`counts`: what is stored is added to an int.")
      .def(
          "vary",
          [](GuardSet& self, const nb::tuple& location, std::string name) {
            self.vary(to_location(location), std::move(name));
          },
          "location"_a, "name"_a, "Accepts any number of the same type in a location from now on.")
      .def(
          "test",
          [](GuardSet& self, const nb::tuple& location, std::string name, nb::handle tests, int64_t before,
             int64_t step) {
            std::vector<NumberTest> made;
            for (nb::handle test : tests)
              made.push_back(
                  {nb::cast<int64_t>(test[0]), op_of(nb::cast<std::string>(test[1])), nb::cast<int64_t>(test[2])});
            self.add<TestGuard>(to_location(location), std::move(made), before, step, std::move(name));
          },
          "location"_a, "name"_a, "tests"_a, "before"_a, "step"_a,
          "Compares how tests of an int come out, each (modulus or 0, operator, constant). `before` is what it was "
          "when "
          "the call began; `step` is what the call adds to it.")
      .def(
          "release_items", [](GuardSet& self, nb::handle list) { self.release_items(list.ptr()); }, "list"_a,
          "Stops comparing the items of a list.")
      .def(
          "release", [](GuardSet& self, nb::handle tensor) { self.release(tensor.ptr()); }, "tensor"_a,
          "Stops comparing the properties of a tensor.")
      .def(
          "accept_numbers",
          [](GuardSet& self, nb::handle dict, nb::handle name) {
            expect_dict("accept_numbers", dict);
            self.accept_numbers(dict.ptr(), name.ptr());
          },
          "dict"_a, "name"_a, "Accepts any int, or any float, in an entry that holds one.")
      .def(
          "set_inputs",
          [](GuardSet& self, nb::handle arguments, nb::handle inputs) {
            const auto pointers = [](nb::handle tensors) {
              std::vector<TensorImpl*> all;
              for (nb::handle tensor : tensors) all.push_back(&expect_tensor("set_inputs", tensor.ptr()));
              return all;
            };
            self.set_inputs(pointers(arguments), pointers(inputs));
          },
          "arguments"_a, "inputs"_a,
          "The tensors among the arguments of the call, and its inputs: first those in attributes and items of "
          "arguments, then those in locations that it writes to.");
}

/// Whether the guards hold.
void bind_checks(nb::class_<GuardSet>& guards) {
  guards
      .def(
          "difference", [](const GuardSet& self) { return to_object(self.difference()); },
          "(source, name, before, now) of the first difference, except in arguments; None if there is none.")
      .def(
          "argument_difference",
          [](const GuardSet& self, nb::handle args, nb::handle kwargs) {
            return to_object(self.argument_difference(Arguments(args, kwargs).passed()));
          },
          "args"_a.none() = nb::none(), "kwargs"_a.none() = nb::none())
      .def(
          "check",
          [](const GuardSet& self, nb::handle args, nb::handle kwargs) {
            return self.check(Arguments(args, kwargs).passed());
          },
          "args"_a.none() = nb::none(), "kwargs"_a.none() = nb::none(), "Whether all guards hold.")
      .def(
          "failed",
          [](const GuardSet& self, nb::handle args, nb::handle kwargs) -> std::optional<std::string> {
            std::string text = self.failed(Arguments(args, kwargs).passed());
            return text.empty() ? std::nullopt : std::optional(std::move(text));
          },
          "args"_a.none() = nb::none(), "kwargs"_a.none() = nb::none(),
          "Describes the first guard that does not hold; None if all hold.")
      .def("__len__", &GuardSet::size);
}

}  // namespace

void expect_dict(const char* function, nb::handle dict) {
  if (!PyDict_Check(dict.ptr())) throw TypeError("{}: expected a dict", function);
}

nb::object class_dict(nb::handle type) {
  if (!PyType_Check(type.ptr())) throw TypeError("class_dict: expected a class");
  PyObject* dict = reinterpret_cast<PyTypeObject*>(type.ptr())->tp_dict;
  return dict ? nb::borrow(dict) : nb::none();
}

/// A location as GuardSet.writes() describes it. It must outlive the result.
Location to_location(const nb::tuple& location) {
  const nb::handle holder = location[1], key = location[2];
  return {static_cast<Location::Kind>(nb::cast<int>(location[0])), holder.ptr(), key.is_none() ? nullptr : key.ptr(),
          nb::cast<Py_ssize_t>(location[3])};
}

void bind_guards(nb::module_& module) {
  nb::class_<GuardSet> guards(module, "GuardSet", nb::type_slots(collected_slots<GuardSet>()),
                              nb::is_weak_referenceable(),
                              "The Python state that a recorded call read, with its recorded values.");
  bind_kinds(guards);
  bind_stores(guards);
  bind_checks(guards);
}

}  // namespace lucid::python
