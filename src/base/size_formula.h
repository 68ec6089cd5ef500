#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/size_trace.h"

namespace lucid {

/// A number that is computed from sizes: what SizeTrace::text() writes, such as "s0*64+1", ready to be evaluated.
class SizeFormula {
 public:
  SizeFormula() = default;
  SizeFormula(int64_t constant) : constant_(constant) {}  // NOLINT: numbers are formulas
  /// Throws ValueError if the text is not a formula of `symbols` sizes, s0 to the last.
  SizeFormula(std::string_view text, size_t symbols);
  /// How a number, which may be traced, is computed from the sizes of a trace.
  SizeFormula(const SizeTrace& trace, SymInt dim);

  bool is_constant() const { return program_.empty(); }
  /// The value of a constant.
  int64_t constant() const { return constant_; }
  /// What it was made from; empty for a constant.
  const std::string& text() const { return text_; }
  /// Empty if a number on the way does not fit, or for a division by zero.
  std::optional<int64_t> evaluate(std::span<const int64_t> sizes) const;

 private:
  class Parser;
  /// An operation on the numbers at the top of a stack.
  struct Operation {
    enum class Kind : uint8_t { kConstant, kSize, kAdd, kSubtract, kMultiply, kDivide, kRemainder };
    Kind kind = Kind::kConstant;
    int64_t number = 0;  // the constant, or which size
  };

  int64_t constant_ = 0;
  std::string text_;
  std::vector<Operation> program_;
};

/// What must hold for sizes: one of SizeTrace::conditions(), such as "s0-128 < 0".
class SizeCondition {
 public:
  /// Throws ValueError if the text is not a condition.
  SizeCondition(std::string_view text, size_t symbols);
  /// False if the formula cannot be evaluated.
  bool holds(std::span<const int64_t> sizes) const;
  const std::string& text() const { return text_; }

 private:
  enum class Relation : uint8_t { kZero, kNotZero, kNegative, kNotNegative };

  std::string text_;
  SizeFormula formula_;
  Relation relation_ = Relation::kZero;
};

std::vector<SizeCondition> conditions_of(const SizeTrace& trace);
bool all_hold(std::span<const SizeCondition> conditions, std::span<const int64_t> sizes);

}  // namespace lucid
