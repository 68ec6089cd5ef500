#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/memory_stats.h"
#include "code/code_generator.h"
#include "spirv/shader.h"

namespace lucid {

/// Counters of the work of a gpu.
struct GpuWorkStats {
  uint64_t submissions = 0;
  uint64_t dispatches = 0;
  /// Barriers between the launches of GpuCommands.
  uint64_t barriers = 0;
  /// Command buffers of GpuCommands that were recorded.
  uint64_t recordings = 0;
  uint64_t uploads = 0;
  uint64_t downloads = 0;
};

/// A gpu, through Vulkan. Work is done in the order in which it is passed to the gpu, by any thread; nothing waits for
/// it but downloads, GpuRun::wait() and synchronize(). Memory may be freed while work that uses it is pending: work
/// that uses it again comes later. All functions are thread-safe.
///
/// upload(), download(), synchronize(), empty_cache() and a GpuRun's constructor and wait() release the caller's lock
/// while they wait (base/blocking.h): no mutex may be held. The other functions do not wait, except that allocate()
/// waits for pending work before it gives up, and copy() while very much work is pending.
///
/// Every function that talks to the device throws: MemoryError if memory runs out, RuntimeError if the device is lost,
/// does not answer for a long time, or belongs to the parent of this forked process.
class Gpu {
 public:
  /// The number of gpus that can be used. 0 if the machine has no Vulkan. Never throws.
  static int count();
  /// Opens the gpu at the first call. Throws RuntimeError if there is none with this index or it cannot be opened.
  static Gpu& at(int index);

  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  /// Such as "llvmpipe (LLVM 15.0.6, 256 bits)".
  const std::string& name() const;
  /// Name and version of the driver.
  const std::string& driver() const;
  const spirv::Target& target() const;

  /// Uninitialized memory, aligned to 256 bytes. Returns its address on the device, which the host must not access.
  void* allocate(size_t bytes);
  /// Frees a block of allocate(bytes). Never touches the device in a forked process.
  void deallocate(void* address, size_t bytes) noexcept;
  MemoryStats memory_stats() const;
  void reset_peak_memory();
  /// Returns cached memory to the device. Waits for pending work.
  void empty_cache();

  /// Copies host memory to the device. The host memory may be reused when the function returns.
  void upload(void* to, const void* from, size_t bytes);
  /// Copies to host memory, after all work passed to the gpu before.
  void download(void* to, const void* from, size_t bytes);
  /// Copies within the device. The ranges must not overlap.
  void copy(void* to, const void* from, size_t bytes);

  /// Submits work that is waiting to be batched.
  void flush();
  /// Waits for all work passed to the gpu before.
  void synchronize();
  GpuWorkStats work_stats() const;

  /// Compiles kernels without calls for this gpu. Its code has no function, and is passed to GpuCommands.
  std::unique_ptr<CodeGenerator> make_generator();

 private:
  friend class GpuCommands;
  friend class GpuRun;
  struct State;
  explicit Gpu(int index);
  ~Gpu();
  std::unique_ptr<State> state_;
};

/// A launch of a kernel.
struct GpuLaunch {
  Ref<LoadedCode> code;
  int64_t items = 0;
  /// The position of its argument words (spirv::PushConstants::arguments) in the block, in bytes; a multiple of 8.
  /// The address of scratch memory, if the code needs any, is filled in by GpuRun.
  size_t arguments = 0;
  /// Whether it reads or writes what a launch before it, after the last barrier, writes, or writes what one reads.
  bool needs_barrier = true;
  /// The least number of items for a cluster. More are assigned to it if scratch memory or the gpu's limits require.
  int64_t grain = 1;
};

/// How commands are run.
enum class GpuRunMode : uint8_t {
  kBatched,   // added to the batch of pending work, which is submitted when something waits for it or it is long enough
  kRecorded,  // recorded once as a command buffer, which each run submits at once, after the pending batch
};

/// Launches in order, which can be run any number of times, each time with another block of arguments. Thread-safe.
class GpuCommands : public RefCounted {
 public:
  /// `block_bytes` is the size of the argument block, which begins with `words` in each run.
  GpuCommands(Gpu& gpu, std::vector<GpuLaunch> launches, std::vector<uint64_t> words, size_t block_bytes,
              GpuRunMode mode);
  ~GpuCommands() override;

  size_t barrier_count() const;
  std::span<const GpuLaunch> launches() const;

 private:
  friend class GpuRun;
  struct State;
  std::unique_ptr<State> state_;
};

/// One run of commands: a block of arguments in memory that both the host and the gpu can access.
class GpuRun {
 public:
  /// Takes an unused block. Waits while very much work is pending.
  explicit GpuRun(GpuCommands& commands);
  GpuRun(const GpuRun&) = delete;
  GpuRun& operator=(const GpuRun&) = delete;
  /// Returns the block, which is used again when the run has ended.
  ~GpuRun();

  /// The block. What the launches use must be filled before submit().
  char* data() const;
  /// Its address on the device.
  uint64_t address() const;

  void submit();
  /// Instead of submit() and wait(): returns the nanoseconds that each of the commands' launches took. Launches between
  /// barriers may run at the same time. Throws RuntimeError if the gpu cannot measure times.
  std::vector<double> run_timed();
  /// Waits until the run has ended. What the gpu wrote to the block can then be read.
  void wait();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lucid
