#include "device/command_buffer.h"

namespace lucid {
namespace {

constexpr VkPipelineStageFlags kLaunch = VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT;
constexpr VkPipelineStageFlags kAny = kLaunch | VK_PIPELINE_STAGE_TRANSFER_BIT;
constexpr VkAccessFlags kLaunchWrite = VK_ACCESS_SHADER_WRITE_BIT;
constexpr VkAccessFlags kLaunchAccess = VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT;
constexpr VkAccessFlags kAnyWrite = kLaunchWrite | VK_ACCESS_TRANSFER_WRITE_BIT;
constexpr VkAccessFlags kAnyAccess = kLaunchAccess | VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;

void record_barrier(const GpuDevice& device, VkCommandBuffer commands, VkPipelineStageFlags from, VkAccessFlags written,
                    VkPipelineStageFlags to, VkAccessFlags accessed) {
  VkMemoryBarrier barrier = {};
  barrier.sType = VK_STRUCTURE_TYPE_MEMORY_BARRIER;
  barrier.srcAccessMask = written;
  barrier.dstAccessMask = accessed;
  device.vk.CmdPipelineBarrier(commands, from, to, 0, 1, &barrier, 0, nullptr, 0, nullptr);
}

}  // namespace

GpuCommandBuffer::GpuCommandBuffer(GpuDevice& device) : device_(device) {
  VkCommandPoolCreateInfo pool = {};
  pool.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO;
  pool.queueFamilyIndex = device.gpu.family;
  device.check(device.vk.CreateCommandPool(device.handle, &pool, nullptr, &pool_), "create a command pool");
  VkCommandBufferAllocateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO;
  info.commandPool = pool_;
  info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = 1;
  const VkResult result = device.vk.AllocateCommandBuffers(device.handle, &info, &handle_);
  if (result != VK_SUCCESS) device.vk.DestroyCommandPool(device.handle, pool_, nullptr);
  device.check(result, "allocate a command buffer");
}

GpuCommandBuffer::~GpuCommandBuffer() {
  if (device_.may_destroy()) device_.vk.DestroyCommandPool(device_.handle, pool_, nullptr);
}

void GpuCommandBuffer::begin(VkCommandBufferUsageFlags flags) {
  device_.check(device_.vk.ResetCommandPool(device_.handle, pool_, 0), "reset a command pool");
  VkCommandBufferBeginInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO;
  info.flags = flags;
  device_.check(device_.vk.BeginCommandBuffer(handle_, &info), "begin a command buffer");
  record_full_barrier(device_, handle_);
}

void GpuCommandBuffer::end() {
  record_barrier(device_, handle_, kAny, kAnyWrite, VK_PIPELINE_STAGE_HOST_BIT, VK_ACCESS_HOST_READ_BIT);
  device_.check(device_.vk.EndCommandBuffer(handle_), "record commands");
}

void record_full_barrier(const GpuDevice& device, VkCommandBuffer commands) {
  record_barrier(device, commands, kAny, kAnyWrite, kAny, kAnyAccess);
}

void record_launch_barrier(const GpuDevice& device, VkCommandBuffer commands) {
  record_barrier(device, commands, kLaunch, kLaunchWrite, kLaunch, kLaunchAccess);
}

}  // namespace lucid
