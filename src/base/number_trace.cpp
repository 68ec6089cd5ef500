#include "base/number_trace.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>

#include "base/error.h"

namespace lucid {
namespace {

using Arithmetic = Number::Arithmetic;

constinit thread_local NumberTrace* t_numbers = nullptr;

/// Numbers traced by other means, in Python, are below this one.
constexpr uint32_t kFirstNumber = uint32_t{1} << 31;

/// The first of `count` numbers that no recording has had; 0 if there are none left.
uint32_t reserve_numbers(uint32_t count) {
  static std::atomic<uint32_t> next = kFirstNumber;
  uint32_t first = next.load(std::memory_order_relaxed);
  do {
    if (first > std::numeric_limits<uint32_t>::max() - count) return 0;
  } while (!next.compare_exchange_weak(first, first + count, std::memory_order_relaxed));
  return first;
}

Number compute_integers(Arithmetic operation, int64_t a, int64_t b) {
  // Overflow wraps.
  const auto left = static_cast<uint64_t>(a), right = static_cast<uint64_t>(b);
  switch (operation) {
    case Arithmetic::kAdd:
      return static_cast<int64_t>(left + right);
    case Arithmetic::kSubtract:
      return static_cast<int64_t>(left - right);
    case Arithmetic::kMultiply:
      return static_cast<int64_t>(left * right);
    case Arithmetic::kDivide:
      return b == -1 ? static_cast<int64_t>(0 - left) : a / b;
    case Arithmetic::kEqual:
      return int64_t{a == b};
    case Arithmetic::kLess:
      return int64_t{a < b};
    case Arithmetic::kLessOrEqual:
      return int64_t{a <= b};
  }
  return 0;
}

Number compute_reals(Arithmetic operation, double a, double b) {
  switch (operation) {
    case Arithmetic::kAdd:
      return a + b;
    case Arithmetic::kSubtract:
      return a - b;
    case Arithmetic::kMultiply:
      return a * b;
    case Arithmetic::kDivide:
      return a / b;
    case Arithmetic::kEqual:
      return int64_t{a == b};
    case Arithmetic::kLess:
      return int64_t{a < b};
    case Arithmetic::kLessOrEqual:
      return int64_t{a <= b};
  }
  return 0;
}

/// Of numbers that are not traced. Nothing if an integer is divided by 0.
std::optional<Number> compute_plain(Arithmetic operation, const Number& a, const Number& b) {
  if (!a.is_integer() || !b.is_integer())
    return compute_reals(operation, static_cast<double>(a), static_cast<double>(b));
  const auto right = static_cast<int64_t>(b);
  if (operation == Arithmetic::kDivide && right == 0) return std::nullopt;
  return compute_integers(operation, static_cast<int64_t>(a), right);
}

bool is_same(const Number& a, const Number& b) { return a.is_integer() == b.is_integer() && a.bits() == b.bits(); }

}  // namespace

int64_t Number::bits() const { return is_integer_ ? integer_ : std::bit_cast<int64_t>(real_); }

void Number::guard_value() const {
  if (traced_ != 0 && t_numbers) t_numbers->guard_value(traced_);
}

Number Number::compute(Arithmetic operation, const Number& a, const Number& b) {
  const std::optional<Number> result = compute_plain(operation, a.with_trace(0), b.with_trace(0));
  const bool is_traced = t_numbers && (t_numbers->has(a.traced()) || t_numbers->has(b.traced()));
  if (!result) {
    // The program may catch the error, and then go on in a way that depends on the numbers.
    a.guard_value();
    b.guard_value();
    throw ValueError("Number: an integer is divided by 0");
  }
  return is_traced ? t_numbers->add_computed(operation, a, b, *result) : *result;
}

bool Number::compare(Arithmetic operation, const Number& a, const Number& b) {
  const Number outcome = compute(operation, a, b);
  outcome.guard_value();
  return outcome.integer_ != 0;
}

Number NumberTrace::add(const Step& step) {
  steps_.push_back(step);
  return step.value.with_trace(first_ + static_cast<uint32_t>(steps_.size()) - 1);
}

Number NumberTrace::add_argument(const Number& value, size_t index) {
  if (first_ == 0) first_ = reserve_numbers(kMaxSteps);
  if (!has_room()) return value;
  return add({.kind = Step::Kind::kArgument, .left = static_cast<uint32_t>(index), .value = value.with_trace(0)});
}

void NumberTrace::guard_value(uint32_t traced) {
  if (has(traced)) steps_[traced - first_].is_read = true;
}

bool NumberTrace::is_read(size_t argument) const {
  return std::ranges::none_of(steps_, [&](const Step& step) {
    return step.kind == Step::Kind::kArgument && step.left == argument && !step.is_read;
  });
}

uint32_t NumberTrace::step_of(const Number& number) {
  if (has(number.traced())) return number.traced() - first_;
  return add({.value = number.with_trace(0)}).traced() - first_;
}

Number NumberTrace::add_computed(Arithmetic operation, const Number& a, const Number& b, const Number& result) {
  if (!has_room()) {
    guard_value(a.traced());
    guard_value(b.traced());
    return result;
  }
  const uint32_t left = step_of(a), right = step_of(b);
  return add({.kind = Step::Kind::kComputed, .operation = operation, .left = left, .right = right, .value = result});
}

std::optional<std::vector<Scalar>> NumberTrace::evaluate(std::span<const Number> arguments,
                                                         std::span<const uint32_t> wanted) const {
  std::vector<Number> values;
  values.reserve(steps_.size());
  for (const Step& step : steps_) {
    std::optional<Number> value = step.value;
    if (step.kind == Step::Kind::kArgument) value = arguments[step.left].with_trace(0);
    if (step.kind == Step::Kind::kComputed)
      value = compute_plain(step.operation, values[step.left], values[step.right]);
    if (!value || (step.is_read && !is_same(*value, step.value))) return std::nullopt;
    values.push_back(*value);
  }
  std::vector<Scalar> numbers;
  for (const uint32_t traced : wanted) numbers.push_back(scalar_of(values[traced - first_]));
  return numbers;
}

NumberTrace::Scope::Scope(NumberTrace* trace) : before_(t_numbers) { t_numbers = trace; }
NumberTrace::Scope::~Scope() { t_numbers = before_; }

Scalar scalar_of(const Number& number) {
  const Number plain = number.with_trace(0);
  const Scalar scalar = plain.is_integer() ? Scalar(static_cast<int64_t>(plain)) : Scalar(static_cast<double>(plain));
  return scalar.with_trace(number.traced());
}

}  // namespace lucid
