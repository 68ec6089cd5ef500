#include "device/instance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/options.h"
#include "loop/kernel.h"

namespace lucid {
namespace {

constexpr const char* kValidationLayer = "VK_LAYER_KHRONOS_validation";

/// The size of the largest workgroups of our shaders.
constexpr uint32_t kMaxInvocations = loop::kMaxGroup * loop::kLanes;

constexpr int kLastOrder = 3;
/// Real gpus first. Drivers that compute on the CPU come last, but are gpus like any other.
int order_of(VkPhysicalDeviceType type) {
  switch (type) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
      return 0;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
      return 1;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
      return kLastOrder;
    default:
      return 2;
  }
}

bool has_layer(PFN_vkGetInstanceProcAddr find, const char* name) {
  const auto enumerate =
      reinterpret_cast<PFN_vkEnumerateInstanceLayerProperties>(find(nullptr, "vkEnumerateInstanceLayerProperties"));
  uint32_t count = 0;
  if (!enumerate || enumerate(&count, nullptr) != VK_SUCCESS) return false;
  std::vector<VkLayerProperties> layers(count);
  if (enumerate(&count, layers.data()) < VK_SUCCESS) return false;
  return std::any_of(layers.begin(), layers.end(),
                     [&](const VkLayerProperties& layer) { return std::strcmp(layer.layerName, name) == 0; });
}

VKAPI_ATTR VkBool32 VKAPI_CALL fail_validation(VkDebugUtilsMessageSeverityFlagBitsEXT, VkDebugUtilsMessageTypeFlagsEXT,
                                               const VkDebugUtilsMessengerCallbackDataEXT* data, void*) {
  std::fprintf(stderr, "lucid: wrong use of Vulkan: %s\n", data->pMessage);
  std::abort();
}

VkDebugUtilsMessengerCreateInfoEXT messenger_info() {
  VkDebugUtilsMessengerCreateInfoEXT info = {};
  info.sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT;
  info.messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
  info.pfnUserCallback = fail_validation;
  return info;
}

VkInstance create_instance(PFN_vkGetInstanceProcAddr find, bool validates) {
  const auto create = reinterpret_cast<PFN_vkCreateInstance>(find(nullptr, "vkCreateInstance"));
  if (!create) return nullptr;
  VkApplicationInfo application = {};
  application.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  application.pApplicationName = "lucid";
  application.apiVersion = VK_API_VERSION_1_3;
  const VkDebugUtilsMessengerCreateInfoEXT messenger = messenger_info();
  constexpr const char* kDebugUtils = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
  VkInstanceCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO;
  info.pApplicationInfo = &application;
  if (validates) {
    info.pNext = &messenger;
    info.enabledLayerCount = 1;
    info.ppEnabledLayerNames = &kValidationLayer;
    info.enabledExtensionCount = 1;
    info.ppEnabledExtensionNames = &kDebugUtils;
  }
  VkInstance instance = nullptr;
  if (create(&info, nullptr, &instance) != VK_SUCCESS) return nullptr;
  if (validates) {
    const auto create_messenger =
        reinterpret_cast<PFN_vkCreateDebugUtilsMessengerEXT>(find(instance, "vkCreateDebugUtilsMessengerEXT"));
    VkDebugUtilsMessengerEXT created = nullptr;
    if (create_messenger) create_messenger(instance, &messenger, nullptr, &created);
  }
  return instance;
}

/// The first family for computing without graphics, which is often a queue of its own; otherwise any for computing.
bool find_family(const vulkan::InstanceFunctions& vk, VkPhysicalDevice device, PhysicalGpu& gpu) {
  uint32_t count = 0;
  vk.GetPhysicalDeviceQueueFamilyProperties(device, &count, nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  vk.GetPhysicalDeviceQueueFamilyProperties(device, &count, families.data());
  bool is_found = false;
  for (uint32_t i = 0; i < count; ++i) {
    const VkQueueFlags flags = families[i].queueFlags;
    const bool has_graphics = flags & VK_QUEUE_GRAPHICS_BIT;
    if (!(flags & VK_QUEUE_COMPUTE_BIT) || (is_found && has_graphics)) continue;
    gpu.family = i;
    gpu.timestamp_bits = families[i].timestampValidBits;
    is_found = true;
    if (!has_graphics) break;
  }
  return is_found;
}

/// A size of at least 16, the number of lanes that exchange values.
uint32_t choose_subgroup_size(const VkPhysicalDeviceVulkan11Properties& subgroups,
                              const VkPhysicalDeviceVulkan13Properties& sizes,
                              const VkPhysicalDeviceVulkan13Features& features) {
  constexpr VkSubgroupFeatureFlags kOperations =
      VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_SHUFFLE_BIT | VK_SUBGROUP_FEATURE_BALLOT_BIT;
  if (!features.subgroupSizeControl || !features.computeFullSubgroups) return 0;
  if (!(sizes.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT)) return 0;
  if (!(subgroups.subgroupSupportedStages & VK_SHADER_STAGE_COMPUTE_BIT)) return 0;
  if ((subgroups.subgroupSupportedOperations & kOperations) != kOperations) return 0;
  const uint32_t size = std::max(sizes.minSubgroupSize, 16u);
  return size <= sizes.maxSubgroupSize ? size : 0;
}

/// Whether a device has what every shader needs. Fills in what it offers.
std::optional<PhysicalGpu> examine(const vulkan::InstanceFunctions& vk, VkPhysicalDevice device) {
  PhysicalGpu gpu;
  gpu.handle = device;
  vk.GetPhysicalDeviceProperties(device, &gpu.properties);
  if (gpu.properties.apiVersion < VK_API_VERSION_1_2) return std::nullopt;
  gpu.has_version_13 = gpu.properties.apiVersion >= VK_API_VERSION_1_3;
  if (!find_family(vk, device, gpu)) return std::nullopt;

  VkPhysicalDeviceVulkan13Features features13 = {};
  features13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
  VkPhysicalDeviceVulkan12Features features12 = {};
  features12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  features12.pNext = gpu.has_version_13 ? &features13 : nullptr;
  VkPhysicalDeviceVulkan11Features features11 = {};
  features11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  features11.pNext = &features12;
  VkPhysicalDeviceFeatures2 features = {};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &features11;
  vk.GetPhysicalDeviceFeatures2(device, &features);
  const VkPhysicalDeviceLimits& limits = gpu.properties.limits;
  const bool is_suitable =
      features.features.shaderInt64 && features.features.shaderFloat64 && features.features.shaderInt16 &&
      features11.storageBuffer16BitAccess && features12.storageBuffer8BitAccess && features12.shaderInt8 &&
      features12.bufferDeviceAddress && features12.timelineSemaphore && features12.vulkanMemoryModel &&
      limits.maxComputeWorkGroupInvocations >= kMaxInvocations && limits.maxComputeWorkGroupSize[0] >= kMaxInvocations;
  if (!is_suitable) return std::nullopt;
  gpu.has_memory_model_device_scope = features12.vulkanMemoryModelDeviceScope;
  gpu.has_subgroup_extended_types = features12.shaderSubgroupExtendedTypes;

  VkPhysicalDeviceVulkan13Properties properties13 = {};
  properties13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_PROPERTIES;
  VkPhysicalDeviceVulkan12Properties properties12 = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_PROPERTIES,
                                                     .pNext = gpu.has_version_13 ? &properties13 : nullptr,
                                                     .driverID = VK_DRIVER_ID_MAX_ENUM};
  VkPhysicalDeviceVulkan11Properties properties11 = {};
  properties11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_PROPERTIES;
  properties11.pNext = &properties12;
  VkPhysicalDeviceProperties2 properties = {};
  properties.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2;
  properties.pNext = &properties11;
  vk.GetPhysicalDeviceProperties2(device, &properties);
  gpu.driver = fmt::format("{} {}", properties12.driverName, properties12.driverInfo);
  gpu.max_allocation = properties11.maxMemoryAllocationSize;
  if (gpu.has_version_13) gpu.max_allocation = std::min(gpu.max_allocation, properties13.maxBufferSize);
  // Shaders set the mode of 32 and 64 bits, but not of 16 bits.
  const VkShaderFloatControlsIndependence independence = properties12.roundingModeIndependence;
  gpu.has_float_controls32 = properties12.shaderRoundingModeRTEFloat32 &&
                             properties12.shaderSignedZeroInfNanPreserveFloat32 &&
                             independence != VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_NONE;
  gpu.has_float_controls64 = properties12.shaderRoundingModeRTEFloat64 &&
                             properties12.shaderSignedZeroInfNanPreserveFloat64 &&
                             independence == VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL;
  if (gpu.has_subgroup_extended_types) gpu.subgroup_size = choose_subgroup_size(properties11, properties13, features13);
  return gpu;
}

}  // namespace

VulkanInstance::VulkanInstance() {
  const PFN_vkGetInstanceProcAddr find = vulkan::load_library();
  if (!find) return;
  const bool validates = options().gpu_validate;
  lacks_validation = validates && !has_layer(find, kValidationLayer);
  handle = create_instance(find, validates && !lacks_validation);
  if (!handle) return;
  vk = vulkan::InstanceFunctions(find, handle);
  if (!vk.is_complete()) return;
  uint32_t count = 0;
  if (vk.EnumeratePhysicalDevices(handle, &count, nullptr) != VK_SUCCESS) return;
  std::vector<VkPhysicalDevice> devices(count);
  if (vk.EnumeratePhysicalDevices(handle, &count, devices.data()) < VK_SUCCESS) return;
  devices.resize(count);
  std::vector<PhysicalGpu> found;
  for (VkPhysicalDevice device : devices)
    if (const std::optional<PhysicalGpu> gpu = examine(vk, device)) found.push_back(*gpu);
  for (int order = 0; order <= kLastOrder; ++order)
    for (const PhysicalGpu& gpu : found)
      if (order_of(gpu.properties.deviceType) == order) gpus.push_back(gpu);
}

}  // namespace lucid
