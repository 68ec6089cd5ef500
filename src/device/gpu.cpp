#include "device/gpu.h"

#include <array>
#include <atomic>
#include <span>

#include "base/device.h"
#include "base/error.h"
#include "device/vulkan_gpu.h"

namespace lucid {
namespace {

constexpr size_t kMaxBackends = 4;

struct Backends {
  static Backends& get() {
    static Backends backends;
    return backends;
  }

  std::span<const GpuBackend> all() const { return {list.data(), count.load(std::memory_order_acquire)}; }

  std::array<GpuBackend, kMaxBackends> list = {kVulkanBackend};
  std::atomic<size_t> count = 1;
};

}  // namespace

int add_gpu_backend(const GpuBackend& backend) {
  Backends& backends = Backends::get();
  const int first = Gpu::count();
  const size_t count = backends.count;
  LUCID_CHECK(count < kMaxBackends, "more than {} kinds of gpus", kMaxBackends);
  LUCID_CHECK(first + backend.count() <= kMaxGpus, "more than {} gpus", kMaxGpus);
  backends.list[count] = backend;
  backends.count.store(count + 1, std::memory_order_release);
  return first;
}

int Gpu::count() {
  int count = 0;
  for (const GpuBackend& backend : Backends::get().all()) count += backend.count();
  return count;
}

Gpu& Gpu::at(int index) {
  int at = index;
  for (const GpuBackend& backend : Backends::get().all()) {
    const int count = backend.count();
    if (at >= 0 && at < count) return backend.at(at);
    at -= count;
  }
  throw RuntimeError(
      "there is no gpu {}: {} were found. A gpu needs a driver for Vulkan 1.2 or later, with 64-bit "
      "integers and floats in shaders",
      index, count());
}

}  // namespace lucid
