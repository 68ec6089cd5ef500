#include "ir/aliases.h"

#include <algorithm>
#include <string_view>

namespace lucid {
namespace {

struct Alias {
  std::string_view parameter;
  const char* other;
};

constexpr Alias kAliases[] = {
    {"dim", "axis"},
    {"dims", "axes"},
    {"dims", "axis"},
    {"dims", "dim"},
    {"keepdim", "keepdims"},
    {"x", "input"},
    {"y", "other"},
    {"size", "shape"},
    {"shape", "size"},
    {"dim0", "axis0"},
    {"dim1", "axis1"},
    {"dim2", "axis2"},
    {"split_size", "split_size_or_sections"},
    {"tensors", "arrays"},
};

}  // namespace

std::vector<const char*> aliases_of(const Schema& schema, const Parameter& parameter) {
  std::vector<const char*> aliases;
  for (const Alias& alias : kAliases) {
    if (alias.parameter != parameter.name) continue;
    const auto has_that_name = [&](const Parameter& other) { return other.name == alias.other; };
    if (std::ranges::none_of(schema.parameters, has_that_name)) aliases.push_back(alias.other);
  }
  return aliases;
}

}  // namespace lucid
