#include "device/host_memory.h"

#include <algorithm>
#include <bit>
#include <mutex>

namespace lucid {
namespace {

/// Small blocks are cut from buffers of this size, all blocks of one size.
constexpr size_t kBufferBytes = size_t{64} << 10;

}  // namespace

GpuHostMemory::GpuHostMemory(GpuDevice& device, GpuTimeline& timeline) : device_(device), timeline_(timeline) {}

GpuHostMemory::~GpuHostMemory() = default;

Mutex& GpuHostMemory::mutex() const { return mutex_of(LockRank::kGpuMemory, this); }

HostBlock* GpuHostMemory::take_free(int size_class) {
  FreeList& list = free_[static_cast<size_t>(size_class)];
  HostBlock* const block = list.first;
  if (!block || !timeline_.has_ended(block->last_use)) return nullptr;
  list.first = block->next;
  if (!list.first) list.last = nullptr;
  return block;
}

HostBlock* GpuHostMemory::take(size_t bytes) {
  const size_t size = std::bit_ceil(std::max(bytes, kSmallest));
  const int size_class = std::countr_zero(size / kSmallest);
  {
    const std::lock_guard lock(mutex());
    if (HostBlock* const block = take_free(size_class)) return block;
  }
  const size_t total = std::max(size, kBufferBytes);
  auto buffer = std::make_unique<GpuBuffer>(device_, total, GpuBuffer::Kind::kHost);
  auto blocks = std::make_unique<HostBlock[]>(total / size);
  for (size_t i = 0; i < total / size; ++i) {
    blocks[i].offset = i * size;
    blocks[i].data = buffer->mapped() + i * size;
    blocks[i].address = buffer->address() + i * size;
    blocks[i].buffer = buffer->handle();
    blocks[i].bytes = size;
    if (i + 1 < total / size) blocks[i].next = &blocks[i + 1];
  }
  HostBlock* const first = &blocks[0];
  HostBlock* const last = &blocks[total / size - 1];
  const std::lock_guard lock(mutex());
  buffers_.push_back(std::move(buffer));
  blocks_.push_back(std::move(blocks));
  // All but the first are free. They come before freed blocks, whose work may not have ended.
  if (first != last) {
    FreeList& list = free_[static_cast<size_t>(size_class)];
    last->next = list.first;
    list.first = first + 1;
    if (!list.last) list.last = last;
  }
  return first;
}

void GpuHostMemory::give(HostBlock* block, uint64_t last_use) noexcept {
  const std::lock_guard lock(mutex());
  block->last_use = last_use;
  block->next = nullptr;
  FreeList& list = free_[static_cast<size_t>(std::countr_zero(block->bytes / kSmallest))];
  (list.last ? list.last->next : list.first) = block;
  list.last = block;
}

}  // namespace lucid
