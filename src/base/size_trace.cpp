#include "base/size_trace.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/out_of_memory.h"

namespace lucid {
namespace {

constinit thread_local SizeTrace* t_sizes = nullptr;

/// Bounds on quotients and remainders, which may be nested. A number beyond them is not traced.
constexpr int kMaxDepth = 8;
/// Larger sizes are not traced.
constexpr int64_t kMaxSize = std::numeric_limits<int32_t>::max();
constexpr size_t kMaxVariables = 256;

/// Numbers of expressions are never used twice in a process: a tensor may outlive the recording that gave it its sizes,
/// and must not mean anything to the next. Returns 0 if there are no more.
uint32_t next_id() {
  static std::atomic<uint32_t> next = 1;
  if (next.load(std::memory_order_relaxed) > SymInt::kMaxExpression) return 0;
  const uint32_t id = next.fetch_add(1, std::memory_order_relaxed);
  return id > SymInt::kMaxExpression ? 0 : id;
}

bool fits(int64_t value) { return value >= std::numeric_limits<int32_t>::min() && value <= kMaxSize; }

/// a + b * c, if it fits.
std::optional<int64_t> add_product(int64_t a, int64_t b, int64_t c) {
  int64_t product = 0;
  if (__builtin_mul_overflow(b, c, &product) || __builtin_add_overflow(a, product, &a)) return std::nullopt;
  return a;
}

}  // namespace

SizeTrace::SizeTrace(const SizeTrace& recorded, std::span<const int64_t> sizes)
    : expressions_(recorded.expressions_),
      ids_(recorded.ids_),
      variables_(recorded.variables_),
      symbols_(sizes.begin(), sizes.end()),
      has_failed_(recorded.has_failed_) {}

void SizeTrace::bucket_sizes() {
  size_t symbol = 0;
  for (uint32_t i = 0; i < variables_.size(); ++i) {
    if (variables_[i].kind != Variable::Kind::kSymbol) {
      variables_[i].range = range_of(variables_[i]);
      continue;
    }
    const auto power = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(symbols_[symbol++])));
    bound(i, {power, 2 * power - 1});
  }
}

SizeTrace::Scope::Scope(SizeTrace* trace) : before_(std::exchange(t_sizes, trace)) {}
SizeTrace::Scope::~Scope() { t_sizes = before_; }
SizeTrace* SizeTrace::current() { return t_sizes; }

bool SizeTrace::is_traceable(int64_t size) { return size >= kMinSize && fits(size); }

SymInt SizeTrace::add_symbol(int64_t size, Range range) {
  LUCID_CHECK(is_traceable(size), "a size of {}", size);
  symbols_.push_back(size);
  variables_.push_back({.range = {.low = kMinSize}});
  const auto index = static_cast<uint32_t>(variables_.size() - 1);
  bound(index, range);
  return make(Polynomial::variable(index), size);
}

void SizeTrace::bound(uint32_t i, const Range& range) {
  auto& [low, high] = variables_[i].range;
  const auto add = [&](Relation relation, int64_t bound) {
    conditions_.insert({relation, *Polynomial::difference(Polynomial::variable(i), Polynomial(bound))});
  };
  if (range.low && *range.low > *low) {
    low = range.low;
    add(Relation::kNotNegative, *low);
  }
  if (range.high && *range.high < kMaxSize && (!high || *range.high < *high)) {
    high = range.high;
    add(Relation::kNegative, *high + 1);
  }
}

// ---- Numbers.

const SizeTrace::Expression* SizeTrace::find(SymInt dim) const {
  if (!dim.is_traced()) return nullptr;
  const auto found = std::ranges::lower_bound(expressions_, dim.expression(), {}, &Expression::id);
  return found != expressions_.end() && found->id == dim.expression() ? &*found : nullptr;
}

Polynomial SizeTrace::polynomial_of(SymInt dim) const {
  const Expression* expression = find(dim);
  return expression ? expression->number : Polynomial(dim.unguarded());
}

