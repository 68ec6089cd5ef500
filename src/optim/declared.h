#pragma once

#include <lucid/tree.h>

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace lucid::optim {

/// The options of an optimizer or a schedule with their defaults. None marks one that must be given. Empty if none of
/// this name has a signature.
const Tree::Dict& declared_defaults(const std::string& name);

// Options as plain data.

template <typename T>
Tree tree_of(const T& value) {
  return value;
}
template <typename T>
Tree tree_of(const std::optional<T>& value) {
  return value ? Tree(*value) : Tree();
}
inline Tree tree_of(const std::pair<double, double>& both) { return Tree::Tuple{{both.first, both.second}}; }
inline Tree tree_of(const std::array<double, 3>& all) { return Tree::Tuple{{all[0], all[1], all[2]}}; }
inline Tree tree_of(const std::vector<int64_t>& all) { return Tree::List(all.begin(), all.end()); }

}  // namespace lucid::optim
