// The only file that uses internals of interpreter frames: Python's API does not tell which function a frame runs.
#define Py_BUILD_CORE
#include "capture/watch.h"

#include <Python.h>
#include <internal/pycore_frame.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace lucid::python {
namespace {

PyObject* function_of(PyFrameObject* frame) {
#if PY_VERSION_HEX < 0x030C0000
  return reinterpret_cast<PyObject*>(frame->f_frame->f_func);
#else
  return frame->f_frame->f_funcobj;
#endif
}

std::string_view file_of(PyObject* code) {
  const char* file = PyUnicode_AsUTF8(reinterpret_cast<PyCodeObject*>(code)->co_filename);
  if (!file) PyErr_Clear();
  return file ? file : "";
}

thread_local Watch* t_watch = nullptr;

constexpr const char* kCapsule = "lucid.Watch";
/// Maximum number of functions recorded per code object: a loop may create any number of them.
constexpr size_t kMaxFunctions = 8;

}  // namespace

Watch::Watch(std::string own, std::vector<std::string> libraries, nb::object replay_log)
    : own_(std::move(own)), libraries_(std::move(libraries)), replay_log_(std::move(replay_log)) {
  if (replay_log_.is_none()) return;
  for (nb::handle code : replay_log_.attr("codes")) replayed_codes_.insert(code.ptr());
  for (nb::handle function : replay_log_.attr("functions")) replayed_functions_.insert(function.ptr());
}

Watch* Watch::current() { return t_watch; }

void Watch::start() {
  PyThreadState* state = PyThreadState_Get();
  before_ = state->c_profilefunc;
  before_object_ = nb::borrow(state->c_profileobj);
  handle_ = checked(PyCapsule_New(this, kCapsule, nullptr));
  is_started_ = true;
  outer_ = std::exchange(t_watch, this);
  PyEval_SetProfile(profile, handle_.ptr());
}

void Watch::stop() {
  if (!std::exchange(is_started_, false)) return;
  if (t_watch == this) t_watch = outer_;
  PyThreadState* state = PyThreadState_Get();
  saw_everything_ = state->c_profilefunc == profile && state->c_profileobj == handle_.ptr();
  if (saw_everything_) PyEval_SetProfile(before_, before_object_.ptr());
  before_object_.reset();
  handle_.reset();
}

int Watch::profile(PyObject* self, PyFrameObject* frame, int what, PyObject* arg) {
  auto* watch = static_cast<Watch*>(PyCapsule_GetPointer(self, kCapsule));
  if (!watch) return -1;
  const auto see = [&] {
    watch->see(frame, what, arg);
    return 0;
  };
  if (guarded(see) < 0) return -1;
  return watch->before_ ? watch->before_(watch->before_object_.ptr(), frame, what, arg) : 0;
}

void Watch::see(PyFrameObject* frame, int what, PyObject* arg) {
  const bool returns = what == PyTrace_C_RETURN || what == PyTrace_C_EXCEPTION;
  if (what == PyTrace_C_CALL) ++c_calls_;
  if (returns && c_calls_ > 0) --c_calls_;
  if (is_paused_ && what == PyTrace_C_CALL) ++unseen_calls_;
  if (is_paused_ && returns && unseen_calls_ > 0) {
    --unseen_calls_;
    return;
  }
  const PyObject* returning = returns ? arg : nullptr;
  if (what == PyTrace_RETURN) returning = reinterpret_cast<PyObject*>(frame);
  if (returning && !running_.empty() && running_.back().ptr() == returning) {
    running_.pop_back();
    replay_log_.attr("end")();
    return;
  }
  if (is_paused_) return;
  if (what == PyTrace_CALL) see_call(frame);
  if (what == PyTrace_C_CALL) see_c_call(frame, arg);
}

bool Watch::begins(PyFrameObject* frame, PyObject* function) {
  const nb::handle caller(reinterpret_cast<PyObject*>(frame));
  if (!nb::cast<bool>(replay_log_.attr("begin")(caller, nb::handle(function)))) return false;
  running_.push_back(nb::borrow(function == Py_None ? caller.ptr() : function));
  return true;
}

Watch::Code& Watch::known(PyObject* code) {
  if (const auto found = codes_.find(code); found != codes_.end()) return found->second;
  // Holds a reference, so that no other code object gets the same address.
  ran_.push_back({nb::borrow(code), nb::none()});
  return codes_.emplace(code, Code{file_of(code).starts_with(own_), {}}).first->second;
}

bool Watch::is_users(PyObject* code) const {
  const std::string_view file = file_of(code);
  return !file.starts_with(own_) && std::none_of(libraries_.begin(), libraries_.end(),
                                                 [&](const std::string& library) { return file.starts_with(library); });
}

void Watch::see_call(PyFrameObject* frame) {
  const nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
  if (replayed_codes_.contains(code.ptr()) && begins(frame, Py_None)) return;
  Code& entry = known(code.ptr());
  PyObject* function = function_of(frame);
  if (!function || !PyFunction_Check(function) || entry.functions.size() >= kMaxFunctions) return;
  const bool holds_something =
      PyFunction_GET_CLOSURE(function) || PyFunction_GET_DEFAULTS(function) || PyFunction_GET_KW_DEFAULTS(function);
  if (!entry.functions.empty() && (entry.is_own || !holds_something)) return;
  if (std::find(entry.functions.begin(), entry.functions.end(), function) != entry.functions.end()) return;
  entry.functions.push_back(function);
  ran_.push_back({code, nb::borrow(function)});
}

void Watch::see_c_call(PyFrameObject* frame, PyObject* function) {
  if (!PyCFunction_Check(function)) return;
  const nb::object code = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
  if (known(code.ptr()).is_own) return;
  const auto* called = reinterpret_cast<PyCFunctionObject*>(function);
  if (replayed_functions_.contains(function) && begins(frame, function)) return;
  // The behaviour of a method depends on the type of its object. The object of a class method is a type.
  PyObject* self = called->m_self;
  const void* of = !self ? nullptr : PyType_Check(self) ? static_cast<void*>(self) : Py_TYPE(self);
  if (!c_functions_.try_emplace({called->m_ml, of}, true).second) return;
  Called& entry = called_.emplace_back(Called{nb::borrow(function), code, code, PyFrame_GetLineNumber(frame)});
  nb::object at = nb::borrow(reinterpret_cast<PyObject*>(frame));
  while (at.is_valid()) {
    auto* outer = reinterpret_cast<PyFrameObject*>(at.ptr());
    const nb::object of_outer = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(outer)));
    if (is_users(of_outer.ptr())) {
      entry.user_code = of_outer;
      entry.user_line = PyFrame_GetLineNumber(outer);
      break;
    }
    at = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(outer)));
  }
}

int Watch::traverse(visitproc visit, void* arg) const {
  for (const Ran& ran : ran_) {
    Py_VISIT(ran.code.ptr());
    Py_VISIT(ran.function.ptr());
  }
  for (const Called& called : called_) {
    Py_VISIT(called.function.ptr());
    Py_VISIT(called.code.ptr());
    Py_VISIT(called.user_code.ptr());
  }
  Py_VISIT(before_object_.ptr());
  Py_VISIT(replay_log_.ptr());
  for (const nb::object& running : running_) Py_VISIT(running.ptr());
  return 0;
}

void Watch::clear() {
  replay_log_ = nb::none();
  replayed_codes_.clear();
  replayed_functions_.clear();
  ran_.clear();
  called_.clear();
  codes_.clear();
  c_functions_.clear();
}

}  // namespace lucid::python
