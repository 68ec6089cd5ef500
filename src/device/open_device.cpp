#include "device/open_device.h"

#include "base/error.h"
#include "base/fork_count.h"
#include "base/memory_reserve.h"
#include "spirv/shader.h"

namespace lucid {
namespace {

VkDevice create_device(const vulkan::InstanceFunctions& vk, const PhysicalGpu& gpu) {
  VkPhysicalDeviceVulkan13Features features13 = {};
  features13.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES;
  features13.subgroupSizeControl = gpu.subgroup_size != 0;
  features13.computeFullSubgroups = gpu.subgroup_size != 0;
  VkPhysicalDeviceVulkan12Features features12 = {};
  features12.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES;
  features12.pNext = gpu.has_version_13 ? &features13 : nullptr;
  features12.bufferDeviceAddress = VK_TRUE;
  features12.timelineSemaphore = VK_TRUE;
  features12.vulkanMemoryModel = VK_TRUE;
  features12.vulkanMemoryModelDeviceScope = gpu.has_memory_model_device_scope;
  features12.shaderInt8 = VK_TRUE;
  features12.storageBuffer8BitAccess = VK_TRUE;
  features12.shaderSubgroupExtendedTypes = gpu.has_subgroup_extended_types;
  VkPhysicalDeviceVulkan11Features features11 = {};
  features11.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES;
  features11.pNext = &features12;
  features11.storageBuffer16BitAccess = VK_TRUE;
  VkPhysicalDeviceFeatures2 features = {};
  features.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  features.pNext = &features11;
  features.features.shaderInt64 = VK_TRUE;
  features.features.shaderFloat64 = VK_TRUE;
  features.features.shaderInt16 = VK_TRUE;

  const float priority = 1;
  VkDeviceQueueCreateInfo queue = {};
  queue.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO;
  queue.queueFamilyIndex = gpu.family;
  queue.queueCount = 1;
  queue.pQueuePriorities = &priority;
  VkDeviceCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO;
  info.pNext = &features;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queue;
  VkDevice device = nullptr;
  const VkResult result = vk.CreateDevice(gpu.handle, &info, nullptr, &device);
  if (result != VK_SUCCESS)
    throw RuntimeError("cannot open the gpu {}: {}", gpu.properties.deviceName, vulkan::to_string(result));
  return device;
}

}  // namespace

GpuDevice::GpuDevice(const PhysicalGpu& physical, VkDevice created)
    : gpu(physical), handle(created), fork_count_(fork_count()) {}

GpuDevice::GpuDevice(const VulkanInstance& instance, const PhysicalGpu& physical)
    : GpuDevice(physical, create_device(instance.vk, physical)) {
  vk = vulkan::DeviceFunctions(instance.vk.GetDeviceProcAddr, handle);
  if (!vk.is_complete())
    throw RuntimeError("cannot open the gpu {}: its driver lacks functions", gpu.properties.deviceName);
  vk.GetDeviceQueue(handle, gpu.family, 0, &queue);
  instance.vk.GetPhysicalDeviceMemoryProperties(gpu.handle, &memory);
  VkPushConstantRange range = {};
  range.stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
  range.size = sizeof(spirv::PushConstants);
  VkPipelineLayoutCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO;
  info.pushConstantRangeCount = 1;
  info.pPushConstantRanges = &range;
  check(vk.CreatePipelineLayout(handle, &info, nullptr, &layout), "create a pipeline layout");
}

GpuDevice::~GpuDevice() {
  if (!may_destroy()) return;
  if (layout) vk.DestroyPipelineLayout(handle, layout, nullptr);
  if (vk.DestroyDevice) vk.DestroyDevice(handle, nullptr);
}

void GpuDevice::ensure_usable() const {
  if (fork_count() != fork_count_) [[unlikely]]
    throw_forked(gpu.properties.deviceName);
  if (const std::string* const loss = loss_.load(std::memory_order_acquire)) [[unlikely]]
    throw RuntimeError(*loss);
  if (is_closed_.load(std::memory_order_acquire)) [[unlikely]]
    throw RuntimeError("the gpu {} cannot be used while the process exits", gpu.properties.deviceName);
}

bool GpuDevice::may_destroy() const noexcept {
  return fork_count() == fork_count_ && !is_closed_.load(std::memory_order_acquire);
}

void GpuDevice::check_faults() const {
  if (!fault_word || std::atomic_ref(*fault_word).load(std::memory_order_relaxed) == 0) return;
  std::atomic_ref(*fault_word).store(0, std::memory_order_relaxed);
  throw RuntimeError(
      "the driver of the gpu {} ended a loop early, so results computed since values were last read may be wrong; it "
      "is a software driver, which allows 65,535 iterations: use the CPU for tensors of this size",
      gpu.properties.deviceName);
}

void GpuDevice::check(VkResult result, const char* what) {
  if (result >= VK_SUCCESS) [[likely]]
    return;
  if (result == VK_ERROR_DEVICE_LOST) {
    lose(fmt::format("it could not {}", what));
    ensure_usable();
  }
  if (result == VK_ERROR_OUT_OF_HOST_MEMORY || result == VK_ERROR_OUT_OF_DEVICE_MEMORY) {
    prepare_to_throw();
    throw MemoryError("the gpu {} could not {}: {}", gpu.properties.deviceName, what, vulkan::to_string(result));
  }
  throw RuntimeError("the gpu {} could not {}: {}", gpu.properties.deviceName, what, vulkan::to_string(result));
}

void GpuDevice::lose(const std::string& reason) {
  const auto* const message =
      new std::string(fmt::format("the gpu {} was lost: {}. Tensors on it have no contents; start the program again",
                                  gpu.properties.deviceName, reason));
  const std::string* expected = nullptr;
  if (!loss_.compare_exchange_strong(expected, message, std::memory_order_acq_rel)) delete message;
}

void throw_forked(const std::string& name) {
  throw RuntimeError(
      "the gpu {} was opened by the parent of this process and cannot be used in a forked process; start processes "
      "with 'spawn'",
      name);
}

}  // namespace lucid
