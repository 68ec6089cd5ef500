#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lucid {

/// Where a tensor's memory is, and where kernels that use it run.
struct Device {
  enum class Kind : uint8_t { kCpu, kGpu };
  Kind kind = Kind::kCpu;
  uint8_t index = 0;  // among the gpus

  bool is_gpu() const { return kind == Kind::kGpu; }
  bool operator==(const Device&) const = default;
};

inline constexpr Device kCpuDevice{};
inline constexpr int kMaxGpus = 256;

/// "cpu" or "gpu:0".
std::string to_string(Device device);
/// Accepts "cpu", "cpu:0", "gpu" and "gpu:1". Throws ValueError for other names; does not check that the gpu exists.
Device parse_device(std::string_view name);

/// The device of tensors that are created without one: of the innermost scope, or else the default of the process.
Device current_device();
void set_default_device(Device device);

/// Sets current_device() on this thread until the end of the scope.
class DeviceScope {
 public:
  explicit DeviceScope(Device device);
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;
  ~DeviceScope();

 private:
  uint32_t saved_;
};

}  // namespace lucid
