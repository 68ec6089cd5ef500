#pragma once

#include "bindings/call_key.h"
#include "bindings/parts.h"
#include "bindings/python_plan.h"
#include "jit/plan_table.h"

namespace lucid::python {

struct PythonTracing;

/// What a compiled callable calls, and what it needs for that. It owns these objects.
struct CallTarget {
  /// The function or module to compile.
  PyObject* function;
  /// Records calls of the function: a lucid.compiler._compiled.Compiled.
  PyObject* recorder;
  /// A list of passes, or None for the standard ones.
  PyObject* passes;
  /// What the function calls while no plan serves it.
  Parts* parts;
};

/// One call from Python: a front of a plan table.
class PythonCall {
 public:
  using Result = PyObject*;

  PythonCall(const CallTarget& target, PyObject* const* values, size_t flagged_count, PyObject* names)
      : target_(target),
        values_(values),
        flagged_count_(flagged_count),
        count_(PyVectorcall_NARGS(flagged_count)),
        names_(names) {
    flatten_call(values, count_, names, flat_);
  }

  const jit::CallKey& key() const { return flat_.key; }
  std::span<TensorImpl* const> tensors() const { return flat_.tensors(); }
  bool holds(const jit::TablePlan& plan, jit::Program::Handles& handles) const {
    const GuardSet& guards = as_python(plan).guard_set();
    return guards.check({values_, count_, names_}, tensors(), handles.found) &&
           as_python(plan).find_numbers(key().numbers(), handles.numbers);
  }
  PyObject* run() const {
    const Parts::Scope parts(target_.parts, target_.recorder, Parts::Use::kNote);
    return checked(call_target()).release().ptr();
  }
  template <typename Finish>
  PyObject* run_in_pieces(const Finish& finish) const {
    const Parts::Scope parts(target_.parts, target_.recorder, Parts::Use::kRun);
    nb::object result = checked(call_target());
    finish();
    return result.release().ptr();
  }
  std::optional<PyObject*> replay(const jit::TablePlan& plan, const jit::Program::Handles& handles,
                                  jit::Program::Branch& branch) const {
    jit::CallResults results;
    if (!plan.program->run(handles, results, branch)) return std::nullopt;
    return as_python(plan).rebuild(results);
  }
  std::optional<PyObject*> verify(const jit::TablePlan& plan, const jit::Program::Handles& handles,
                                  jit::Program::Branch& branch) const;
  void missed(jit::PlanTable& table, bool records) const;
  bool is_stale(const jit::TablePlan& plan, bool was_asked) const {
    const GuardSet& guards = as_python(plan).guard_set();
    if (!was_asked) guards.check({values_, count_, names_});
    return guards.is_stale();
  }
  PyObject* record(jit::PlanTable::Recording& recording) const;
  /// Why a plan with the structure of this key does not match the call.
  std::string difference(const jit::TablePlan& plan) const;

 private:
  PyObject* call_target() const { return PyObject_Vectorcall(target_.function, values_, flagged_count_, names_); }
  nb::object positional() const;
  nb::dict named() const;
  nb::list given_tensors() const;
  /// What to trace: a list of numbers, as pairs of the argument's index and the position in the key; a list of tensors,
  /// as tuples of the argument's index, its index among the tensors, the position of its first size, and the dimensions
  /// whose sizes vary, each with its bounds; and the names of locations whose numbers are not traced.
  nb::tuple varying_arguments(const jit::PlanTable::Recording& recording) const;
  /// Calls the target between `__enter__` and `__exit__` of `observed`, the Recording that Compiled.begin returned.
  /// Adds no Python frame between caller and target.
  nb::object watched_call(const nb::object& observed, PythonTracing& tracing,
                          jit::PlanTable::Recording& recording) const;
  /// Creates a plan from `made`, the result of Compiled.finish: the parts of a plan, a string with the reason why there
  /// is no plan, or None to record the next call again.
  Ref<jit::TablePlan> plan_of(const nb::object& made, std::string& obstacle) const;

  const CallTarget& target_;
  PyObject* const* values_;
  size_t flagged_count_;
  Py_ssize_t count_;
  PyObject* names_;
  Flattened flat_;
};

}  // namespace lucid::python
