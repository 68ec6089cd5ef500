#include "bindings/tracing.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <map>

#include "bindings/convert.h"
#include "bindings/gil.h"
#include "bindings/recorded_call.h"
#include "bindings/tensor_object.h"
#include "capture/watch.h"
#include "jit/recorder.h"
#include "jit/traced_numbers.h"
#include "tensor/eager.h"
#include "tensor/grad_mode.h"
#include "tensor/host_view.h"
#include "tensor/item.h"

namespace lucid::python {
namespace {

using namespace nb::literals;

/// The folder of the lucid package, whose frames are skipped when looking for the user's line.
std::string& package_folder() {
  static std::string folder;
  return folder;
}

/// "example.py:4" of the innermost frame outside the package.
std::string source_of_frame() {
  PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
  std::string source;
  while (frame && source.empty()) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    const char* file = PyUnicode_AsUTF8(code->co_filename);
    if (!file) PyErr_Clear();
    const std::string_view path = file ? file : "";
    if (!path.starts_with(package_folder())) {
      const size_t slash = path.rfind('/');
      source = std::string(slash == std::string_view::npos ? path : path.substr(slash + 1)) + ":" +
               std::to_string(PyFrame_GetLineNumber(frame));
    }
    Py_DECREF(code);
    PyFrameObject* back = PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
  Py_XDECREF(frame);
  return source;
}

thread_local PythonTracing* t_tracing = nullptr;

/// The function that finds out how Python code compares a float that it reads; kept for ever.
nb::handle& float_comparisons() {
  static nb::handle function;
  return function;
}

/// Hides our own Python code from what observes the recorded call.
class PauseProfile {
 public:
  PauseProfile() { PyThreadState_EnterTracing(PyThreadState_Get()); }
  PauseProfile(const PauseProfile&) = delete;
  PauseProfile& operator=(const PauseProfile&) = delete;
  ~PauseProfile() { PyThreadState_LeaveTracing(PyThreadState_Get()); }
};

constexpr const char* kReadsValue = "reads a value of a tensor";

/// Returns the reason why a recording has no plan. Running out of memory is temporary, so it throws MemoryError
/// instead.
std::string lasting(const std::string& obstacle) {
  if (obstacle == jit::kOutOfMemory) throw MemoryError("compile: out of memory while the call was recorded");
  return obstacle;
}

/// Returns (recorded call, None), or (None, the reason why there is none).
nb::tuple record(PythonTracing& self, nb::handle arguments, nb::handle results, nb::handle state,
                 const std::string& name) {
  std::string obstacle = self.obstacle();
  if (!obstacle.empty()) return nb::make_tuple(nb::none(), lasting(obstacle));
  const std::vector<TensorRef> given = tensors_in(arguments);
  const std::vector<TensorRef> got = tensors_in(results);
  const std::vector<TensorRef> known = tensors_in(state);
  RecordedCallHandle recorded;
  try {
    recorded.call = self.recorder.finish(given, got, known, name, obstacle);
  } catch (const std::exception& error) {
    obstacle = jit::reason_of(error);
  }
  if (!recorded.call) return nb::make_tuple(nb::none(), lasting(obstacle));
  return nb::make_tuple(std::move(recorded), nb::none());
}

/// A tensor to pass in place of argument `argument`: the sizes of these dimensions are traced, each with its bounds.
nb::object trace_sizes(PythonTracing& self, nb::handle tensor, size_t argument,
                       const std::vector<std::tuple<size_t, std::optional<int64_t>, std::optional<int64_t>>>& dims) {
  std::vector<jit::TracedSizes::Dimension> traced;
  for (const auto& [dim, low, high] : dims) traced.push_back({dim, {low, high}});
  return to_object(self.recorder.trace_sizes(expect_tensor("compile", tensor.ptr()), argument, traced));
}

/// The traced sizes, as tuples of argument, dimension, and whether the call depends on the value.
std::vector<std::tuple<size_t, size_t, bool>> sizes_of(const PythonTracing& self) {
  const jit::TracedSizes& traced = *self.recorder.sizes();
  std::vector<std::tuple<size_t, size_t, bool>> sizes;
  for (size_t i = 0; i < traced.symbols.size(); ++i)
    sizes.emplace_back(traced.symbols[i].argument, traced.symbols[i].dim, traced.trace.is_fixed(i));
  return sizes;
}

/// See jit::number_operands. `first` is the recording without traced numbers; `kept` are further numbers that keep
/// their value.
nb::object number_operands(PythonTracing& self, PythonTracing& first, nb::handle results, nb::handle own_results,
                           std::vector<uint32_t> kept) {
  const std::vector<uint32_t>& read = self.recorder.read_numbers();
  kept.insert(kept.end(), read.begin(), read.end());
  const auto numbers =
      jit::number_operands(first.context(), tensors_in(results), self.context(), tensors_in(own_results), kept);
  return numbers ? nb::cast(*numbers) : nb::none();
}

/// Handles of the cells from outside that the call accessed.
nb::list accessed_tensors(PythonTracing& self) {
  nb::list tensors;
  for (const jit::TracedCell& cell : self.context().trace().cells)
    if (cell.handle) tensors.append(to_object(cell.handle));
  return tensors;
}

/// Numbers the values that ops read and write, in order of first occurrence.
class ValueNumbering {
 public:
  int64_t operator()(const jit::TracedView& view) {
    return numbers_.try_emplace(key_of(view), static_cast<int64_t>(numbers_.size())).first->second;
  }