SymInt SizeTrace::make(const Polynomial& number, int64_t value) {
  if (number.is_constant()) return number.constant();
  const auto [found, is_new] = ids_.try_emplace(number, 0);
  if (is_new && fits(value)) found->second = next_id();
  if (found->second == 0) {
    // It has no id, so the code continues with its value.
    add_equality(number, value);
    return value;
  }
  if (is_new) expressions_.push_back({found->second, number});
  return SymInt::traced(found->second, static_cast<int32_t>(value));
}

void SizeTrace::add_equality(const Polynomial& number, int64_t value) {
  if (const std::optional<Polynomial> rest = Polynomial::difference(number, Polynomial(value)))
    conditions_.insert({Relation::kZero, *rest});
  else
    has_failed_ = true;
}

void SizeTrace::read(SymInt dim) {
  if (const Expression* expression = find(dim)) add_equality(expression->number, dim.unguarded());
}

std::optional<Polynomial> SizeTrace::variable(Variable::Kind kind, const Polynomial& left, const Polynomial& right) {
  Variable variable{.kind = kind, .left = left, .right = right};
  for (const Polynomial* operand : {&left, &right})
    for (const auto& [product, coefficient] : operand->terms())
      for (const uint32_t inner : product) variable.depth = std::max(variable.depth, variables_[inner].depth + 1);
  const auto found = std::ranges::find_if(variables_, [&](const Variable& known) {
    return known.kind == kind && known.left == left && known.right == right;
  });
  const auto index = static_cast<uint32_t>(found - variables_.begin());
  if (found == variables_.end()) {
    if (variable.depth > kMaxDepth || variables_.size() >= kMaxVariables) return std::nullopt;
    variable.range = range_of(variable);
    variables_.push_back(std::move(variable));
  }
  return Polynomial::variable(index);
}

std::optional<Polynomial> SizeTrace::combine(SymInt::Arithmetic operation, const Polynomial& a, const Polynomial& b) {
  switch (operation) {
    case SymInt::Arithmetic::kAdd:
      return Polynomial::sum(a, b);
    case SymInt::Arithmetic::kSubtract:
      return Polynomial::difference(a, b);
    case SymInt::Arithmetic::kMultiply:
      return Polynomial::product(a, b);
    case SymInt::Arithmetic::kDivide:
    case SymInt::Arithmetic::kRemainder:
      break;
  }
  const bool divides = operation == SymInt::Arithmetic::kDivide;
  if (std::optional<Polynomial> exact = Polynomial::exact_quotient(a, b)) return divides ? *exact : Polynomial();
  return variable(divides ? Variable::Kind::kQuotient : Variable::Kind::kRemainder, a, b);
}

SymInt SizeTrace::compute(SymInt::Arithmetic operation, SymInt a, SymInt b, int64_t value) {
  if (!find(a) && !find(b)) return value;
  if (const std::optional<Polynomial> number = combine(operation, polynomial_of(a), polynomial_of(b)))
    return make(*number, value);
  read(a);
  read(b);
  return value;
}

// ---- Conditions.

SizeTrace::Range SizeTrace::range_of(const Polynomial& number) const {
  Range range{0, 0};
  for (const auto& [product, coefficient] : number.terms()) {
    std::optional<int64_t> least = 1, most = 1;  // of the product
    for (const uint32_t variable : product) {
      const auto& [low, high] = variables_[variable].range;
      const bool is_bounded = low && *low >= 0;
      least = least && is_bounded ? add_product(0, *least, *low) : std::nullopt;
      most = most && is_bounded && high ? add_product(0, *most, *high) : std::nullopt;
    }
    const auto add = [&](std::optional<int64_t>& sum, std::optional<int64_t> factor) {
      sum = sum && factor ? add_product(*sum, *factor, coefficient) : std::nullopt;
    };
    add(range.low, coefficient > 0 ? least : most);
    add(range.high, coefficient > 0 ? most : least);
  }
  return range;
}

SizeTrace::Range SizeTrace::range_of(const Variable& variable) const {
  const Range dividend = range_of(variable.left), divisor = range_of(variable.right);
  if (!dividend.low || *dividend.low < 0 || !divisor.low || *divisor.low <= 0) return {};
  Range range{.low = 0};
  if (variable.kind == Variable::Kind::kQuotient && dividend.high)
    range.high = *dividend.high / *divisor.low;
  else if (variable.kind == Variable::Kind::kRemainder && divisor.high)
    range.high = *divisor.high - 1;
  return range;
}

