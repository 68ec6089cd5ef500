#pragma once

#include <vector>

#include "ir/schema.h"

namespace lucid {

/// The additional keywords that Python callers may use for `parameter` of `schema`: the names in NumPy and PyTorch,
/// such as `axis` for an axis `dim`, except names of other parameters of the op. The strings have static storage
/// duration.
std::vector<const char*> aliases_of(const Schema& schema, const Parameter& parameter);

}  // namespace lucid
