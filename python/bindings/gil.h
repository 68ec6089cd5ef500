#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <memory>

namespace lucid::python {

namespace nb = nanobind;

/// Makes the library give up the lock while it compiles, waits, or runs a kernel that takes long.
void release_gil_while_blocking();

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
