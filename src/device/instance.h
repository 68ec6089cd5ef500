#pragma once

#include <string>
#include <vector>

#include "device/vulkan.h"

namespace lucid {

/// A gpu that has everything that all shaders need, before it is opened.
struct PhysicalGpu {
  VkPhysicalDevice handle = nullptr;
  VkPhysicalDeviceProperties properties = {};
  /// Name and version.
  std::string driver;
  /// The queue family to use.
  uint32_t family = 0;
  /// The size of its timestamps; 0 if it has none.
  uint32_t timestamp_bits = 0;
  bool has_version_13 = false;
  // Optional features.
  bool has_memory_model_device_scope = false;
  bool has_subgroup_extended_types = false;
  /// Whether each of a shader's float operations rounds to nearest even and keeps signed zeros, infinities and NaNs if
  /// the shader asks for it, by width.
  bool has_float_controls32 = false;
  bool has_float_controls64 = false;
  /// The size of subgroups to require of shaders whose invocations exchange values; 0 if they cannot.
  uint32_t subgroup_size = 0;
  /// The largest allocation and the largest buffer.
  uint64_t max_allocation = 0;
};

/// Vulkan and the gpus of this machine. Never destroyed: drivers have threads.
struct VulkanInstance {
  VkInstance handle = nullptr;
  vulkan::InstanceFunctions vk;
  /// In the order of their indices.
  std::vector<PhysicalGpu> gpus;
  /// Whether Options::gpu_validate was set, but the machine lacks the layer.
  bool lacks_validation = false;

  /// Finds the gpus. There are none if Vulkan is missing or does not work.
  VulkanInstance();
};

}  // namespace lucid
