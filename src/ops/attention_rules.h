#pragma once

#include "ops/rules.h"

/// What the files of attention share.
namespace lucid {

/// The widest queries and values that the kernel holds.
inline constexpr int64_t kMostAttentionWidth = 4096;

/// Which keys queries attend to, by place; broadcasts to [n, h, queries, keys].
inline Value causal_mask(Emitter& e, int64_t queries, int64_t keys) {
  const Dims shape{queries, keys};
  return e.le(e.iota(shape, 1), e.iota(shape, 0));
}

}  // namespace lucid
