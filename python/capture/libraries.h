#pragma once

#include <lucid/optim.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bindings/module_object.h"
#include "capture/values.h"
#include "nn/hooks.h"

namespace lucid::python {

/// A tensor that a call may read, and how a user would write it.
struct FoundTensor {
  nb::object tensor;
  std::string place;
};

/// What Python can tell of a tensor without looking at its values: dtype, shape, strides, whether it requires grad and,
/// where code names `grad`, whether it has one.
struct TensorGuard {
  PyObject* object;
  TensorImpl* tensor;  // lives as long as the object
  std::string place;
  Dtype dtype;
  Dims shape;
  Dims strides;
  bool wants_grad;
  std::optional<bool> has_grad;

  TensorGuard(PyObject* object, std::string place, bool reads_grad);
  bool holds() const;
  std::optional<Difference> difference() const;
  size_t size() const { return 1; }
  template <typename Visit>
  void each(Visit visit) {
    visit(object);
  }
};

/// A module as it was: its mode, parts, settings and hooks. It does not keep the module alive: what leads to the module
/// does, or nothing.
struct ModuleGuard {
  PyObject* reference;  // weak
  PyObject* type;
  PyObject* attributes;
  std::string place;
  bool training;
  std::vector<std::pair<std::string, TensorRef>> parameters;
  std::vector<std::pair<std::string, TensorRef>> buffers;
  std::vector<std::pair<std::string, nn::Module*>> children;
  std::vector<std::weak_ptr<nn::HookEntry>> hooks;
  std::vector<std::pair<std::string, nn::Item>> settings;
  /// As of the last look that found everything as it was.
  mutable uint64_t version;

  ModuleGuard(PyObject* object, std::string place);
  bool holds() const;
  std::optional<Difference> difference() const;
  size_t size() const { return 1; }
  template <typename Visit>
  void each(Visit visit) {
    visit(reference), visit(type), visit(attributes);
  }

 private:
  bool is_there() const;
  std::optional<Difference> compare() const;
};

/// Hooks that run around every module's call.
struct GlobalHooksGuard {
  uint64_t version = nn::global_hooks().version();

  bool holds() const { return nn::global_hooks().version() == version; }
  std::optional<Difference> difference() const;
  size_t size() const { return 1; }
  template <typename Visit>
  void each(Visit) {}
};

/// An optimizer as it was: its parameters, the options that are not numbers, and which tensors hold its state. Numbers
/// such as the learning rate lie in tensors that are read when a step runs.
struct OptimizerGuard {
  struct Option {
    std::string name;
    Tree value;                    // of options that are no numbers
    std::vector<TensorRef> cells;  // of numbers
    /// Of a number in a cell: what a step consists of may depend on it.
    bool is_zero = false;
  };
  struct Group {
    const optim::ParamGroup* group;
    std::vector<TensorRef> params;
    std::vector<Option> options;
    mutable uint64_t version;
  };
  struct State {
    optim::Optimizer::State state;  // null if nothing is remembered of the parameter
    std::vector<std::pair<std::string, Tree>> entries;
    /// Whether there is anything but tensors: what steps may replace, or nothing yet.
    bool has_values = false;

    bool holds() const;
  };

  PyObject* reference;  // weak
  std::string place;
  std::vector<Group> groups;
  std::vector<State> states;  // of all parameters in order
  mutable uint64_t version;

  OptimizerGuard(PyObject* object, std::string place, std::vector<FoundTensor>& tensors);
  bool holds() const;
  std::optional<Difference> difference() const;
  size_t size() const { return 1; }
  template <typename Visit>
  void each(Visit visit) {
    visit(reference);
  }

 private:
  std::optional<Difference> compare(optim::Optimizer& optimizer) const;
};

/// What the walk must know of a module: (parameters, buffers, modules, functions of hooks around forward), all with the
/// names that they have, in order; empty ones are left out. Hooks that are not Python's have no function.
nb::tuple describe_module(nb::handle module);
/// The functions of hooks that run around every module's forward.
nb::list global_hook_functions();

}  // namespace lucid::python
