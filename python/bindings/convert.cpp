#include "bindings/convert.h"

#include "bindings/dtype_object.h"
#include "bindings/from_data.h"
#include "bindings/numpy.h"
#include "bindings/traced_size.h"

namespace lucid::python {

PyTypeObject* traced_number_type = nullptr;

namespace {

Scalar integer_of(const ArgumentContext& context, PyObject* object) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow)
    raise_overflow("%s: argument '%s': the integer %.60R does not fit in 64 bits", context.function, context.argument,
                   object);
  if (value == -1 && PyErr_Occurred()) nb::detail::raise_python_error();
  return Scalar(static_cast<int64_t>(value));
}

Scalar traced_number(const ArgumentContext& context, PyObject* object) {
  const nb::object operand = nb::handle(object).attr("_operand")();
  PyObject* const value = PyTuple_GET_ITEM(operand.ptr(), 0);
  const Scalar number = PyFloat_CheckExact(value) ? Scalar(PyFloat_AS_DOUBLE(value)) : integer_of(context, value);
  return number.with_trace(static_cast<uint32_t>(PyLong_AsUnsignedLong(PyTuple_GET_ITEM(operand.ptr(), 1))));
}

}  // namespace

namespace {

/// The package that defines a class: "torch", "pandas". Empty for Python's own classes, ours, and those of the program.
std::string library_of(PyTypeObject* type) {
  const nb::object module = nb::steal(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__module__"));
  const char* text = module.is_valid() && PyUnicode_Check(module.ptr()) ? PyUnicode_AsUTF8(module.ptr()) : nullptr;
  PyErr_Clear();
  if (!text) return {};
  const std::string name(text, std::string_view(text).find('.') == std::string_view::npos
                                   ? std::string_view(text).size()
                                   : std::string_view(text).find('.'));
  const nb::object packages = nb::steal(PyObject_CallMethod(PyImport_GetModuleDict(), "get", "s", name.c_str()));
  const bool is_package = packages.is_valid() && PyObject_HasAttrString(packages.ptr(), "__path__");
  PyErr_Clear();
  return is_package && name != "lucid" ? name : std::string();
}

}  // namespace

bool is_text(PyObject* object) { return PyUnicode_Check(object) || PyBytes_Check(object) || PyByteArray_Check(object); }

std::string describe(PyObject* object) {
  if (object == Py_None) return "None";
  std::string name = Py_TYPE(object)->tp_name;
  if (const size_t dot = name.rfind('.'); dot != std::string::npos && !name.starts_with("numpy"))
    name.erase(0, dot + 1);
  // A Tensor of another library is no Tensor.
  if (const std::string library = library_of(Py_TYPE(object)); !library.empty() && !name.starts_with(library + "."))
    name.insert(0, library + ".");
  const bool vowel = std::string_view("aeiouAEIOU").find(name[0]) != std::string_view::npos;
  return (vowel ? "an " : "a ") + name;
}

void ArgumentContext::fail(const char* expected, PyObject* got) const {
  PyErr_Format(PyExc_TypeError, "%s: argument '%s' must be %s, not %s", function, argument, expected,
               describe(got).c_str());
  nb::detail::raise_python_error();
}

std::optional<Scalar> number_or_none(const ArgumentContext& context, PyObject* object) {
  if (PyBool_Check(object)) return Scalar(object == Py_True);
  if (PyFloat_Check(object)) return Scalar(PyFloat_AS_DOUBLE(object));
  if (PyLong_Check(object)) return integer_of(context, object);
  if (Py_TYPE(object) == traced_number_type) return traced_number(context, object);
  if (const std::optional<SymInt> size = traced_size_in(object)) return Scalar(*size);
  switch (numpy_scalar_kind(object)) {
    case NumpyScalar::kNone:
      return std::nullopt;
    case NumpyScalar::kBool:
      return Scalar(PyObject_IsTrue(object) == 1);
    case NumpyScalar::kInteger:
      return integer_of(context, checked(PyNumber_Index(object)).ptr());
    case NumpyScalar::kFloat: {
      const double value = PyFloat_AsDouble(object);
      if (value == -1 && PyErr_Occurred()) nb::detail::raise_python_error();
      return Scalar(value);
    }
  }
  return std::nullopt;
}

SymInt to_int(const ArgumentContext& context, PyObject* object) {
  if (PyLong_CheckExact(object)) return integer_of(context, object).to_int();
  if (const std::optional<SymInt> size = traced_size_in(object)) return *size;
  if (PyBool_Check(object) || !PyIndex_Check(object)) context.fail("an integer", object);
  return integer_of(context, checked(PyNumber_Index(object)).ptr()).to_int();
}

double to_double(const ArgumentContext& context, PyObject* object) {
  if (PyFloat_CheckExact(object)) return PyFloat_AS_DOUBLE(object);
  if (is_text(object) || !PyNumber_Check(object)) context.fail("a number", object);
  const double value = PyFloat_AsDouble(object);
  if (value == -1 && PyErr_Occurred()) nb::detail::raise_python_error();
  return value;
}

bool to_bool(const ArgumentContext& context, PyObject* object) {
  if (object == Py_True) return true;
  if (object == Py_False) return false;
  if (numpy_scalar_kind(object) == NumpyScalar::kBool) return PyObject_IsTrue(object) == 1;
  context.fail("True or False", object);
}

Dims to_ints(const ArgumentContext& context, PyObject* const* objects, Py_ssize_t count) {
  Dims values;
  values.reserve(static_cast<size_t>(count));
  for (Py_ssize_t i = 0; i < count; ++i) {
    // Held, because __index__ may run arbitrary code.
    const nb::object item = nb::borrow(objects[i]);
    values.push_back(to_int(context, item.ptr()));
  }
  return values;
}

Dims to_ints(const ArgumentContext& context, PyObject* object) {
  if (PyTuple_CheckExact(object)) return to_ints(context, &PyTuple_GET_ITEM(object, 0), PyTuple_GET_SIZE(object));
  const TensorImpl* tensor = tensor_or_null(object);
  const bool has_dimensions =
      tensor ? !tensor->sizes().empty() : is_array(object) && numpy_scalar_kind(object) == NumpyScalar::kNone;
  if (PyIndex_Check(object) && !PyBool_Check(object) && !has_dimensions) return Dims{to_int(context, object)};
  if (is_text(object) || !PySequence_Check(object) || PyDict_Check(object))
    context.fail("an integer or a sequence of integers", object);
  const nb::object items = checked(PySequence_Tuple(object));
  return to_ints(context, &PyTuple_GET_ITEM(items.ptr(), 0), PyTuple_GET_SIZE(items.ptr()));
}

PyObject* from_ints(DimsView values) {
  nb::object tuple = checked(PyTuple_New(static_cast<Py_ssize_t>(values.size())));
  for (size_t i = 0; i < values.size(); ++i)
    PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i), checked(from_dim(values[i])).release().ptr());
  return tuple.release().ptr();
}

