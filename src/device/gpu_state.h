#pragma once

#include "device/host_memory.h"
#include "device/memory.h"
#include "device/open_device.h"
#include "device/queue.h"
#include "device/timeline.h"
#include "device/vulkan_gpu.h"

namespace lucid {

struct VulkanGpu::State {
  State(const VulkanInstance& instance, const PhysicalGpu& gpu)
      : name(gpu.properties.deviceName),
        device(instance, gpu),
        timeline(device),
        memory(device),
        host_memory(device, timeline),
        queue(device, timeline) {
    const HostBlock* const fault = host_memory.take(sizeof(uint64_t));
    device.fault_word = reinterpret_cast<uint64_t*>(fault->data);
    device.fault_address = fault->address;
    *device.fault_word = 0;
  }

  const std::string name;
  GpuDevice device;
  GpuTimeline timeline;
  GpuMemory memory;
  GpuHostMemory host_memory;
  GpuQueue queue;
  spirv::Target target;
};

}  // namespace lucid
