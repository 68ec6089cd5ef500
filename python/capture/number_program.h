#pragma once

#include <span>
#include <vector>

#include "base/scalar.h"
#include "bindings/errors.h"
#include "capture/object_guards.h"

namespace lucid::python {

/// Computes the traced numbers of a plan from the numbers in the key of a call and in locations that vary, with the
/// Python functions that computed them when the call was recorded. Checks the guards on them.
/// `_core.NumberProgram` in Python.
class NumberProgram {
 public:
  /// `values` are, in order: ("number", position in the key, whether it is a float), ("location", index), ("constant",
  /// object) or ("call", function, indices of earlier values, type of the result). `guards` are pairs of an index and
  /// the value that is expected there; `outputs` are the indices of the traced numbers, and whether they are floats.
  NumberProgram(const nb::list& values, const nb::list& guards, const nb::list& outputs);

  /// Whether the guards hold; if so, sets the traced numbers. Runs no code of users: all values are ints and floats.
  /// Each guard is checked before later values are computed, as the call would. Values have the recorded types. NaNs
  /// are not served, because code may compare them by identity. `locations` are those that vary.
  bool evaluate(std::span<const int64_t> key, std::span<const NumberGuard> locations,
                std::vector<Scalar>& numbers) const;

 private:
  enum class Kind : uint8_t { kInteger, kFloat, kLocation, kConstant, kCall };
  struct Value {
    Kind kind = Kind::kConstant;
    size_t position = 0;
    nb::object object;  // the constant, or the function to call
    nb::object type;    // of the result of a call
    std::vector<size_t> operands;
    std::vector<nb::object> expected;
  };
  struct Output {
    size_t value;
    bool is_float;
  };
  /// A new reference; null, with a Python error, if the function raises.
  static PyObject* compute(const Value& value, std::span<const int64_t> key, std::span<const NumberGuard> locations,
                           std::span<const nb::object> before);

  std::vector<Value> values_;
  bool has_guards_ = false;
  std::vector<Output> outputs_;
};

void bind_numbers(nb::module_& module);

}  // namespace lucid::python
