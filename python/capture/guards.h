#pragma once

#include <string>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "capture/arguments.h"
#include "capture/libraries.h"
#include "capture/object_guards.h"
#include "capture/references.h"
#include "capture/stores.h"

namespace lucid::python {

/// The Python state that a recorded call read: globals, closures, attributes, containers, functions, modules,
/// optimizers. lucid.compiler fills it before the call. A plan holds one and checks it before each run.
class GuardSet {
 public:
  GuardSet() = default;
  GuardSet(const GuardSet&) = delete;
  GuardSet& operator=(const GuardSet&) = delete;
  ~GuardSet() { clear(); }

  /// Whether all guards hold. Needs the interpreter's lock; runs no user code and sets no Python error.
  bool check(const PassedArguments& arguments) const;
  /// The same, for a call whose arguments hold these tensors. If so, sets `inputs` to those that it finds elsewhere.
  bool check(const PassedArguments& arguments, std::span<TensorImpl* const> tensors, Inputs& inputs) const;
  /// Describes the first guard that does not hold; empty if all hold.
  std::string failed(const PassedArguments& arguments) const;
  /// The first difference; arguments are not compared.
  std::optional<Difference> difference() const;
  std::optional<Difference> argument_difference(const PassedArguments& arguments) const;
  /// After the recorded call: what it wrote to locations. Nothing if it changed anything else. The objects in `made`
  /// count as new in an entry of a dict, even if they equal what was there.
  std::optional<std::vector<Write>> writes(const std::unordered_set<PyObject*>& made) const;
  /// Stops comparing what a location holds.
  void release(const Location& location);
  /// Stops comparing the items of a list.
  void release_items(PyObject* list);
  /// Stops comparing the properties of a tensor.
  void release(PyObject* tensor);
  /// Accepts any int or any float in an entry of a dict, if it holds one.
  void accept_numbers(PyObject* dict, PyObject* name);
  /// Accepts any number of the same type in a location from now on.
  void vary(const Location& location, std::string name);
  /// The locations with numbers that vary.
  const std::vector<NumberGuard>& numbers() const { return std::get<std::vector<NumberGuard>>(guards_); }
  /// Records the tensors among the arguments of the call, and its inputs: first those in attributes and items of
  /// arguments, then those in locations that it writes to.
  void set_inputs(std::span<TensorImpl* const> tensors, std::span<TensorImpl* const> inputs);
  /// The locations that the call writes to.
  Stores& stores() { return stores_; }
  const Stores& stores() const { return stores_; }
  /// How many values are guarded.
  size_t size() const;
  /// Whether all guards but those of arguments hold.
  bool holds_state() const;
  /// Whether the guards of arguments held at the last check, and others did not.
  bool is_stale() const { return is_stale_; }
  /// Whether the guards can never hold again: an object that they refer to weakly is gone, or a version has passed.
  bool is_obsolete() const;
  void visit_references(ReferenceVisitor& visitor) const;
  /// Adds the guards of another set, except those of arguments, and its settings.
  void add_state_of(const GuardSet& other);

  template <typename Guard, typename... Args>
  Guard& add(Args&&... args) {
    return std::get<std::vector<Guard>>(guards_).emplace_back(std::forward<Args>(args)...);
  }
  ArgumentGuards& arguments() { return arguments_; }
  const ArgumentGuards& arguments() const { return arguments_; }
  /// The objects that the call reaches without its arguments.
  std::unordered_set<PyObject*>& known() { return known_; }
  /// Whether the call compares constants by identity: equal ones must then be the same object.
  void compare_identity(bool compares) { compares_identity_ = compares; }
  /// A dict from names to the lines of code that use them, such as "file.py:12".
  void set_sites(nb::object sites) { sites_ = std::move(sites); }
  /// The memory of this recording's walk for the next one: an object of lucid.compiler that does not refer to objects
  /// of the program, and those objects.
  void remember(nb::object memory, const std::vector<nb::object>& objects);
  nb::handle memory() const { return memory_; }
  const std::vector<PyObject*>& remembered() const { return remembered_; }
  /// The line of the user's code that names a source; empty if none does.
  std::string site_of(const std::string& source) const;

  int traverse(visitproc visit, void* arg) const;
  void clear();

 private:
  bool hold(const PassedArguments& arguments, Inputs& inputs) const;

  // Ordered by how often guards fail.
  std::tuple<std::vector<DictGuard>, std::vector<ModuleGuard>, std::vector<TensorGuard>, std::vector<SlotGuard>,
             std::vector<TestGuard>, std::vector<NumberGuard>, std::vector<InstanceGuard>, std::vector<ClassGuard>,
             std::vector<SequenceGuard>, std::vector<FunctionGuard>, std::vector<OptimizerGuard>,
             std::vector<BytesGuard>, std::vector<ContextGuard>, std::vector<CallGuard>, std::vector<GlobalHooksGuard>>
      guards_;
  ArgumentGuards arguments_;
  Stores stores_;
  InputIdentity input_identity_;
  std::unordered_set<PyObject*> known_;
  nb::object sites_;
  nb::object memory_;
  std::vector<PyObject*> remembered_;
  bool cleared_ = false;
  bool compares_identity_ = false;
  mutable bool is_stale_ = false;
};

/// The guards in a Python object of the class GuardSet. Throws TypeError for any other.
GuardSet& guards_in(nb::handle object);

/// `_core.GuardSet` and what lucid.compiler fills it with.
void bind_capture(nb::module_& module);

}  // namespace lucid::python
