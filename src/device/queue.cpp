#include "device/queue.h"

#include <algorithm>
#include <bit>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "device/command_buffer.h"

namespace lucid {
namespace {

/// Limits of a batch: it is submitted when it reaches one, so that the gpu works while the host goes on.
constexpr uint32_t kMaxBatchCommands = 64;
constexpr size_t kMaxBatchStaging = size_t{16} << 20;
/// What may be pending before limit_pending() waits: submissions, and bytes of staging memory.
constexpr uint64_t kMaxPending = 64;
constexpr size_t kMaxPendingStaging = size_t{64} << 20;

constexpr size_t kSmallestScratch = size_t{1} << 20;

}  // namespace

/// Commands that are collected in one command buffer.
struct GpuQueue::Batch {
  explicit Batch(GpuDevice& device) : commands(device) {}

  GpuCommandBuffer commands;
  uint32_t count = 0;
  size_t staged_bytes = 0;
  /// The submission.
  uint64_t value = 0;
};

struct GpuQueue::Scratch : GpuResource {
  Scratch(GpuDevice& device, size_t bytes) : buffer(device, bytes, GpuBuffer::Kind::kDevice) {}
  GpuBuffer buffer;
};

GpuQueue::GpuQueue(GpuDevice& device, GpuTimeline& timeline) : device_(device), timeline_(timeline) {}

GpuQueue::~GpuQueue() {
  // Only if the opening of the gpu failed.
  const std::chrono::seconds timeout(options().gpu_timeout);
  if (device_.may_destroy() && submitted_)
    timeline_.wait_closed(submitted_, std::chrono::steady_clock::now() + timeout);
  while (retired_) retired_ = std::move(retired_->next_);
}

GpuQueue::Batch& GpuQueue::open_batch() {
  if (is_open_) {
    record_full_barrier(device_, batch_->commands.handle());
    return *batch_;
  }
  if (!batch_) {
    pending_.reserve(pending_.size() + 1);
    if (!pending_.empty() && timeline_.has_ended(pending_.front()->value)) {
      batch_ = std::move(pending_.front());
      pending_.erase(pending_.begin());
    } else {
      batch_ = std::make_unique<Batch>(device_);
    }
  }
  batch_->commands.begin(VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
  batch_->count = 0;
  batch_->staged_bytes = 0;
  is_open_ = true;
  return *batch_;
}

void GpuQueue::count(const GpuCost& cost) {
  stats_.dispatches += cost.launches;
  stats_.barriers += cost.barriers;
}

uint64_t GpuQueue::append(const GpuCost& cost, const Record& record) {
  if (cost.scratch_bytes) provide_scratch(cost.scratch_bytes);
  Submission submission;
  {
    const std::lock_guard lock(mutex());
    device_.ensure_usable();
    Batch& batch = open_batch();
    record(batch.commands.handle(), scratch_ ? scratch_->buffer.address() : 0);
    count(cost);
    batch.count += std::max(cost.launches, 1u);
    batch.staged_bytes += cost.staged_bytes;
    if (batch.count < kMaxBatchCommands && batch.staged_bytes < kMaxBatchStaging) return submitted_ + 1;
    submission = submit_locked(nullptr);
  }
  finish(submission);
  return submission.value;
}

uint64_t GpuQueue::submit(VkCommandBuffer commands, const GpuCost& cost, const Prepare& prepare) {
  if (cost.scratch_bytes) provide_scratch(cost.scratch_bytes);
  Submission submission;
  {
    const std::lock_guard lock(mutex());
    device_.ensure_usable();
    prepare(scratch_ ? scratch_->buffer.address() : 0);
    submission = submit_locked(commands);
    submission.recorded = cost.launches;
    count(cost);
  }
  finish(submission);
  return submission.value;
}

uint64_t GpuQueue::flush() {
  Submission submission;
  {
    const std::lock_guard lock(mutex());
    device_.ensure_usable();
    if (!is_open_) return submitted_;
    submission = submit_locked(nullptr);
  }
  finish(submission);
  return submission.value;
}

GpuQueue::Submission GpuQueue::submit_locked(VkCommandBuffer recorded) {
  VkCommandBuffer buffers[2] = {};
  uint32_t count = 0;
  const bool has_batch = is_open_;
  if (has_batch) {
    is_open_ = false;
    try {
      batch_->commands.end();
    } catch (const Error& error) {
      // What the batch should have written is lost.
      device_.lose(error.what());
      throw;
    }
    buffers[count++] = batch_->commands.handle();
  }
  if (recorded) buffers[count++] = recorded;
  send(buffers, count);
  Submission submission{.value = submitted_};
  if (has_batch) {
    submission.batched = batch_->count;
    batch_->value = submitted_;
    pending_.push_back(std::move(batch_));
  }
  return submission;
}

void GpuQueue::finish(const Submission& submission) noexcept {
  try {
    collect();
    if (options().logs("gpu"))
      log("gpu", fmt::format("submission {}: {} batched commands, {} recorded launches", submission.value,
                             submission.batched, submission.recorded));
  } catch (const std::exception&) {
    // The submission was made, and the caller must know its number. A lost device is noticed by the next call.
  }
}

void GpuQueue::send(const VkCommandBuffer* buffers, uint32_t count) {
  const uint64_t value = submitted_ + 1;
  const VkSemaphore semaphore = timeline_.handle();
  VkTimelineSemaphoreSubmitInfo timeline = {};
  timeline.sType = VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO;
  timeline.signalSemaphoreValueCount = 1;
  timeline.pSignalSemaphoreValues = &value;
  VkSubmitInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO;
  info.pNext = &timeline;
  info.commandBufferCount = count;
  info.pCommandBuffers = buffers;
  info.signalSemaphoreCount = 1;
  info.pSignalSemaphores = &semaphore;
  if (const VkResult result = device_.vk.QueueSubmit(device_.queue, 1, &info, nullptr); result != VK_SUCCESS) {
    device_.lose("it could not accept work: " + vulkan::to_string(result));
    device_.ensure_usable();
  }
  submitted_ = value;
  ++stats_.submissions;
}

void GpuQueue::wait(uint64_t value) {
  bool is_batched = false;
  {
    const std::lock_guard lock(mutex());
    is_batched = value > submitted_;
  }
  if (is_batched) flush();
  timeline_.wait(value);
  collect();
}

void GpuQueue::limit_pending() {
  if (const uint64_t value = excess()) timeline_.wait(value);
}

void GpuQueue::limit_pending_uninterrupted() {
  if (const uint64_t value = excess()) timeline_.wait_uninterrupted(value);
}

uint64_t GpuQueue::excess() {
  const std::lock_guard lock(mutex());
  uint64_t value = submitted_ > kMaxPending ? submitted_ - kMaxPending : 0;
  size_t staged_bytes = 0;
  for (size_t i = pending_.size(); i > 0 && pending_[i - 1]->value > value; --i) {
    staged_bytes += pending_[i - 1]->staged_bytes;
    if (staged_bytes > kMaxPendingStaging) value = pending_[i - 1]->value;
  }
  return timeline_.has_ended(value) ? 0 : value;
}

bool GpuQueue::is_idle() {
  const std::lock_guard lock(mutex());
  return !is_open_ && timeline_.has_ended(submitted_);
}

void GpuQueue::provide_scratch(size_t bytes) {
  {
    const std::lock_guard lock(mutex());
    if (scratch_ && scratch_->buffer.bytes() >= bytes) return;
  }
  // Without the lock, because a driver may take long.
  auto larger = std::make_unique<Scratch>(device_, std::bit_ceil(std::max(bytes, kSmallestScratch)));
  uint64_t last_use = 0;
  {
    const std::lock_guard lock(mutex());
    if (scratch_ && scratch_->buffer.bytes() >= bytes) return;
    larger.swap(scratch_);
    last_use = submitted_ + 1;
  }
  if (larger) retire(last_use, std::move(larger));
}

void GpuQueue::retire(uint64_t last_use, std::unique_ptr<GpuResource> resource) noexcept {
  if (last_use > timeline_.known()) {
    const std::lock_guard lock(mutex());
    resource->last_use_ = last_use;
    resource->next_ = std::move(retired_);
    retired_ = std::move(resource);
  }
}

void GpuQueue::collect() {
  std::unique_ptr<GpuResource> ended;
  {
    const std::lock_guard lock(mutex());
    if (!retired_) return;
    timeline_.has_ended(submitted_);  // asks the device once
    std::unique_ptr<GpuResource>* link = &retired_;
    while (*link) {
      if ((*link)->last_use_ > timeline_.known()) {
        link = &(*link)->next_;
        continue;
      }
      std::unique_ptr<GpuResource> found = std::exchange(*link, std::move((*link)->next_));
      found->next_ = std::move(ended);
      ended = std::move(found);
    }
  }
  // Not recursively: the list may be long.
  while (ended) ended = std::move(ended->next_);
}

bool GpuQueue::close(std::chrono::steady_clock::time_point end) noexcept {
  if (!device_.may_destroy()) return true;
  uint64_t submitted = 0;
  {
    const std::lock_guard lock(mutex());
    device_.close();
    submitted = submitted_;
  }
  return timeline_.wait_closed(submitted, end);
}

GpuWorkStats GpuQueue::stats() const {
  const std::lock_guard lock(mutex());
  return stats_;
}

void GpuQueue::count_recording() {
  const std::lock_guard lock(mutex());
  ++stats_.recordings;
}

void GpuQueue::count_upload() {
  const std::lock_guard lock(mutex());
  ++stats_.uploads;
}

void GpuQueue::count_download() {
  const std::lock_guard lock(mutex());
  ++stats_.downloads;
}

}  // namespace lucid
