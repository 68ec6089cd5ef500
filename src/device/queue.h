#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/lock.h"
#include "device/buffer.h"
#include "device/gpu.h"
#include "device/timeline.h"

namespace lucid {

/// Something that pending work uses. It is destroyed when the work has ended.
class GpuResource {
 public:
  GpuResource() = default;
  GpuResource(const GpuResource&) = delete;
  GpuResource& operator=(const GpuResource&) = delete;
  virtual ~GpuResource() = default;

 private:
  friend class GpuQueue;
  std::unique_ptr<GpuResource> next_;
  uint64_t last_use_ = 0;
};

/// What commands need and count for.
struct GpuCost {
  uint32_t launches = 0;
  uint32_t barriers = 0;
  /// Host memory that is copied.
  size_t staged_bytes = 0;
  /// Scratch memory of the launch that needs most.
  size_t scratch_bytes = 0;
};

/// The most scratch memory that a launch may use. Launches share one area per gpu, one after the other.
inline constexpr size_t kMaxGpuScratch = size_t{64} << 20;

/// The queue of a gpu, and the batch: a command buffer that collects small pieces of work. Each submission consists of
/// the batch and possibly a recorded command buffer, and has a number: its value on the timeline. Commands see the
/// writes of all commands before them.
class GpuQueue {
 public:
  GpuQueue(GpuDevice& device, GpuTimeline& timeline);
  GpuQueue(const GpuQueue&) = delete;
  GpuQueue& operator=(const GpuQueue&) = delete;
  ~GpuQueue();

  /// Records commands; is called with the address of scratch memory. The queue's mutex is held: it must be quick.
  using Record = std::function<void(VkCommandBuffer commands, uint64_t scratch)>;
  /// Adds commands to the batch. Returns the number of the submission they will be part of.
  uint64_t append(const GpuCost& cost, const Record& record);
  /// Submits the batch and then recorded commands. Calls `prepare` first, with the address of scratch memory.
  using Prepare = std::function<void(uint64_t scratch)>;
  uint64_t submit(VkCommandBuffer commands, const GpuCost& cost, const Prepare& prepare);
  /// Submits the batch. Returns the number of the last submission.
  uint64_t flush();

  /// Waits for a submission; submits the batch if it is part of it. See GpuTimeline::wait().
  void wait(uint64_t value);
  /// Waits for everything passed to the queue before.
  void synchronize() { wait(flush()); }
  void synchronize_uninterrupted() { timeline_.wait_uninterrupted(flush()); }
  /// Waits while too much work is pending, which needs memory.
  void limit_pending();
  void limit_pending_uninterrupted();
  /// Whether nothing is pending.
  bool is_idle();

  /// Destroys a resource when submission `last_use`, which may be the batch, has ended.
  void retire(uint64_t last_use, std::unique_ptr<GpuResource> resource) noexcept;
  /// Drops the batch and waits for what was submitted, until `end` at most, because the process exits. Returns whether
  /// all of it has ended.
  bool close(std::chrono::steady_clock::time_point end) noexcept;

  GpuWorkStats stats() const;
  void count_recording();
  void count_upload();
  void count_download();

 private:
  struct Batch;
  struct Submission {
    uint64_t value = 0;
    uint32_t batched = 0;
    uint32_t recorded = 0;
  };

  Mutex& mutex() const { return mutex_of(LockRank::kGpu, this); }
  /// The caller holds the mutex in these.
  Batch& open_batch();
  Submission submit_locked(VkCommandBuffer recorded);
  void send(const VkCommandBuffer* buffers, uint32_t count);
  void count(const GpuCost& cost);

  // No mutex may be held in these.
  void provide_scratch(size_t bytes);
  /// Follows each submission.
  void finish(const Submission& submission) noexcept;
  /// The submission to wait for if too many are pending, otherwise 0.
  uint64_t excess();
  /// Destroys retired resources that are no longer used.
  void collect();

  GpuDevice& device_;
  GpuTimeline& timeline_;
  uint64_t submitted_ = 0;
  std::unique_ptr<Batch> batch_;
  /// Whether the batch has commands.
  bool is_open_ = false;
  /// Submitted batches, the oldest first. They are used again when they have ended.
  std::vector<std::unique_ptr<Batch>> pending_;
  std::unique_ptr<GpuResource> retired_;
  struct Scratch;
  std::unique_ptr<Scratch> scratch_;
  GpuWorkStats stats_;
};

}  // namespace lucid
