#include "base/device.h"

#include <charconv>

#include "base/error.h"

namespace lucid {

std::string to_string(Device device) { return device.is_gpu() ? fmt::format("gpu:{}", device.index()) : "cpu"; }

Device parse_device(std::string_view name) {
  if (name == "cpu" || name == "cpu:0") return kCpuDevice;
  if (name == "gpu") return Device::gpu(0);
  int index = -1;
  if (name.starts_with("gpu:")) {
    const char* const end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(name.data() + 4, end, index);
    if (error != std::errc() || stop != end || index >= kMaxGpus) index = -1;
  }
  if (index < 0) throw ValueError("there is no device '{}'; devices are 'cpu', 'gpu' and 'gpu:1', 'gpu:2', ...", name);
  return Device::gpu(index);
}

}  // namespace lucid
