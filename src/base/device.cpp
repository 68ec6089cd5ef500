#include "base/device.h"

#include <atomic>
#include <charconv>

#include "base/error.h"

namespace lucid {
namespace {

/// A device as one number; kNone is none of them.
constexpr uint32_t kNone = 1 << 16;
constexpr uint32_t pack(Device device) noexcept { return static_cast<uint32_t>(device.kind) << 8 | device.index; }
constexpr Device unpack(uint32_t packed) {
  return {static_cast<Device::Kind>(packed >> 8), static_cast<uint8_t>(packed & 0xff)};
}

constinit std::atomic<uint32_t> g_default{pack(kCpuDevice)};
constinit thread_local uint32_t t_device = kNone;

}  // namespace

std::string to_string(Device device) { return device.is_gpu() ? fmt::format("gpu:{}", device.index) : "cpu"; }

Device parse_device(std::string_view name) {
  if (name == "cpu" || name == "cpu:0") return kCpuDevice;
  if (name == "gpu") return {Device::Kind::kGpu, 0};
  int index = -1;
  if (name.starts_with("gpu:")) {
    const char* const end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data() + 4, end, index);
    if (error != std::errc() || stop != end || index >= kMaxGpus) index = -1;
  }
  if (index < 0) throw ValueError("there is no device '{}'; devices are 'cpu', 'gpu' and 'gpu:1', 'gpu:2', ...", name);
  return {Device::Kind::kGpu, static_cast<uint8_t>(index)};
}

Device current_device() { return unpack(t_device != kNone ? t_device : g_default.load(std::memory_order_relaxed)); }

void set_default_device(Device device) { g_default.store(pack(device), std::memory_order_relaxed); }

DeviceScope::DeviceScope(Device device) : saved_(t_device) { t_device = pack(device); }
DeviceScope::~DeviceScope() { t_device = saved_; }

}  // namespace lucid
