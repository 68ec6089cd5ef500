#include "device/gpu_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/blocking.h"
#include "base/error.h"
#include "device/driver_scope.h"

namespace lucid {
namespace {

/// Begins object code. Its number changes with the format.
constexpr uint64_t kMagic = 0x31'75'70'67'64'69'63'6c;  // "lcidgpu1"

/// The driver's own code for a pipeline, which makes creating it again faster.
class PipelineCache {
 public:
  PipelineCache(GpuDevice& device, std::string_view data) : device_(device) {
    VkPipelineCacheCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO;
    info.initialDataSize = data.size();
    info.pInitialData = data.data();
    device.check(device.vk.CreatePipelineCache(device.handle, &info, nullptr, &handle_), "create a pipeline cache");
  }
  PipelineCache(const PipelineCache&) = delete;
  PipelineCache& operator=(const PipelineCache&) = delete;
  ~PipelineCache() { device_.vk.DestroyPipelineCache(device_.handle, handle_, nullptr); }

  VkPipelineCache handle() const { return handle_; }

  std::string data() const {
    size_t bytes = 0;
    device_.check(device_.vk.GetPipelineCacheData(device_.handle, handle_, &bytes, nullptr), "read a pipeline cache");
    std::string data(bytes, '\0');
    device_.check(device_.vk.GetPipelineCacheData(device_.handle, handle_, &bytes, data.data()),
                  "read a pipeline cache");
    data.resize(bytes);
    return data;
  }

 private:
  GpuDevice& device_;
  VkPipelineCache handle_ = nullptr;
};

class ShaderModule {
 public:
  ShaderModule(GpuDevice& device, const std::vector<uint32_t>& words) : device_(device) {
    VkShaderModuleCreateInfo info = {};
    info.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO;
    info.codeSize = words.size() * sizeof(uint32_t);
    info.pCode = words.data();
    device.check(device.vk.CreateShaderModule(device.handle, &info, nullptr, &handle_), "create a shader module");
  }
  ShaderModule(const ShaderModule&) = delete;
  ShaderModule& operator=(const ShaderModule&) = delete;
  ~ShaderModule() { device_.vk.DestroyShaderModule(device_.handle, handle_, nullptr); }

  VkShaderModule handle() const { return handle_; }

 private:
  GpuDevice& device_;
  VkShaderModule handle_ = nullptr;
};

VkPipeline create_pipeline(GpuDevice& device, const spirv::Shader& shader, uint32_t subgroup_size,
                           VkPipelineCache cache) {
  // A driver may compile for seconds.
  const BlockingScope blocking;
  const DriverScope compiling;
  const ShaderModule module(device, shader.words);
  VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroup = {};
  subgroup.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO;
  subgroup.requiredSubgroupSize = subgroup_size;
  VkComputePipelineCreateInfo info = {.sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
                                      .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                                                .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                                                .module = module.handle(),
                                                .pName = "main"},
                                      .layout = device.layout};
  // Shaders exchange values only if their workgroups consist of full subgroups.
  if (subgroup_size && shader.clusters * loop::kLanes % subgroup_size == 0) {
    info.stage.pNext = &subgroup;
    info.stage.flags = VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
  }
  VkPipeline pipeline = nullptr;
  device.check(device.vk.CreateComputePipelines(device.handle, cache, 1, &info, nullptr, &pipeline),
               "create a pipeline");
  return pipeline;
}

/// What compile() produces.
struct Object {
  spirv::Shader shader;
  std::string_view cache;
};

std::string to_bytes(const spirv::Shader& shader, std::string_view cache) {
  const std::string text = spirv::to_bytes(shader);
  const uint64_t header[] = {kMagic, text.size()};
  std::string bytes(sizeof header, '\0');
  std::memcpy(bytes.data(), header, sizeof header);
  return bytes.append(text).append(cache);
}

Object parse_object(std::string_view bytes) {
  constexpr uint32_t kSpirvMagic = 0x07230203;
  uint64_t header[2];
  if (bytes.size() < sizeof header) throw InternalError("object code of a gpu is cut off");
  std::memcpy(header, bytes.data(), sizeof header);
  bytes.remove_prefix(sizeof header);
  if (header[0] != kMagic || header[1] > bytes.size()) throw InternalError("object code of a gpu is malformed");
  Object object{spirv::parse_shader(bytes.substr(0, header[1])), bytes.substr(header[1])};
  const spirv::Shader& shader = object.shader;
  if (shader.words.size() < 5 || shader.words[0] != kSpirvMagic || shader.clusters == 0)
    throw InternalError("object code of a gpu has no shader");
  return object;
}

/// The data of a cache, or nothing if another driver or device produced it. Drivers should check that themselves.
std::string_view usable_cache(const GpuDevice& device, std::string_view data) {
  // VkPipelineCacheHeaderVersionOne, but with a number for its enum: the bytes may be anything.
  struct Header {
    uint32_t size;
    uint32_t version;
    uint32_t vendor;
    uint32_t device;
    uint8_t uuid[VK_UUID_SIZE];
  } header;
  if (data.size() < sizeof header) return {};
  std::memcpy(&header, data.data(), sizeof header);
  const VkPhysicalDeviceProperties& properties = device.gpu.properties;
  const bool is_usable = header.size >= sizeof header && header.size <= data.size() &&
                         header.version == VK_PIPELINE_CACHE_HEADER_VERSION_ONE &&
                         header.vendor == properties.vendorID && header.device == properties.deviceID &&
                         std::memcmp(header.uuid, properties.pipelineCacheUUID, VK_UUID_SIZE) == 0;
  return is_usable ? data : std::string_view();
}

}  // namespace

