#include "ir/aliases.h"

#include <algorithm>
#include <span>
#include <string_view>

namespace lucid {
namespace {

struct Alias {
  std::string_view parameter;
  const char* other;
};

/// Of parameters of the kinds axis and axes.
constexpr Alias kAxisAliases[] = {{"dim", "axis"}, {"dim0", "axis0"}, {"dim1", "axis1"}, {"dim2", "axis2"}};

constexpr Alias kAliases[] = {
    {"keepdim", "keepdims"},
    {"dims", "axes"},  // also of tile and tensordot, which take numbers
    {"dims", "axis"},
    {"dims", "dim"},
    {"x", "input"},
    {"y", "other"},
    {"size", "shape"},
    {"shape", "size"},
    {"split_size", "split_size_or_sections"},
    {"tensors", "arrays"},
};

}  // namespace

std::vector<const char*> aliases_of(const Schema& schema, const Parameter& parameter) {
  std::vector<const char*> aliases;
  const auto add = [&](std::span<const Alias> known) {
    for (const Alias& alias : known) {
      if (alias.parameter != parameter.name) continue;
      const auto has_that_name = [&](const Parameter& other) { return other.name == alias.other; };
      if (std::ranges::none_of(schema.parameters, has_that_name)) aliases.push_back(alias.other);
    }
  };
  if (is_axis(parameter.kind)) add(kAxisAliases);
  add(kAliases);
  return aliases;
}

}  // namespace lucid
