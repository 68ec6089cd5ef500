#pragma once

#include <vector>

#include "ir/op.h"

namespace lucid {

/// The updates of optimizers. Apart from table.h: no other file of the folder needs them.
void add_optimizer_ops(std::vector<Op>& ops);

}  // namespace lucid
