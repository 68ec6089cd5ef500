#include "bindings/arguments.h"

#include <array>

#include "base/error.h"
#include "bindings/dtype_object.h"
#include "ir/aliases.h"

namespace lucid::python {
namespace {

PyObject* interned(const char* text) {
  PyObject* name = PyUnicode_InternFromString(text);
  if (!name) nb::detail::raise_python_error();
  return name;
}

bool is_same_name(PyObject* a, PyObject* b) { return a == b || PyUnicode_Compare(a, b) == 0; }

bool is_integer_like(PyObject* object) {
  if (PyLong_CheckExact(object)) return true;
  return PyIndex_Check(object) && !PySequence_Check(object);
}

const char* plural(Py_ssize_t count) { return count == 1 ? "" : "s"; }

}  // namespace

ArgumentReader::ArgumentReader(const Op& op, std::string name, Extras extras)
    : name_(std::move(name)), extras_(extras) {
  for (const Parameter& parameter : op.schema.parameters) {
    if (extras == Extras::kRandom && &parameter == &op.schema.parameters.front()) continue;
    Slot slot;
    slot.parameter = &parameter;
    slot.name = interned(parameter.name.c_str());
    for (const char* alias : aliases_of(op.schema, parameter)) slot.aliases.push_back(interned(alias));
    slots_.push_back(std::move(slot));
    if (!parameter.keyword_only) ++positional_;
  }
  LUCID_CHECK(slots_.size() <= kMaxParameters, "{} has too many parameters", op.name());
}

void ArgumentReader::fail(const std::string& message) const { throw TypeError("{}: {}", name_, message); }

size_t ArgumentReader::find_keyword(PyObject* name) const {
  for (size_t i = 0; i < slots_.size(); ++i)
    if (slots_[i].name == name) return i;
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (is_same_name(slots_[i].name, name)) return i;
    for (PyObject* alias : slots_[i].aliases)
      if (is_same_name(alias, name)) return i;
  }
  return slots_.size();
}

bool ArgumentReader::take_extra(PyObject* name, PyObject* value, CallArguments& result) const {
  if (extras_ == Extras::kAlpha) {
    if (PyUnicode_CompareWithASCIIString(name, "alpha") != 0) return false;
    const ArgumentContext context{name_.c_str(), "alpha"};
    const bool is_known = to_operand(context, value, result.alpha, result.held);
    if (!is_known || (result.alpha.is_value() && result.alpha.rank() > 0)) context.fail("a number", value);
    return true;
  }
  if (PyUnicode_CompareWithASCIIString(name, "device") == 0) {
    result.device = to_device_or_none(name_.c_str(), value);
    return true;
  }
  if (PyUnicode_CompareWithASCIIString(name, "requires_grad") == 0) {
    result.requires_grad = to_bool({name_.c_str(), "requires_grad"}, value);
    return true;
  }
  if (extras_ != Extras::kRandom || PyUnicode_CompareWithASCIIString(name, "generator") != 0) return false;
  result.generator = value == Py_None ? nullptr : value;
  return true;
}

void ArgumentReader::read(PyObject* const* arguments, Py_ssize_t count, PyObject* keyword_names,
                          CallArguments& result) const {
  std::array<Given, kMaxParameters> given;
  size_t next = 0;
  Py_ssize_t taken = 0;
  while (taken < count) {
    if (next == positional_)
      fail(fmt::format("takes {} positional argument{}, {} were given", positional_,
                       plural(static_cast<Py_ssize_t>(positional_)), count));
    const Parameter& parameter = *slots_[next].parameter;
    Given& slot = given[next++];
    slot.objects = arguments + taken;
    slot.count = 1;
    const bool spread_ints = parameter.spread && is_integer_like(arguments[taken]);
    const bool spread_tensors = parameter.kind == ParameterKind::kTensors && tensor_or_null(arguments[taken]);
    if (spread_ints || spread_tensors) {
      slot.spread = true;
      const auto belongs = [&](PyObject* object) { return spread_ints || tensor_or_null(object) != nullptr; };
      while (taken + slot.count < count && belongs(arguments[taken + slot.count])) ++slot.count;
    }
    taken += slot.count;
  }

  const Py_ssize_t keywords = keyword_names ? PyTuple_GET_SIZE(keyword_names) : 0;
  for (Py_ssize_t k = 0; k < keywords; ++k) {
    PyObject* name = PyTuple_GET_ITEM(keyword_names, k);
    PyObject* const* value = arguments + count + k;
    if (extras_ != Extras::kNone && take_extra(name, *value, result)) continue;
    const size_t i = find_keyword(name);
    // NumPy functions pass `out=None` to methods.
    if (i == slots_.size() && *value == Py_None && PyUnicode_CompareWithASCIIString(name, "out") == 0) continue;
    if (i == slots_.size()) fail(fmt::format("got an unexpected keyword argument '{}'", PyUnicode_AsUTF8(name)));
    if (given[i].objects) fail(fmt::format("got several values for argument '{}'", slots_[i].parameter->name));
    given[i] = {value, 1, false};
  }

  for (size_t i = 0; i < slots_.size(); ++i) convert(slots_[i], given[i], result);
}

