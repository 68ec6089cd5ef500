#pragma once

#include "ops/rules.h"

/// Shared by the attention ops.
namespace lucid {

/// Maximum size of the last dimension of queries and values that the kernel supports.
inline constexpr int64_t kMaxAttentionWidth = 4096;

/// True where the key's index does not exceed the query's; broadcasts to [n, h, queries, keys].
inline Value causal_mask(Emitter& e, int64_t queries, int64_t keys) {
  const Dims shape{queries, keys};
  return e.le(e.iota(shape, 1), e.iota(shape, 0));
}

}  // namespace lucid
