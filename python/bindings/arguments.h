#pragma once

#include <Python.h>

#include <string>
#include <vector>

#include "bindings/convert.h"
#include "ir/op.h"

namespace lucid::python {

/// The arguments of a Python call, converted to the operands and attributes of an op.
struct CallArguments {
  SmallVector<Operand, 6> operands;
  Attributes attributes;
  /// Keeps alive the tensors that operands borrow.
  Held held;
  /// The generator of random ops; null for the default one. Borrowed.
  PyObject* generator = nullptr;
  std::optional<Device> device;
  bool requires_grad = false;
  /// The number that multiplies the second operand, for Extras::kAlpha. Absent if the caller gave none.
  Operand alpha;
};

/// Keywords that functions accept in addition to the op's parameters.
enum class Extras {
  kNone,
  kFactory,  // device, requires_grad
  kRandom,   // device, requires_grad, and generator, which replaces the op's first parameter (the generator's state)
  kAlpha,    // alpha
};

/// Converts Python arguments according to an op's schema. Accepts the aliases of ir/aliases.h as keywords: `axis` for
/// dim, `keepdims` for keepdim, `input` and `other` for x and y.
class ArgumentReader {
 public:
  /// `name` is the function's name in error messages.
  ArgumentReader(const Op& op, std::string name, Extras extras);

  /// Reads arguments in vectorcall's layout. Throws TypeError naming the function and the argument.
  void read(PyObject* const* arguments, Py_ssize_t count, PyObject* keyword_names, CallArguments& result) const;

  const std::string& name() const { return name_; }
  Extras extras() const { return extras_; }

 private:
  struct Slot {
    const Parameter* parameter = nullptr;
    PyObject* name = nullptr;  // interned, never released
    std::vector<PyObject*> aliases;
  };
  /// The value passed for a parameter: one object, or several consecutive positional arguments (`spread`).
  struct Given {
    PyObject* const* objects = nullptr;
    Py_ssize_t count = 0;
    bool spread = false;
  };
  static constexpr size_t kMaxParameters = 16;

  size_t find_keyword(PyObject* name) const;
  /// If the keyword is one of the extras, stores its value and returns true.
  bool take_extra(PyObject* name, PyObject* value, CallArguments& result) const;
  void convert(const Slot& slot, const Given& given, CallArguments& result) const;
  void convert_tensors(const ArgumentContext& context, const Given& given, CallArguments& result) const;
  [[noreturn]] void fail(const std::string& message) const;

  std::string name_;
  std::vector<Slot> slots_;
  size_t positional_ = 0;
  Extras extras_;
};

}  // namespace lucid::python
