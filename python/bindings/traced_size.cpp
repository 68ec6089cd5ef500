#include "bindings/traced_size.h"

#include "base/size_trace.h"
#include "bindings/tensor_object.h"

namespace lucid::python {

PyTypeObject* traced_size_type = nullptr;

namespace {

struct TracedSize {
  SymInt dim;
};

using Binary = PyObject* (*)(PyObject*, PyObject*);

/// The value, on which the call depends from now on.
nb::object read(const TracedSize& size) { return checked(PyLong_FromLongLong(int64_t{size.dim})); }

nb::object not_implemented() { return nb::borrow(Py_NotImplemented); }

/// A size, or an int that fits where sizes do.
std::optional<SymInt> operand(nb::handle object) {
  if (const std::optional<SymInt> size = traced_size_in(object.ptr())) return size;
  if (!PyLong_CheckExact(object.ptr())) return std::nullopt;
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
  // Sums and products of such numbers do not overflow.
  const bool is_small = overflow == 0 && value >= -INT32_MAX && value <= INT32_MAX;
  return is_small ? std::optional<SymInt>(value) : std::nullopt;
}

/// How the operators compute: on numbers, if Python's rule for them is C++'s, otherwise on the values.
enum class Operator : uint8_t { kAdd, kSub, kMul, kFloorDiv, kMod };

std::optional<SymInt> compute(Operator how, SymInt a, SymInt b) {
  switch (how) {
    case Operator::kAdd:
      return a + b;
    case Operator::kSub:
      return a - b;
    case Operator::kMul:
      return a * b;
    case Operator::kFloorDiv:
    case Operator::kMod: {
      if (b <= 0) return std::nullopt;
      // Python rounds down, C++ toward zero.
      const SymInt quotient = a < 0 ? -((b - 1 - a) / b) : a / b;
      return how == Operator::kFloorDiv ? quotient : a - quotient * b;
    }
  }
  return std::nullopt;
}

/// Computes on the value.
template <Binary on_values, bool reflected>
nb::object on_value(const TracedSize& self, nb::handle other) {
  if (tensor_or_null(other.ptr())) return not_implemented();
  const nb::object value = read(self);
  const nb::object partner = traced_size_in(other.ptr()) ? read({*traced_size_in(other.ptr())}) : nb::borrow(other);
  return checked(reflected ? on_values(partner.ptr(), value.ptr()) : on_values(value.ptr(), partner.ptr()));
}

template <Operator how, Binary on_values, bool reflected>
nb::object arithmetic(const TracedSize& self, nb::handle other) {
  if (tensor_or_null(other.ptr())) return not_implemented();
  if (const std::optional<SymInt> number = operand(other)) {
    const std::optional<SymInt> result = reflected ? compute(how, *number, self.dim) : compute(how, self.dim, *number);
    if (result) return checked(from_dim(*result));
  }
  return on_value<on_values, reflected>(self, other);
}

nb::object divide(const TracedSize& self, nb::handle other) {
  return nb::make_tuple(arithmetic<Operator::kFloorDiv, PyNumber_FloorDivide, false>(self, other),
                        arithmetic<Operator::kMod, PyNumber_Remainder, false>(self, other));
}

PyObject* power(PyObject* a, PyObject* b) { return PyNumber_Power(a, b, Py_None); }

template <int how>
nb::object compare(const TracedSize& self, nb::handle other) {
  if (tensor_or_null(other.ptr())) return not_implemented();
  const std::optional<SymInt> number = operand(other);
  if (!number) return checked(PyObject_RichCompare(read(self).ptr(), other.ptr(), how));
  const bool is_true = how == Py_EQ   ? self.dim == *number
                       : how == Py_NE ? self.dim != *number
                       : how == Py_LT ? self.dim < *number
                       : how == Py_LE ? self.dim <= *number
                       : how == Py_GT ? self.dim > *number
                                      : self.dim >= *number;
  return nb::bool_(is_true);
}

template <Operator how, Binary on_values>
void add_arithmetic(nb::class_<TracedSize>& type, const char* name, const char* reflected) {
  type.def(name, &arithmetic<how, on_values, false>);
  type.def(reflected, &arithmetic<how, on_values, true>);
}

template <Binary on_values>
void add_on_value(nb::class_<TracedSize>& type, const char* name, const char* reflected) {
  type.def(name, &on_value<on_values, false>);
  type.def(reflected, &on_value<on_values, true>);
}

/// What isinstance asks for.
PyObject* get_class(PyObject*, void*) { return Py_NewRef(reinterpret_cast<PyObject*>(&PyLong_Type)); }

PyGetSetDef properties[] = {{"__class__", get_class, nullptr, nullptr, nullptr}, {}};
PyType_Slot type_slots[] = {{Py_tp_getset, properties}, {0, nullptr}};

}  // namespace

PyObject* from_dim(SymInt dim) {
  if (!dim.is_traced() || !SizeTrace::current()) [[likely]]
    return PyLong_FromLongLong(dim.unguarded());
  return nb::cast(TracedSize{dim}).release().ptr();
}

std::optional<SymInt> traced_size_in(PyObject* object) {
  if (Py_TYPE(object) != traced_size_type) return std::nullopt;
  return nb::inst_ptr<TracedSize>(object)->dim;
}

void bind_traced_size(nb::module_& module) {
  nb::class_<TracedSize> type(module, "TracedSize", nb::type_slots(type_slots));
  traced_size_type = reinterpret_cast<PyTypeObject*>(type.ptr());
  add_arithmetic<Operator::kAdd, PyNumber_Add>(type, "__add__", "__radd__");
  add_arithmetic<Operator::kSub, PyNumber_Subtract>(type, "__sub__", "__rsub__");
  add_arithmetic<Operator::kMul, PyNumber_Multiply>(type, "__mul__", "__rmul__");
  add_arithmetic<Operator::kFloorDiv, PyNumber_FloorDivide>(type, "__floordiv__", "__rfloordiv__");
  add_arithmetic<Operator::kMod, PyNumber_Remainder>(type, "__mod__", "__rmod__");
  add_on_value<PyNumber_TrueDivide>(type, "__truediv__", "__rtruediv__");
  type.def("__divmod__", &divide).def("__rdivmod__", &on_value<PyNumber_Divmod, true>);
  add_on_value<PyNumber_And>(type, "__and__", "__rand__");
  add_on_value<PyNumber_Or>(type, "__or__", "__ror__");
  add_on_value<PyNumber_Xor>(type, "__xor__", "__rxor__");
  add_on_value<PyNumber_Lshift>(type, "__lshift__", "__rlshift__");
  add_on_value<PyNumber_Rshift>(type, "__rshift__", "__rrshift__");
  add_on_value<power>(type, "__pow__", "__rpow__");
  type.def("__eq__", &compare<Py_EQ>).def("__ne__", &compare<Py_NE>);
  type.def("__lt__", &compare<Py_LT>).def("__le__", &compare<Py_LE>);
  type.def("__gt__", &compare<Py_GT>).def("__ge__", &compare<Py_GE>);
  type.def("__bool__", [](const TracedSize& self) { return self.dim != 0; })
      .def("__neg__", [](const TracedSize& self) { return checked(from_dim(-self.dim)); })
      .def("__pos__", [](nb::handle self) { return nb::borrow(self); })
      .def("__abs__", [](const TracedSize& self) { return checked(from_dim(self.dim < 0 ? -self.dim : self.dim)); })
      .def("__invert__", [](const TracedSize& self) { return checked(from_dim(-self.dim - 1)); })
      .def("__index__", &read)
      .def("__int__", &read)
      .def("__float__", [](const TracedSize& self) { return static_cast<double>(int64_t{self.dim}); })
      .def("__hash__", [](const TracedSize& self) { return PyObject_Hash(read(self).ptr()); })
      .def("__str__", [](const TracedSize& self) { return nb::str(read(self)); })
      .def("__repr__", [](const TracedSize& self) { return nb::str(read(self)); })
      .def("__format__", [](const TracedSize& self,
                            nb::handle spec) { return checked(PyObject_Format(read(self).ptr(), spec.ptr())); })
      .def("__round__", [](nb::handle self) { return nb::borrow(self); })
      .def("__trunc__", [](nb::handle self) { return nb::borrow(self); })
      .def("__floor__", [](nb::handle self) { return nb::borrow(self); })
      .def("__ceil__", [](nb::handle self) { return nb::borrow(self); })
      .def("__copy__", [](nb::handle self) { return nb::borrow(self); })
      .def("__deepcopy__", [](nb::handle self, nb::handle) { return nb::borrow(self); })
      .def("__getattr__", [](const TracedSize& self, nb::handle name) {
        return checked(PyObject_GetAttr(read(self).ptr(), name.ptr()));
      });
}

}  // namespace lucid::python
