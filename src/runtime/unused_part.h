#pragma once

#include <cstddef>

#include "runtime/small_blocks.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#define LUCID_ADDRESS_SANITIZER
#endif
#endif

namespace lucid {

/// A block is as large as its class. With the address sanitizer, code must not read or write past the bytes that were
/// requested: the rest is inaccessible while the block is in use. Without it, nothing happens.
inline void* without_unused_part(void* block, [[maybe_unused]] size_t bytes) {
#ifdef LUCID_ADDRESS_SANITIZER
  const size_t size = bytes > kLargestSmallBlock ? large_block_size(bytes) : kClassSizes[class_of(bytes)];
  ASAN_POISON_MEMORY_REGION(static_cast<char*>(block) + bytes, size - bytes);
#endif
  return block;
}

inline void restore_unused_part([[maybe_unused]] void* block, [[maybe_unused]] size_t bytes) {
#ifdef LUCID_ADDRESS_SANITIZER
  const size_t size = bytes > kLargestSmallBlock ? large_block_size(bytes) : kClassSizes[class_of(bytes)];
  ASAN_UNPOISON_MEMORY_REGION(static_cast<char*>(block) + bytes, size - bytes);
#endif
}

}  // namespace lucid
