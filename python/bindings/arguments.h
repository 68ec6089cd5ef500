#pragma once

#include <Python.h>

#include <string>
#include <vector>

#include "bindings/convert.h"
#include "ir/op.h"

namespace lucid::python {

/// The arguments of a Python call, sorted into what an op takes.
struct CallArguments {
  SmallVector<Operand, 6> operands;
  Attributes attributes;
  /// Keeps alive what the operands borrow.
  Held held;
  /// The generator of random ops; null for the default one. Borrowed.
  PyObject* generator = nullptr;
  bool requires_grad = false;
};

/// Keywords that functions take beside the op's parameters.
enum class Extras {
  kNone,
  kFactory,  // device, requires_grad
  kDraw,     // the same, and generator, in place of the op's first parameter: the generator's state
};

/// Reads Python arguments by an op's schema. Keywords may also be the aliases of ir/aliases.h: `axis` for dim,
/// `keepdims` for keepdim, `input` and `other` for x and y.
class ArgumentReader {
 public:
  /// `name` is what messages call the function.
  ArgumentReader(const Op& op, std::string name, Extras extras);

  /// Arguments as vectorcall passes them. Throws TypeError naming the function and the argument.
  void read(PyObject* const* arguments, Py_ssize_t count, PyObject* keyword_names, CallArguments& result) const;

  const std::string& name() const { return name_; }

 private:
  struct Slot {
    const Parameter* parameter = nullptr;
    PyObject* name = nullptr;  // interned, kept for good
    std::vector<PyObject*> aliases;
  };
  /// What was given for a parameter: one object, or several positional ones in a row.
  struct Given {
    PyObject* const* objects = nullptr;
    Py_ssize_t count = 0;
    bool spread = false;
  };
  static constexpr size_t kMostParameters = 16;

  size_t find_keyword(PyObject* name) const;
  /// Whether the keyword is one of the extras, and then takes its value.
  bool take_extra(PyObject* name, PyObject* value, CallArguments& result) const;
  void convert(const Slot& slot, const Given& given, CallArguments& result) const;
  void convert_tensors(const Place& place, const Given& given, CallArguments& result) const;
  [[noreturn]] void fail(const std::string& message) const;

  std::string name_;
  std::vector<Slot> slots_;
  size_t positional_ = 0;
  Extras extras_;
};

}  // namespace lucid::python