void SizeTrace::compare_equal(SymInt a, SymInt b) {
  if (!find(a) && !find(b)) return;
  const std::optional<Polynomial> rest = Polynomial::difference(polynomial_of(a), polynomial_of(b));
  if (!rest) return read(a), read(b);
  const Range range = range_of(*rest);
  if ((range.low && *range.low > 0) || (range.high && *range.high < 0) || rest->is_constant()) return;
  conditions_.insert({a.unguarded() == b.unguarded() ? Relation::kZero : Relation::kNotZero, *rest});
}

void SizeTrace::compare_less(SymInt a, SymInt b) {
  if (!find(a) && !find(b)) return;
  const std::optional<Polynomial> rest = Polynomial::difference(polynomial_of(a), polynomial_of(b));
  if (!rest) return read(a), read(b);
  const Range range = range_of(*rest);
  if ((range.low && *range.low >= 0) || (range.high && *range.high < 0)) return;
  conditions_.insert({a.unguarded() < b.unguarded() ? Relation::kNegative : Relation::kNotNegative, *rest});
}

// ---- Evaluation.

std::optional<int64_t> SizeTrace::Evaluation::value_of(const Polynomial& number) const {
  std::optional<int64_t> sum = 0;
  for (const auto& [product, coefficient] : number.terms()) {
    std::optional<int64_t> term = coefficient;
    for (const uint32_t variable : product)
      if (term) term = add_product(0, *term, variables_[variable]);
    sum = sum && term ? add_product(*sum, *term, 1) : std::nullopt;
  }
  return sum;
}

bool SizeTrace::Evaluation::run(std::span<const int64_t> sizes) {
  for (const Variable& variable : trace_.variables_) {
    if (variable.kind == Variable::Kind::kSymbol) {
      if (!is_traceable(sizes.front())) return false;
      variables_.push_back(sizes.front());
      sizes = sizes.subspan(1);
      continue;
    }
    const std::optional<int64_t> left = value_of(variable.left), right = value_of(variable.right);
    if (!left || !right || *right == 0 || *left == std::numeric_limits<int64_t>::min()) return false;
    variables_.push_back(variable.kind == Variable::Kind::kQuotient ? *left / *right : *left % *right);
  }
  for (const Condition& condition : trace_.conditions_) {
    const std::optional<int64_t> value = value_of(condition.number);
    if (!value) return false;
    const bool is_zero = condition.relation == Relation::kZero || condition.relation == Relation::kNotZero;
    const bool expected = condition.relation == Relation::kZero || condition.relation == Relation::kNegative;
    if ((is_zero ? *value == 0 : *value < 0) != expected) return false;
  }
  for (const Expression& expression : trace_.expressions_) {
    const std::optional<int64_t> value = value_of(expression.number);
    if (!value || !fits(*value)) return false;
    expressions_.push_back(*value);
  }
  return true;
}

std::optional<SizeTrace::Evaluation> SizeTrace::Evaluation::of(const SizeTrace& trace, std::span<const int64_t> sizes) {
  LUCID_CHECK(sizes.size() == trace.symbols_.size(), "{} sizes for {} symbols", sizes.size(), trace.symbols_.size());
  Evaluation evaluation(trace);
  if (trace.has_failed_ || !evaluation.run(sizes)) return std::nullopt;
  return evaluation;
}

SymInt SizeTrace::Evaluation::operator()(SymInt dim) const {
  const Expression* expression = trace_.find(dim);
  return expression ? expressions_[static_cast<size_t>(expression - trace_.expressions_.data())] : dim.unguarded();
}

SymInt SizeTrace::Evaluation::retraced(SymInt dim) const {
  const SymInt value = (*this)(dim);
  return trace_.find(dim) ? SymInt::traced(dim.expression(), static_cast<int32_t>(value)) : value;
}

std::optional<int64_t> SizeTrace::upper_bound(SymInt dim) const { return range_of(polynomial_of(dim)).high; }

bool SizeTrace::is_multiple(SymInt x, SymInt y) const {
  return Polynomial::exact_quotient(polynomial_of(x), polynomial_of(y)).has_value();
}

