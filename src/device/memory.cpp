#include "device/memory.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "base/lock.h"
#include "base/memory_reserve.h"
#include "base/options.h"

namespace lucid {
namespace {

/// Sizes of the buffers that small allocations share. They grow with the memory in use.
constexpr size_t kSmallestChunk = size_t{64} << 20;
constexpr size_t kLargestChunk = size_t{256} << 20;

size_t round_up(size_t value) { return (value + kGpuAlignment - 1) / kGpuAlignment * kGpuAlignment; }

}  // namespace

/// A part of a buffer. The blocks of a buffer are linked in the order of their addresses.
struct GpuMemory::Block {
  uint64_t address = 0;
  size_t bytes = 0;
  Block* before = nullptr;
  Block* after = nullptr;
  /// Its node for the list of free blocks, while it is in use: freeing memory needs none.
  FreeBlocks::node_type node = {};
  bool is_free = false;
};

struct GpuMemory::Chunk {
  Chunk(GpuDevice& device, size_t bytes) : buffer(device, bytes + kGpuAlignment, GpuBuffer::Kind::kDevice) {
    first = new Block;
    first->address = round_up(buffer.address());
    first->bytes = bytes;
  }
  Chunk(const Chunk&) = delete;
  Chunk& operator=(const Chunk&) = delete;
  ~Chunk() {
    while (first) delete std::exchange(first, first->after);
  }

  uint64_t end() const { return buffer.address() + buffer.bytes(); }

