#include "capture/inputs.h"

#include <algorithm>

#include "bindings/tensor_object.h"
#include "capture/object_guards.h"

namespace lucid::python {
namespace {

size_t first_of(const TensorImpl* tensor, std::span<TensorImpl* const> arguments, std::span<TensorImpl* const> inputs) {
  const auto argument = std::ranges::find(arguments, tensor);
  if (argument != arguments.end()) return static_cast<size_t>(argument - arguments.begin());
  return arguments.size() + static_cast<size_t>(std::ranges::find(inputs, tensor) - inputs.begin());
}

}  // namespace

InputType::InputType(const TensorImpl& tensor, PyTypeObject* cls)
    : text_(to_string(tensor.type())), class_(nb::borrow(reinterpret_cast<PyObject*>(cls))) {
  key_.add_tensor(tensor);
}

TensorImpl* InputType::match(PyObject* object) const {
  if (!object || reinterpret_cast<PyObject*>(Py_TYPE(object)) != class_.ptr()) return nullptr;
  if (Py_TYPE(object) != tensor_type) {
    PyObject* const attributes = attributes_of(object);
    if (attributes && PyDict_GET_SIZE(attributes) > 0) return nullptr;
  }
  TensorImpl& tensor = tensor_in(object);
  jit::CallKey key;
  key.add_tensor(tensor);
  const bool is_same = key.structure() == key_.structure() && std::ranges::equal(key.numbers(), key_.numbers());
  return is_same ? &tensor : nullptr;
}

std::string InputType::text_of(PyObject* object) {
  const TensorImpl* const tensor = object ? tensor_or_null(object) : nullptr;
  return tensor ? to_string(tensor->type()) : value_text(object);
}

void InputIdentity::set(std::span<TensorImpl* const> arguments, std::span<TensorImpl* const> inputs) {
  first_.clear();
  for (const TensorImpl* input : inputs) first_.push_back(first_of(input, arguments, inputs));
}

bool InputIdentity::holds(std::span<TensorImpl* const> arguments, std::span<TensorImpl* const> inputs) const {
  if (inputs.size() != first_.size()) return false;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (first_of(inputs[i], arguments, inputs) != first_[i]) return false;
  return true;
}

}  // namespace lucid::python
