#pragma once

#include <vector>

#include "ir/op.h"

namespace lucid {

/// Appends the update ops of optimizers. Not declared in table.h, because only table.cpp needs it.
void add_optimizer_ops(std::vector<Op>& ops);

}  // namespace lucid
