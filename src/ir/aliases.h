#pragma once

#include <vector>

#include "ir/schema.h"

namespace lucid {

/// The other keywords under which Python callers may pass `parameter` of `schema`: the names that NumPy and PyTorch
/// use, such as `axis` for dim, except those that another parameter of the op has. The strings have static storage.
std::vector<const char*> aliases_of(const Schema& schema, const Parameter& parameter);

}  // namespace lucid
