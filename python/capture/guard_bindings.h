#pragma once

#include <nanobind/nanobind.h>

#include "capture/object_guards.h"

namespace lucid::python {

/// The slots of a class whose objects the garbage collector visits.
template <typename T>
PyType_Slot* collected_slots() {
  static constexpr traverseproc kTraverse = [](PyObject* self, visitproc visit, void* arg) {
    Py_VISIT(Py_TYPE(self));
    return nb::inst_ready(self) ? nb::inst_ptr<T>(self)->traverse(visit, arg) : 0;
  };
  static constexpr inquiry kClear = [](PyObject* self) {
    if (nb::inst_ready(self)) nb::inst_ptr<T>(self)->clear();
    return 0;
  };
  static PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(kTraverse)},
                                {Py_tp_clear, reinterpret_cast<void*>(kClear)},
                                {0, nullptr}};
  return slots;
}

void expect_dict(const char* function, nb::handle dict);
/// The dict of a class, without those of its bases.
nb::object class_dict(nb::handle type);
/// A location as GuardSet.writes() describes it. It must outlive the result.
Location to_location(const nb::tuple& location);

/// `_core.GuardSet`.
void bind_guards(nb::module_& module);

}  // namespace lucid::python
