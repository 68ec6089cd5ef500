#pragma once

#include <lucid/nn/module.h>

#include "ir/op.h"

namespace lucid::nn {

/// Converts a setting to an attribute of an op. Throws TypeError if it cannot be one.
Attribute to_attribute(const Tree& tree);
/// Sets an attribute of an op. Throws TypeError, naming it, if the setting does not fit.
void set_attribute(const Op& op, Attributes& attributes, std::string_view name, const Tree& value);
/// Throws TypeError: an argument of forward is not a tensor.
[[noreturn]] void fail_argument(const Module& module, std::string_view name, const Tree& given);

}  // namespace lucid::nn
