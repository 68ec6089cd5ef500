#include "capture/number_program.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <bit>
#include <cmath>

#include "base/error.h"
#include "base/small_vector.h"

namespace lucid::python {
namespace {

/// Whether two numbers have the same type and the same bits.
bool is_same(PyObject* a, PyObject* b) {
  if (Py_TYPE(a) != Py_TYPE(b)) return false;
  if (PyFloat_CheckExact(a))
    return std::bit_cast<int64_t>(PyFloat_AS_DOUBLE(a)) == std::bit_cast<int64_t>(PyFloat_AS_DOUBLE(b));
  return a == b || (PyLong_CheckExact(a) && PyObject_RichCompareBool(a, b, Py_EQ) == 1);
}

}  // namespace

NumberProgram::NumberProgram(const nb::list& values, const nb::list& guards, const nb::list& outputs) {
  const auto index = [&](nb::handle object, size_t end) {
    const auto value = nb::cast<size_t>(object);
    if (value >= end) throw ValueError("NumberProgram: there is no value {}", value);
    return value;
  };
  for (nb::handle item : values) {
    const auto kind = nb::cast<std::string>(item[0]);
    Value value;
    if (kind == "number") {
      value.kind = nb::cast<bool>(item[2]) ? Kind::kFloat : Kind::kInteger;
      value.position = nb::cast<size_t>(item[1]);
    } else if (kind == "location") {
      value.kind = Kind::kLocation;
      value.position = nb::cast<size_t>(item[1]);
    } else if (kind == "constant") {
      value.object = item[1];
    } else {
      value.kind = Kind::kCall;
      value.object = item[1];
      for (nb::handle operand : nb::object(item[2])) value.operands.push_back(index(operand, values_.size()));
      value.type = item[3];
    }
    values_.push_back(std::move(value));
  }
  has_guards_ = nb::len(guards) > 0;
  for (nb::handle guard : guards) values_[index(guard[0], values_.size())].expected.emplace_back(guard[1]);
  for (nb::handle output : outputs) outputs_.push_back({index(output[0], values_.size()), nb::cast<bool>(output[1])});
}

PyObject* NumberProgram::compute(const Value& value, std::span<const int64_t> key,
                                 std::span<const NumberGuard> locations, std::span<const nb::object> before) {
  switch (value.kind) {
    case Kind::kInteger:
      return PyLong_FromLongLong(key[value.position]);
    case Kind::kFloat:
      return PyFloat_FromDouble(std::bit_cast<double>(key[value.position]));
    case Kind::kLocation:
      return Py_XNewRef(locations[value.position].where.now());
    case Kind::kConstant:
      return Py_NewRef(value.object.ptr());
    case Kind::kCall: {
      SmallVector<PyObject*, 4> operands;
      for (const size_t operand : value.operands) operands.push_back(before[operand].ptr());
      return PyObject_Vectorcall(value.object.ptr(), operands.data(), operands.size(), nullptr);
    }
  }
  return nullptr;
}

bool NumberProgram::evaluate(std::span<const int64_t> key, std::span<const NumberGuard> locations,
                             std::vector<Scalar>& numbers) const {
  std::vector<nb::object> values;
  values.reserve(values_.size());
  for (const Value& value : values_) {
    values.push_back(nb::steal(compute(value, key, locations, values)));
    if (!values.back().is_valid()) {
      // The call itself raises it, if it still gets there.
      PyErr_Clear();
      return false;
    }
    PyObject* const computed = values.back().ptr();
    const bool is_argument = value.kind != Kind::kConstant && value.kind != Kind::kCall;
    if (has_guards_ && is_argument && PyFloat_CheckExact(computed) && std::isnan(PyFloat_AS_DOUBLE(computed)))
      return false;
    if (value.type.is_valid() && value.type.ptr() != reinterpret_cast<PyObject*>(Py_TYPE(computed))) return false;
    for (const nb::object& expected : value.expected)
      if (!is_same(computed, expected.ptr())) return false;
  }
  numbers.clear();
  for (const Output& output : outputs_) {
    PyObject* const value = values[output.value].ptr();
    if (output.is_float) {
      if (!PyFloat_CheckExact(value)) return false;
      numbers.emplace_back(PyFloat_AS_DOUBLE(value));
      continue;
    }
    if (!PyLong_CheckExact(value)) return false;
    int overflow = 0;
    numbers.emplace_back(static_cast<int64_t>(PyLong_AsLongLongAndOverflow(value, &overflow)));
    if (overflow != 0) return false;
  }
  return true;
}

void bind_numbers(nb::module_& module) {
  nb::class_<NumberProgram>(module, "NumberProgram").def(nb::init<nb::list, nb::list, nb::list>());
}

}  // namespace lucid::python
