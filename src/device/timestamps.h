#pragma once

#include <cstdint>
#include <vector>

#include "device/open_device.h"

namespace lucid {

/// The times at which launches of a command buffer end, measured by the gpu.
class GpuTimestamps {
 public:
  /// Throws RuntimeError if the gpu cannot measure times.
  GpuTimestamps(GpuDevice& device, uint32_t launches);
  GpuTimestamps(const GpuTimestamps&) = delete;
  GpuTimestamps& operator=(const GpuTimestamps&) = delete;
  /// No pending submission may use them.
  ~GpuTimestamps();

  /// Records the start. Must precede all launches.
  void record_start(VkCommandBuffer commands) const;
  /// Records the end of a launch.
  void record_end(VkCommandBuffer commands, uint32_t launch) const;

  /// The nanoseconds from the end of the launch before, or the start, to the end of each launch. The commands must have
  /// ended.
  std::vector<double> nanoseconds() const;

 private:
  GpuDevice& device_;
  const uint32_t launches_;
  VkQueryPool pool_ = nullptr;
};

}  // namespace lucid