nb::object read_ints(DimsView values) {
  Dims plain;
  for (const SymInt value : values) plain.push_back(int64_t{value});
  return checked(from_ints(plain));
}

PyObject* from_scalar(const Scalar& value) {
  switch (value.kind()) {
    case Dtype::kBool:
      return PyBool_FromLong(value.to_int() != 0);
    case Dtype::kF64:
      return PyFloat_FromDouble(value.to_double());
    default:
      return PyLong_FromLongLong(value.to_int());
  }
}

Dtype to_dtype(const ArgumentContext& context, PyObject* object) {
  if (const std::optional<Dtype> dtype = dtype_in(object)) return *dtype;
  if (object == reinterpret_cast<PyObject*>(&PyFloat_Type)) return default_float();
  if (object == reinterpret_cast<PyObject*>(&PyLong_Type)) return Dtype::kI64;
  if (object == reinterpret_cast<PyObject*>(&PyBool_Type)) return Dtype::kBool;
  if (PyUnicode_Check(object)) {
    Py_ssize_t size = 0;
    const char* text = PyUnicode_AsUTF8AndSize(object, &size);
    if (!text) nb::detail::raise_python_error();
    if (const auto dtype = parse_dtype({text, static_cast<size_t>(size)})) return *dtype;
    PyErr_Format(PyExc_ValueError, "%s: argument '%s': there is no dtype %R", context.function, context.argument,
                 object);
    nb::detail::raise_python_error();
  }
  if (const auto dtype = numpy_dtype_in(context, object)) return *dtype;
  context.fail("a dtype", object);
}

std::optional<Dtype> to_optional_dtype(const ArgumentContext& context, PyObject* object) {
  if (!object || object == Py_None) return std::nullopt;
  return to_dtype(context, object);
}

bool to_operand(const ArgumentContext& context, PyObject* object, Operand& operand, Held& held) {
  if (to_operand_fast(object, operand)) return true;
  if (TensorImpl* tensor = tensor_or_null(object)) {
    operand = Operand(tensor);
    return true;
  }
  if (const std::optional<Scalar> number = number_or_none(context, object)) {
    operand = Operand(*number);
    return true;
  }
  if (!is_array(object)) return false;
  held.push_back(tensor_from_buffer(context, object, Sharing::kIfPossible));
  operand = Operand(held.back().get());
  return true;
}

Operand expect_operand(const ArgumentContext& context, PyObject* object, Held& held) {
  Operand operand;
  if (to_operand(context, object, operand, held)) return operand;
  if (!PyList_Check(object) && !PyTuple_Check(object)) context.fail("a tensor or a number", object);
  held.push_back(tensor_from_data(context, object, std::nullopt));
  return Operand(held.back().get());
}

}  // namespace lucid::python
