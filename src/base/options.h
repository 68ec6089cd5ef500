#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/cpu_level.h"

namespace lucid {

#ifdef NDEBUG
inline constexpr bool kVerifyByDefault = false;
#else
inline constexpr bool kVerifyByDefault = true;
#endif

/// Settings of the process. All are optional: the defaults depend on the machine.
struct Options {
  /// LUCID_NUM_THREADS. 0 means one per CPU that the process may use.
  int num_threads = 0;
  /// LUCID_TARGET: "avx512", "avx2" or "scalar". Empty means the highest level that the CPU supports.
  std::optional<CpuLevel> target;
  /// LUCID_CACHE_DIR: directory of the on-disk kernel cache. Empty means the user's cache directory.
  std::string cache_dir;
  /// LUCID_LOG: topics to log, separated by commas ("passes,cache"), or "all".
  std::string log;
  /// LUCID_DISABLE_PASSES: names of passes to skip when compiling, separated by commas.
  std::string disable_passes;
  /// LUCID_VERIFY_PASSES: whether plans are verified after each pass that changes them, "1" or "0". The default is 1 in
  /// debug builds, otherwise 0.
  bool verify_passes = kVerifyByDefault;
  /// LUCID_VERIFY: n to compare every n-th call that runs a plan with the function itself, 0 to compare none.
  int64_t verify = 0;
  /// LUCID_COMPILE_WAIT: whether compiled calls wait for their plans, "1" or "0". By default they run eagerly until the
  /// plan is there.
  bool compile_wait = false;
  /// LUCID_GPU_MEMORY_LIMIT: bytes that may be taken from each gpu. 0 means all of its memory.
  int64_t gpu_memory_limit = 0;
  /// LUCID_GPU_TIMEOUT: seconds without progress after which a thread no longer waits for a gpu.
  int gpu_timeout = 120;
  /// LUCID_GPU_VALIDATE: whether Vulkan's validation layer checks every call, "1" or "0". Errors abort the process.
  bool gpu_validate = false;
  /// LUCID_GPU_SHUFFLE: a seed to permute the launches between two barriers, which finds missing barriers. 0 keeps the
  /// order.
  int64_t gpu_shuffle = 0;
  /// LUCID_GPU_STAGING: whether copies between host and gpu use staging memory even if the host can access the gpu's
  /// memory, "1" or "0".
  bool gpu_staging = false;

  bool operator==(const Options&) const = default;
  bool logs(std::string_view topic) const;
};

inline constexpr int kMaxThreads = 1024;
inline constexpr int64_t kMaxVerify = 1'000'000'000'000;
inline constexpr int64_t kMaxGpuMemoryLimit = int64_t{1} << 50;
inline constexpr int kMaxGpuTimeout = 1'000'000;

/// Reads options through `lookup`, which returns null for a variable that is not set. Throws ValueError naming the
/// variable, its value and the allowed values.
Options read_options(const char* (*lookup)(const char* variable));

/// A copy of the current options. The environment is read at the first call, and not again.
Options options();
void set_options(const Options& options);

/// Replaces the options until the end of a scope; for tests.
class OptionsScope {
 public:
  explicit OptionsScope(const Options& options) : saved_(lucid::options()) { set_options(options); }
  OptionsScope(const OptionsScope&) = delete;
  OptionsScope& operator=(const OptionsScope&) = delete;
  ~OptionsScope() { set_options(saved_); }

 private:
  Options saved_;
};

}  // namespace lucid
