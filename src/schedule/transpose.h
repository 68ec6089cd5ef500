#pragma once

#include <vector>

#include "loop/builder.h"

namespace lucid {

/// Turns kLanes rows into kLanes columns by exchanging ever smaller squares across the diagonal. Rows at the end may be
/// empty: what the columns hold in their lanes is undefined.
void transpose(loop::Builder& builder, std::vector<loop::Value>& rows);

}  // namespace lucid
