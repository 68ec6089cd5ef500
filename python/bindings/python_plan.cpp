#include "bindings/python_plan.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/gil.h"
#include "bindings/jit.h"
#include "bindings/tensor_object.h"

namespace lucid::python {

PythonPlan::PythonPlan(const jit::CallKey& key, const nb::tuple& made, nb::list classes)
    : TablePlan(nb::cast<ProgramHandle&>(made[1]).program, key),
      shown_key_(made[0]),
      guards_object_(made[2]),
      make_result_(made[3]),
      classes_(std::move(classes)),
      guard_set_(&guards_in(guards_object_)) {
  places = nb::cast<std::vector<std::string>>(made[4]);
  guards = guard_set_->size();
}

PythonPlan::~PythonPlan() {
  nb::object* const held[] = {&shown_key_, &guards_object_, &make_result_, &classes_};
  if (!Py_IsInitialized()) {
    for (nb::object* object : held) object->release();
    return;
  }
  const GilAcquire lock;
  for (nb::object* object : held) object->reset();
}

PyObject* PythonPlan::rebuild(jit::CallResults& results) const {
  if (make_result_.is_none()) return to_python(results.take(0));
  const nb::object list = checked(PyList_New(static_cast<Py_ssize_t>(results.size())));
  for (size_t i = 0; i < results.size(); ++i)
    PyList_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i), to_python(results.take(i)));
  return checked(PyObject_CallOneArg(make_result_.ptr(), list.ptr())).release().ptr();
}

nb::tuple PythonPlan::description() const {
  return nb::make_tuple(shown_key_, ProgramHandle{program}, guards_object_, places);
}

int PythonPlan::traverse(visitproc visit, void* arg) const {
  Py_VISIT(shown_key_.ptr());
  Py_VISIT(guards_object_.ptr());
  Py_VISIT(make_result_.ptr());
  Py_VISIT(classes_.ptr());
  return 0;
}

}  // namespace lucid::python
