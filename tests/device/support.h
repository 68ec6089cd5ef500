#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "device/vulkan_gpu.h"
#include "loop/builder.h"

namespace lucid {

/// The validation layer checks every test: it aborts the process if Vulkan is used in a wrong way.
[[maybe_unused]] inline const int kValidates = setenv("LUCID_GPU_VALIDATE", "1", 0);

/// The gpu under test. These tests need a driver, such as Mesa's lavapipe.
inline VulkanGpu& gpu() { return dynamic_cast<VulkanGpu&>(Gpu::at(0)); }

/// Memory of the gpu, freed at the end of the scope.
template <typename T>
class Array {
 public:
  explicit Array(size_t count) : count_(count), address_(gpu().allocate(count * sizeof(T))) {}
  explicit Array(const std::vector<T>& values) : Array(values.size()) { write(values); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  ~Array() { gpu().deallocate(address_, count_ * sizeof(T)); }

  void* address() const { return address_; }
  void write(const std::vector<T>& values) const { gpu().upload(address_, values.data(), values.size() * sizeof(T)); }
  std::vector<T> read() const {
    std::vector<T> values(count_);
    gpu().download(values.data(), address_, count_ * sizeof(T));
    return values;
  }

 private:
  const size_t count_;
  void* const address_;
};

inline Ref<LoadedCode> load(const loop::Kernel& kernel) {
  const auto generator = gpu().make_generator();
  return generator->load(kernel, generator->compile(kernel, CpuLevel::kScalar));
}

/// x * factor + offset, as kernels compute it: integers wrap.
inline int64_t affine(int64_t x, int64_t factor, int64_t offset) {
  return static_cast<int64_t>(static_cast<uint64_t>(x) * static_cast<uint64_t>(factor) + static_cast<uint64_t>(offset));
}

/// x = x * param 0 + param 1, for elements of i64.
inline loop::Kernel affine_kernel() {
  loop::Builder b("affine");
  const loop::BufferRef x = b.argument(Dtype::kI64);
  const loop::Value factor = b.param(), offset = b.param();
  b.for_loop(b.begin(), b.end(), loop::kLanes, [&](loop::Value i) {
    const loop::Value mask = b.lanes_below(b.end() - i);
    b.store(x, i, b.load_vector(x, i, mask) * factor + offset, mask);
  });
  return b.finish();
}

/// x = y + param 0, for elements of i64.
inline loop::Kernel add_kernel() {
  loop::Builder b("add");
  const loop::BufferRef x = b.argument(Dtype::kI64), y = b.argument(Dtype::kI64);
  const loop::Value offset = b.param();
  b.for_loop(b.begin(), b.end(), loop::kLanes, [&](loop::Value i) {
    const loop::Value mask = b.lanes_below(b.end() - i);
    b.store(x, i, b.load_vector(y, i, mask) + offset, mask);
  });
  return b.finish();
}

/// The most iterations of all loops that an invocation may execute. Lavapipe ends loops early if there are more.
inline constexpr int64_t kMaxIterations = 60'000;

/// Applies x = x * 3 + 1 to each element of i64 param 0 times: long work.
inline loop::Kernel long_kernel() {
  loop::Builder b("long");
  const loop::BufferRef x = b.argument(Dtype::kI64);
  const loop::Value count = b.param();
  b.for_loop(b.begin(), b.end(), loop::kLanes, [&](loop::Value i) {
    const loop::Value first[] = {b.load_vector(x, i)};
    const auto last = b.for_loop(b.index(0), count, 1, first, [&](loop::Value, std::span<const loop::Value> carried) {
      return std::vector{carried[0] * b.index(3) + b.index(1)};
    });
    b.store(x, i, last[0]);
  });
  return b.finish();
}

/// Launches and the words of their argument block.
struct Program {
  std::vector<GpuLaunch> launches;
  std::vector<uint64_t> words = {0};

  void add(const Ref<LoadedCode>& code, int64_t items, const std::vector<void*>& buffers,
           const std::vector<int64_t>& params = {}, bool needs_barrier = true) {
    launches.push_back({.code = code,
                        .items = items,
                        .arguments = words.size() * 8,
                        .needs_barrier = needs_barrier,
                        .grain = loop::kLanes});
    for (void* buffer : buffers) words.push_back(reinterpret_cast<uint64_t>(buffer));
    for (int64_t param : params) words.push_back(static_cast<uint64_t>(param));
    if (code->scratch_bytes()) words.push_back(0);
  }

  size_t bytes() const { return words.size() * 8; }
  Ref<GpuCommands> make(GpuRunMode mode) const { return gpu().make_commands(launches, words, bytes(), mode); }
  /// Runs commands of this program with its words of now, without waiting.
  void run(GpuCommands& commands) const {
    const auto run = commands.start();
    std::memcpy(run->data(), words.data(), bytes());
    run->submit();
  }
  void run(GpuRunMode mode = GpuRunMode::kBatched) const { run(*make(mode)); }
};

/// Runs a disabled test of this program in a new process. Returns its exit status, or minus the signal that ended it.
inline int status_of_test(const std::string& name,
                          const std::vector<std::pair<std::string, std::string>>& variables = {}) {
  fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    for (const auto& [variable, value] : variables) setenv(variable.c_str(), value.c_str(), 1);
    ::alarm(60);
    const std::string filter = "--gtest_filter=" + name;
    ::execl("/proc/self/exe", "device_test", filter.c_str(), "--gtest_also_run_disabled_tests", "--gtest_brief=1",
            nullptr);
    ::_exit(100);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace lucid
