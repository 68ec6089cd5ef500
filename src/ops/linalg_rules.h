#pragma once

#include <initializer_list>
#include <string_view>
#include <utility>

#include "ir/emitter.h"
#include "ir/op.h"

/// Shared by ops that compute matrix products.
namespace lucid {

/// Throws TypeError unless both operands are tensors of one dtype: products do not promote.
void check_product_dtypes(const Call& call, size_t i, size_t j);
/// Throws ValueError if the inner dimensions of matrices or vectors differ.
void check_inner(const Call& call, size_t left, size_t right);
/// Throws ValueError unless each operand has the given rank. `ranks` holds pairs of operand index and rank.
void check_ranks(const Call& call, std::initializer_list<std::pair<size_t, int64_t>> ranks);

/// The product of vectors, matrices or batches whose inner dimensions agree, by the rules of matmul.
Value product(Emitter& e, std::string_view op, const Value& x, const Value& y);
/// x times a float attribute, in x's dtype.
Value scaled(Emitter& e, const Call& call, const Value& x, std::string_view attribute);

}  // namespace lucid
