#include "base/polynomial.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace lucid {
namespace {

// Beyond these, numbers that come from shapes are not worth tracing.
constexpr size_t kMaxTerms = 16;
constexpr size_t kMaxFactors = 16;

}  // namespace

Polynomial Polynomial::variable(Variable variable) {
  Polynomial result;
  result.terms_[{variable}] = 1;
  return result;
}

int64_t Polynomial::constant() const {
  const auto found = terms_.find({});
  return found == terms_.end() ? 0 : found->second;
}

bool Polynomial::add(const Product& product, int64_t coefficient) {
  if (product.size() > kMaxFactors) return false;
  int64_t& sum = terms_[product];
  if (__builtin_add_overflow(sum, coefficient, &sum)) return false;
  if (sum == 0) terms_.erase(product);
  return terms_.size() <= kMaxTerms;
}

std::optional<Polynomial> Polynomial::sum(const Polynomial& a, const Polynomial& b) {
  Polynomial result = a;
  for (const auto& [product, coefficient] : b.terms_)
    if (!result.add(product, coefficient)) return std::nullopt;
  return result;
}

std::optional<Polynomial> Polynomial::difference(const Polynomial& a, const Polynomial& b) {
  Polynomial result = a;
  for (const auto& [product, coefficient] : b.terms_)
    if (coefficient == std::numeric_limits<int64_t>::min() || !result.add(product, -coefficient)) return std::nullopt;
  return result;
}

std::optional<Polynomial> Polynomial::product(const Polynomial& a, const Polynomial& b) {
  Polynomial result;
  for (const auto& [left, left_coefficient] : a.terms_)
    for (const auto& [right, right_coefficient] : b.terms_) {
      int64_t coefficient = 0;
      if (__builtin_mul_overflow(left_coefficient, right_coefficient, &coefficient)) return std::nullopt;
      Product variables;
      std::ranges::merge(left, right, std::back_inserter(variables));
      if (!result.add(variables, coefficient)) return std::nullopt;
    }
  return result;
}

std::optional<Polynomial> Polynomial::exact_quotient(const Polynomial& a, const Polynomial& b) {
  if (b.terms_.size() != 1) return std::nullopt;
  const auto& [divisor, by] = *b.terms_.begin();
  Polynomial result;
  for (const auto& [product, coefficient] : a.terms_) {
    // The smallest integer has no opposite.
    if (coefficient == std::numeric_limits<int64_t>::min() && by == -1) return std::nullopt;
    if (coefficient % by != 0 || !std::ranges::includes(product, divisor)) return std::nullopt;
    Product rest;
    std::ranges::set_difference(product, divisor, std::back_inserter(rest));
    if (!result.add(rest, coefficient / by)) return std::nullopt;
  }
  return result;
}

}  // namespace lucid