bool SizeTrace::is_fixed(size_t i) const {
  size_t index = 0;
  for (size_t symbol = 0; index < variables_.size(); ++index)
    if (variables_[index].kind == Variable::Kind::kSymbol && symbol++ == i) break;
  const Polynomial number = Polynomial::variable(static_cast<uint32_t>(index));
  const std::optional<Polynomial> rest = Polynomial::difference(number, Polynomial(symbols_[i]));
  return rest && conditions_.contains({Relation::kZero, *rest});
}

// ---- Text.

std::string SizeTrace::text(const Variable& variable, size_t index) const {
  if (variable.kind == Variable::Kind::kSymbol)
    return fmt::format("s{}", std::count_if(variables_.begin(), variables_.begin() + static_cast<ptrdiff_t>(index),
                                            [](const Variable& v) { return v.kind == Variable::Kind::kSymbol; }));
  const auto operand = [&](const Polynomial& number) {
    const auto& terms = number.terms();
    const bool is_variable = terms.size() == 1 && terms.begin()->first.size() == 1 && terms.begin()->second == 1;
    const bool is_positive = number.is_constant() && number.constant() >= 0;
    return is_variable || is_positive ? text(number) : '(' + text(number) + ')';
  };
  return fmt::format("({}{}{})", operand(variable.left), variable.kind == Variable::Kind::kQuotient ? '/' : '%',
                     operand(variable.right));
}

std::string SizeTrace::text(const Polynomial& number) const {
  std::string result;
  // The constant term, which comes first in order, is written last.
  for (const auto& [product, coefficient] : number.terms()) {
    if (product.empty()) continue;
    std::string factors;
    for (const uint32_t variable : product)
      factors += (factors.empty() ? "" : "*") + text(variables_[variable], variable);
    if (coefficient != 1 && coefficient != -1)
      factors += fmt::format("*{}", coefficient < 0 ? -coefficient : coefficient);
    result += (coefficient < 0 ? "-" : result.empty() ? "" : "+") + factors;
  }
  const int64_t constant = number.constant();
  if (constant != 0 || result.empty())
    result += fmt::format("{}{}", constant >= 0 && !result.empty() ? "+" : "", constant);
  return result;
}

std::string SizeTrace::text(SymInt dim) const {
  const Expression* expression = find(dim);
  return expression ? text(expression->number) : fmt::format("{}", dim);
}

std::vector<std::string> SizeTrace::conditions() const {
  std::vector<std::string> result;
  for (const Condition& condition : conditions_) {
    constexpr const char* kSigns[] = {"== 0", "!= 0", "< 0", ">= 0"};
    result.push_back(text(condition.number) + ' ' + kSigns[static_cast<size_t>(condition.relation)]);
  }
  return result;
}

// ---- What plain code does with traced numbers.

int64_t SymInt::read() const {
  if (t_sizes && !has_memory_for([&] { t_sizes->read(*this); })) t_sizes->has_failed_ = true;
  return unguarded();
}

void SymInt::divide_by_zero() { throw ValueError("SymInt: a size is divided by 0"); }

SymInt SymInt::compute_traced(Arithmetic operation, SymInt a, SymInt b) {
  const bool divides = operation == Arithmetic::kDivide || operation == Arithmetic::kRemainder;
  // The program may catch the error, and then go on in a way that depends on the sizes.
  if (divides && b.unguarded() == 0) b.read();
  const int64_t value = compute(operation, a.unguarded(), b.unguarded());
  SymInt result = value;
  if (t_sizes && !has_memory_for([&] { result = t_sizes->compute(operation, a, b, value); }))
    t_sizes->has_failed_ = true;
  return result;
}

bool SymInt::is_equal_traced(SymInt a, SymInt b) {
  if (t_sizes && !has_memory_for([&] { t_sizes->compare_equal(a, b); })) t_sizes->has_failed_ = true;
  return a.unguarded() == b.unguarded();
}

bool SymInt::is_less_traced(SymInt a, SymInt b) {
  if (t_sizes && !has_memory_for([&] { t_sizes->compare_less(a, b); })) t_sizes->has_failed_ = true;
  return a.unguarded() < b.unguarded();
}

}  // namespace lucid
