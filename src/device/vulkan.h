#pragma once

// Functions are loaded when the first gpu is used: the library is not linked.
#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

#include <string>

namespace lucid::vulkan {

// The functions in use. Each list defines the members of a table and the names to look up.
#define LUCID_VULKAN_INSTANCE_FUNCTIONS(apply)   \
  apply(DestroyInstance);                        \
  apply(EnumeratePhysicalDevices);               \
  apply(GetPhysicalDeviceProperties);            \
  apply(GetPhysicalDeviceProperties2);           \
  apply(GetPhysicalDeviceFeatures2);             \
  apply(GetPhysicalDeviceMemoryProperties);      \
  apply(GetPhysicalDeviceQueueFamilyProperties); \
  apply(CreateDevice);                           \
  apply(GetDeviceProcAddr)

#define LUCID_VULKAN_DEVICE_FUNCTIONS(apply) \
  apply(DestroyDevice);                      \
  apply(GetDeviceQueue);                     \
  apply(QueueSubmit);                        \
  apply(CreateSemaphore);                    \
  apply(DestroySemaphore);                   \
  apply(GetSemaphoreCounterValue);           \
  apply(WaitSemaphores);                     \
  apply(CreateBuffer);                       \
  apply(DestroyBuffer);                      \
  apply(GetBufferMemoryRequirements);        \
  apply(GetBufferDeviceAddress);             \
  apply(AllocateMemory);                     \
  apply(FreeMemory);                         \
  apply(BindBufferMemory);                   \
  apply(MapMemory);                          \
  apply(CreateCommandPool);                  \
  apply(DestroyCommandPool);                 \
  apply(ResetCommandPool);                   \
  apply(AllocateCommandBuffers);             \
  apply(BeginCommandBuffer);                 \
  apply(EndCommandBuffer);                   \
  apply(CmdPipelineBarrier);                 \
  apply(CmdBindPipeline);                    \
  apply(CmdPushConstants);                   \
  apply(CmdDispatch);                        \
  apply(CmdCopyBuffer);                      \
  apply(CmdResetQueryPool);                  \
  apply(CmdWriteTimestamp);                  \
  apply(CreateQueryPool);                    \
  apply(DestroyQueryPool);                   \
  apply(GetQueryPoolResults);                \
  apply(CreateShaderModule);                 \
  apply(DestroyShaderModule);                \
  apply(CreatePipelineLayout);               \
  apply(DestroyPipelineLayout);              \
  apply(CreatePipelineCache);                \
  apply(DestroyPipelineCache);               \
  apply(GetPipelineCacheData);               \
  apply(CreateComputePipelines);             \
  apply(DestroyPipeline)

#define LUCID_VULKAN_MEMBER(name) PFN_vk##name name = nullptr

/// Functions of an instance, without the prefix "vk".
struct InstanceFunctions {
  LUCID_VULKAN_INSTANCE_FUNCTIONS(LUCID_VULKAN_MEMBER);

  InstanceFunctions() = default;
  InstanceFunctions(PFN_vkGetInstanceProcAddr find, VkInstance instance);
  /// Whether the library has all of them.
  bool is_complete() const;
};

/// Functions of a device, without the prefix "vk".
struct DeviceFunctions {
  LUCID_VULKAN_DEVICE_FUNCTIONS(LUCID_VULKAN_MEMBER);

  DeviceFunctions() = default;
  DeviceFunctions(PFN_vkGetDeviceProcAddr find, VkDevice device);
  bool is_complete() const;
};

#undef LUCID_VULKAN_MEMBER

/// Loads the library, which is never unloaded. Null if the machine has none.
PFN_vkGetInstanceProcAddr load_library();

/// The name of a result, such as "VK_ERROR_DEVICE_LOST".
std::string to_string(VkResult result);

}  // namespace lucid::vulkan
