#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ir/op.h"

namespace lucid {

// One function for each family of ops; each appends its entries. The table lists them in table.cpp.
void add_arithmetic_ops(std::vector<Op>& ops);
void add_math_ops(std::vector<Op>& ops);
void add_activation_ops(std::vector<Op>& ops);
void add_compare_ops(std::vector<Op>& ops);
void add_bitwise_ops(std::vector<Op>& ops);
void add_select_ops(std::vector<Op>& ops);
void add_create_ops(std::vector<Op>& ops);

/// The signatures that tools/generate saw, sorted by name: those of the table, unless the generated files are stale.
std::span<const std::string_view> generated_signatures();

}  // namespace lucid
