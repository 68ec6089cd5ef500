#include "bindings/optim.h"

#include <lucid/optim.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/error.h"
#include "bindings/gil.h"
#include "bindings/parts.h"
#include "bindings/tensor_object.h"
#include "bindings/tree.h"
#include "tensor/api.h"

namespace lucid::python {

/// The contents of Python's Optimizer. Schedules and states share ownership of the optimizer.
struct OptimizerHandle {
  std::shared_ptr<optim::Optimizer> optimizer;
};

namespace {

// Creating or destroying Python objects may run any Python code, and ops give up the GIL: meanwhile other threads may
// change the optimizer. The functions own what they use after that.

using namespace nb::literals;
using optim::Optimizer;
using optim::ParamGroup;

[[noreturn]] void raise_key_error(nb::handle key) {
  PyErr_SetObject(PyExc_KeyError, key.ptr());
  throw nb::python_error();
}

nb::list tensors_of(const std::vector<Tensor>& tensors) {
  nb::list list;
  for (const Tensor& tensor : tensors) list.append(to_object(ref_of(tensor)));
  return list;
}

/// Converts a list of (parameters, options), as lucid.optim prepares it.
std::vector<Optimizer::Group> groups_of(nb::handle groups) {
  std::vector<Optimizer::Group> result;
  for (nb::handle item : groups) {
    const auto pair = nb::cast<nb::tuple>(item);
    Optimizer::Group group;
    for (nb::handle param : pair[0]) group.params.emplace_back(&expect_tensor("optimizer", param.ptr()));
    const Tree options = to_tree("optimizer: a group", pair[1], Unsupported::kKeep);
    group.options = options.as_dict("optimizer: a group");
    result.push_back(std::move(group));
  }
  return result;
}

Tensor param_of(nb::handle object) { return Tensor(&expect_tensor("optimizer.state", object.ptr())); }

/// The state dict of one parameter. Keeps the optimizer alive.
struct StateHandle {
  Optimizer::State state;
  std::shared_ptr<Optimizer> optimizer;
};

/// `optimizer.state`: maps parameters to their state dicts.
struct StatesHandle {
  std::shared_ptr<Optimizer> optimizer;

