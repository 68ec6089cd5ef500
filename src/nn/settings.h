#pragma once

#include <lucid/nn/item.h>

#include "ir/op.h"

namespace lucid::nn {

/// A setting as ops take it. Throws TypeError for what is none.
Attribute to_attribute(const Item& item);
/// Sets one of an op's attributes. Throws TypeError naming it when the setting does not fit.
void set_attribute(const Op& op, Attributes& attributes, std::string_view name, const Item& item);

}  // namespace lucid::nn
