#include <lucid/nn/arguments.h>

#include <algorithm>

#include "base/error.h"

namespace lucid::nn {

std::vector<Tree> Arguments::bind(const std::string& function, const std::vector<std::string>& names,
                                  size_t required) const {
  if (positional.size() > names.size())
    throw TypeError("{}: takes at most {} arguments, got {}", function, names.size(), positional.size());
  std::vector<Tree> bound = positional;
  std::vector<bool> given(names.size());
  std::fill_n(given.begin(), positional.size(), true);
  bound.resize(names.size());
  for (const auto& [name, value] : named) {
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) throw TypeError("{}: got an unexpected keyword argument '{}'", function, name);
    const auto place = static_cast<size_t>(found - names.begin());
    if (given[place]) throw TypeError("{}: got two values for argument '{}'", function, name);
    given[place] = true;
    bound[place] = value;
  }
  for (size_t i = 0; i < required; ++i)
    if (!given[i]) throw TypeError("{}: argument '{}' is missing", function, names[i]);
  return bound;
}

}  // namespace lucid::nn
