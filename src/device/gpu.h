#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/memory_stats.h"
#include "code/code_generator.h"
#include "loop/target.h"

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

struct GpuLaunch;
class GpuCommands;
enum class GpuRunMode : uint8_t;

/// A gpu, or any other device that is not the CPU. Work is done in the order in which it is passed to the gpu, by any
/// thread; nothing waits for it but downloads, GpuRun::wait() and synchronize(). Memory may be freed while work that
/// uses it is pending: work that uses it again comes later. All functions are thread-safe.
///
/// upload(), download(), synchronize(), empty_cache(), GpuCommands::start() and GpuRun::wait() release the caller's
/// lock while they wait (base/blocking.h): no mutex may be held. The other functions do not wait, except that
/// allocate() waits for pending work before it gives up, and copy() while very much work is pending.
///
/// Every function that talks to the device throws: MemoryError if memory runs out, RuntimeError if the device is lost,
/// does not answer for a long time, or belongs to the parent of this forked process.
class Gpu {
 public:
  /// The number of gpus that can be used, of all backends: those of Vulkan come first. Never throws.
  static int count();
  /// Opens the gpu at the first call. Throws RuntimeError if there is none with this index or it cannot be opened.
  static Gpu& at(int index);

  Gpu() = default;
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;
  virtual ~Gpu() = default;

  /// Such as "llvmpipe (LLVM 15.0.6, 256 bits)".
  virtual const std::string& name() const = 0;
  /// What schedules for it may use.
  virtual TargetTraits traits() const = 0;
  /// Compiles kernels for this gpu: without calls, unless it has a core cache. Only its commands run the code.
  virtual std::unique_ptr<CodeGenerator> make_generator() = 0;

  /// Uninitialized memory, aligned to 256 bytes. Returns its address on the device, which the host must not access.
  virtual void* allocate(size_t bytes) = 0;
  /// Frees a block of allocate(bytes). Never touches the device in a forked process.
  virtual void deallocate(void* address, size_t bytes) noexcept = 0;
  virtual MemoryStats memory_stats() const { return {}; }
  virtual void reset_peak_memory() {}
  /// Returns cached memory to the device. Waits for pending work.
  virtual void empty_cache() {}

  /// Copies host memory to the device. The host memory may be reused when the function returns.
  virtual void upload(void* to, const void* from, size_t bytes) = 0;
  /// Copies to host memory, after all work passed to the gpu before.
  virtual void download(void* to, const void* from, size_t bytes) = 0;
  /// Copies within the device. The ranges must not overlap.
  virtual void copy(void* to, const void* from, size_t bytes) = 0;

  /// `block_bytes` is the size of the argument block, which begins with `words` in each run.
  virtual Ref<GpuCommands> make_commands(std::vector<GpuLaunch> launches, std::vector<uint64_t> words,
                                         size_t block_bytes, GpuRunMode mode) = 0;
  /// Waits for all work passed to the gpu before.
  virtual void synchronize() = 0;
  virtual GpuWorkStats work_stats() const { return {}; }
};

/// Gpus of one kind.
struct GpuBackend {
  /// The number of gpus that can be used. Never throws, and never changes after the first call.
  int (*count)();
  /// Opens the gpu at the first call; `index` is below count(). The gpu is never destroyed.
  Gpu& (*at)(int index);
};

/// Adds the gpus of a backend after all others; on one thread at a time. Returns the index of the first.
int add_gpu_backend(const GpuBackend& backend);

/// A launch of a kernel.
struct GpuLaunch {
  Ref<LoadedCode> code;
  int64_t items = 0;
  /// The position of its argument words in the block, in bytes; a multiple of 8: the address of each buffer, the
  /// params, and the address of scratch memory, which GpuRun fills in if the code needs any.
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

class GpuRun;

/// Launches in order, which can be run any number of times, each time with another block of arguments. Thread-safe.
class GpuCommands : public RefCounted {
 public:
  virtual std::span<const GpuLaunch> launches() const = 0;
  virtual size_t barrier_count() const { return 0; }
  /// Begins a run with an unused block. Waits while very much work is pending.
  virtual std::unique_ptr<GpuRun> start() = 0;
};

/// One run of commands: a block of arguments in memory that both the host and the gpu can access. It is used again when
/// the run has ended and this object is destroyed.
class GpuRun {
 public:
  GpuRun() = default;
  GpuRun(const GpuRun&) = delete;
  GpuRun& operator=(const GpuRun&) = delete;
  virtual ~GpuRun() = default;

  /// The block. What the launches use must be filled before submit().
  virtual char* data() const = 0;
  /// Its address on the device.
  virtual uint64_t address() const = 0;

  virtual void submit() = 0;
  /// Instead of submit() and wait(): returns the nanoseconds that each of the commands' launches took. Launches between
  /// barriers may run at the same time. Throws RuntimeError if the gpu cannot measure times.
  virtual std::vector<double> run_timed() = 0;
  /// Waits until the run has ended. What the gpu wrote to the block can then be read.
  virtual void wait() = 0;
};

}  // namespace lucid
