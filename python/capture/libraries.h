#pragma once

#include <lucid/optim.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bindings/module_object.h"
#include "capture/stores.h"
#include "capture/values.h"
#include "nn/hooks.h"

namespace lucid::python {

/// A tensor that a call may read, and the expression by which a user refers to it.
struct FoundTensor {
  nb::object tensor;
  std::string source;
};

/// The properties of a tensor that Python code can read, except its values: dtype, shape, strides, requires_grad and,
/// if code names `grad`, whether it has a gradient.
struct TensorGuard {
  PyObject* object;
  TensorImpl* tensor;  // owned by the object
  std::string source;
  Dtype dtype;
  Dims shape;
  Device device;
  Dims strides;
  bool wants_grad;
  bool reads_grad;
  PyTypeObject* gradient_class;  // null if there is no gradient, or nothing reads it

  TensorGuard(PyObject* object, std::string source, bool reads_grad);
  bool holds() const;
  std::optional<Difference> difference() const;
  size_t size() const { return 1; }
  template <typename Visit>
  void each(Visit visit) {
    visit(object);
  }
};

/// The state of a module: its mode, parts, settings and hooks. It does not keep the module alive; the objects that lead
/// to the module may.
struct ModuleGuard {
  struct Part {
    std::string name;
    TensorRef tensor;
    bool persistent;
    /// Any tensor may be there: another check decides.
    bool is_free = false;
  };

  PyObject* reference;  // weak
  PyObject* type;
  PyObject* attributes;
  std::string source;
  bool training;
  std::vector<Part> parameters;
  std::vector<Part> buffers;
  std::vector<std::pair<std::string, nn::Module*>> children;
  std::vector<std::weak_ptr<nn::HookEntry>> hooks;
  std::vector<std::pair<std::string, Tree>> settings;
  /// The module's version at the last comparison that found no difference.
  mutable uint64_t version;

  ModuleGuard(PyObject* object, std::string source);
  bool holds() const;
  std::optional<Difference> difference() const;
  /// Adds the buffers that hold other tensors. Returns whether they are all that differs.
  bool add_writes(std::vector<Write>& writes) const;
  /// Accepts any tensor as a buffer from now on.
  void release(PyObject* module, PyObject* name);
  size_t size() const { return 1; }
  template <typename Visit>
  void each(Visit visit) {
    visit(reference), visit(type), visit(attributes);
  }

 private:
  bool is_there() const;
  std::optional<Difference> compare() const;
};

/// The hooks that run around every module's call.
struct GlobalHooksGuard {
  uint64_t version = nn::global_hooks().version();

  bool holds() const { return nn::global_hooks().version() == version; }
  std::optional<Difference> difference() const;
  size_t size() const { return 1; }
  template <typename Visit>
  void each(Visit) {}
};

/// The state of an optimizer: its parameters, the options that are not numbers, and the tensors that hold its state.
/// Numbers such as the learning rate are stored in tensors, which a step reads when it runs.
struct OptimizerGuard {
  struct Option {
    std::string name;
    Tree value;                    // if the option is not a number
    std::vector<TensorRef> cells;  // if it is a number, or a tuple of numbers
    /// Whether the number is zero: the ops of a step may depend on that.
    bool is_zero = false;
  };
  struct Group {
    const optim::ParamGroup* group;
    std::vector<TensorRef> params;
    std::vector<Option> options;
    mutable uint64_t version;
  };
  struct State {
    optim::Optimizer::State state;  // null if the parameter has no state
    std::vector<std::pair<std::string, Tree>> entries;
    /// Whether it is empty or has entries that are not tensors: a step may add or replace entries.
    bool has_values = false;

    bool holds() const;
  };

  PyObject* reference;  // weak
  std::string source;
  std::vector<Group> groups;
  std::vector<State> states;  // of all parameters in order
  mutable uint64_t version;

  OptimizerGuard(PyObject* object, std::string source, std::vector<FoundTensor>& tensors);
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

/// Describes a module for the walk: (parameters, buffers, modules, functions of hooks around forward, functions of
/// hooks that run during backward). The first three are lists of (name, object) in order, without empty slots. The
/// function of a hook that is not Python's is None.
nb::tuple describe_module(nb::handle module);
/// The functions of hooks of all modules: (around forward, during backward).
nb::tuple global_hook_functions();

}  // namespace lucid::python
