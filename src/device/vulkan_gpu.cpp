#include "device/vulkan_gpu.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "base/blocking.h"
#include "base/busy_flag.h"
#include "base/device.h"
#include "base/error.h"
#include "base/fork_count.h"
#include "base/log.h"
#include "base/options.h"
#include "device/driver_scope.h"
#include "device/gpu_code.h"
#include "device/gpu_state.h"
#include "device/probe.h"

namespace lucid {
namespace {

void close_at_exit() noexcept;

/// How long the exit of the process waits for gpus.
constexpr std::chrono::seconds kMaxExitWait(2);

/// Vulkan and the open gpus. Never destroyed: other threads may still use them while the process exits.
struct Registry {
  static Registry& get() {
    static auto* const registry = new Registry;
    return *registry;
  }

  /// Finds the gpus at the first call.
  void find_gpus();
  VulkanGpu* opened(int index) const { return gpus[static_cast<size_t>(index)].load(std::memory_order_acquire); }

  BusyFlag busy;
  std::atomic<bool> is_ready = false;
  /// The process that looked for gpus, by its fork count + 1; 0 if none did.
  uint32_t finder = 0;
  const VulkanInstance* instance = nullptr;
  std::atomic<int> count = 0;
  std::array<std::atomic<VulkanGpu*>, kMaxGpus> gpus = {};
  /// Their queues, for the exit.
  std::array<std::atomic<GpuQueue*>, kMaxGpus> queues = {};
};

std::atomic<bool> has_registry = false;

void Registry::find_gpus() {
  if (is_ready.load(std::memory_order_acquire)) return;
  const BusyScope scope(busy);
  if (is_ready.load(std::memory_order_acquire)) return;
  if (finder == 0) {
    finder = fork_count() + 1;
    // Drivers are loaded and started.
    const BlockingScope blocking;
    const DriverScope starting;
    has_registry = true;
    instance = new VulkanInstance;
    count = std::min(static_cast<int>(instance->gpus.size()), kMaxGpus);
    // Called before the destructors of what drivers have created by now.
    if (count > 0) std::atexit(close_at_exit);
  }
  // The library is in an unknown state.
  if (finder != fork_count() + 1)
    throw RuntimeError(
        "gpus cannot be used in this process, because its parent was looking for them when it was forked; start "
        "processes with 'spawn'");
  is_ready.store(true, std::memory_order_release);
}

/// Ends the process without the remaining handlers and destructors: those of drivers crash while drivers work.
void end_now(int status, void* /*unused*/) noexcept {
  std::fflush(nullptr);
  ::_exit(status);
}

void close_at_exit() noexcept {
  const auto end = std::chrono::steady_clock::now() + kMaxExitWait;
  bool all_ended = close_drivers(end);
  for (int i = 0; i < Registry::get().count; ++i)
    if (GpuQueue* const queue = Registry::get().queues[static_cast<size_t>(i)].load()) all_ended &= queue->close(end);
  // A handler that is registered during the exit is the next to be called.
  if (!all_ended) ::on_exit(end_now, nullptr);
}

/// Ends the work of all gpus when the main thread returns from main or calls exit. Drivers create static objects while
/// they work, and exit destroys those before it calls handlers that were registered earlier; but it destroys the
/// calling thread's own objects before all of these.
struct CloseAtExit {
  ~CloseAtExit() {
    if (has_registry) close_at_exit();
  }
};

void close_at_exit_of_main_thread() noexcept {
  if (gettid() == getpid()) thread_local const CloseAtExit close;
}

// The main thread loads the library in almost every program. Otherwise the exit handler above has to do.
[[maybe_unused]] const bool is_registered = (close_at_exit_of_main_thread(), true);

/// The properties of a target before the arithmetic is known: as if all of it were exact.
spirv::Target make_target(const PhysicalGpu& gpu) {
  spirv::Target target;
  target.float_controls32 = gpu.has_float_controls32;
  target.float_controls64 = gpu.has_float_controls64;
  target.subgroup_size = gpu.subgroup_size;
  target.shared_bytes = gpu.properties.limits.maxComputeSharedMemorySize;
  target.ends_loops_early = gpu.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
  return target;
}

void apply(const GpuArithmetics& found, const PhysicalGpu& gpu, spirv::Target& target) {
  target.fused_fma32 = found.f32.fused_fma;
  target.fused_fma64 = found.f64.fused_fma;
  target.exact_divide32 = found.f32.exact_divide;
  target.exact_divide64 = found.f64.exact_divide;
  target.exact_sqrt32 = found.f32.exact_sqrt;
  target.exact_sqrt64 = found.f64.exact_sqrt;
  // Results then equal those of CPU kernels. Real gpus would spend several instructions on each operation; their
  // documentation lets subnormal numbers count as zero.
  target.flush_results = gpu.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU && found.f32.keeps_subnormals &&
                         found.f64.keeps_subnormals;
}

}  // namespace

namespace {

int count_gpus() {
  Registry& registry = Registry::get();
  registry.find_gpus();
  return registry.count;
}

Gpu& gpu_at(int index) {
  Registry& registry = Registry::get();
  if (VulkanGpu* const gpu = registry.opened(index)) return *gpu;
  if (registry.finder != fork_count() + 1)
    throw_forked(registry.instance->gpus[static_cast<size_t>(index)].properties.deviceName);
  const BusyScope scope(registry.busy);
  if (VulkanGpu* const gpu = registry.opened(index)) return *gpu;
  auto* const gpu = new VulkanGpu(index);
  registry.gpus[static_cast<size_t>(index)].store(gpu, std::memory_order_release);
  return *gpu;
}

}  // namespace

constinit const GpuBackend kVulkanBackend = {count_gpus, gpu_at};

VulkanGpu::VulkanGpu(int index) {
  const VulkanInstance& instance = *Registry::get().instance;
  if (instance.lacks_validation)
    throw RuntimeError(
        "LUCID_GPU_VALIDATE is 1, but Vulkan has no layer VK_LAYER_KHRONOS_validation; on Debian it is in the package "
        "vulkan-validationlayers");
  const PhysicalGpu& physical = instance.gpus[static_cast<size_t>(index)];
  std::atomic<GpuQueue*>& queue = Registry::get().queues[static_cast<size_t>(index)];
  {
    const BlockingScope blocking;
    const DriverScope starting;
    state_ = std::make_unique<State>(instance, physical);
    queue = &state_->queue;
  }
  state_->target = make_target(physical);
  try {
    apply(probe_arithmetic(*this, *make_generator()), physical, state_->target);
  } catch (...) {
    try {
      const DriverScope ending;
      queue = nullptr;
      state_.reset();
    } catch (const RuntimeError&) {
      // The process exits, and uses the queue.
      [[maybe_unused]] const State* const leaked = state_.release();
    }
    throw;
  }
  if (options().logs("gpu"))
    log("gpu", fmt::format("opened gpu {}: {}, driver {}, target {}", index, name(), driver(),
                           spirv::to_string(state_->target)));
}

VulkanGpu::~VulkanGpu() = default;

const std::string& VulkanGpu::name() const { return state_->name; }

const std::string& VulkanGpu::driver() const { return state_->device.gpu.driver; }

const spirv::Target& VulkanGpu::target() const { return state_->target; }

TargetTraits VulkanGpu::traits() const {
  return {.registers = {}, .shared_bytes = target().shared_bytes, .index_bits = 32, .has_core_cache = false};
}

void* VulkanGpu::allocate(size_t bytes) {
  State& state = *state_;
  state.device.ensure_usable();
  if (void* const address = state.memory.allocate(bytes)) return address;
  // Buffers without allocations may help. They go back to the device when the work that uses them has ended. The caller
  // may hold a mutex: its own lock must not be released.
  state.memory.release_unused([&] { state.queue.synchronize_uninterrupted(); });
  if (void* const address = state.memory.allocate(bytes)) return address;
  state.memory.throw_exhausted(bytes);
}

void VulkanGpu::deallocate(void* address, size_t bytes) noexcept {
  if (state_->device.may_destroy()) state_->memory.deallocate(address, bytes);
}

MemoryStats VulkanGpu::memory_stats() const { return state_->memory.stats(); }

void VulkanGpu::reset_peak_memory() { state_->memory.reset_peak(); }

void VulkanGpu::empty_cache() {
  state_->device.ensure_usable();
  state_->memory.release_unused([&] { state_->queue.synchronize(); });
}

void VulkanGpu::flush() { state_->queue.flush(); }

void VulkanGpu::synchronize() { state_->queue.synchronize(); }

GpuWorkStats VulkanGpu::work_stats() const { return state_->queue.stats(); }

std::unique_ptr<CodeGenerator> VulkanGpu::make_generator() {
  return make_gpu_generator(state_->device, state_->target);
}

}  // namespace lucid
