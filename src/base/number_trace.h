#pragma once

#include <lucid/number.h>

#include <optional>
#include <span>
#include <vector>

#include "base/scalar.h"

namespace lucid {

/// How numbers of a recorded call are computed from the numbers among its arguments, and what the call found out about
/// them. With other numbers of which all this is true, it would have done the same.
class NumberTrace {
 public:
  NumberTrace() = default;
  NumberTrace(const NumberTrace&) = delete;
  NumberTrace& operator=(const NumberTrace&) = delete;

  /// The argument with this index, traced if that is possible.
  Number add_argument(const Number& value, size_t index);
  /// Whether a traced number belongs to this recording. No two recordings of a process have the same numbers: those of
  /// ended ones live on in gradient graphs, for instance.
  bool has(uint32_t traced) const { return traced >= first_ && traced - first_ < steps_.size(); }
  /// The call depends on the value of a number.
  void guard_value(uint32_t traced);
  /// Whether the call depends on the value of a number of this recording.
  bool depends_on(uint32_t traced) const { return steps_[traced - first_].is_read; }
  /// Whether the call depends on the value of an argument. It does if the argument was not added.
  bool is_read(size_t argument) const;

  /// The values of traced numbers in a call with these arguments; nothing if the call would go another way.
  std::optional<std::vector<Scalar>> evaluate(std::span<const Number> arguments,
                                              std::span<const uint32_t> wanted) const;

  /// Makes this thread record what it computes from the numbers of a trace, until the end of the scope.
  class Scope {
   public:
    explicit Scope(NumberTrace* trace);
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope();

   private:
    NumberTrace* before_;
  };

 private:
  friend class Number;
  struct Step {
    enum class Kind : uint8_t { kArgument, kConstant, kComputed } kind = Kind::kConstant;
    Number::Arithmetic operation = Number::Arithmetic::kAdd;
    /// The steps of the operands; of an argument, `left` is its index.
    uint32_t left = 0;
    uint32_t right = 0;
    /// In the recorded call; not traced.
    Number value;
    bool is_read = false;
  };
  /// More steps are not worth evaluating at each call.
  static constexpr uint32_t kMaxSteps = 1000;

  Number add(const Step& step);
  uint32_t step_of(const Number& number);
  bool has_room() const { return first_ != 0 && steps_.size() + 3 <= kMaxSteps; }
  /// The result, traced; its operands are read if that is impossible.
  Number add_computed(Number::Arithmetic operation, const Number& a, const Number& b, const Number& result);

  /// The number of the first step; 0 if there is none yet.
  uint32_t first_ = 0;
  std::vector<Step> steps_;
};

/// The number as an operand.
Scalar scalar_of(const Number& number);

}  // namespace lucid
