#pragma once

#include "base/shape.h"

namespace lucid {

/// Whether two elements of a part of memory may share a place: unless each stride steps over all that the smaller ones
/// reach. Such a part cannot be written by set_strided_part.
bool may_overlap(const Geometry& part);

}  // namespace lucid
