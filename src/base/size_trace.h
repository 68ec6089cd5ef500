#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/polynomial.h"
#include "lucid/sym_int.h"

namespace lucid {

/// How numbers of a recorded call are computed from certain sizes of its arguments, the symbols s0, s1, ..., and the
/// conditions that the recorded code has tested.
///
/// A number is a polynomial in symbols, and in quotients and remainders of such polynomials. A test of a
/// number adds a condition, unless its outcome is the same for all sizes. With other sizes for which all conditions
/// hold, the code would have done the same.
class SizeTrace {
 public:
  class Evaluation;

  SizeTrace() = default;
  /// The numbers of another trace in a call with other sizes, without conditions.
  SizeTrace(const SizeTrace& recorded, std::span<const int64_t> sizes);
  SizeTrace(const SizeTrace&) = delete;
  SizeTrace& operator=(const SizeTrace&) = delete;

  /// The smallest value of a symbol. Sizes 0 and 1 are not traced, because they behave differently: in broadcasting,
  /// for instance.
  static constexpr int64_t kMinSize = 2;
  /// Bounds for all sizes; empty if unknown.
  struct Range {
    std::optional<int64_t> low;
    std::optional<int64_t> high;
  };

  /// Whether a size can be traced. Large sizes cannot.
  static bool is_traceable(int64_t size);
  /// Adds a symbol for a size, which must be traceable, for calls with sizes in `range`. If there are no more numbers
  /// for expressions in this process, the result is not traced.
  SymInt add_symbol(int64_t size, Range range = {});
  /// The sizes of the recorded call.
  const std::vector<int64_t>& sizes() const { return symbols_; }
  /// Bounds each size to its bucket, the sizes between two powers of two, for code that makes choices by size. Must
  /// precede all conditions.
  void bucket_sizes();

  /// Traces what this thread does with traced numbers, until the end of the scope.
  class Scope {
   public:
    explicit Scope(SizeTrace* trace);
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope();

   private:
    SizeTrace* before_;
  };
  /// Suspends tracing: reads of traced numbers inside the scope add no guards.
  class Pause : Scope {
   public:
    Pause() : Scope(nullptr) {}
  };
  /// The trace of this thread, or null.
  static SizeTrace* current();

  /// The numbers of a call with other sizes.
  class Evaluation {
   public:
    /// Empty if a condition does not hold for the sizes, or if a number is too large.
    static std::optional<Evaluation> of(const SizeTrace& trace, std::span<const int64_t> sizes);
    /// The plain number that a traced number is in this call.
    SymInt operator()(SymInt dim) const;
    /// The traced number, with the value that it has in this call.
    SymInt retraced(SymInt dim) const;

   private:
    explicit Evaluation(const SizeTrace& trace) : trace_(trace) {}
    bool run(std::span<const int64_t> sizes);
    std::optional<int64_t> value_of(const Polynomial& number) const;

    const SizeTrace& trace_;
    std::vector<int64_t> variables_;
    std::vector<int64_t> expressions_;
  };

  /// An upper bound for all sizes; empty if unknown.
  std::optional<int64_t> upper_bound(SymInt dim) const;
  /// Whether x is a multiple of y for all sizes.
  bool is_multiple(SymInt x, SymInt y) const;
  /// Whether symbol i has the same size for all calls that the conditions describe.
  bool is_fixed(size_t i) const;
  /// "s0*64+1"; the digits of a plain number.
  std::string text(SymInt dim) const;
  /// The conditions, such as "s0-128 < 0".
  std::vector<std::string> conditions() const;

 private:
  friend class SymInt;

  /// A symbol, or the quotient or remainder of two polynomials.
  struct Variable {
    enum class Kind : uint8_t { kSymbol, kQuotient, kRemainder } kind = Kind::kSymbol;
    Polynomial left;
    Polynomial right;
    Range range;
    /// How deep quotients and remainders are nested.
    int depth = 0;
  };
  struct Expression {
    uint32_t id = 0;
    Polynomial number;
  };
  enum class Relation : uint8_t { kZero, kNotZero, kNegative, kNotNegative };
  struct Condition {
    Relation relation = Relation::kZero;
    Polynomial number;
    auto operator<=>(const Condition&) const = default;
  };
  const Expression* find(SymInt dim) const;
  Polynomial polynomial_of(SymInt dim) const;
  /// A traced number if it can be expressed; otherwise a constant, and a guard on its value.
  SymInt make(const Polynomial& number, int64_t value);
  void add_equality(const Polynomial& number, int64_t value);
  /// Empty if there are too many.
  std::optional<Polynomial> variable(Variable::Kind kind, const Polynomial& left, const Polynomial& right);
  std::optional<Polynomial> combine(SymInt::Arithmetic operation, const Polynomial& a, const Polynomial& b);
  /// Narrows the range of variable i.
  void bound(uint32_t i, const Range& range);
  Range range_of(const Polynomial& number) const;
  Range range_of(const Variable& variable) const;

  // What SymInt calls.
  void read(SymInt dim);
  SymInt compute(SymInt::Arithmetic operation, SymInt a, SymInt b, int64_t value);
  void compare_equal(SymInt a, SymInt b);
  void compare_less(SymInt a, SymInt b);

  std::string text(const Polynomial& number) const;
  std::string text(const Variable& variable, size_t index) const;

  std::vector<Expression> expressions_;  // by ascending id
  std::map<Polynomial, uint32_t> ids_;
  std::vector<Variable> variables_;
  std::vector<int64_t> symbols_;
  std::set<Condition> conditions_;
  /// The trace is incomplete, for instance because memory ran out.
  bool has_failed_ = false;
};

}  // namespace lucid
