#pragma once

#include <string>
#include <tuple>
#include <unordered_set>
#include <vector>

#include "capture/arguments.h"
#include "capture/libraries.h"
#include "capture/places.h"

namespace lucid::python {

/// What a recorded call read of Python's state, and how it was then: globals, closures, attributes, containers,
/// functions, modules, optimizers. lucid.compiler fills it before the call; a plan holds one and asks it before each
/// run.
class GuardSet {
 public:
  GuardSet() = default;
  GuardSet(const GuardSet&) = delete;
  GuardSet& operator=(const GuardSet&) = delete;
  ~GuardSet() { clear(); }

  /// Whether everything is as it was. Needs the interpreter's lock; runs no code of users, and sets no Python error.
  bool check(const CallArguments& arguments) const;
  /// Which place differs, in words; empty if none does.
  std::string failed(const CallArguments& arguments) const;
  /// The first place that differs, without the arguments.
  std::optional<Difference> difference() const;
  std::optional<Difference> argument_difference(const CallArguments& arguments) const;
  /// How many places are guarded.
  size_t size() const;

  template <typename Guard, typename... Args>
  Guard& add(Args&&... args) {
    return std::get<std::vector<Guard>>(guards_).emplace_back(std::forward<Args>(args)...);
  }
  ArgumentGuards& arguments() { return arguments_; }
  /// Objects that the call reaches otherwise than by its arguments.
  std::unordered_set<PyObject*>& known() { return known_; }
  /// Where the code names what, as a dict from names to "file.py:12".
  void set_sites(nb::object sites) { sites_ = std::move(sites); }
  /// The line that names a place; empty if none does.
  std::string site_of(const std::string& place) const;

  int traverse(visitproc visit, void* arg) const;
  void clear();

 private:
  // What fails most often first.
  std::tuple<std::vector<DictGuard>, std::vector<ModuleGuard>, std::vector<TensorGuard>, std::vector<SlotGuard>,
             std::vector<InstanceGuard>, std::vector<ClassGuard>, std::vector<SequenceGuard>,
             std::vector<FunctionGuard>, std::vector<OptimizerGuard>, std::vector<BytesGuard>, std::vector<CallGuard>,
             std::vector<GlobalHooksGuard>>
      guards_;
  ArgumentGuards arguments_;
  std::unordered_set<PyObject*> known_;
  nb::object sites_;
  bool cleared_ = false;
};

/// The guards in a Python object of the class GuardSet. Throws TypeError for any other.
GuardSet& guards_in(nb::handle object);

/// `_core.GuardSet` and what lucid.compiler fills it with.
void bind_capture(nb::module_& module);

}  // namespace lucid::python
