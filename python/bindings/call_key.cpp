#include "bindings/call_key.h"

#include <structmember.h>

#include <algorithm>
#include <bit>

#include "base/stack.h"
#include "bindings/dtype_object.h"
#include "bindings/errors.h"
#include "bindings/tensor_object.h"
#include "capture/object_guards.h"

extern "C" PyObject** _PyObject_GetDictPtr(PyObject*);

namespace lucid::python {
namespace {

// How deep arguments may be nested, as for what is saved.
constexpr int kMaxDepth = 500;

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
  kSame,          // a tensor or a container that came before
  kComplex,       // two floats
  kTensorObject,  // a tensor of a subclass, or one with attributes
  kTooDeep,
};

void flatten(PyObject* object, Flattened& result);

void add_tag(Flattened& result, Tag tag) { result.key.add_byte(static_cast<char>(tag)); }

void add_text(Flattened& result, const void* data, Py_ssize_t size) {
  result.key.add_value(size);
  result.key.add_bytes(data, static_cast<size_t>(size));
}

void add_float(Flattened& result, double value) { result.key.add_number(std::bit_cast<int64_t>(value)); }

/// The text as it is stored: text with lone surrogates has no UTF-8.
void add_unicode(Flattened& result, PyObject* text) {
  add_tag(result, Tag::kText);
  const int kind = PyUnicode_KIND(text);
  result.key.add_byte(static_cast<char>(kind));
  add_text(result, PyUnicode_DATA(text), PyUnicode_GET_LENGTH(text) * kind);
}

/// An integer of more than 64 bits. Its decimal digits could be too many for Python.
void add_big_integer(Flattened& result, PyObject* integer) {
  add_tag(result, Tag::kBigInt);
  const auto* value = reinterpret_cast<const PyLongObject*>(integer);
  const size_t bytes = _PyLong_NumBits(integer) / 8 + 2;
  std::string digits(bytes, '\0');
  check_status(_PyLong_AsByteArray(const_cast<PyLongObject*>(value), reinterpret_cast<unsigned char*>(digits.data()),
                                   bytes, /*little_endian=*/1, /*is_signed=*/1));
  add_text(result, digits.data(), static_cast<Py_ssize_t>(bytes));
}

/// Whether a container came before; then it is noted which one it is. Code can tell whether two arguments are one.
bool add_known(Flattened& result, PyObject* container) {
  const auto found = std::find(result.containers.begin(), result.containers.end(), container);
  if (found == result.containers.end()) {
    result.containers.push_back(container);
    return false;
  }
  add_tag(result, Tag::kSame);
  result.key.add_value(found - result.containers.begin());
  return true;
}

void add_class(Flattened& result, PyObject* object) {
  auto* type = reinterpret_cast<PyObject*>(Py_TYPE(object));
  result.key.add_value(type);
  result.classes.push_back(type);
}

/// Of a tensor with attributes, what the call reads of them is guarded elsewhere.
bool has_attributes(PyObject* object) {
  PyObject** const dict = _PyObject_GetDictPtr(object);
  return dict && *dict && PyDict_GET_SIZE(*dict) > 0;
}

void flatten_tensor(PyObject* object, TensorImpl& tensor, Flattened& result) {
  // Code can tell whether two arguments are one object.
  const std::span<TensorImpl* const> before = result.tensors();
  if (const auto same = std::find(before.begin(), before.end(), &tensor); same != before.end()) {
    add_tag(result, Tag::kSame);
    result.key.add_value(same - before.begin());
  }
  if (Py_TYPE(object) != tensor_type) {
    add_tag(result, Tag::kTensorObject);
    add_class(result, object);
    result.key.add_byte(has_attributes(object));
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
    // Held: flattening them may run code that changes the dict.
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

class DepthScope {
 public:
  explicit DepthScope(Flattened& result) : result_(result) { ++result.depth; }
  DepthScope(const DepthScope&) = delete;
  DepthScope& operator=(const DepthScope&) = delete;
  ~DepthScope() { --result_.depth; }

 private:
  Flattened& result_;
};

/// The fields of a dataclass, or null. Borrowed; no metaclass is asked.
PyObject* dataclass_fields(PyTypeObject* type) {
  static PyObject* const name = PyUnicode_InternFromString("__dataclass_fields__");
  PyObject* fields = _PyType_Lookup(type, name);
  return fields && PyDict_CheckExact(fields) ? fields : nullptr;
}

/// What an instance stores under a name, in its dict or in a slot; null if there is nothing. Runs no code of users.
nb::object stored(PyObject* object, PyObject* name) {
  PyObject* const attribute = _PyType_Lookup(Py_TYPE(object), name);
  if (attribute && Py_IS_TYPE(attribute, &PyMemberDescr_Type)) {
    nb::object value = nb::steal(PyMember_GetOne(reinterpret_cast<const char*>(object),
                                                 reinterpret_cast<PyMemberDescrObject*>(attribute)->d_member));
    if (!value.is_valid()) PyErr_Clear();
    return value;
  }
  PyObject* const attributes = attributes_of(object);
  return attributes ? nb::borrow(find_name(attributes, name)) : nb::object();
}

void flatten_object(PyObject* object, Flattened& result) {
  add_tag(result, Tag::kObject);
  add_class(result, object);
  if (dtype_in(object) || device_in(object)) return result.key.add_value(object);  // there is one object for each
  PyObject* const fields = PyType_Check(object) ? nullptr : dataclass_fields(Py_TYPE(object));
  if (!fields || add_known(result, object)) return;
  PyObject* name = nullptr;
  PyObject* field = nullptr;
  Py_ssize_t at = 0;
  while (PyDict_Next(fields, &at, &name, &field)) {
    const nb::object value = PyUnicode_CheckExact(name) ? stored(object, name) : nb::object();
    if (value.is_valid())
      flatten(value.ptr(), result);
    else
      add_tag(result, Tag::kNone);
  }
}

void flatten(PyObject* object, Flattened& result) {
  if (TensorImpl* tensor = tensor_or_null(object)) return flatten_tensor(object, *tensor, result);
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
    return add_big_integer(result, object);
  }
  if (PyFloat_CheckExact(object)) {
    add_tag(result, Tag::kFloat);
    return add_float(result, PyFloat_AS_DOUBLE(object));
  }
  if (PyComplex_CheckExact(object)) {
    add_tag(result, Tag::kComplex);
    const Py_complex value = PyComplex_AsCComplex(object);
    add_float(result, value.real);
    return add_float(result, value.imag);
  }
  if (PyUnicode_CheckExact(object)) return add_unicode(result, object);
  if (PyBytes_CheckExact(object)) {
    add_tag(result, Tag::kBytes);
    return add_text(result, PyBytes_AS_STRING(object), PyBytes_GET_SIZE(object));
  }
  // Containers may contain themselves.
  if (result.depth >= kMaxDepth || stack_is_low()) {
    result.is_too_deep = true;
    return add_tag(result, Tag::kTooDeep);
  }
  const DepthScope deeper(result);
  if (PyTuple_Check(object)) {
    // There is one empty tuple.
    if (PyTuple_GET_SIZE(object) > 0 && add_known(result, object)) return;
    add_tag(result, PyTuple_CheckExact(object) ? Tag::kTuple : Tag::kRecord);
    if (!PyTuple_CheckExact(object)) {
      add_class(result, object);
      result.key.add_byte(has_attributes(object));
    }
    return flatten_items(&PyTuple_GET_ITEM(object, 0), PyTuple_GET_SIZE(object), result);
  }
  if (PyList_CheckExact(object)) {
    if (!add_known(result, object)) flatten_list(object, result);
    return;
  }
  if (PyDict_CheckExact(object)) {
    if (!add_known(result, object)) flatten_dict(object, result);
    return;
  }
  flatten_object(object, result);
}

/// Flattens part of an argument, and adds the tensors in it, and in lists, tuples and dicts in it, to `found`.
void find_tensors(PyObject* object, size_t argument, Flattened& all, std::vector<NumberArgument>& found) {
  if (PyTuple_CheckExact(object) || PyList_CheckExact(object)) {
    if (add_known(all, object)) return;
    const nb::object items = checked(PySequence_Tuple(object));
    for (nb::handle item : items) find_tensors(item.ptr(), argument, all, found);
  } else if (PyDict_CheckExact(object)) {
    if (add_known(all, object)) return;
    const nb::object items = checked(PyDict_Items(object));
    for (nb::handle item : items) {
      flatten(PyTuple_GET_ITEM(item.ptr(), 0), all);
      find_tensors(PyTuple_GET_ITEM(item.ptr(), 1), argument, all, found);
    }
  } else {
    const auto position = static_cast<uint32_t>(all.key.numbers().size());
    flatten(object, all);
    if (Py_TYPE(object) == tensor_type) found.push_back({argument, position, tensor_or_null(object)});
  }
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

std::vector<NumberArgument> number_arguments(PyObject* const* values, size_t count) {
  std::vector<NumberArgument> found;
  // Flattened together: which numbers an argument adds depends on those before it.
  Flattened all;
  for (size_t i = 0; i < count; ++i) {
    const auto position = static_cast<uint32_t>(all.key.numbers().size());
    find_tensors(values[i], i, all, found);
    const bool is_number = PyLong_CheckExact(values[i]) || PyFloat_CheckExact(values[i]);
    if (is_number && all.key.numbers().size() == position + 1) found.push_back({i, position, nullptr});
  }
  return found;
}

std::string differing_argument(PyObject* const* values, const std::vector<std::string>& names,
                               std::span<const int64_t> numbers, std::span<const int64_t> others) {
  size_t at = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    Flattened one;
    flatten_call(values + i, 1, nullptr, one);
    const size_t count = one.key.numbers().size();
    if (at + count > numbers.size()) break;
    if (!std::ranges::equal(numbers.subspan(at, count), others.subspan(at, count)))
      return tensor_or_null(values[i]) ? "the shape or the strides of " + names[i] + " vary" : names[i] + " varies";
    at += count;
  }
  return "arguments vary";
}

}  // namespace lucid::python
