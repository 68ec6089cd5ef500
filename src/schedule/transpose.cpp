#include "schedule/transpose.h"

namespace lucid {

using loop::kLanes;

void transpose(loop::Builder& builder, std::vector<loop::Value>& rows) {
  for (int size = kLanes / 2; size > 0; size /= 2) {
    const loop::Value upper = (builder.iota(Dtype::kI32) & builder.splat(builder.constant(Dtype::kI32, size))) ==
                              builder.constant(Dtype::kI32, 0);
    for (int i = 0; i < kLanes; ++i) {
      if (i & size) continue;
      const loop::Value low = rows[static_cast<size_t>(i)];
      const loop::Value high = rows[static_cast<size_t>(i + size)];
      rows[static_cast<size_t>(i)] = builder.select(upper, low, builder.rotate(high, kLanes - size));
      rows[static_cast<size_t>(i + size)] = builder.select(upper, builder.rotate(low, size), high);
    }
  }
}

}  // namespace lucid
