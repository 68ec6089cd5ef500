#pragma once

#include "ir/op.h"

namespace lucid {

/// Whether the op copies its operand to the device that its attribute `device` names.
inline bool is_transfer(const Op& op) { return op.name() == "to_device"; }

}  // namespace lucid
