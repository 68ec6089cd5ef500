#include "device/timestamps.h"

#include <limits>

#include "base/error.h"

namespace lucid {

GpuTimestamps::GpuTimestamps(GpuDevice& device, uint32_t launches) : device_(device), launches_(launches) {
  if (device.gpu.timestamp_bits == 0)
    throw RuntimeError("{} cannot measure times: its queue has no timestamps", device.gpu.properties.deviceName);
  VkQueryPoolCreateInfo info = {};
  info.sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO;
  info.queryType = VK_QUERY_TYPE_TIMESTAMP;
  info.queryCount = launches + 1;
  device.check(device.vk.CreateQueryPool(device.handle, &info, nullptr, &pool_), "create timestamps");
}

GpuTimestamps::~GpuTimestamps() {
  if (device_.may_destroy()) device_.vk.DestroyQueryPool(device_.handle, pool_, nullptr);
}

void GpuTimestamps::record_start(VkCommandBuffer commands) const {
  device_.vk.CmdResetQueryPool(commands, pool_, 0, launches_ + 1);
  device_.vk.CmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool_, 0);
}

void GpuTimestamps::record_end(VkCommandBuffer commands, uint32_t launch) const {
  device_.vk.CmdWriteTimestamp(commands, VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT, pool_, launch + 1);
}

std::vector<double> GpuTimestamps::nanoseconds() const {
  std::vector<uint64_t> ticks(launches_ + 1);
  device_.check(
      device_.vk.GetQueryPoolResults(device_.handle, pool_, 0, launches_ + 1, ticks.size() * sizeof(uint64_t),
                                     ticks.data(), sizeof(uint64_t), VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
      "read timestamps");
  // Clocks with fewer than 64 bits start again at 0.
  const uint64_t mask = std::numeric_limits<uint64_t>::max() >> (64 - device_.gpu.timestamp_bits);
  const double period = device_.gpu.properties.limits.timestampPeriod;
  std::vector<double> result;
  for (size_t i = 0; i < launches_; ++i)
    result.push_back(static_cast<double>((ticks[i + 1] - ticks[i]) & mask) * period);
  return result;
}

}  // namespace lucid
