#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "device/instance.h"

namespace lucid {

/// An open device: its functions, its queue, and whether it can still be used.
class GpuDevice {
 public:
  /// Throws RuntimeError if the device cannot be opened.
  GpuDevice(const VulkanInstance& instance, const PhysicalGpu& gpu);
  GpuDevice(const GpuDevice&) = delete;
  GpuDevice& operator=(const GpuDevice&) = delete;
  /// Only for a device whose opening failed.
  ~GpuDevice();

  const PhysicalGpu gpu;
  vulkan::DeviceFunctions vk;
  VkDevice handle = nullptr;
  VkQueue queue = nullptr;
  VkPhysicalDeviceMemoryProperties memory = {};
  /// The layout of all pipelines: push constants only.
  VkPipelineLayout layout = nullptr;

  /// A word in memory that the host and the gpu can access, which shaders set if something went wrong
  /// (spirv::PushConstants::fault), and its address on the gpu. Null until the gpu is set up.
  uint64_t* fault_word = nullptr;
  uint64_t fault_address = 0;
  /// Throws RuntimeError if a shader has set the fault word since the last call.
  void check_faults() const;

  /// Throws RuntimeError if this process is the child of a fork, the device is lost, or the process exits.
  void ensure_usable() const;
  /// Whether destructors may call the driver: not in the child of a fork, nor while the process exits.
  bool may_destroy() const noexcept;
  /// Throws if the result is an error: MemoryError if memory ran out, otherwise RuntimeError. `what` names the failed
  /// operation. A lost device stays unusable.
  void check(VkResult result, const char* what);
  /// Makes the device unusable: its memory no longer holds what work passed to it should have written.
  void lose(const std::string& reason);
  /// Ends all use, because the process exits.
  void close() noexcept { is_closed_.store(true, std::memory_order_release); }

 private:
  /// Owns the handle as soon as it is called, also if the rest of the construction fails.
  GpuDevice(const PhysicalGpu& gpu, VkDevice created);

  const uint32_t fork_count_;
  std::atomic<bool> is_closed_ = false;
  /// Never freed.
  std::atomic<const std::string*> loss_ = nullptr;
};

/// The error of every use in the child of a fork.
[[noreturn]] void throw_forked(const std::string& name);

}  // namespace lucid
