#pragma once

#include <cstdint>
#include <memory>

#include "code/code_generator.h"
#include "device/open_device.h"
#include "spirv/shader.h"

namespace lucid {

/// A pipeline. It must outlive the work that uses it.
class GpuCode : public LoadedCode {
 public:
  GpuCode(GpuDevice& device, const spirv::Shader& shader, size_t argument_words);
  ~GpuCode() override;

  const GpuDevice& device() const { return device_; }
  VkPipeline pipeline() const { return pipeline_; }
  /// The number of groups of clusters in a workgroup. Each group computes its own items.
  uint32_t groups() const { return groups_; }
  /// The number of buffers and params. The address of scratch memory, if any, follows them.
  size_t argument_words() const { return argument_words_; }

 private:
  friend class GpuGenerator;
  GpuDevice& device_;
  VkPipeline pipeline_ = nullptr;
  const uint32_t groups_;
  const size_t argument_words_;
};

/// Compiles for a gpu as if it had the properties of `target`.
std::unique_ptr<CodeGenerator> make_gpu_generator(GpuDevice& device, const spirv::Target& target);

}  // namespace lucid