void ArgumentReader::convert(const Slot& slot, const Given& given, CallArguments& result) const {
  const Parameter& parameter = *slot.parameter;
  const ArgumentContext context{name_.c_str(), parameter.name.c_str()};
  if (!given.objects) {
    if (!is_attribute(parameter.kind) && parameter.optional)
      result.operands.push_back(Operand());
    else if (parameter.has_default)
      result.attributes.push_back(parameter.default_value);
    else
      fail(fmt::format("missing argument '{}'", parameter.name));
    return;
  }
  PyObject* object = given.objects[0];
  if (object == Py_None && !given.spread && parameter.optional) {
    if (is_attribute(parameter.kind))
      result.attributes.emplace_back();
    else
      result.operands.push_back(Operand());
    return;
  }
  switch (parameter.kind) {
    case ParameterKind::kTensor: {
      Operand operand;
      result.operands.push_back(to_operand_fast(object, operand) ? operand
                                                                 : expect_operand(context, object, result.held));
      return;
    }
    case ParameterKind::kTensors:
      return convert_tensors(context, given, result);
    case ParameterKind::kBool:
      result.attributes.emplace_back(to_bool(context, object));
      return;
    case ParameterKind::kInt:
    case ParameterKind::kAxis:
      result.attributes.emplace_back(to_int(context, object));
      return;
    case ParameterKind::kFloat:
      result.attributes.emplace_back(to_double(context, object));
      return;
    case ParameterKind::kInts:
    case ParameterKind::kAxes:
      result.attributes.emplace_back(given.spread ? to_ints(context, given.objects, given.count)
                                                  : to_ints(context, object));
      return;
    case ParameterKind::kDtype:
      result.attributes.emplace_back(to_dtype(context, object));
      return;
    case ParameterKind::kString: {
      if (!PyUnicode_Check(object)) context.fail("a string", object);
      const char* text = PyUnicode_AsUTF8(object);
      if (!text) nb::detail::raise_python_error();
      result.attributes.emplace_back(std::string(text));
      return;
    }
  }
}

void ArgumentReader::convert_tensors(const ArgumentContext& context, const Given& given, CallArguments& result) const {
  // Converting an element may run arbitrary code, so the elements are read from a tuple, which cannot change.
  nb::object items;
  PyObject* const* objects = given.objects;
  Py_ssize_t count = given.count;
  if (!given.spread) {
    PyObject* sequence = given.objects[0];
    if (is_text(sequence) || !PySequence_Check(sequence)) context.fail("a sequence of tensors", sequence);
    items = checked(PySequence_Tuple(sequence));
    objects = &PyTuple_GET_ITEM(items.ptr(), 0);
    count = PyTuple_GET_SIZE(items.ptr());
  }
  for (Py_ssize_t i = 0; i < count; ++i) {
    Operand operand;
    const std::string argument = fmt::format("{}[{}]", context.argument, i);
    const ArgumentContext element{context.function, argument.c_str()};
    if (!to_operand(element, objects[i], operand, result.held)) element.fail("a tensor", objects[i]);
    // Hold the tensors of a list: the tuple may own the only reference to them.
    if (operand.is_value()) result.held.push_back(TensorRef(&handle_of(operand)));
    result.operands.push_back(operand);
  }
}

}  // namespace lucid::python
