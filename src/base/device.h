#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace lucid {

inline constexpr int kMaxGpus = 255;

/// Where a tensor's memory is, and where kernels that use it run.
class Device {
 public:
  /// The CPU.
  constexpr Device() = default;
  static constexpr Device gpu(int index) { return Device(static_cast<uint8_t>(index + 1)); }

  constexpr bool is_gpu() const { return number_ != 0; }
  /// The position among the gpus.
  constexpr int index() const { return number_ - 1; }
  /// 0 for the CPU, 1 for the first gpu: for keys.
  constexpr uint8_t number() const { return number_; }
  bool operator==(const Device&) const = default;

 private:
  constexpr explicit Device(uint8_t number) : number_(number) {}

  uint8_t number_ = 0;
};

inline constexpr Device kCpuDevice{};

/// "cpu" or "gpu:0".
std::string to_string(Device device);
/// Accepts "cpu", "cpu:0", "gpu" and "gpu:1". Throws ValueError for other names; does not check that the gpu exists.
Device parse_device(std::string_view name);

/// Sets current_device() on this thread until the end of the scope.
class DeviceScope {
 public:
  explicit DeviceScope(Device device) : saved_(innermost()) { innermost() = {device, true}; }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;
  ~DeviceScope() { innermost() = saved_; }

 private:
  friend Device current_device();
  struct State {
    Device device;
    bool is_set = false;
  };
  static State& innermost() {
    static constinit thread_local State state;
    return state;
  }

  State saved_;
};

inline constinit std::atomic<Device> g_default_device{};
inline void set_default_device(Device device) { g_default_device.store(device, std::memory_order_relaxed); }

/// The device of tensors that are created without one: of the innermost scope, or else the default of the process.
inline Device current_device() {
  const DeviceScope::State scope = DeviceScope::innermost();
  return scope.is_set ? scope.device : g_default_device.load(std::memory_order_relaxed);
}

}  // namespace lucid