class GpuGenerator : public CodeGenerator {
 public:
  GpuGenerator(GpuDevice& device, const spirv::Target& target) : device_(device), target_(target) {}

  std::string compile(const loop::Kernel& kernel, CpuLevel) override {
    device_.ensure_usable();
    const spirv::Shader shader = spirv::translate(kernel, target_);
    const PipelineCache cache(device_, {});
    const VkPipeline pipeline = create_pipeline(device_, shader, target_.subgroup_size, cache.handle());
    device_.vk.DestroyPipeline(device_.handle, pipeline, nullptr);
    return to_bytes(shader, cache.data());
  }

  Ref<LoadedCode> load(const loop::Kernel& kernel, std::string_view object, LoadedParts) override {
    const Object parsed = parse_object(object);
    device_.ensure_usable();
    const PipelineCache cache(device_, usable_cache(device_, parsed.cache));
    const auto buffers =
        static_cast<size_t>(std::count_if(kernel.buffers.begin(), kernel.buffers.end(), [](const loop::Buffer& buffer) {
          return buffer.kind == loop::Buffer::Kind::kArgument;
        }));
    auto code = make_ref<GpuCode>(device_, parsed.shader, buffers + static_cast<size_t>(kernel.param_count));
    code->pipeline_ = create_pipeline(device_, parsed.shader, target_.subgroup_size, cache.handle());
    return code;
  }

  std::string version() const override {
    const VkPhysicalDeviceProperties& properties = device_.gpu.properties;
    std::string uuid;
    for (uint8_t byte : properties.pipelineCacheUUID) uuid += fmt::format("{:02x}", byte);
    return fmt::format("spirv {} {} {} {:x} {} {}", LUCID_SPIRV_DIGEST, properties.deviceName, device_.gpu.driver,
                       properties.driverVersion, uuid, spirv::to_string(target_));
  }

 private:
  GpuDevice& device_;
  const spirv::Target target_;
};

GpuCode::GpuCode(GpuDevice& device, const spirv::Shader& shader, size_t argument_words)
    : device_(device), groups_(shader.clusters / shader.group), argument_words_(argument_words) {
  code_bytes_ = shader.words.size() * sizeof(uint32_t);
  // Drivers do not tell. Machine code has about the size of the shader, with data beside it.
  memory_bytes_ = sizeof(GpuCode) + 2 * code_bytes_;
  scratch_bytes_ = shader.scratch_bytes;
}

GpuCode::~GpuCode() {
  if (pipeline_ && device_.may_destroy()) device_.vk.DestroyPipeline(device_.handle, pipeline_, nullptr);
}

std::unique_ptr<CodeGenerator> make_gpu_generator(GpuDevice& device, const spirv::Target& target) {
  return std::make_unique<GpuGenerator>(device, target);
}

}  // namespace lucid
