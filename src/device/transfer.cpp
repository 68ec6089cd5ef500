#include <algorithm>
#include <cstring>

#include "base/blocking.h"
#include "base/options.h"
#include "device/gpu_state.h"

namespace lucid {
namespace {

/// Large copies are made in pieces of this size through staging memory.
constexpr size_t kPiece = size_t{4} << 20;
/// Copying more than this takes a millisecond: the caller's lock is released.
constexpr size_t kLongCopy = size_t{4} << 20;

void copy_memory(void* to, const void* from, size_t bytes) {
  if (bytes < kLongCopy) {
    std::memcpy(to, from, bytes);
    return;
  }
  const BlockingScope blocking;
  std::memcpy(to, from, bytes);
}

/// A block of host memory, freed when its last use has ended.
class Staging {
 public:
  Staging(GpuHostMemory& memory, size_t bytes) : memory_(memory), block_(memory.take(bytes)) {}
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;
  ~Staging() { memory_.give(block_, last_use); }

  char* data() const { return block_->data; }
  VkBuffer buffer() const { return block_->buffer; }
  uint64_t offset() const { return block_->offset; }

  uint64_t last_use = 0;

 private:
  GpuHostMemory& memory_;
  HostBlock* const block_;
};

void record_copy(const GpuDevice& device, VkCommandBuffer commands, VkBuffer to, uint64_t to_offset, VkBuffer from,
                 uint64_t from_offset, size_t bytes) {
  VkBufferCopy region = {};
  region.srcOffset = from_offset;
  region.dstOffset = to_offset;
  region.size = bytes;
  device.vk.CmdCopyBuffer(commands, from, to, 1, &region);
}

}  // namespace

void VulkanGpu::upload(void* to, const void* from, size_t bytes) {
  State& state = *state_;
  state.device.ensure_usable();
  if (bytes == 0) return;
  const GpuMemory::Place place = state.memory.locate(to, bytes);
  state.queue.count_upload();
  // Without pending work, nothing can use the memory: not even work of its previous owner.
  if (place.mapped() && !options().gpu_staging && state.queue.is_idle()) {
    copy_memory(place.mapped(), from, bytes);
    return;
  }
  for (size_t done = 0; done < bytes; done += kPiece) {
    state.queue.limit_pending();
    const size_t size = std::min(kPiece, bytes - done);
    Staging staging(state.host_memory, size);
    copy_memory(staging.data(), static_cast<const char*>(from) + done, size);
    staging.last_use = state.queue.append({.staged_bytes = size}, [&](VkCommandBuffer commands, uint64_t) {
      record_copy(state.device, commands, place.buffer->handle(), place.offset + done, staging.buffer(),
                  staging.offset(), size);
    });
  }
}

void VulkanGpu::download(void* to, const void* from, size_t bytes) {
  State& state = *state_;
  state.device.ensure_usable();
  if (bytes == 0) return;
  const GpuMemory::Place place = state.memory.locate(from, bytes);
  state.queue.count_download();
  if (place.mapped() && place.buffer->is_cached() && !options().gpu_staging) {
    state.queue.synchronize();
    copy_memory(to, place.mapped(), bytes);
    return;
  }
  // The gpu fills one piece while the host reads the piece before.
  const auto begin = [&](Staging& staging, size_t done) {
    const size_t size = std::min(kPiece, bytes - done);
    staging.last_use = state.queue.append({.staged_bytes = size}, [&](VkCommandBuffer commands, uint64_t) {
      record_copy(state.device, commands, staging.buffer(), staging.offset(), place.buffer->handle(),
                  place.offset + done, size);
    });
    state.queue.flush();
  };
  const size_t piece = std::min(kPiece, bytes);
  auto current = std::make_unique<Staging>(state.host_memory, piece);
  begin(*current, 0);
  for (size_t done = 0; done < bytes; done += kPiece) {
    std::unique_ptr<Staging> next;
    if (done + kPiece < bytes) {
      next = std::make_unique<Staging>(state.host_memory, kPiece);
      begin(*next, done + kPiece);
    }
    state.queue.wait(current->last_use);
    copy_memory(static_cast<char*>(to) + done, current->data(), std::min(kPiece, bytes - done));
    current = std::move(next);
  }
}

void VulkanGpu::copy(void* to, const void* from, size_t bytes) {
  State& state = *state_;
  state.device.ensure_usable();
  if (bytes == 0) return;
  const GpuMemory::Place target = state.memory.locate(to, bytes);
  const GpuMemory::Place source = state.memory.locate(from, bytes);
  state.queue.limit_pending_uninterrupted();
  state.queue.append({}, [&](VkCommandBuffer commands, uint64_t) {
    record_copy(state.device, commands, target.buffer->handle(), target.offset, source.buffer->handle(), source.offset,
                bytes);
  });
}

}  // namespace lucid
