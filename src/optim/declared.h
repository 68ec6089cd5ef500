#pragma once

#include <lucid/tree.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

namespace lucid::optim {

/// The options of an optimizer or a schedule with their defaults. None marks one that must be given. Empty if none of
/// this name has a signature.
const Tree::Dict& declared_defaults(const std::string& name);

// Options as trees.

using lucid::tree_of;
inline Tree tree_of(const std::pair<double, double>& both) { return {both.first, both.second}; }
inline Tree tree_of(const std::array<double, 3>& all) { return {all[0], all[1], all[2]}; }
inline Tree tree_of(const std::vector<int64_t>& all) { return Tree::List(all.begin(), all.end()); }

}  // namespace lucid::optim
