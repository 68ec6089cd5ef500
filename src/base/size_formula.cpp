#include "base/size_formula.h"

#include <algorithm>
#include <charconv>

#include "base/checked_int.h"
#include "base/error.h"
#include "base/small_vector.h"

namespace lucid {

/// sum: ['-'] product {('+' | '-') product}. product: factor {'*' factor}.
/// factor: number, which may have a sign | symbol | '(' sum [('/' | '%') sum] ')'.
class SizeFormula::Parser {
 public:
  Parser(std::string_view text, size_t symbols) : text_(text), symbols_(symbols) {}

  std::vector<Operation> parse() {
    sum(0);
    if (at_ != text_.size()) fail();
    return std::move(program_);
  }

 private:
  using Kind = Operation::Kind;
  static constexpr int kMaxDepth = 32;

  [[noreturn]] void fail() const {
    throw ValueError("`{}` is not a formula of {} sizes", text_.substr(0, 80), symbols_);
  }
  bool take(char expected) {
    if (at_ == text_.size() || text_[at_] != expected) return false;
    ++at_;
    return true;
  }
  bool is_digit_next() const { return at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; }
  int64_t integer() {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc()) fail();
    at_ = static_cast<size_t>(end - text_.data());
    return value;
  }

  void sum(int depth) {
    // The sign of a number belongs to it: the lowest integer has no positive counterpart.
    const bool is_number = at_ + 1 < text_.size() && text_[at_ + 1] >= '0' && text_[at_ + 1] <= '9';
    if (!is_number && take('-')) {
      program_.push_back({Kind::kConstant, 0});
      product(depth);
      program_.push_back({Kind::kSubtract});
    } else {
      product(depth);
    }
    while (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) {
      const Kind kind = text_[at_++] == '+' ? Kind::kAdd : Kind::kSubtract;
      product(depth);
      program_.push_back({kind});
    }
  }
  void product(int depth) {
    factor(depth);
    while (take('*')) {
      factor(depth);
      program_.push_back({Kind::kMultiply});
    }
  }
  void factor(int depth) {
    if (take('(')) {
      if (depth == kMaxDepth) fail();
      sum(depth + 1);
      const bool is_quotient = take('/');
      if (is_quotient || take('%')) {
        sum(depth + 1);
        program_.push_back({is_quotient ? Kind::kDivide : Kind::kRemainder});
      }
      if (!take(')')) fail();
    } else if (take('s')) {
      if (!is_digit_next()) fail();
      const int64_t symbol = integer();
      if (static_cast<uint64_t>(symbol) >= symbols_) fail();
      program_.push_back({Kind::kSize, symbol});
    } else {
      program_.push_back({Kind::kConstant, integer()});
    }
  }

  std::string_view text_;
  size_t symbols_;
  size_t at_ = 0;
  std::vector<Operation> program_;
};

SizeFormula::SizeFormula(std::string_view text, size_t symbols) : program_(Parser(text, symbols).parse()) {
  text_ = text;
  if (program_.size() > 1 || program_.front().kind != Operation::Kind::kConstant) return;
  text_.clear();
  constant_ = program_.front().number;
  program_.clear();
}

SizeFormula::SizeFormula(const SizeTrace& trace, SymInt dim)
    : SizeFormula(dim.is_traced() ? SizeFormula(trace.text(dim), trace.sizes().size()) : SizeFormula(dim.unguarded())) {
}

std::optional<int64_t> SizeFormula::evaluate(std::span<const int64_t> sizes) const {
  if (program_.empty()) return constant_;
  using Kind = Operation::Kind;
  SmallVector<CheckedInt, 16> stack;
  for (const Operation& operation : program_) {
    if (operation.kind == Kind::kConstant || operation.kind == Kind::kSize) {
      const bool is_size = operation.kind == Kind::kSize;
      stack.push_back(is_size ? sizes[static_cast<size_t>(operation.number)] : operation.number);
      continue;
    }
    const CheckedInt right = stack[stack.size() - 1];
    stack.pop_back();
    CheckedInt& left = stack[stack.size() - 1];
    switch (operation.kind) {
      case Kind::kAdd:
        left += right;
        break;
      case Kind::kSubtract:
        left -= right;
        break;
      case Kind::kMultiply:
        left *= right;
        break;
      case Kind::kDivide:
        left /= right;
        break;
      default:
        left %= right;
    }
  }
  return stack[0].value();
}

SizeCondition::SizeCondition(std::string_view text, size_t symbols) : text_(text) {
  struct Sign {
    std::string_view text;
    Relation relation;
  };
  constexpr Sign kSigns[] = {{" == 0", Relation::kZero},
                             {" != 0", Relation::kNotZero},
                             {" < 0", Relation::kNegative},
                             {" >= 0", Relation::kNotNegative}};
  for (const Sign& sign : kSigns) {
    if (!text.ends_with(sign.text)) continue;
    formula_ = SizeFormula(text.substr(0, text.size() - sign.text.size()), symbols);
    relation_ = sign.relation;
    return;
  }
  throw ValueError("`{}` is not a condition of sizes", text.substr(0, 80));
}

bool SizeCondition::holds(std::span<const int64_t> sizes) const {
  const std::optional<int64_t> value = formula_.evaluate(sizes);
  if (!value) return false;
  switch (relation_) {
    case Relation::kZero:
      return *value == 0;
    case Relation::kNotZero:
      return *value != 0;
    case Relation::kNegative:
      return *value < 0;
    case Relation::kNotNegative:
      return *value >= 0;
  }
  return false;
}

std::vector<SizeCondition> conditions_of(const SizeTrace& trace) {
  std::vector<SizeCondition> conditions;
  for (const std::string& text : trace.conditions()) conditions.emplace_back(text, trace.sizes().size());
  return conditions;
}

bool all_hold(std::span<const SizeCondition> conditions, std::span<const int64_t> sizes) {
  return std::ranges::all_of(conditions, [&](const SizeCondition& condition) { return condition.holds(sizes); });
}

}  // namespace lucid
