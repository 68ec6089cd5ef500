#pragma once

#include <vector>

namespace lucid::testing {

/// What the ops with effects of added_op.cpp have reported, in order.
std::vector<float>& reports();

}  // namespace lucid::testing
