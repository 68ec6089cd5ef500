#include "passes/plan_parts.h"

#include "base/options.h"

namespace lucid {

bool is_disabled(std::string_view part) {
  const std::string names = "," + options().disable_passes + ",";
  return names.find("," + std::string(part) + ",") != std::string::npos;
}

}  // namespace lucid
