#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace lucid {

/// A polynomial with integer coefficients. Its variables are numbered.
class Polynomial {
 public:
  using Variable = uint32_t;
  /// The variables of a term in ascending order, repeated for powers; empty for the constant term.
  using Product = std::vector<Variable>;

  Polynomial() = default;
  explicit Polynomial(int64_t constant) {
    if (constant != 0) terms_[{}] = constant;
  }
  static Polynomial variable(Variable variable);

  /// The terms whose coefficients are not zero.
  const std::map<Product, int64_t>& terms() const { return terms_; }
  bool is_constant() const { return terms_.empty() || (terms_.size() == 1 && terms_.begin()->first.empty()); }
  /// The constant term.
  int64_t constant() const;

  // Empty if the result has too many terms or a coefficient that does not fit.
  static std::optional<Polynomial> sum(const Polynomial& a, const Polynomial& b);
  static std::optional<Polynomial> difference(const Polynomial& a, const Polynomial& b);
  static std::optional<Polynomial> product(const Polynomial& a, const Polynomial& b);
  /// The quotient by a polynomial of one term, if it divides every term.
  static std::optional<Polynomial> exact_quotient(const Polynomial& a, const Polynomial& b);

  auto operator<=>(const Polynomial&) const = default;

 private:
  bool add(const Product& product, int64_t coefficient);

  std::map<Product, int64_t> terms_;
};

}  // namespace lucid
