#pragma once

#include <Python.h>

#include <functional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "capture/references.h"

namespace lucid::python {

/// Whether a program can still reach objects that plans refer to. An object is reachable if it has a reference that is
/// neither a plan's nor that of an object which is unreachable itself, such as one in a cycle. This is how the garbage
/// collector decides, applied to a few objects and with the plans' references left out. Runs no user code. If in doubt,
/// an object counts as reachable.
///
/// Call the functions in this order: add() for the plans in question, find_references(), subtract() for the plans of
/// all compiled functions, spread(), reaches().
class Reachability {
 public:
  /// Calls its argument with a visitor for the references of one plan.
  using Plan = std::function<void(ReferenceVisitor&)>;

  void add(const Plan& plan);
  void find_references();
  void subtract(const Plan& plan);
  void spread();
  /// Whether a program can reach everything that a plan compares.
  bool reaches(const Plan& plan) const;

 private:
  struct Node {
    /// References that were found: those of plans, and of other nodes.
    Py_ssize_t references = 0;
    bool is_reachable = false;
  };
  class Roots;
  class Owned;
  class Compared;

  void add(PyObject* object);
  /// Excludes what an object refers to.
  void close(PyObject* object);
  bool is_open(PyObject* object) const;
  bool has_other_references(PyObject* object, const Node& node) const;
  bool is_reachable(PyObject* object) const;

  std::unordered_map<PyObject*, Node> nodes_;
  std::vector<PyObject*> pending_;
  std::unordered_set<PyObject*> closed_;
  /// References of plans, and of the Python object, to each tensor or other object.
  std::unordered_map<const void*, size_t> counted_;
};

}  // namespace lucid::python
