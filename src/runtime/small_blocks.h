#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>

#include "runtime/block_cache.h"

/// Size classes of small blocks, and lists of free blocks of one class.
namespace lucid {

/// Multiples of 64 up to 512, then four steps to each power of two.
inline constexpr std::array<uint16_t, 20> kClassSizes = {64,  128,  192,  256,  320,  384,  448,  512,  640,  768,
                                                         896, 1024, 1280, 1536, 1792, 2048, 2560, 3072, 3584, 4096};
inline constexpr size_t kClasses = kClassSizes.size();
static_assert(kClassSizes.back() == kLargestSmallBlock);

/// The size class for a number of cache lines.
inline constexpr auto kClassOfLines = [] {
  std::array<uint8_t, kLargestSmallBlock / 64 + 1> table{};
  for (size_t lines = 0; lines < table.size(); ++lines)
    while (kClassSizes[table[lines]] < lines * 64) ++table[lines];
  return table;
}();

inline size_t class_of(size_t bytes) { return kClassOfLines[(bytes + 63) / 64]; }

struct FreeBlock {
  FreeBlock* next;
};

struct FreeList {
  FreeBlock* head = nullptr;
  uint32_t count = 0;

  void push(void* data) {
    head = new (data) FreeBlock{head};
    ++count;
  }
  void* pop() {
    FreeBlock* const block = head;
    if (!block) return nullptr;
    head = block->next;
    --count;
    return block;
  }
};

}  // namespace lucid
