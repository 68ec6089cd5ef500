#pragma once

#include "device/open_device.h"

namespace lucid {

/// A command buffer with a pool of its own, so that threads can record at the same time.
class GpuCommandBuffer {
 public:
  /// Throws MemoryError.
  explicit GpuCommandBuffer(GpuDevice& device);
  GpuCommandBuffer(const GpuCommandBuffer&) = delete;
  GpuCommandBuffer& operator=(const GpuCommandBuffer&) = delete;
  /// No pending submission may use it.
  ~GpuCommandBuffer();

  VkCommandBuffer handle() const { return handle_; }

  /// Begins recording, from nothing. The commands see what all commands submitted before them wrote.
  void begin(VkCommandBufferUsageFlags flags = 0);
  /// Ends recording. The host sees what the commands wrote, once they have ended.
  void end();

 private:
  GpuDevice& device_;
  VkCommandPool pool_ = nullptr;
  VkCommandBuffer handle_ = nullptr;
};

/// Makes all earlier writes by the gpu visible to all later commands.
void record_full_barrier(const GpuDevice& device, VkCommandBuffer commands);
/// Makes the writes of earlier launches visible to later launches.
void record_launch_barrier(const GpuDevice& device, VkCommandBuffer commands);

}  // namespace lucid