 private:
  using Key = std::tuple<int32_t, int32_t, Dtype, std::vector<int64_t>>;
  static Key key_of(const jit::TracedView& view) {
    std::vector<int64_t> geometry(view.geometry.sizes.begin(), view.geometry.sizes.end());
    geometry.insert(geometry.end(), view.geometry.strides.begin(), view.geometry.strides.end());
    geometry.push_back(view.geometry.offset);
    return {view.cell, view.version, view.dtype, std::move(geometry)};
  }

  std::map<Key, int64_t> numbers_;
};

/// The ops that ran, each as (op, inputs, outputs, shape of the first output, source). The call's inputs are numbered
/// first.
nb::list records(PythonTracing& self, nb::handle inputs) {
  ValueNumbering numbers;
  for (const TensorRef& input : tensors_in(inputs)) {
    jit::TracedView view = self.context().current_view(*input);
    view.version = 0;
    numbers(view);
  }
  nb::list list;
  for (const jit::Event& event : *self.context().trace().events) {
    if (!event.op) continue;
    nb::list reads;
    for (const jit::TracedOperand& operand : event.operands)
      if (operand.view) reads.append(numbers(*operand.view));
    nb::list writes;
    for (const jit::TracedView& view : event.results) writes.append(numbers(view));
    list.append(nb::make_tuple(event.op->name(), reads, writes,
                               checked(from_ints(event.results.front().geometry.sizes)), event.source));
  }
  return list;
}

}  // namespace

void PythonTracing::start() {
  caller_ = PyThreadState_GetFrame(PyThreadState_Get());
  if (!is_symbolic_) before_ = std::exchange(t_tracing, this);
  recorder.start();
}

void PythonTracing::stop() {
  recorder.stop();
  if (t_tracing == this) t_tracing = before_;
  Py_CLEAR(caller_);  // its locals may hold this object
}

std::string PythonTracing::obstacle() const {
  const std::string& obstacle = context().trace().obstacle;
  if (!obstacle.empty() || floats.empty() || forwards_scalars) return obstacle;
  const std::string& source = floats.front().source;
  return source.empty() ? kReadsValue : source + ": " + kReadsValue;
}

PythonTracing* PythonTracing::active() {
  return t_tracing && eager_observer() == &t_tracing->context() ? t_tracing : nullptr;
}

void PythonTracing::add_float(const TensorImpl& tensor, nb::object value) {
  static const Op& clone = op_table().at("clone");
  const GradModeScope no_grad(false);
  const Operand operands[] = {Operand(const_cast<TensorImpl*>(&tensor))};
  const Value copy = eager().emit_one(clone, operands, clone.schema.default_attributes());
  const nb::object frame = nb::steal(reinterpret_cast<PyObject*>(PyThreadState_GetFrame(PyThreadState_Get())));
  if (!frame || !add_comparisons(copy, frame)) return on_read(tensor, ValuesRead::kAll);
  auto* const reader = reinterpret_cast<PyFrameObject*>(frame.ptr());
  const nb::object back = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(reader)));
  floats.push_back({std::move(value), TensorRef(tensor_of(copy)),
                    nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(reader))), PyFrame_GetLasti(reader),
                    back.ptr() == reinterpret_cast<PyObject*>(caller_), source_of_frame()});
}

bool PythonTracing::add_comparisons(const Value& copy, nb::handle frame) {
  const nb::object comparisons = [&]() -> nb::object {
    const PauseProfile pause;
    try {
      return nb::borrow(float_comparisons())(frame, PyFrame_GetLasti(reinterpret_cast<PyFrameObject*>(frame.ptr())));
    } catch (const nb::python_error& error) {
      // Such as RecursionError, which the program itself might not have raised.
      if (!error.matches(PyExc_Exception)) throw;
      return nb::none();
    }
  }();
  if (comparisons.is_none() || nb::len(comparisons) == 0) return !comparisons.is_none();
  static const Op& to = op_table().at("to");
  // Exact: Python compares as f64 too.
  const Operand value(copy);
  const Value wide = eager().emit_one(to, {&value, 1}, {Dtype::kF64});
  for (nb::handle comparison : comparisons) {
    SmallVector<Operand, 2> operands{Operand(wide)};
    if (nb::len(comparison) == 2) operands.push_back(Operand(nb::cast<double>(comparison[1])));
    const Op& op = op_table().at(nb::cast<std::string>(comparison[0]));
    const Value answer = eager().emit_one(op, {operands.data(), operands.size()}, op.schema.default_attributes());
    context().values_read(*tensor_of(answer), ValuesRead::kTruth);
  }
  return true;
}

