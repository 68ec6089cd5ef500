#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "ir/op.h"

namespace lucid::python {

namespace nb = nanobind;

/// Lets other Python threads run while an op computes, if that takes long enough to be worth it.
class GilRelease {
 public:
  explicit GilRelease(bool worth_it) {
    if (worth_it) released_.emplace();
  }

 private:
  std::optional<nb::gil_scoped_release> released_;
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

/// A guess whether a call runs for more than some 20 microseconds.
bool is_long(const Op& op, std::span<const Operand> operands, const Attributes& attributes);

/// Makes the library give up the lock while it compiles.
void release_gil_while_compiling();

/// A Python object that C++ may copy and drop on any thread, with or without the interpreter's lock.
class SharedObject {
 public:
  SharedObject() = default;
  explicit SharedObject(nb::object object)
      : object_(std::shared_ptr<nb::object>(new nb::object(std::move(object)), [](nb::object* held) {
          if (!Py_IsInitialized()) return;
          const nb::gil_scoped_acquire lock;
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
