#include "bindings/operators.h"

#include "base/error.h"
#include "bindings/convert.h"
#include "bindings/tracing.h"
#include "tensor/eager.h"
#include "tensor/inplace.h"
#include "tensor/item.h"
#include "tensor/observer.h"

namespace lucid::python {
namespace {

/// The ops of the operators, looked up once in the table.
const Op* ops[kOperatorCount] = {};

const Op& op_of(Operator symbol) { return *ops[static_cast<size_t>(symbol)]; }

const Attributes kNoAttributes;

PyObject* apply(const Op& op, std::span<const Operand> operands) {
  return to_python(eager().emit_one(op, operands, kNoAttributes));
}

/// `a op b`, where a or b is a tensor.
PyObject* binary(const Op& op, PyObject* a, PyObject* b) {
  return guarded([&]() -> PyObject* {
    Operand operands[2];
    if (to_operand_fast(a, operands[0]) && to_operand_fast(b, operands[1])) [[likely]]
      return apply(op, operands);
    Held held;
    const char* name = op.name().c_str();
    if (!to_operand({name, "x"}, a, operands[0], held) || !to_operand({name, "y"}, b, operands[1], held))
      return Py_NewRef(Py_NotImplemented);
    return apply(op, operands);
  });
}

template <Operator kOperator>
PyObject* binary_slot(PyObject* a, PyObject* b) {
  return binary(op_of(kOperator), a, b);
}

PyObject* power_slot(PyObject* a, PyObject* b, PyObject* modulus) {
  if (modulus != Py_None) {
    PyErr_SetString(PyExc_TypeError, "pow: tensors take no third argument");
    return nullptr;
  }
  return binary(op_of(Operator::kPower), a, b);
}

template <Operator kOperator>
PyObject* unary_slot(PyObject* a) {
  return guarded([&] {
    const Operand operands[] = {Operand(&tensor_in(a))};
    return apply(op_of(kOperator), operands);
  });
}

PyObject* positive_slot(PyObject* a) { return Py_NewRef(a); }

PyObject* in_place_binary(const Op& op, PyObject* self, PyObject* other) {
  return guarded([&]() -> PyObject* {
    Operand others[1];
    Held held;
    if (!to_operand({op.name().c_str(), "y"}, other, others[0], held)) return Py_NewRef(Py_NotImplemented);
    in_place(op, tensor_in(self), others, kNoAttributes);
    return Py_NewRef(self);
  });
}

template <Operator kOperator>
PyObject* in_place_slot(PyObject* self, PyObject* other) {
  return in_place_binary(op_of(kOperator), self, other);
}

PyObject* in_place_power_slot(PyObject* self, PyObject* other, PyObject*) {
  return in_place_binary(op_of(Operator::kPower), self, other);
}

PyObject* compare_slot(PyObject* a, PyObject* b, int comparison) {
  static_assert(Py_LT == 0 && Py_LE == 1 && Py_EQ == 2 && Py_NE == 3 && Py_GT == 4 && Py_GE == 5);
  return binary(*ops[static_cast<size_t>(Operator::kLess) + static_cast<size_t>(comparison)], a, b);
}

Py_hash_t hash_slot(PyObject* self) {
  on_hash(tensor_in(self));
  return _Py_HashPointer(self);
}

/// The only element of a tensor, for conversions to Python numbers.
Scalar single(PyObject* self, const char* wanted) {
  const TensorImpl& tensor = tensor_in(self);
  if (tensor.numel() != 1)
    throw RuntimeError("{}: {} has {} elements; only a tensor of one element can be converted", wanted,
                       to_string(tensor.type()), tensor.numel());
  return item(tensor);
}

int bool_slot(PyObject* self) {
  return guarded([&]() -> int { return truth(tensor_in(self)); });
}

PyObject* int_slot(PyObject* self) {
  return guarded([&] {
    const Scalar value = single(self, "int");
    return value.is_float() ? PyLong_FromDouble(value.to_double()) : PyLong_FromLongLong(value.to_int());
  });
}

PyObject* float_slot(PyObject* self) {
  return guarded([&]() -> PyObject* {
    if (is_float(tensor_in(self).dtype()) && tensor_in(self).numel() == 1)
      return read_number(tensor_in(self)).release().ptr();
    return PyFloat_FromDouble(single(self, "float").to_double());
  });
}

PyObject* index_slot(PyObject* self) {
  return guarded([&] {
    if (!is_integer(tensor_in(self).dtype()))
      throw TypeError("index: only a tensor of one integer can be an index, got {}", to_string(tensor_in(self).type()));
    return PyLong_FromLongLong(single(self, "index").to_int());
  });
}

template <typename F>
void* slot(F* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

void prepare_operators() {
  for (const Op& op : op_table().ops()) {
    if (!op.names.python_operator) continue;
    const Op*& entry = ops[static_cast<size_t>(*op.names.python_operator)];
    LUCID_CHECK(!entry || entry == &op, "{} and {} have the same operator", entry->name(), op.name());
    entry = &op;
  }
  for (size_t i = 0; i < kOperatorCount; ++i) LUCID_CHECK(ops[i], "no op has operator {}", i);
}

const PyType_Slot* operator_slots() {
  static const PyType_Slot slots[] = {
      {Py_nb_add, slot(binary_slot<Operator::kAdd>)},
      {Py_nb_subtract, slot(binary_slot<Operator::kSubtract>)},
      {Py_nb_multiply, slot(binary_slot<Operator::kMultiply>)},
      {Py_nb_true_divide, slot(binary_slot<Operator::kDivide>)},
      {Py_nb_floor_divide, slot(binary_slot<Operator::kFloorDivide>)},
      {Py_nb_remainder, slot(binary_slot<Operator::kRemainder>)},
      {Py_nb_power, slot(power_slot)},
      {Py_nb_matrix_multiply, slot(binary_slot<Operator::kMatrixMultiply>)},
      {Py_nb_and, slot(binary_slot<Operator::kAnd>)},
      {Py_nb_or, slot(binary_slot<Operator::kOr>)},
      {Py_nb_xor, slot(binary_slot<Operator::kXor>)},
      {Py_nb_lshift, slot(binary_slot<Operator::kLeftShift>)},
      {Py_nb_rshift, slot(binary_slot<Operator::kRightShift>)},
      {Py_nb_negative, slot(unary_slot<Operator::kNegative>)},
      {Py_nb_absolute, slot(unary_slot<Operator::kAbsolute>)},
      {Py_nb_invert, slot(unary_slot<Operator::kInvert>)},
      {Py_nb_positive, slot(positive_slot)},
      {Py_nb_inplace_add, slot(in_place_slot<Operator::kAdd>)},
      {Py_nb_inplace_subtract, slot(in_place_slot<Operator::kSubtract>)},
      {Py_nb_inplace_multiply, slot(in_place_slot<Operator::kMultiply>)},
      {Py_nb_inplace_true_divide, slot(in_place_slot<Operator::kDivide>)},
      {Py_nb_inplace_floor_divide, slot(in_place_slot<Operator::kFloorDivide>)},
      {Py_nb_inplace_remainder, slot(in_place_slot<Operator::kRemainder>)},
      {Py_nb_inplace_power, slot(in_place_power_slot)},
      {Py_nb_inplace_and, slot(in_place_slot<Operator::kAnd>)},
      {Py_nb_inplace_or, slot(in_place_slot<Operator::kOr>)},
      {Py_nb_inplace_xor, slot(in_place_slot<Operator::kXor>)},
      {Py_nb_inplace_lshift, slot(in_place_slot<Operator::kLeftShift>)},
      {Py_nb_inplace_rshift, slot(in_place_slot<Operator::kRightShift>)},
      {Py_nb_bool, slot(bool_slot)},
      {Py_nb_int, slot(int_slot)},
      {Py_nb_float, slot(float_slot)},
      {Py_nb_index, slot(index_slot)},
      {Py_tp_richcompare, slot(compare_slot)},
      {Py_tp_hash, slot(hash_slot)},
      {0, nullptr},
  };
  return slots;
}

}  // namespace lucid::python
