#include "bindings/python_call.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "base/out_of_memory.h"
#include "bindings/gil.h"
#include "bindings/graph.h"
#include "bindings/jit.h"
#include "bindings/tensor_object.h"
#include "bindings/tracing.h"
#include "capture/builtins.h"

namespace lucid::python {

using jit::PlanTable;
using jit::TablePlan;

namespace {

/// Ignores a lack of memory: the call itself is done, and the next call is recorded again.
template <typename Step>
void without_memory_error(const Step& step) {
  try {
    has_memory_for(step);
  } catch (const nb::python_error& error) {
    if (!error.matches(PyExc_MemoryError)) throw;
  }
}

}  // namespace

std::optional<PyObject*> PythonCall::verify(const TablePlan& plan, const jit::Program::Handles& handles,
                                            jit::Program::Branch& branch) const {
  jit::ShadowRun shadow(*plan.program, handles);
  if (!shadow.run(branch)) return std::nullopt;
  nb::object result = nb::steal(run());
  if (shadow.is_invalidated()) return result.release().ptr();
  const auto fail = [&](const std::string& where) {
    const std::optional<PassList> passes = to_passes(target_.passes);
    shadow.fail(where, passes ? &*passes : nullptr);
  };
  const nb::handle recorder(target_.recorder);
  const nb::object where = recorder.attr("difference")(as_python(plan).compared(shadow.results(), result));
  if (!where.is_none()) fail(nb::cast<std::string>(where));
  if (const auto difference = shadow.difference()) fail(plan.name_of(*difference));
  return result.release().ptr();
}

void PythonCall::missed(PlanTable& table, bool records) const {
  if (const Ref<TablePlan> stale = records ? table.newest(key()) : nullptr)
    table.log_event("recorded again: " + difference(*stale));
  drop_unreachable_plans(table);
}

PyObject* PythonCall::record(PlanTable::Recording& recording) const {
  const Parts::Scope parts(target_.parts, target_.recorder, Parts::Use::kNote);
  if (flat_.is_too_deep) {
    PyObject* const result = run();
    recording.returned(
        false,
        [](std::string& obstacle) {
          obstacle = "takes an argument that contains itself or is nested too deeply";
          return Ref<TablePlan>();
        },
        nullptr);
    return result;
  }
  if (const std::string name = replaced_builtin(); !name.empty()) {
    recording.skipped("builtins." + name + " is not Python's");
    return run();
  }
  const nb::object recorder = nb::borrow(target_.recorder);
  const nb::list given = given_tensors();
  const auto [observed, shown_key] =
      nb::cast<std::pair<nb::object, nb::object>>(recorder.attr("begin")(positional(), named(), given));
  const nb::object varying = varying_arguments(recording);
  const nb::object tracing = nb::cast(new PythonTracing, nb::rv_policy::take_ownership);
  nb::cast<PythonTracing&>(tracing).start();
  const nb::object result = watched_call(observed, nb::cast<PythonTracing&>(tracing), recording);
  const std::optional<PassList> passes = to_passes(target_.passes);
  without_memory_error([&] {
    recording.returned(
        nb::cast<PythonTracing&>(tracing).reads_values(),
        [&](std::string& obstacle) {
          return plan_of(recorder.attr("finish")(observed, shown_key, tracing, given, result, varying), obstacle);
        },
        passes ? &*passes : nullptr);
  });
  return nb::object(result).release().ptr();
}

std::string PythonCall::difference(const TablePlan& plan) const {
  if (!plan.pattern.matches(key().numbers())) {
    const auto names =
        nb::cast<std::vector<std::string>>(nb::handle(target_.recorder).attr("argument_names")(positional(), named()));
    auto others = plan.pattern.numbers;
    for (const uint32_t position : plan.pattern.varying) others[position] = key().numbers()[position];
    return differing_argument(values_, names, key().numbers(), others);
  }
  std::string failed = as_python(plan).guard_set().failed({values_, count_, names_});
  if (!failed.empty()) return failed;
  jit::Program::Handles handles;
  if (!as_python(plan).find_numbers(key().numbers(), handles.numbers))
    return "the call depends on " + plan.varying.front();
  if (!as_python(plan).guard_set().check({values_, count_, names_}, tensors(), handles.found))
    return "tensors that it finds outside its arguments are other arguments";
  if (plan.program->reads_values() && plan.program->fits(tensors(), handles)) return jit::kReadsOtherValues;
  if (plan.program->family() && !plan.program->fits(tensors(), handles)) return "a guard on sizes or strides fails";
  return "tensors that it uses have different types or share memory differently";
}

nb::object PythonCall::positional() const {
  nb::object args = checked(PyTuple_New(count_));
  for (Py_ssize_t i = 0; i < count_; ++i) PyTuple_SET_ITEM(args.ptr(), i, Py_NewRef(values_[i]));
  return args;
}

nb::dict PythonCall::named() const {
  nb::dict kwargs;
  const Py_ssize_t count = names_ ? PyTuple_GET_SIZE(names_) : 0;
  for (Py_ssize_t i = 0; i < count; ++i) kwargs[PyTuple_GET_ITEM(names_, i)] = nb::borrow(values_[count_ + i]);
  return kwargs;
}

nb::list PythonCall::given_tensors() const {
  nb::list tensors;
  for (TensorImpl* tensor : flat_.tensors()) tensors.append(to_object(TensorRef(tensor)));
  return tensors;
}

nb::tuple PythonCall::varying_arguments(const PlanTable::Recording& recording) const {
  const auto named = static_cast<size_t>(names_ ? PyTuple_GET_SIZE(names_) : 0);
  // Their positions are those in the key of the call, in which names of arguments have no numbers.
  const std::vector<NumberArgument> arguments = number_arguments(values_, static_cast<size_t>(count_) + named);
  std::vector<uint32_t> positions;
  for (const NumberArgument& argument : arguments) {
    const size_t count = argument.tensor ? 2 * argument.tensor->sizes().size() : 1;
    for (size_t i = 0; i < count; ++i) positions.push_back(argument.position + static_cast<uint32_t>(i));
  }
  const jit::VaryingNumbers varying = recording.table().varying(key(), positions);
  const nb::handle recorder(target_.recorder);
  nb::list numbers, tensors;
  for (const auto& [argument, position, tensor] : arguments) {
    if (!tensor) {
      if (varying.varies(position)) numbers.append(nb::make_tuple(argument, position));
      continue;
    }
    const auto marked = nb::cast<std::map<size_t, std::pair<std::optional<int64_t>, std::optional<int64_t>>>>(
        recorder.attr("marked_dims")(to_object(TensorRef(tensor))));
    std::map<size_t, SizeTrace::Range> ranges;
    for (const auto& [dim, range] : marked) ranges[dim] = {range.first, range.second};
    nb::list dims;
    for (const auto& [dim, range] : varying.dims(*tensor, position, ranges))
      dims.append(nb::make_tuple(dim, range.low, range.high));
    const auto all = flat_.tensors();
    if (nb::len(dims) > 0 && std::ranges::count(all, tensor) == 1)
      tensors.append(nb::make_tuple(argument, std::ranges::find(all, tensor) - all.begin(), position, dims));
  }
  return nb::make_tuple(numbers, tensors, varying.fixed_locations());
}

nb::object PythonCall::watched_call(const nb::object& observed, PythonTracing& tracing,
                                    PlanTable::Recording& recording) const {
  observed.attr("__enter__")();
  nb::object result = nb::steal(call_target());
  std::optional<nb::python_error> error;
  if (!result.is_valid()) error.emplace();
  tracing.stop();
  observed.attr("__exit__")(nb::none(), nb::none(), nb::none());
  if (!error) return result;
  if (error->matches(PyExc_Exception)) {
    // Not `__name__`, which a metaclass may define.
    const std::string_view name = reinterpret_cast<PyTypeObject*>(error->type().ptr())->tp_name;
    recording.raised(std::string(name.substr(name.rfind('.') + 1)));
  }
  throw nb::python_error(*error);
}

Ref<TablePlan> PythonCall::plan_of(const nb::object& made, std::string& obstacle) const {
  if (made.is_none()) return nullptr;
  if (nb::isinstance<nb::str>(made)) {
    obstacle = nb::cast<std::string>(made);
    return nullptr;
  }
  nb::list classes;
  for (PyObject* type : flat_.classes) classes.append(nb::borrow(type));
  return make_ref<PythonPlan>(key(), made, std::move(classes));
}

}  // namespace lucid::python
