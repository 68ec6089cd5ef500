#include "passes/names.h"

#include <algorithm>

namespace lucid {

std::string_view canonical_pass_name(std::string_view name) {
  for (const PassAlias& known : kPassAliases)
    if (known.alias == name) return known.name;
  return name;
}

PassNames parse_pass_names(std::string_view list) {
  PassNames names;
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    names.emplace(canonical_pass_name(list.substr(0, end)));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return names;
}

}  // namespace lucid
