#include "device/vulkan.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace lucid::vulkan {

#define LUCID_VULKAN_LOAD(name) name = reinterpret_cast<PFN_vk##name>(find(object, "vk" #name))
#define LUCID_VULKAN_CHECK(name) \
  if (!name) return false

InstanceFunctions::InstanceFunctions(PFN_vkGetInstanceProcAddr find, VkInstance object) {
  LUCID_VULKAN_INSTANCE_FUNCTIONS(LUCID_VULKAN_LOAD);
}

bool InstanceFunctions::is_complete() const {
  LUCID_VULKAN_INSTANCE_FUNCTIONS(LUCID_VULKAN_CHECK);
  return true;
}

DeviceFunctions::DeviceFunctions(PFN_vkGetDeviceProcAddr find, VkDevice object) {
  LUCID_VULKAN_DEVICE_FUNCTIONS(LUCID_VULKAN_LOAD);
}

bool DeviceFunctions::is_complete() const {
  LUCID_VULKAN_DEVICE_FUNCTIONS(LUCID_VULKAN_CHECK);
  return true;
}

PFN_vkGetInstanceProcAddr load_library() {
  void* const library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library) return nullptr;
  return reinterpret_cast<PFN_vkGetInstanceProcAddr>(dlsym(library, "vkGetInstanceProcAddr"));
}

std::string to_string(VkResult result) {
  switch (result) {
    case VK_ERROR_OUT_OF_HOST_MEMORY:
      return "VK_ERROR_OUT_OF_HOST_MEMORY";
    case VK_ERROR_OUT_OF_DEVICE_MEMORY:
      return "VK_ERROR_OUT_OF_DEVICE_MEMORY";
    case VK_ERROR_INITIALIZATION_FAILED:
      return "VK_ERROR_INITIALIZATION_FAILED";
    case VK_ERROR_DEVICE_LOST:
      return "VK_ERROR_DEVICE_LOST";
    case VK_ERROR_FEATURE_NOT_PRESENT:
      return "VK_ERROR_FEATURE_NOT_PRESENT";
    case VK_ERROR_EXTENSION_NOT_PRESENT:
      return "VK_ERROR_EXTENSION_NOT_PRESENT";
    case VK_ERROR_TOO_MANY_OBJECTS:
      return "VK_ERROR_TOO_MANY_OBJECTS";
    case VK_ERROR_INCOMPATIBLE_DRIVER:
      return "VK_ERROR_INCOMPATIBLE_DRIVER";
    case VK_ERROR_INVALID_SHADER_NV:
      return "VK_ERROR_INVALID_SHADER_NV";
    default:
      return fmt::format("VkResult {}", static_cast<int>(result));
  }
}

}  // namespace lucid::vulkan
