#include "device/buffer.h"

#include <algorithm>
#include <optional>

#include "base/error.h"

namespace lucid {
namespace {

constexpr VkMemoryPropertyFlags kLocal = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
constexpr VkMemoryPropertyFlags kCoherent = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
constexpr VkMemoryPropertyFlags kCached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;

uint64_t heap_bytes(const VkPhysicalDeviceMemoryProperties& memory, uint32_t type) {
  return memory.memoryHeaps[memory.memoryTypes[type].heapIndex].size;
}

/// The type in the largest heap among those with all properties of `required` and none of `excluded`. Drivers list
/// faster types first.
std::optional<uint32_t> find_type(const VkPhysicalDeviceMemoryProperties& memory, uint32_t allowed,
                                  VkMemoryPropertyFlags required, VkMemoryPropertyFlags excluded = 0) {
  std::optional<uint32_t> best;
  for (uint32_t type = 0; type < memory.memoryTypeCount; ++type) {
    const VkMemoryPropertyFlags flags = memory.memoryTypes[type].propertyFlags;
    if (!(allowed >> type & 1) || (flags & required) != required || (flags & excluded)) continue;
    if (!best || heap_bytes(memory, type) > heap_bytes(memory, *best)) best = type;
  }
  return best;
}

uint32_t choose_type(const VkPhysicalDeviceMemoryProperties& memory, uint32_t allowed, GpuBuffer::Kind kind) {
  // Uncached and unordered types of some vendors are for debugging.
  constexpr VkMemoryPropertyFlags kUnusual =
      VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD | VK_MEMORY_PROPERTY_PROTECTED_BIT;
  std::optional<uint32_t> type;
  if (kind == GpuBuffer::Kind::kDevice) {
    type = find_type(memory, allowed, kLocal, kUnusual);
  } else {
    // Cached, because results are read from it; not the gpu's own memory, of which there may be little.
    type = find_type(memory, allowed, kCoherent | kCached, kUnusual | kLocal);
    if (!type) type = find_type(memory, allowed, kCoherent | kCached, kUnusual);
    if (!type) type = find_type(memory, allowed, kCoherent);
  }
  if (!type) throw RuntimeError("the gpu has no memory of a usable type");
  return *type;
}

}  // namespace

GpuBuffer::GpuBuffer(GpuDevice& device, size_t bytes, Kind kind) : device_(device), bytes_(bytes) {
  device.ensure_usable();
  try {
    allocate(kind);
  } catch (...) {
    destroy();
    throw;
  }
}

GpuBuffer::~GpuBuffer() { destroy(); }

void GpuBuffer::allocate(Kind kind) {
  const vulkan::DeviceFunctions& vk = device_.vk;
  if (bytes_ > device_.gpu.max_allocation)
    throw MemoryError("the gpu {} cannot allocate {} bytes: at most {} at once", device_.gpu.properties.deviceName,
                      bytes_, device_.gpu.max_allocation);
  VkBufferCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.size = bytes_;
  info.usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT |
               VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT;
  device_.check(vk.CreateBuffer(device_.handle, &info, nullptr, &buffer_), "create a buffer");
  VkMemoryRequirements requirements = {};
  vk.GetBufferMemoryRequirements(device_.handle, buffer_, &requirements);
  const uint32_t type = choose_type(device_.memory, requirements.memoryTypeBits, kind);
  VkMemoryAllocateFlagsInfo flags = {};
  flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  VkMemoryAllocateInfo allocation = {};
  allocation.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  allocation.pNext = &flags;
  allocation.allocationSize = requirements.size;
  allocation.memoryTypeIndex = type;
  device_.check(vk.AllocateMemory(device_.handle, &allocation, nullptr, &memory_), "allocate memory");
  device_.check(vk.BindBufferMemory(device_.handle, buffer_, memory_, 0), "bind memory");
  const VkMemoryPropertyFlags properties = device_.memory.memoryTypes[type].propertyFlags;
  if ((properties & kCoherent) == kCoherent) {
    void* data = nullptr;
    device_.check(vk.MapMemory(device_.handle, memory_, 0, VK_WHOLE_SIZE, 0, &data), "map memory");
    mapped_ = static_cast<char*>(data);
    is_cached_ = properties & kCached;
  }
  VkBufferDeviceAddressInfo address = {};
  address.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
  address.buffer = buffer_;
  address_ = vk.GetBufferDeviceAddress(device_.handle, &address);
}

void GpuBuffer::destroy() noexcept {
  if (!device_.may_destroy()) return;
  if (buffer_) device_.vk.DestroyBuffer(device_.handle, buffer_, nullptr);
  if (memory_) device_.vk.FreeMemory(device_.handle, memory_, nullptr);
}

uint64_t device_heap_bytes(const GpuDevice& device) {
  const std::optional<uint32_t> type = find_type(device.memory, ~0u, kLocal);
  return type ? heap_bytes(device.memory, *type) : 0;
}

}  // namespace lucid
