#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "bindings/errors.h"

namespace lucid::python {

/// Observes which Python functions and C functions run on this thread between start() and stop(). A profile function
/// that was already installed keeps receiving all events.
class Watch {
 public:
  /// A Python function that ran: its code, and the function if there was one. Functions that share a code object are
  /// all listed, up to a limit, if they have a closure or defaults.
  struct Ran {
    nb::object code;
    nb::object function;
  };
  /// A C function that ran, the code that called it, and the line of user code that led to the call.
  struct Called {
    nb::object function;
    nb::object code;
    nb::object user_code;
    int user_line;
  };

  /// Code in files that begin with `own` may call any C function. Code in files that begin with one of `libraries` is
  /// not user code. `replay_log` is None, or knows the calls that a plan repeats: those of functions with a code
  /// object among its `codes`, and of its C functions `functions`. Its method `begin` gets the frame that begins, or
  /// that calls a C function, and that function or None. It returns whether to call its method `end` afterwards.
  Watch(std::string own, std::vector<std::string> libraries, nb::object replay_log);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() { stop(); }

  void start();
  void stop();
  /// What observes this thread; null if nothing does.
  static Watch* current();
  /// How many C functions that Python code has called are running.
  size_t c_calls() const { return c_calls_; }
  /// What happens between these is not observed. They do not nest.
  void pause() {
    is_paused_ = true;
    unseen_calls_ = 0;
  }
  void resume() { is_paused_ = false; }
  /// The replay log; None if no effect is replayed, or the watch is paused.
  nb::object replay_log() const { return is_paused_ ? nb::none() : replay_log_; }
  /// False if other code replaced the profile function between start() and stop().
  bool saw_everything() const { return saw_everything_; }
  const std::vector<Ran>& ran() const { return ran_; }
  const std::vector<Called>& called() const { return called_; }
  int traverse(visitproc visit, void* arg) const;
  void clear();

 private:
  struct Code {
    bool is_own;
    std::vector<PyObject*> functions;  // in ran_
  };
  static int profile(PyObject* self, PyFrameObject* frame, int what, PyObject* arg);
  void see(PyFrameObject* frame, int what, PyObject* arg);
  /// Whether the plan repeats the call that begins.
  bool begins(PyFrameObject* frame, PyObject* function);
  void see_call(PyFrameObject* frame);
  void see_c_call(PyFrameObject* frame, PyObject* function);
  Code& known(PyObject* code);
  bool is_users(PyObject* code) const;

  std::string own_;
  std::vector<std::string> libraries_;
  nb::object replay_log_;
  std::unordered_set<const PyObject*> replayed_codes_;
  std::unordered_set<const PyObject*> replayed_functions_;
  /// The calls to repeat that are running: their frames, or the C functions.
  std::vector<nb::object> running_;
  std::unordered_map<PyObject*, Code> codes_;
  struct Hash {
    size_t operator()(const std::pair<const void*, const void*>& key) const {
      return std::hash<const void*>()(key.first) * 31 + std::hash<const void*>()(key.second);
    }
  };
  std::unordered_map<std::pair<const void*, const void*>, bool, Hash> c_functions_;
  std::vector<Ran> ran_;
  std::vector<Called> called_;
  Py_tracefunc before_ = nullptr;
  nb::object before_object_;
  nb::object handle_;
  Watch* outer_ = nullptr;
  size_t c_calls_ = 0;
  /// The calls that began while the watch was paused.
  size_t unseen_calls_ = 0;
  bool is_started_ = false;
  bool is_paused_ = false;
  bool saw_everything_ = true;
};

}  // namespace lucid::python
