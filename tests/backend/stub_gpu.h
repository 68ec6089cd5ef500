#pragma once

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/device.h"
#include "codegen/llvm_generator.h"
#include "device/gpu.h"
#include "runtime/float_mode.h"

/// A gpu whose memory is that of the host and whose kernels are those of the CPU: everything that a backend defines.
namespace lucid::testing {

/// How many blocks of its memory are in use, and how many launches it has run.
inline std::atomic<size_t> g_stub_blocks = 0, g_stub_launches = 0;

/// The CPU's code of a kernel, and what a launch needs to know to call it.
class StubCode : public LoadedCode {
 public:
  StubCode(Ref<LoadedCode> code, size_t buffers) : buffers(buffers), code_(std::move(code)) {
    function_ = code_->function();
    scratch_bytes_ = code_->scratch_bytes();
  }
  const size_t buffers;
  const Ref<LoadedCode>& code() const { return code_; }

 private:
  Ref<LoadedCode> code_;
};

class StubGenerator : public CodeGenerator {
 public:
  std::string compile(const loop::Kernel& kernel, CpuLevel target) override { return cpu_->compile(kernel, target); }

  Ref<LoadedCode> load(const loop::Kernel& kernel, std::string_view object, LoadedParts parts) override {
    for (Ref<LoadedCode>& part : parts) part = static_cast<const StubCode&>(*part).code();
    size_t buffers = 0;
    for (const loop::Buffer& buffer : kernel.buffers) buffers += buffer.kind == loop::Buffer::Kind::kArgument;
    return make_ref<StubCode>(cpu_->load(kernel, object, std::move(parts)), buffers);
  }

  std::string version() const override { return "stub " + cpu_->version(); }

 private:
  std::unique_ptr<CodeGenerator> cpu_ = codegen::make_llvm_generator();
};

/// Runs the launches at once.
class StubRun : public GpuRun {
 public:
  StubRun(Ref<GpuCommands> commands, const std::vector<uint64_t>& words, size_t bytes)
      : commands_(std::move(commands)), block_(words) {
    block_.resize(bytes / sizeof(uint64_t) + 1);
  }

  char* data() const override { return reinterpret_cast<char*>(const_cast<uint64_t*>(block_.data())); }
  uint64_t address() const override { return reinterpret_cast<uint64_t>(block_.data()); }

  void submit() override {
    const FloatModeScope float_mode;
    for (const GpuLaunch& launch : commands_->launches()) {
      const auto& code = static_cast<const StubCode&>(*launch.code);
      uint64_t* const words = block_.data() + launch.arguments / sizeof(uint64_t);
      std::vector<char> scratch(code.scratch_bytes() + 64);
      void* start = scratch.data();
      size_t space = scratch.size();
      std::align(64, code.scratch_bytes(), start, space);
      code.function()(reinterpret_cast<void* const*>(words), reinterpret_cast<const int64_t*>(words + code.buffers), 0,
                      launch.items, start);
      ++g_stub_launches;
    }
  }
  std::vector<double> run_timed() override {
    submit();
    return std::vector<double>(commands_->launches().size(), 1.0);
  }
  void wait() override {}

 private:
  const Ref<GpuCommands> commands_;
  std::vector<uint64_t> block_;
};

class StubCommands : public GpuCommands {
 public:
  StubCommands(std::vector<GpuLaunch> launches, std::vector<uint64_t> words, size_t bytes)
      : launches_(std::move(launches)), words_(std::move(words)), bytes_(bytes) {}
  std::span<const GpuLaunch> launches() const override { return launches_; }
  std::unique_ptr<GpuRun> start() override { return std::make_unique<StubRun>(Ref<GpuCommands>(this), words_, bytes_); }

 private:
  const std::vector<GpuLaunch> launches_;
  const std::vector<uint64_t> words_;
  const size_t bytes_;
};

class StubGpu : public Gpu {
 public:
  const std::string& name() const override {
    static const std::string name = "stub";
    return name;
  }
  TargetTraits traits() const override { return cpu_traits(); }
  std::unique_ptr<CodeGenerator> make_generator() override { return std::make_unique<StubGenerator>(); }

  void* allocate(size_t bytes) override {
    ++g_stub_blocks;
    return std::aligned_alloc(256, (bytes + 256) / 256 * 256);
  }
  void deallocate(void* address, size_t /*bytes*/) noexcept override {
    --g_stub_blocks;
    std::free(address);
  }
  void upload(void* to, const void* from, size_t bytes) override { std::memcpy(to, from, bytes); }
  void download(void* to, const void* from, size_t bytes) override { std::memcpy(to, from, bytes); }
  void copy(void* to, const void* from, size_t bytes) override { std::memcpy(to, from, bytes); }

  Ref<GpuCommands> make_commands(std::vector<GpuLaunch> launches, std::vector<uint64_t> words, size_t block_bytes,
                                 GpuRunMode /*mode*/) override {
    return make_ref<StubCommands>(std::move(launches), std::move(words), block_bytes);
  }
  void synchronize() override {}
};

/// The only gpu of this process: no driver is looked for.
inline Device stub_gpu() {
  static const int index = [] {
    for (const char* variable : {"VK_ICD_FILENAMES", "VK_DRIVER_FILES"}) setenv(variable, "/nowhere/driver.json", 1);
    return add_gpu_backend({.count = [] { return 1; },
                            .at = [](int) -> Gpu& {
                              static auto* const gpu = new StubGpu;
                              return *gpu;
                            }});
  }();
  return Device::gpu(index);
}

}  // namespace lucid::testing
