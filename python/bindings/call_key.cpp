#include "bindings/call_key.h"

#include <algorithm>

#include "base/stack.h"
#include "bindings/dtype_object.h"
#include "bindings/errors.h"
#include "bindings/tensor_object.h"
#include "tensor/autograd_meta.h"
#include "tensor/grad_mode.h"

namespace lucid::python {
namespace {

// Room for a few tensors and numbers, so that the key does not grow bit by bit.
constexpr size_t kUsualKeyBytes = 240;
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

template <typename T>
void append(std::string& key, const T& value) {
  key.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append_tag(std::string& key, Tag tag) { key.push_back(static_cast<char>(tag)); }

void append_text(std::string& key, const char* data, Py_ssize_t size) {
  append(key, size);
  key.append(data, static_cast<size_t>(size));
}

void append_class(Flattened& result, PyObject* object) {
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  append(result.key, type);
  result.classes.push_back(type);
}

void flatten_tensor(TensorImpl& tensor, Flattened& result) {
  // Code can tell whether two arguments are one object.
  const std::span<TensorImpl* const> before = result.tensors();
  if (const auto same = std::find(before.begin(), before.end(), &tensor); same != before.end()) {
    append_tag(result.key, Tag::kSame);
    append(result.key, same - before.begin());
  }
  append_tag(result.key, Tag::kTensor);
  const auto rank = static_cast<uint8_t>(tensor.sizes().size());
  const char head[] = {static_cast<char>(tensor.dtype()), static_cast<char>(rank),
                       static_cast<char>(requires_grad(tensor)), static_cast<char>(tensor.is_parameter())};
  result.key.append(head, sizeof head);
  result.key.append(reinterpret_cast<const char*>(tensor.sizes().data()), rank * sizeof(int64_t));
  result.key.append(reinterpret_cast<const char*>(tensor.strides().data()), rank * sizeof(int64_t));
  result.held.push_back(TensorRef(&tensor));
}

void flatten_items(PyObject* const* items, Py_ssize_t count, Flattened& result) {
  append(result.key, count);
  for (Py_ssize_t i = 0; i < count; ++i) flatten(items[i], result);
}

void flatten_dict(PyObject* dict, Flattened& result) {
  append_tag(result.key, Tag::kDict);
  append(result.key, PyDict_GET_SIZE(dict));
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
  append_tag(result.key, Tag::kList);
  append(result.key, PyList_GET_SIZE(list));
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
  append_tag(result.key, Tag::kObject);
  append_class(result, object);
  if (dtype_in(object)) append(result.key, object);  // there is one object for each
  const nb::object fields = PyType_Check(object) ? nb::object() : dataclass_fields(object);
  if (!fields.is_valid() || !PyDict_Check(fields.ptr())) return;
  PyObject* name = nullptr;
  PyObject* field = nullptr;
  Py_ssize_t at = 0;
  while (PyDict_Next(fields.ptr(), &at, &name, &field)) {
    const nb::object value = nb::steal(PyObject_GetAttr(object, name));
    if (!value.is_valid()) {
      PyErr_Clear();
      append_tag(result.key, Tag::kNone);
    } else {
      flatten(value.ptr(), result);
    }
  }
}

}  // namespace

void flatten(PyObject* object, Flattened& result) {
  std::string& key = result.key;
  if (TensorImpl* tensor = tensor_or_null(object)) return flatten_tensor(*tensor, result);
  if (object == Py_None) return append_tag(key, Tag::kNone);
  if (PyBool_Check(object)) {
    append_tag(key, Tag::kBool);
    return append(key, object == Py_True);
  }
  if (PyLong_CheckExact(object)) {
    int overflow = 0;
    const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow == 0) {
      append_tag(key, Tag::kInt);
      return append(key, value);
    }
    append_tag(key, Tag::kBigInt);
    const nb::object text = checked(PyObject_Str(object));
    return flatten(text.ptr(), result);
  }
  if (PyFloat_CheckExact(object)) {
    append_tag(key, Tag::kFloat);
    return append(key, PyFloat_AS_DOUBLE(object));
  }
  if (PyUnicode_CheckExact(object)) {
    append_tag(key, Tag::kText);
    Py_ssize_t size = 0;
    const char* data = PyUnicode_AsUTF8AndSize(object, &size);
    if (!data) throw nb::python_error();
    return append_text(key, data, size);
  }
  if (PyBytes_CheckExact(object)) {
    append_tag(key, Tag::kBytes);
    return append_text(key, PyBytes_AS_STRING(object), PyBytes_GET_SIZE(object));
  }
  const RecursionScope deeper(result);
  if (PyTuple_Check(object)) {
    append_tag(key, PyTuple_CheckExact(object) ? Tag::kTuple : Tag::kRecord);
    if (!PyTuple_CheckExact(object)) append_class(result, object);
    return flatten_items(&PyTuple_GET_ITEM(object, 0), PyTuple_GET_SIZE(object), result);
  }
  if (PyList_CheckExact(object)) return flatten_list(object, result);
  if (PyDict_CheckExact(object)) return flatten_dict(object, result);
  flatten_object(object, result);
}

void flatten_call(PyObject* const* values, Py_ssize_t count, PyObject* keyword_names, Flattened& result) {
  const Py_ssize_t named = keyword_names ? PyTuple_GET_SIZE(keyword_names) : 0;
  const char head[] = {static_cast<char>(GradMode::enabled()), static_cast<char>(GradMode::inference()),
                       static_cast<char>(default_float()), static_cast<char>(named)};
  result.key.reserve(kUsualKeyBytes);
  result.key.append(head, sizeof head);
  for (Py_ssize_t i = 0; i < count; ++i) flatten(values[i], result);
  for (Py_ssize_t i = 0; i < named; ++i) {
    flatten(PyTuple_GET_ITEM(keyword_names, i), result);
    flatten(values[count + i], result);
  }
}

}  // namespace lucid::python
