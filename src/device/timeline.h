#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "device/open_device.h"

namespace lucid {

/// The progress of a gpu: a counter that each submission raises to its own number when it has ended.
class GpuTimeline {
 public:
  explicit GpuTimeline(GpuDevice& device);
  GpuTimeline(const GpuTimeline&) = delete;
  GpuTimeline& operator=(const GpuTimeline&) = delete;
  ~GpuTimeline();

  VkSemaphore handle() const { return semaphore_; }

  /// Whether all submissions up to number `value` have ended. Asks the device only if that is not known yet.
  bool has_ended(uint64_t value);
  /// The last submission known to have ended.
  uint64_t known() const { return known_.load(std::memory_order_acquire); }

  /// Waits until submission `value`, which must have been made, has ended. Throws RuntimeError if the device is lost,
  /// or makes no progress for Options::gpu_timeout seconds. Releases the caller's lock meanwhile, and throws if the
  /// caller is interrupted; no mutex may be held.
  void wait(uint64_t value);
  /// As wait(), but neither releases the caller's lock nor checks for interrupts.
  void wait_uninterrupted(uint64_t value);
  /// As wait_uninterrupted(), for a closed device, and until `end` at most. Returns whether the device has no more work
  /// up to this submission, because it has ended or because the device is lost.
  bool wait_closed(uint64_t value, std::chrono::steady_clock::time_point end) noexcept;

 private:
  /// Calls `wait_slice`, which returns whether the submission has ended, until it has.
  template <typename WaitSlice>
  void wait_in_slices(const WaitSlice& wait_slice);
  /// Waits for at most a slice of time; returns whether the submission has ended.
  bool wait_slice(uint64_t value);
  /// Remembers that submission `value` has ended.
  void add_ended(uint64_t value);

  GpuDevice& device_;
  VkSemaphore semaphore_ = nullptr;
  std::atomic<uint64_t> known_ = 0;
};

}  // namespace lucid
