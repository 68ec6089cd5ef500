#pragma once

#include <initializer_list>
#include <string_view>
#include <utility>

#include "ir/emitter.h"
#include "ir/op.h"

/// What ops made of matrix products share.
namespace lucid {

/// Refuses operands of different dtypes, and numbers: products do not promote.
void check_product_dtypes(const Call& call, size_t i, size_t j);
/// Refuses matrices or vectors whose inner dimensions differ.
void check_inner(const Call& call, size_t left, size_t right);
/// Refuses operands that have not the given number of dimensions: pairs of operand and rank.
void check_ranks(const Call& call, std::initializer_list<std::pair<size_t, int64_t>> ranks);

/// The product of vectors, matrices or batches whose inner dimensions agree, by the rules of matmul.
Value product(Emitter& e, std::string_view op, const Value& x, const Value& y);
/// x times a float attribute, in x's dtype.
Value scaled(Emitter& e, const Call& call, const Value& x, std::string_view attribute);

}  // namespace lucid