nb::object read_number(const TensorImpl& tensor) {
  PythonTracing* const tracing = PythonTracing::active();
  if (!tracing || !is_float(tensor.dtype()) || tensor.numel() != 1) [[likely]]
    return nb::steal(from_scalar(item(tensor)));
  nb::object value = nb::steal(from_scalar(element_of(tensor)));
  tracing->add_float(tensor, value);
  return value;
}

/// (float, copy of the tensor, code, offset of the instruction, whether it is the code that was called first) for each
/// float that Python code has read.
nb::list floats_of(const PythonTracing& self) {
  nb::list floats;
  for (const PythonTracing::ReadFloat& each : self.floats)
    floats.append(nb::make_tuple(each.value, to_object(each.copy), each.code, each.offset, each.is_root));
  return floats;
}

std::string source_of_user() {
  const GilAcquire lock;
  return source_of_frame();
}

std::vector<TensorRef> tensors_in(nb::handle sequence) {
  std::vector<TensorRef> tensors;
  for (nb::handle item : sequence) tensors.emplace_back(&expect_tensor("compile", item.ptr()));
  return tensors;
}

void bind_tracing(nb::module_& module) {
  nb::class_<PythonTracing>(module, "Tracing")
      .def(nb::init<bool, bool>(), "keeps_contents"_a = false, "is_symbolic"_a = false)
      .def("trace_sizes", &trace_sizes, "tensor"_a, "argument"_a, "dims"_a)
      .def("start", &PythonTracing::start)
      .def("stop", &PythonTracing::stop)
      .def("restore_contents", [](PythonTracing& self) { self.recorder.restore_contents(); })
      .def("record", &record, "arguments"_a, "results"_a, "state"_a, "name"_a)
      .def("number_operands", &number_operands, "first"_a, "results"_a, "own_results"_a, "kept"_a)
      .def_prop_ro("read_numbers", [](const PythonTracing& self) { return self.recorder.read_numbers(); })
      .def_prop_ro("sizes", &sizes_of)
      .def_prop_ro("caught_error", [](const PythonTracing& self) { return self.context().caught_error(); })
      .def_prop_ro("ran_backward", [](PythonTracing& self) { return self.context().ran_backward(); })
      .def_prop_ro("floats", &floats_of)
      .def_rw("forwards_scalars", &PythonTracing::forwards_scalars)
      .def_prop_ro("accessed", &accessed_tensors)
      .def("records", &records, "inputs"_a)
      .def_prop_ro("effects", [](PythonTracing& self) { return self.context().effects(); })
      .def_prop_ro("may_run_twice", [](PythonTracing& self) { return jit::may_run_twice(self.context()); })
      .def_prop_ro("obstacle", [](PythonTracing& self) { return lasting(self.obstacle()); });
  module.def("set_traced_number", [](nb::handle type) {
    traced_number_type = reinterpret_cast<PyTypeObject*>(type.inc_ref().ptr());  // kept for ever, as are other classes
  });
  module.def("set_float_comparisons", [](nb::handle function) { float_comparisons() = function.inc_ref(); });
  // What this thread does between these is not part of its recording.
  module.def("pause_recording", [] {
    if (t_tracing) t_tracing->context().pause();
    if (Watch::current()) Watch::current()->pause();
  });
  module.def(
      "outdate",
      [](nb::handle tensors) {
        for (const TensorRef& tensor : tensors_in(tensors))
          if (t_tracing) t_tracing->context().outdate(*tensor);
      },
      "tensors"_a, "What this thread records cannot use these tensors any more.");
  module.def("resume_recording", [] {
    if (t_tracing) t_tracing->context().resume();
    if (Watch::current()) Watch::current()->resume();
  });
  module.def(
      "resized",
      [](nb::handle example, const std::vector<std::pair<int64_t, int64_t>>& sizes) {
        return to_object(jit::resized(TensorRef(&expect_tensor("export", example.ptr())), sizes));
      },
      "example"_a, "sizes"_a);
  module.def("tracing_effects", [] { return t_tracing ? t_tracing->context().effects() : size_t{0}; });
  module.def("is_tracing", [] { return jit::TracingContext::is_active(); });
  module.def("set_package_folder", [](std::string folder) { package_folder() = std::move(folder); });
}

}  // namespace lucid::python
