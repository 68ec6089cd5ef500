#pragma once

#include <vector>

#include "loop/builder.h"

namespace lucid {

/// Transposes kLanes rows by exchanging ever smaller squares across the diagonal. Trailing rows may be empty; the
/// corresponding lanes of the columns are undefined.
void transpose(loop::Builder& builder, std::vector<loop::Value>& rows);

}  // namespace lucid