  GpuBuffer buffer;
  Block* first = nullptr;
};

bool GpuMemory::Smaller::operator()(const Block* a, const Block* b) const {
  return a->bytes != b->bytes ? a->bytes < b->bytes : a->address < b->address;
}

bool GpuMemory::Smaller::operator()(const Block* block, size_t bytes) const { return block->bytes < bytes; }

GpuMemory::GpuMemory(GpuDevice& device) : device_(device) {}

GpuMemory::~GpuMemory() = default;

Mutex& GpuMemory::mutex() const { return mutex_of(LockRank::kGpuMemory, this); }

uint64_t GpuMemory::limit() const {
  const uint64_t heap = device_heap_bytes(device_);
  const auto chosen = static_cast<uint64_t>(options().gpu_memory_limit);
  return chosen ? std::min(heap, chosen) : heap;
}

void* GpuMemory::allocate(size_t bytes) {
  if (bytes > device_.gpu.max_allocation) return nullptr;
  const size_t size = std::max<size_t>(round_up(bytes), kGpuAlignment);
  for (;;) {
    size_t chunk = 0;
    {
      const std::lock_guard lock(mutex());
      if (void* const address = take_block(size)) return address;
      chunk = std::clamp(round_up(reserved_bytes_ / 4), kSmallestChunk, kLargestChunk);
    }
    // A buffer to share; if there is not enough memory, one for this allocation alone.
    if (!(chunk > size && grow(chunk)) && !grow(size)) return nullptr;
  }
}

void* GpuMemory::take_block(size_t bytes) {
  const auto found = free_blocks_.lower_bound(bytes);
  if (found == free_blocks_.end()) return nullptr;
  Block* const block = *found;
  // Everything that may throw comes first.
  const auto used = used_blocks_.emplace(block->address, block).first;
  if (block->bytes > bytes) {
    try {
      auto rest = std::make_unique<Block>();
      rest->address = block->address + bytes;
      rest->bytes = block->bytes - bytes;
      rest->before = block;
      rest->after = block->after;
      rest->is_free = true;
      free_blocks_.insert(rest.get());
      if (block->after) block->after->before = rest.get();
      block->after = rest.release();
    } catch (...) {
      used_blocks_.erase(used);
      throw;
    }
  }
  block->node = free_blocks_.extract(found);
  block->bytes = bytes;
  block->is_free = false;
  stats_.bytes_in_use += static_cast<int64_t>(bytes);
  stats_.peak_bytes = std::max(stats_.peak_bytes, stats_.bytes_in_use);
  ++stats_.allocations;
  return reinterpret_cast<void*>(block->address);
}

void GpuMemory::deallocate(void* address, size_t bytes) noexcept {
  const std::lock_guard lock(mutex());
  const auto found = used_blocks_.find(reinterpret_cast<uint64_t>(address));
  if (found == used_blocks_.end() || found->second->bytes != std::max<size_t>(round_up(bytes), kGpuAlignment)) {
    std::fprintf(stderr, "lucid: gpu memory is freed that was not allocated: %p, %zu bytes\n", address, bytes);
    std::abort();
  }
  Block* const block = found->second;
  used_blocks_.erase(found);
  stats_.bytes_in_use -= static_cast<int64_t>(block->bytes);
  free_block(block);
}

/// Merges the following block into this one, which is not in the list of free blocks.
GpuMemory::Block* GpuMemory::absorb_next(Block* block) noexcept {
  Block* const next = block->after;
  block->bytes += next->bytes;
  block->after = next->after;
  if (block->after) block->after->before = block;
  delete next;
  return block;
}

void GpuMemory::free_block(Block* block) noexcept {
  FreeBlocks::node_type node = std::move(block->node);
  if (block->after && block->after->is_free) {
    free_blocks_.erase(block->after);
    block = absorb_next(block);
  }
  if (block->before && block->before->is_free) {
    free_blocks_.erase(block->before);
    block = absorb_next(block->before);
  }
  block->is_free = true;
  node.value() = block;
  free_blocks_.insert(std::move(node));
}

bool GpuMemory::grow(size_t bytes) {
  const size_t taken = bytes + kGpuAlignment;
  const uint64_t limit = this->limit();
  {
    const std::lock_guard lock(mutex());
    if (reserved_bytes_ + taken > limit) return false;
    reserved_bytes_ += taken;
  }
  try {
    // Without the lock, because a driver may take long.
    auto chunk = std::make_unique<Chunk>(device_, bytes);
    const std::lock_guard lock(mutex());
    insert_chunk(std::move(chunk));
    return true;
  } catch (const MemoryError&) {
    const std::lock_guard lock(mutex());
    reserved_bytes_ -= taken;
    return false;
  } catch (...) {
    const std::lock_guard lock(mutex());
    reserved_bytes_ -= taken;
    throw;
  }
}

void GpuMemory::insert_chunk(std::unique_ptr<Chunk> chunk) {
  // Nothing may throw between the two insertions.
  chunks_.reserve(chunks_.size() + 1);
  free_blocks_.insert(chunk->first);
  chunk->first->is_free = true;
  const auto position = std::upper_bound(chunks_.begin(), chunks_.end(), chunk, [](const auto& a, const auto& b) {
    return a->buffer.address() < b->buffer.address();
  });
  chunks_.insert(position, std::move(chunk));
}

GpuMemory::Place GpuMemory::locate(const void* pointer, size_t bytes) const {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  const std::lock_guard lock(mutex());
  auto next = std::upper_bound(chunks_.begin(), chunks_.end(), address,
                               [](uint64_t value, const auto& chunk) { return value < chunk->buffer.address(); });
  LUCID_CHECK(next != chunks_.begin(), "no gpu memory at {:#x}", address);
  const Chunk& chunk = **--next;
  LUCID_CHECK(address <= chunk.end() && bytes <= chunk.end() - address, "no gpu memory at {:#x} + {}", address, bytes);
  return {&chunk.buffer, address - chunk.buffer.address()};
}

void GpuMemory::throw_exhausted(size_t bytes) const {
  const MemoryStats now = stats();
  prepare_to_throw();
  throw MemoryError("the gpu {} cannot allocate {} bytes: {} bytes are in use, {} free in pieces, of at most {}",
                    device_.gpu.properties.deviceName, bytes, now.bytes_in_use, now.cached_bytes, limit());
}

MemoryStats GpuMemory::stats() const {
  const std::lock_guard lock(mutex());
  MemoryStats result = stats_;
  result.cached_bytes = static_cast<int64_t>(reserved_bytes_) - stats_.bytes_in_use;
  return result;
}

void GpuMemory::reset_peak() {
  const std::lock_guard lock(mutex());
  stats_.peak_bytes = stats_.bytes_in_use;
}

void GpuMemory::release_unused(const std::function<void()>& wait_for_work) {
  Chunks unused;
  {
    const std::lock_guard lock(mutex());
    unused.reserve(chunks_.size());
    for (std::unique_ptr<Chunk>& chunk : chunks_) {
      if (!chunk->first->is_free || chunk->first->after) continue;
      free_blocks_.erase(chunk->first);
      unused.push_back(std::move(chunk));
    }
    std::erase(chunks_, nullptr);
  }
  if (unused.empty()) return;
  try {
    // Nobody can allocate from them any more, so no later work uses them.
    wait_for_work();
  } catch (...) {
    const std::lock_guard lock(mutex());
    for (std::unique_ptr<Chunk>& chunk : unused) insert_chunk(std::move(chunk));
    throw;
  }
  size_t bytes = 0;
  for (const std::unique_ptr<Chunk>& chunk : unused) bytes += chunk->buffer.bytes();
  unused.clear();
  const std::lock_guard lock(mutex());
  reserved_bytes_ -= bytes;
}

}  // namespace lucid
