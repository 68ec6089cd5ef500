#include "bindings/call_key.h"

#include <algorithm>
#include <bit>

#include "base/stack.h"
#include "bindings/dtype_object.h"
#include "bindings/errors.h"
#include "bindings/tensor_object.h"

namespace lucid::python {
namespace {

// How deep arguments may be nested, as for what is saved.
constexpr int kMostLevels = 500;

enum class Tag : char {
  kTensor = 1,
  kNone,
  kBool,
  kInt,
  kBigInt,
  kFloat,
  kText,
  kBytes,
  kList,
  kTuple,
  kDict,
  kRecord,  // a named tuple or a dataclass
  kObject,
  kSame,  // a tensor that came before
};

void flatten(PyObject* object, Flattened& result);

void add_tag(Flattened& result, Tag tag) { result.key.add_byte(static_cast<char>(tag)); }

void add_text(Flattened& result, const char* data, Py_ssize_t size) {
  result.key.add_value(size);
  result.key.add_bytes(data, static_cast<size_t>(size));
}

void add_class(Flattened& result, PyObject* object) {
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  result.key.add_value(type);
  result.classes.push_back(type);
}

void flatten_tensor(TensorImpl& tensor, Flattened& result) {
  // Code can tell whether two arguments are one object.
  const std::span<TensorImpl* const> before = result.tensors();
  if (const auto same = std::find(before.begin(), before.end(), &tensor); same != before.end()) {
    add_tag(result, Tag::kSame);
    result.key.add_value(same - before.begin());
  }
  add_tag(result, Tag::kTensor);
  result.key.add_tensor(tensor);
  result.held.push_back(TensorRef(&tensor));
}

void flatten_items(PyObject* const* items, Py_ssize_t count, Flattened& result) {
  result.key.add_value(count);
  for (Py_ssize_t i = 0; i < count; ++i) flatten(items[i], result);
}

void flatten_dict(PyObject* dict, Flattened& result) {
  add_tag(result, Tag::kDict);
  result.key.add_value(PyDict_GET_SIZE(dict));
  PyObject* name = nullptr;
  PyObject* value = nullptr;
  Py_ssize_t at = 0;
  while (PyDict_Next(dict, &at, &name, &value)) {
    // Held: taking apart what is inside may run code that changes the dict.
    const nb::object held_name = nb::borrow(name);
    const nb::object held_value = nb::borrow(value);
    flatten(name, result);
    flatten(value, result);
  }
}

void flatten_list(PyObject* list, Flattened& result) {
  add_tag(result, Tag::kList);
  result.key.add_value(PyList_GET_SIZE(list));
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); ++i) {
    const nb::object item = nb::borrow(PyList_GET_ITEM(list, i));
    flatten(item.ptr(), result);
  }
}

/// Containers may contain themselves. Others go through the same arguments after us, and need more stack for it.
class RecursionScope {
 public:
  explicit RecursionScope(Flattened& result) : result_(result) {
    check_stack("compiled call");
    if (result.depth >= kMostLevels)
      throw RecursionError("compiled call: an argument is nested more than {} deep; does it contain itself?",
                           kMostLevels);
    ++result.depth;
  }
  RecursionScope(const RecursionScope&) = delete;
  RecursionScope& operator=(const RecursionScope&) = delete;
  ~RecursionScope() { --result_.depth; }

 private:
  Flattened& result_;
};

/// The fields of a dataclass instance, or nothing.
nb::object dataclass_fields(PyObject* object) {
  PyObject* fields = PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(object)), "__dataclass_fields__");
  if (!fields) PyErr_Clear();
  return nb::steal(fields);
}

void flatten_object(PyObject* object, Flattened& result) {
  add_tag(result, Tag::kObject);
  add_class(result, object);
  if (dtype_in(object)) result.key.add_value(object);  // there is one object for each
  const nb::object fields = PyType_Check(object) ? nb::object() : dataclass_fields(object);
  if (!fields.is_valid() || !PyDict_Check(fields.ptr())) return;
  PyObject* name = nullptr;
  PyObject* field = nullptr;
  Py_ssize_t at = 0;
  while (PyDict_Next(fields.ptr(), &at, &name, &field)) {
    const nb::object value = nb::steal(PyObject_GetAttr(object, name));
    if (!value.is_valid()) {
      PyErr_Clear();
      add_tag(result, Tag::kNone);
    } else {
      flatten(value.ptr(), result);
    }
  }
}

void flatten(PyObject* object, Flattened& result) {
  if (TensorImpl* tensor = tensor_or_null(object)) return flatten_tensor(*tensor, result);
  if (object == Py_None) return add_tag(result, Tag::kNone);
  if (PyBool_Check(object)) {
    add_tag(result, Tag::kBool);
    return result.key.add_byte(object == Py_True);
  }
  if (PyLong_CheckExact(object)) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow == 0) {
      add_tag(result, Tag::kInt);
      return result.key.add_number(value);
    }
    add_tag(result, Tag::kBigInt);
    const nb::object text = checked(PyObject_Str(object));
    return flatten(text.ptr(), result);
  }
  if (PyFloat_CheckExact(object)) {
    add_tag(result, Tag::kFloat);
    return result.key.add_number(std::bit_cast<int64_t>(PyFloat_AS_DOUBLE(object)));
  }
  if (PyUnicode_CheckExact(object)) {
    add_tag(result, Tag::kText);
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(object, &size);
    if (!data) throw nb::python_error();
    return add_text(result, data, size);
  }
  if (PyBytes_CheckExact(object)) {
    add_tag(result, Tag::kBytes);
    return add_text(result, PyBytes_AS_STRING(object), PyBytes_GET_SIZE(object));
  }
  const RecursionScope deeper(result);
  if (PyTuple_Check(object)) {
    add_tag(result, PyTuple_CheckExact(object) ? Tag::kTuple : Tag::kRecord);
    if (!PyTuple_CheckExact(object)) add_class(result, object);
    return flatten_items(&PyTuple_GET_ITEM(object, 0), PyTuple_GET_SIZE(object), result);
  }
  if (PyList_CheckExact(object)) return flatten_list(object, result);
  if (PyDict_CheckExact(object)) return flatten_dict(object, result);
  flatten_object(object, result);
}

}  // namespace

void flatten_call(PyObject* const* values, Py_ssize_t count, PyObject* keyword_names, Flattened& result) {
  const Py_ssize_t named = keyword_names ? PyTuple_GET_SIZE(keyword_names) : 0;
  result.key.add_value(named);
  for (Py_ssize_t i = 0; i < count; ++i) flatten(values[i], result);
  for (Py_ssize_t i = 0; i < named; ++i) {
    flatten(PyTuple_GET_ITEM(keyword_names, i), result);
    flatten(values[count + i], result);
  }
}

}  // namespace lucid::python
