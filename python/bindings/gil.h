#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

namespace lucid::python {

namespace nb = nanobind;

/// Whether this thread has the interpreter's lock. PyGILState_Check() says yes to every thread once the process has
/// made a subinterpreter.
bool holds_gil();

/// Lets other Python threads run until the end of the scope. This and GilAcquire are the only ways in which the
/// bindings give up and take the interpreter's lock. A thread that asks for it when the process is exiting sleeps for
/// good (see python_calls.cpp).
class GilRelease {
 public:
  GilRelease() : state_(give_up()) {}
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;
  ~GilRelease() { take_back(state_); }

  /// The same without a scope: what give_up() returns is for take_back().
  static PyThreadState* give_up();
  static void take_back(PyThreadState* state);

 private:
  PyThreadState* state_;
};

/// Lets other Python threads run now and then during a long loop that needs the lock.
class GilTurns {
 public:
  /// Called once for each item, where other threads may do anything.
  void next() {
    if (++items_ % kItems == 0) [[unlikely]]
      pass();
  }

 private:
  static constexpr uint32_t kItems = 256;
  void pass();

  uint32_t items_ = 0;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// Has the interpreter's lock until the end of the scope; for any thread, also one that has it already.
class GilAcquire {
 public:
  GilAcquire();
  GilAcquire(const GilAcquire&) = delete;
  GilAcquire& operator=(const GilAcquire&) = delete;
  ~GilAcquire();

 private:
  std::optional<PyGILState_STATE> taken_;
};

/// Makes the library give up the lock while it compiles, waits, or runs a kernel that takes long.
void release_gil_while_blocking();

/// A Python object that C++ may copy and drop on any thread, with or without the interpreter's lock.
class SharedObject {
 public:
  SharedObject() = default;
  explicit SharedObject(nb::object object)
      : object_(std::shared_ptr<nb::object>(new nb::object(std::move(object)), [](nb::object* held) {
          if (!Py_IsInitialized()) return;
          const GilAcquire lock;
          delete held;
        })) {}
  /// Only with the lock.
  const nb::object& get() const { return *object_; }
  /// Whether there is no copy of this.
  bool is_unique() const { return object_.use_count() == 1; }

 private:
  std::shared_ptr<nb::object> object_;
};

}  // namespace lucid::python
