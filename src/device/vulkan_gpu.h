#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/gpu.h"
#include "spirv/shader.h"

namespace lucid {

/// A gpu through Vulkan.
class VulkanGpu : public Gpu {
 public:
  struct State;

  explicit VulkanGpu(int index);
  ~VulkanGpu() override;

  const std::string& name() const override;
  /// Name and version of the driver.
  const std::string& driver() const;
  const spirv::Target& target() const;
  TargetTraits traits() const override;
  std::unique_ptr<CodeGenerator> make_generator() override;

  void* allocate(size_t bytes) override;
  void deallocate(void* address, size_t bytes) noexcept override;
  MemoryStats memory_stats() const override;
  void reset_peak_memory() override;
  void empty_cache() override;

  void upload(void* to, const void* from, size_t bytes) override;
  void download(void* to, const void* from, size_t bytes) override;
  void copy(void* to, const void* from, size_t bytes) override;

  Ref<GpuCommands> make_commands(std::vector<GpuLaunch> launches, std::vector<uint64_t> words, size_t block_bytes,
                                 GpuRunMode mode) override;
  /// Submits work that is waiting to be batched.
  void flush();
  void synchronize() override;
  GpuWorkStats work_stats() const override;

 private:
  std::unique_ptr<State> state_;
};

/// The gpus of this machine. None if it has no Vulkan.
extern const GpuBackend kVulkanBackend;

}  // namespace lucid
