#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
#include <xxhash.h>

namespace lucid {

// 64-bit hashes. They are equal on every run and on every machine with the same byte order, so they may name files.

inline uint64_t hash_bytes(const void* data, size_t bytes, uint64_t seed = 0) {
  return XXH3_64bits_withSeed(data, bytes, seed);
}

inline uint64_t hash_string(std::string_view text, uint64_t seed = 0) {
  return hash_bytes(text.data(), text.size(), seed);
}

/// Hashes elements by their bytes. Only for types whose equal values have equal bytes: no padding, no floats.
template <typename T>
uint64_t hash_span(std::span<const T> values, uint64_t seed = 0) {
  static_assert(std::has_unique_object_representations_v<T>);
  return hash_bytes(values.data(), values.size_bytes(), seed);
}

/// Adds one word to a hash. The order matters: combine(combine(h, a), b) differs from combine(combine(h, b), a).
inline uint64_t hash_combine(uint64_t hash, uint64_t word) {
  const uint64_t words[2] = {hash, word};
  return XXH3_64bits(words, sizeof words);
}

}  // namespace lucid
