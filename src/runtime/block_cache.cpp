#include "runtime/block_cache.h"

#include <sys/mman.h>

#include <bit>
#include <cstdlib>

#include "base/error.h"

namespace lucid {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;

/// The binary logarithm of an eighth of the power of two below `bytes`. Sizes are in (2^e, 2^(e+1)].
int shift_of(size_t bytes) { return std::bit_width(bytes - 1) - 4; }

size_t bucket_of(size_t size) {
  const int shift = shift_of(size);
  const int lowest = shift_of(kLargestSmallBlock + 1);
  return static_cast<size_t>(shift - lowest) * 8 + (size >> shift) - 9;
}

void* map_in_huge_pages(size_t size) {
  // The mapping must be aligned to the huge page size, so map more than needed and unmap both ends.
  const size_t taken = size + kHugePage;
  void* const mapped = mmap(nullptr, taken, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  char* const begin = static_cast<char*>(mapped);
  const size_t before = -reinterpret_cast<uintptr_t>(begin) % kHugePage;
  char* const data = begin + before;
  if (before) munmap(begin, before);
  if (const size_t behind = taken - before - size) munmap(data + size, behind);
  madvise(data, size, MADV_HUGEPAGE);
  return data;
}

}  // namespace

size_t large_block_size(size_t bytes) {
  const size_t step = size_t{1} << shift_of(bytes);
  return (bytes + step - 1) / step * step;
}

void* system_allocate(size_t size) {
  return size >= kMappedBlock ? map_in_huge_pages(size) : std::aligned_alloc(64, size);
}

void system_release(void* data, size_t size) {
  if (size >= kMappedBlock) {
    munmap(data, size);
  } else {
    std::free(data);
  }
}

void* BlockCache::take(size_t size) {
  Block* const block = buckets_[bucket_of(size)];
  if (block) remove(block);
  return block;
}

void BlockCache::give(void* data, size_t size) {
  Block*& bucket = buckets_[bucket_of(size)];
  auto* const block = new (data) Block{nullptr, newest_, nullptr, bucket, size};
  (newest_ ? newest_->newer : oldest_) = block;
  newest_ = block;
  if (bucket) bucket->before = block;
  bucket = block;
  bytes_ += size;
}

void BlockCache::remove(Block* block) {
  (block->newer ? block->newer->older : newest_) = block->older;
  (block->older ? block->older->newer : oldest_) = block->newer;
  (block->before ? block->before->after : buckets_[bucket_of(block->size)]) = block->after;
  if (block->after) block->after->before = block->before;
  bytes_ -= block->size;
}

BlockCache::Block* BlockCache::shrink(size_t limit) {
  Block* removed = nullptr;
  while (bytes_ > limit) {
    Block* const block = oldest_;
    remove(block);
    block->after = removed;
    removed = block;
  }
  return removed;
}

void BlockCache::release_all(Block* blocks) {
  while (blocks) {
    Block* const next = blocks->after;
    system_release(blocks, blocks->size);
    blocks = next;
  }
}

}  // namespace lucid
