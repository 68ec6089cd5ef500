#include "device/timeline.h"

#include <chrono>

#include "base/blocking.h"
#include "base/error.h"
#include "base/options.h"

namespace lucid {
namespace {

using Clock = std::chrono::steady_clock;

/// How long an interrupt may stay unnoticed.
constexpr std::chrono::nanoseconds kSlice = std::chrono::milliseconds(50);

}  // namespace

GpuTimeline::GpuTimeline(GpuDevice& device) : device_(device) {
  VkSemaphoreTypeCreateInfo type = {};
  type.sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO;
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  VkSemaphoreCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO;
  info.pNext = &type;
  device.check(device.vk.CreateSemaphore(device.handle, &info, nullptr, &semaphore_), "create a semaphore");
}

GpuTimeline::~GpuTimeline() {
  if (device_.may_destroy()) device_.vk.DestroySemaphore(device_.handle, semaphore_, nullptr);
}

void GpuTimeline::add_ended(uint64_t value) {
  uint64_t known = known_.load(std::memory_order_relaxed);
  while (known < value && !known_.compare_exchange_weak(known, value, std::memory_order_acq_rel)) {
  }
}

bool GpuTimeline::has_ended(uint64_t value) {
  if (value <= known()) return true;
  uint64_t reached = 0;
  device_.check(device_.vk.GetSemaphoreCounterValue(device_.handle, semaphore_, &reached), "report its progress");
  add_ended(reached);
  return value <= reached;
}

bool GpuTimeline::wait_slice(uint64_t value) {
  VkSemaphoreWaitInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO;
  info.semaphoreCount = 1;
  info.pSemaphores = &semaphore_;
  info.pValues = &value;
  const auto nanoseconds = static_cast<uint64_t>(kSlice.count());
  const VkResult result = device_.vk.WaitSemaphores(device_.handle, &info, nanoseconds);
  device_.check(result, "finish its work");
  if (result == VK_TIMEOUT) return has_ended(value);
  add_ended(value);
  return true;
}

template <typename WaitSlice>
void GpuTimeline::wait_in_slices(const WaitSlice& wait_slice) {
  const std::chrono::seconds timeout(options().gpu_timeout);
  uint64_t progress = known();
  Clock::time_point since = Clock::now();
  while (!wait_slice()) {
    if (known() != progress) {
      progress = known();
      since = Clock::now();
    } else if (Clock::now() - since >= timeout) {
      throw RuntimeError("the gpu {} has not answered for {} seconds; LUCID_GPU_TIMEOUT sets how long to wait",
                         device_.gpu.properties.deviceName, timeout.count());
    }
  }
}

void GpuTimeline::wait(uint64_t value) {
  device_.ensure_usable();
  if (has_ended(value)) return device_.check_faults();
  wait_in_slices([&] {
    {
      const BlockingScope blocking;
      if (wait_slice(value)) return true;
    }
    check_interrupts();
    device_.ensure_usable();
    return false;
  });
  device_.check_faults();
}

void GpuTimeline::wait_uninterrupted(uint64_t value) {
  device_.ensure_usable();
  if (has_ended(value)) return;
  wait_in_slices([&] {
    device_.ensure_usable();
    return wait_slice(value);
  });
}

bool GpuTimeline::wait_closed(uint64_t value, std::chrono::steady_clock::time_point end) noexcept {
  try {
    while (!wait_slice(value))
      if (Clock::now() >= end) return false;
  } catch (const std::exception&) {
    // It is lost, and nobody needs its results any more.
  }
  return true;
}

}  // namespace lucid
