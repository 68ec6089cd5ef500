#include "schedule/transpose.h"

namespace lucid {

using loop::kLanes;

void transpose(loop::Builder& builder, std::vector<loop::Value>& rows) {
  for (int size = kLanes / 2; size > 0; size /= 2) {
    const loop::Value upper = (builder.iota(Dtype::kI32) & builder.splat(builder.constant(Dtype::kI32, size))) ==
                              builder.constant(Dtype::kI32, 0);
    for (int i = 0; i < kLanes; ++i) {
      if (i & size) continue;
      loop::Value& low = rows[static_cast<size_t>(i)];
      const int partner = i + size;
      loop::Value& high = rows[static_cast<size_t>(partner)];
      if (low && high) {
        const loop::Value old_low = low;
        low = builder.select(upper, low, builder.rotate(high, kLanes - size));
        high = builder.select(upper, builder.rotate(old_low, size), high);
      } else if (low) {
        high = builder.rotate(low, size);
      }
    }
  }
}

}  // namespace lucid
