#include "passes/names.h"

#include "base/split.h"

namespace lucid {

std::string_view canonical_pass_name(std::string_view name) {
  for (const PassAlias& known : kPassAliases)
    if (known.alias == name) return known.name;
  return name;
}

PassNames parse_pass_names(std::string_view list) {
  PassNames names;
  for (const std::string_view name : split(list, ',')) names.emplace(canonical_pass_name(name));
  return names;
}

}  // namespace lucid
