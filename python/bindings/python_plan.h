#pragma once

#include "bindings/errors.h"
#include "capture/guards.h"
#include "jit/plan_table.h"

namespace lucid::python {

/// A plan of a call from Python, with what it holds of Python: the guards, and how results are rebuilt.
class PythonPlan : public jit::TablePlan {
 public:
  /// `made` is (readable key, program, guards, make_result, places). make_result builds the result from a list of
  /// tensors; it is None if the result is the tensor itself. The key names `classes` by address.
  PythonPlan(const jit::CallKey& key, const nb::tuple& made, nb::list classes);
  /// On any thread.
  ~PythonPlan() override;

  const GuardSet& guard_set() const { return *guard_set_; }
  PyObject* rebuild(jit::CallResults& results) const;
  /// (readable key, program, guards, places)
  nb::tuple description() const;
  int traverse(visitproc visit, void* arg) const;

 private:
  nb::object shown_key_;
  nb::object guards_object_;
  nb::object make_result_;
  nb::object classes_;
  const GuardSet* guard_set_;
};

/// A plan of a table that belongs to Python.
inline const PythonPlan& as_python(const jit::TablePlan& plan) { return static_cast<const PythonPlan&>(plan); }

}  // namespace lucid::python
