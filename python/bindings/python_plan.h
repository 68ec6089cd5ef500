#pragma once

#include "bindings/errors.h"
#include "capture/guards.h"
#include "capture/number_program.h"
#include "jit/plan_table.h"

namespace lucid::python {

/// A plan of a call from Python, with its Python objects: the guards, and the function that rebuilds the results.
class PythonPlan : public jit::TablePlan {
 public:
  /// `made` is a _Plan (python/lucid/compiler/_compiled.py). make_result builds the result from a list of tensors. If
  /// the guards have stores, or there are calls to repeat, it builds a tuple of the result, what to store, and the
  /// arguments of the calls. The key identifies `classes` by address.
  PythonPlan(const jit::CallKey& key, nb::handle made, nb::list classes);
  /// May run on any thread.
  ~PythonPlan() override;

  const GuardSet& guard_set() const { return *guard_set_; }
  /// Whether the numbers in the key of a call, and in locations that vary, are such that the plan serves it. If so,
  /// sets its traced numbers.
  bool find_numbers(std::span<const int64_t> key, std::vector<Scalar>& numbers) const {
    return !numbers_ || numbers_->evaluate(key, guard_set_->numbers(), numbers);
  }
  /// Builds the result, stores what the call stores, and repeats its calls of functions with effects.
  PyObject* rebuild(jit::CallResults& results) const;
  /// For a call that the function has run itself: tuples of a name, what the plan would have returned or stored, and
  /// what the function did.
  nb::list compared(jit::CallResults& results, const nb::object& result) const;
  /// (readable key, program, guards, sources)
  nb::tuple description() const;
  void visit_references(ReferenceVisitor& visitor) const;
  int traverse(visitproc visit, void* arg) const;

 private:
  /// What make_result builds.
  nb::object make(jit::CallResults& results) const;
  bool makes_tuple() const { return repeat_.is_valid() || !guard_set_->stores().empty(); }
  /// What to store, from the tuple that make_result builds.
  std::vector<PyObject*> stored_in(nb::handle made) const;

  nb::object shown_key_;
  nb::object guards_object_;
  nb::object make_result_;
  nb::object classes_;
  nb::object numbers_object_;
  nb::object repeat_;
  const GuardSet* guard_set_;
  const NumberProgram* numbers_ = nullptr;
};

/// Casts a plan of a CompiledCallable's table.
inline const PythonPlan& as_python(const jit::TablePlan& plan) { return static_cast<const PythonPlan&>(plan); }

/// Drops the plans of a table that can never match again, because nothing but plans refers to an object that they
/// compare by identity. Such plans would keep the object alive. The destructors of users may run.
void drop_unreachable_plans(jit::PlanTable& table);

}  // namespace lucid::python
