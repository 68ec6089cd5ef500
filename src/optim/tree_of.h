#pragma once

#include <lucid/tree.h>

#include <optional>
#include <utility>

namespace lucid::optim {

// Options as plain data.

inline Tree tree_of(const std::pair<double, double>& both) { return Tree::Tuple{{both.first, both.second}}; }
template <typename T>
Tree tree_of(const std::optional<T>& value) {
  return value ? Tree(*value) : Tree();
}

}  // namespace lucid::optim
