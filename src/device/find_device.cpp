#include "device/find_device.h"

#include <fmt/format.h>

#include <optional>

#include "base/error.h"
#include "device/gpu.h"

namespace lucid {

Device find_device(const std::string& function, const std::string& name) {
  std::optional<Device> device;
  try {
    device = parse_device(name);
  } catch (const ValueError&) {
    device.reset();  // reported below, with the devices of this machine
  }
  if (device && (!device->is_gpu() || device->index() < Gpu::count())) return *device;
  std::string devices = "'cpu'";
  for (int i = 0; i < Gpu::count(); ++i) devices += fmt::format(", '{}'", to_string(Device::gpu(i)));
  const bool lacks_gpu = device && Gpu::count() == 0;
  throw ValueError(
      "{}: there is no device '{}'; the devices are: {}{}", function, name, devices,
      lacks_gpu ? " (a gpu needs a Vulkan driver; lucid.gpu.is_available() tells whether there is one)" : "");
}

}  // namespace lucid
