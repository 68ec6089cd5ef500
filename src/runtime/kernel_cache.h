#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/device.h"
#include "base/lock.h"
#include "base/ref.h"
#include "code/code_generator.h"
#include "loop/kernel.h"
#include "runtime/object_store.h"

namespace lucid {

/// Counters of a kernel cache.
struct KernelCacheStats {
  uint64_t hits = 0;
  /// Requests for kernels that were not in memory: found on disk, compiled, or failed.
  uint64_t misses = 0;
  uint64_t disk_hits = 0;
  uint64_t compiles = 0;
  uint64_t compile_nanoseconds = 0;
  /// Kernels in memory, and the bytes of their code.
  uint64_t entries = 0;
  uint64_t bytes = 0;
};

/// Limits beyond which a kernel cache evicts kernels that nothing else refers to.
struct KernelCacheLimits {
  size_t entries = 4096;
  size_t bytes = size_t{64} << 20;
};

/// Machine code by kernel and target, in memory and on disk. Thread-safe. A request for a kernel that is being compiled
/// waits for that compilation. Beyond the limits, kernels that nothing else refers to are evicted from memory, least
/// recently used first.
class KernelCache {
 public:
  KernelCache(std::unique_ptr<CodeGenerator> generator, std::string directory,
              uint64_t disk_limit = ObjectStore::kDefaultLimit);

  /// If compiling throws, every waiting caller gets the exception; the next call tries again.
  Ref<LoadedCode> get(const loop::Kernel& kernel, CpuLevel target);

  /// The object code of a kernel, without that of its parts, from the disk or compiled; nothing is loaded.
  std::string object(const loop::Kernel& kernel, CpuLevel target);

  KernelCacheStats stats();
  /// Removes all kernels from memory; code that others refer to stays alive.
  void clear();
  /// Sets the limits and evicts down to them; for tests.
  void set_limits(const KernelCacheLimits& limits);

  /// The store, and the key of a kernel in it; for tests.
  ObjectStore& store() { return store_; }
  std::string store_key(const loop::Kernel& kernel, CpuLevel target) const;

  /// Must be called in the child of a fork: drops the compilations in progress, which no thread of the child continues.
  void after_fork_in_child();

 private:
  /// A kernel that is compiled, is being compiled, or failed to compile.
  struct Entry {
    Ref<LoadedCode> code;
    std::exception_ptr failure;
    std::condition_variable_any done;
    uint64_t last_use = 0;        // by clock_
    std::shared_ptr<Entry> self;  // set to leak the entry
  };

  Ref<LoadedCode> wait_for(const std::shared_ptr<Entry>& entry, std::unique_lock<Mutex>& lock);
  Ref<LoadedCode> make(const loop::Kernel& kernel, CpuLevel target);
  LoadedParts evict();

  std::unique_ptr<CodeGenerator> generator_;
  ObjectStore store_;
  Mutex& mutex() const { return mutex_of(LockRank::kKernelCache, this); }

  std::unordered_map<std::string, std::shared_ptr<Entry>> entries_;
  uint64_t clock_ = 0;
  size_t bytes_ = 0;  // of the code of all entries
  KernelCacheLimits limits_;
  /// The sizes that trigger the next eviction: the limits, or more if the kernels in use exceed them.
  KernelCacheLimits evict_beyond_;
  std::atomic<uint64_t> hits_{0}, misses_{0}, disk_hits_{0}, compiles_{0}, compile_nanoseconds_{0};
};

/// The process's own cache for a device, with the default directory. LLVM starts with the first compilation for the
/// CPU. A gpu has one target: code for it is the same for every CpuLevel.
KernelCache& kernel_cache(Device device = kCpuDevice);

}  // namespace lucid
