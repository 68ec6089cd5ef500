#include "bindings/subscripts.h"

#include "base/error.h"
#include "bindings/convert.h"
#include "bindings/from_data.h"
#include "bindings/numpy.h"
#include "bindings/traced_size.h"
#include "tensor/eager.h"
#include "tensor/indexing.h"

namespace lucid::python {
namespace {

constexpr ArgumentContext kIndexContext{"index", "index"};

std::optional<SymInt> bound(PyObject* object) {
  if (object == Py_None) return std::nullopt;
  if (const std::optional<SymInt> size = traced_size_in(object)) return size;
  if (!PyIndex_Check(object))
    throw TypeError("index: the bounds of a slice must be integers or None, not {}", describe(object));
  const nb::object index = checked(PyNumber_Index(object));
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  // Bounds that do not fit are clamped, as for lists.
  if (overflow) return overflow > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min() / 2;
  return value;
}

/// An integer index. Integers of more than 64 bits are out of range for every tensor.
int64_t position(PyObject* object) {
  const nb::object index = checked(PyNumber_Index(object));
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
  if (overflow) throw IndexError("index: an integer of more than 64 bits is out of range for every tensor");
  return value;
}

Index to_index(PyObject* object) {
  if (PyLong_CheckExact(object)) return position(object);
  if (const std::optional<SymInt> size = traced_size_in(object)) return *size;
  if (PySlice_Check(object)) {
    const auto* slice = reinterpret_cast<PySliceObject*>(object);
    return SliceIndex{bound(slice->start), bound(slice->stop), bound(slice->step)};
  }
  if (object == Py_None) return NewAxis();
  if (object == Py_Ellipsis) return EllipsisIndex();
  if (PyBool_Check(object)) return object == Py_True;
  if (TensorImpl* tensor = tensor_or_null(object)) return TensorRef(tensor);
  switch (numpy_scalar_kind(object)) {
    case NumpyScalar::kBool:
      return PyObject_IsTrue(object) == 1;
    case NumpyScalar::kInteger:
      return position(object);
    default:
      break;
  }
  if (is_array(object)) return tensor_from_buffer(kIndexContext, object, Sharing::kNever);
  if (PyList_Check(object) || PyTuple_Check(object) || PyRange_Check(object)) {
    TensorRef indices = tensor_from_data(kIndexContext, object, std::nullopt);
    // An empty list selects nothing, although its natural dtype is a float.
    if (indices->numel() == 0 && is_float(indices->dtype())) return make_tensor(Dtype::kI64, indices->sizes());
    return indices;
  }
  if (PyIndex_Check(object)) return position(object);
  throw TypeError("index: an index must be made of integers, slices, None, ..., bools, tensors or lists, not {}",
                  describe(object));
}

std::vector<Index> to_indices(PyObject* key) {
  std::vector<Index> items;
  if (!PyTuple_Check(key)) {
    items.push_back(to_index(key));
    return items;
  }
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); ++i) items.push_back(to_index(PyTuple_GET_ITEM(key, i)));
  return items;
}

PyObject* subscript(PyObject* self, PyObject* key) {
  return guarded([&] {
    const Value tensor{TensorRef(&tensor_in(self))};
    if (PyLong_CheckExact(key)) {
      const Index items[] = {position(key)};
      return to_python(get_item(tensor, items));
    }
    return to_python(get_item(tensor, to_indices(key)));
  });
}

int assign_subscript(PyObject* self, PyObject* key, PyObject* value) {
  return guarded([&]() -> int {
    if (!value) throw TypeError("index: elements of a tensor cannot be deleted");
    Held held;
    const Operand operand = expect_operand({"index", "value"}, value, held);
    set_item(tensor_in(self), to_indices(key), operand);
    return 0;
  });
}

/// Sequence access by index, used by old-style iteration and `reversed`.
PyObject* item_at(PyObject* self, Py_ssize_t index) {
  return guarded([&] {
    const Index items[] = {SymInt(static_cast<int64_t>(index))};
    return to_python(get_item(Value(TensorRef(&tensor_in(self))), items));
  });
}

Py_ssize_t length(PyObject* self) {
  return guarded([&]() -> Py_ssize_t {
    const TensorImpl& tensor = tensor_in(self);
    if (tensor.sizes().empty()) throw TypeError("len: a 0-d tensor has no length");
    return tensor.sizes()[0];
  });
}

PyObject* iterate(PyObject* self) {
  return guarded([&] {
    TensorImpl& tensor = tensor_in(self);
    if (tensor.sizes().empty()) throw TypeError("iter: a 0-d tensor cannot be iterated over");
    const Values parts = eager().unbind(Value(TensorRef(&tensor)), 0);
    const nb::object items = checked(PyTuple_New(static_cast<Py_ssize_t>(parts.size())));
    for (size_t i = 0; i < parts.size(); ++i)
      PyTuple_SET_ITEM(items.ptr(), static_cast<Py_ssize_t>(i), to_python(parts[i]));
    return PyObject_GetIter(items.ptr());
  });
}

int contains(PyObject* self, PyObject* value) {
  return guarded([&]() -> int {
    const nb::object equal = checked(PyObject_RichCompare(self, value, Py_EQ));
    if (!tensor_or_null(equal.ptr())) return PyObject_IsTrue(equal.ptr());
    const nb::object any = checked(PyObject_CallMethod(equal.ptr(), "any", nullptr));
    return PyObject_IsTrue(any.ptr());
  });
}

}  // namespace

const PyType_Slot* subscript_slots() {
  static const PyType_Slot slots[] = {
      {Py_mp_subscript, reinterpret_cast<void*>(subscript)},
      {Py_mp_ass_subscript, reinterpret_cast<void*>(assign_subscript)},
      {Py_mp_length, reinterpret_cast<void*>(length)},
      {Py_sq_length, reinterpret_cast<void*>(length)},
      {Py_sq_item, reinterpret_cast<void*>(item_at)},
      {Py_sq_contains, reinterpret_cast<void*>(contains)},
      {Py_tp_iter, reinterpret_cast<void*>(iterate)},
      {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
      {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
      {0, nullptr},
  };
  return slots;
}

}  // namespace lucid::python