  nb::list params() const {
    nb::list list;
    const auto groups = optimizer->param_groups();
    for (const auto& group : groups)
      for (const Tensor& param : group->params)
        if (optimizer->has_state(param) && !optimizer->state(param)->empty()) list.append(to_object(ref_of(param)));
    return list;
  }
};

void bind_mappings(nb::module_& module) {
  nb::class_<ParamGroup>(module, "ParamGroup", nb::is_weak_referenceable(),
                         "Parameters and their options. Works like a dict: `group[\"lr\"] = 0.1`.")
      .def("__getitem__",
           [](const ParamGroup& self, nb::handle key) -> nb::object {
             const auto name = nb::isinstance<nb::str>(key) ? nb::cast<std::string>(key) : std::string();
             if (name == "params") return tensors_of(self.params);
             if (name.empty() || !self.options.has(name)) raise_key_error(key);
             return from_tree(self.options.get(name));
           })
      .def(
          "__setitem__",
          [](ParamGroup& self, const std::string& key, nb::handle value) {
            if (key == "params") throw ValueError("param_groups: use add_param_group to change the parameters");
            self.options.set(key, to_tree("param_groups['" + key + "']", value, Unsupported::kKeep));
          },
          "key"_a, "value"_a.none())
      .def("__delitem__",
           [](ParamGroup& self, const std::string& key) {
             if (!self.options.erase(key)) raise_key_error(nb::cast(key));
           })
      .def("__len__", [](const ParamGroup& self) { return self.options.names().size() + 1; })
      .def("__iter__", [](const ParamGroup& self) {
        nb::list names;
        names.append("params");
        for (const std::string& name : self.options.names()) names.append(name);
        return nb::iter(names);
      });

  nb::class_<StateHandle>(module, "ParamState", "The optimizer state of one parameter. Works like a dict.")
      .def("__getitem__",
           [](const StateHandle& self, nb::handle key) {
             const Tree* found = nb::isinstance<nb::str>(key) ? self.state->find(nb::cast<std::string>(key)) : nullptr;
             if (!found) raise_key_error(key);
             const Tree value = *found;
             return from_tree(value);
           })
      .def(
          "__setitem__",
          [](StateHandle& self, const std::string& key, nb::handle value) {
            self.state->set(key, to_tree("state['" + key + "']", value, Unsupported::kKeep));
            self.optimizer->changed();
          },
          "key"_a, "value"_a.none())
      .def("__delitem__",
           [](StateHandle& self, const std::string& key) {
             if (!self.state->erase(key)) raise_key_error(nb::cast(key));
             self.optimizer->changed();
           })
      .def("__len__", [](const StateHandle& self) { return self.state->size(); })
      .def("__iter__", [](const StateHandle& self) {
        std::vector<std::string> keys;
        for (const auto& item : *self.state) keys.push_back(std::get<std::string>(item.key));
        nb::list names;
        for (const std::string& key : keys) names.append(key);
        return nb::iter(names);
      });

  nb::class_<StatesHandle>(module, "OptimizerState",
                           "The state of an optimizer: a dict for each parameter, created on first access.")
      .def("__getitem__",
           [](StatesHandle& self, nb::handle param) {
             return StateHandle{self.optimizer->state(param_of(param)), self.optimizer};
           })
      .def("__contains__",
           [](StatesHandle& self, nb::handle param) {
             return tensor_or_null(param.ptr()) && self.optimizer->has_state(param_of(param));
           })
      .def("__len__", [](StatesHandle& self) { return nb::len(self.params()); })
      .def("__iter__", [](StatesHandle& self) { return nb::iter(self.params()); })
      .def("clear", [](StatesHandle& self) { self.optimizer->clear_state(); }, "Clears the state of all parameters.");
}

std::function<Tensor()> closure_of(nb::handle closure) {
  if (closure.is_none()) return nullptr;
  return [closure]() -> Tensor {
    const GilAcquire lock;
    const nb::object loss = closure();
    if (loss.is_none()) return {};
    if (TensorImpl* tensor = tensor_or_null(loss.ptr())) return Tensor(tensor);
    return scalar(nb::cast<double>(loss));
  };
}

/// The optimizer, held during a call: another thread may call __init__() again meanwhile.
std::shared_ptr<Optimizer> held(const OptimizerHandle& self) { return self.optimizer; }

void bind_optimizer(nb::module_& module) {
  nb::class_<OptimizerHandle>(module, "OptimizerBase", nb::dynamic_attr(), nb::is_weak_referenceable(),
                              "The base class of optimizers.")
      .def(
          "__init__",
          [](OptimizerHandle* self, const std::optional<std::string>& kind, nb::handle groups, nb::handle defaults) {
            const Tree options = to_tree("optimizer: defaults", defaults, Unsupported::kKeep);
            std::shared_ptr<Optimizer> made;
            if (kind)
              made = std::make_shared<Optimizer>(*kind, groups_of(groups), options.as_dict("optimizer: defaults"));
            else
              made = std::make_shared<Optimizer>(groups_of(groups), options.as_dict("optimizer: defaults"));
            new (self) OptimizerHandle{std::move(made)};
          },
          "kind"_a.none(), "groups"_a, "defaults"_a)
      .def_prop_ro(
          "param_groups",
          [](const OptimizerHandle& self) {
            nb::list list;
            const auto groups = self.optimizer->param_groups();
            for (const auto& group : groups) list.append(nb::cast(group));
            return list;
          },
          "The groups of parameters, each with its options.")
      .def_prop_ro(
          "state", [](const OptimizerHandle& self) { return StatesHandle{self.optimizer}; },
          "The state of each parameter.")
      .def_prop_ro(
          "defaults", [](const OptimizerHandle& self) { return from_tree(Tree(self.optimizer->defaults())); },
          "The default options of a group.")
      .def("_add_group",
           [](OptimizerHandle& self, nb::handle group) {
             nb::list groups;
             groups.append(group);
             held(self)->add_param_group(std::move(groups_of(groups).front()));
           })
      .def(
          "zero_grad", [](OptimizerHandle& self, bool set_to_none) { held(self)->zero_grad(set_to_none); },
          "set_to_none"_a = true, "Drops the gradients of all parameters, or fills them with zeros.")
      .def(
          "_step",
          [](nb::handle self, nb::handle closure) {
            if (Parts::any() && closure.is_none()) {
              const auto make = [&] { return nb::object(self.attr("_step_alone")); };
              PyObject* const arguments[] = {closure.ptr()};
              PyObject* const result = Parts::call(self.ptr(), make, arguments, 1, nullptr);
              if (result) return nb::steal(result);
              if (PyErr_Occurred()) throw nb::python_error();
            }
            return nb::object(to_object(ref_of(held(nb::cast<OptimizerHandle&>(self))->step(closure_of(closure)))));
          },
          "closure"_a.none())
      .def_prop_ro("_has_stepped", [](OptimizerHandle& self) { return self.optimizer->steps_taken() > 0; })
      .def("_count_step", [](OptimizerHandle& self) { self.optimizer->count_step(); })
      .def(
          "state_dict", [](const OptimizerHandle& self) { return from_tree(held(self)->state_dict()); },
          "Options and state as plain data, in PyTorch's layout.")
      .def(
          "load_state_dict",
          [](OptimizerHandle& self, nb::handle state_dict) {
            held(self)->load_state_dict(to_tree("load_state_dict: state_dict", state_dict, Unsupported::kKeep));
          },
          "state_dict"_a, "Copies a state returned by state_dict() into this optimizer.");
}

}  // namespace

std::shared_ptr<Optimizer> optimizer_in(nb::handle object) { return nb::cast<OptimizerHandle&>(object).optimizer; }

void bind_optim(nb::module_& module) {
  bind_mappings(module);
  bind_optimizer(module);
  bind_schedules(module);
}

}  // namespace lucid::python
