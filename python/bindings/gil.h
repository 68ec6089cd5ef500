#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

namespace lucid::python {

namespace nb = nanobind;

/// Whether this thread holds the interpreter's lock (GIL). PyGILState_Check() returns true on every thread once the
/// process has created a subinterpreter.
bool holds_gil();

/// Releases the GIL until the end of the scope. The bindings release and acquire the GIL only through this class and
/// GilAcquire. A thread that acquires the GIL while the process exits sleeps forever (see python_calls.cpp).
class GilRelease {
 public:
  GilRelease() : state_(release()) {}
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;
  ~GilRelease() { reacquire(state_); }

  /// The same without a scope. Pass the result of release() to reacquire().
  static PyThreadState* release();
  static void reacquire(PyThreadState* state);

 private:
  PyThreadState* state_;
};

/// Periodically lets other Python threads run during a long loop that needs the GIL.
class GilYield {
 public:
  /// Call once per item, at a point where other threads may run arbitrary code.
  void tick() {
    if (++items_ % kItemsPerCheck == 0) [[unlikely]]
      yield();
  }

 private:
  /// The clock is read once for this many items.
  static constexpr uint32_t kItemsPerCheck = 256;
  void yield();

  uint32_t items_ = 0;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// Holds the GIL until the end of the scope. Works on any thread, including one that already holds it.
class GilAcquire {
 public:
  GilAcquire();
  GilAcquire(const GilAcquire&) = delete;
  GilAcquire& operator=(const GilAcquire&) = delete;
  ~GilAcquire();

 private:
  std::optional<PyGILState_STATE> taken_;
};

/// Installs hooks that release the GIL while the library compiles, waits, or runs a long kernel.
void release_gil_while_blocking();

/// A Python object that C++ may copy and destroy on any thread, with or without the GIL.
class SharedObject {
 public:
  SharedObject() = default;
  explicit SharedObject(nb::object object)
      : object_(std::shared_ptr<nb::object>(new nb::object(std::move(object)), [](nb::object* held) {
          if (!Py_IsInitialized()) return;
          const GilAcquire lock;
          delete held;
        })) {}
  /// Requires the GIL.
  const nb::object& get() const { return *object_; }
  /// Whether no other copy exists.
  bool is_unique() const { return object_.use_count() == 1; }

 private:
  std::shared_ptr<nb::object> object_;
};

}  // namespace lucid::python
