#pragma once

#include "base/shape.h"

namespace lucid {

/// Whether two elements of a part may share a memory location. False if the part is empty or each stride exceeds the
/// extent of all smaller strides together. set_strided_part cannot write a part that may overlap.
bool may_overlap(const Geometry& part);

}  // namespace lucid
