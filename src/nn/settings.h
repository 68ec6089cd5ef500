#pragma once

#include <lucid/nn/item.h>

#include "ir/op.h"

namespace lucid::nn {

/// Converts a setting to an attribute of an op. Throws TypeError if it cannot be one.
Attribute to_attribute(const Item& item);
/// Sets an attribute of an op. Throws TypeError, naming it, if the setting does not fit.
void set_attribute(const Op& op, Attributes& attributes, std::string_view name, const Item& item);

}  // namespace lucid::nn
