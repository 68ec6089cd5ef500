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

#include "base/lock.h"
#include "base/ref.h"
#include "codegen/code_generator.h"
#include "loop/kernel.h"
#include "runtime/object_store.h"

namespace lucid {

/// What a kernel cache has done so far.
struct KernelCacheStats {
  uint64_t hits = 0;
  /// Everything that was not in memory: found on disk, compiled, or failed.
  uint64_t misses = 0;
  uint64_t disk_hits = 0;
  uint64_t compiles = 0;
  uint64_t compile_nanoseconds = 0;
  /// Kernels in memory, and the memory that their code takes.
  uint64_t entries = 0;
  uint64_t bytes = 0;
};

/// How much a kernel cache may keep in memory that nobody else refers to.
struct KernelCacheLimits {
  size_t entries = 4096;
  size_t bytes = size_t{64} << 20;
};

/// Machine code by kernel and target, in memory and on disk. Thread safe. Whoever asks for a kernel that is being
/// compiled waits for that one compilation. Beyond the limits, the kernels that nobody else refers to leave memory,
/// those first that were not asked for the longest.
class KernelCache {
 public:
  KernelCache(std::unique_ptr<codegen::CodeGenerator> generator, std::string directory,
              uint64_t disk_limit = ObjectStore::kDefaultLimit);

  /// Throws what compiling threw, to all who waited for it; the next call tries again.
  Ref<codegen::LoadedCode> get(const loop::Kernel& kernel, CpuLevel target);

  KernelCacheStats stats();
  /// Forgets what is in memory; code that others refer to lives on.
  void clear();
  /// Applies from now on; for tests.
  void set_limits(const KernelCacheLimits& limits);

  /// The store and the key that a kernel has in it; for tests.
  ObjectStore& store() { return store_; }
  std::string store_key(const loop::Kernel& kernel, CpuLevel target) const;

  /// To be called in the child of a fork: nobody there does the compilations that were under way.
  void after_fork_in_child();

 private:
  /// A kernel that is there, or is being made, or could not be made.
  struct Entry {
    Ref<codegen::LoadedCode> code;
    std::exception_ptr failure;
    std::condition_variable_any done;
    uint64_t last_use = 0;        // by clock_
    std::shared_ptr<Entry> self;  // set in order never to be destroyed
  };

  Ref<codegen::LoadedCode> wait_for(const std::shared_ptr<Entry>& entry, std::unique_lock<Mutex>& lock);
  Ref<codegen::LoadedCode> make(const loop::Kernel& kernel, CpuLevel target);
  codegen::LoadedParts evict();

  std::unique_ptr<codegen::CodeGenerator> generator_;
  ObjectStore store_;
  Mutex& mutex() const { return mutex_of(LockRank::kKernelCache, this); }

  std::unordered_map<std::string, std::shared_ptr<Entry>> entries_;
  uint64_t clock_ = 0;
  size_t bytes_ = 0;  // of the code of all entries
  KernelCacheLimits limits_;
  /// When to look again for what can leave: at the limits, or later if what others refer to is more.
  KernelCacheLimits evict_beyond_;
  std::atomic<uint64_t> hits_{0}, misses_{0}, disk_hits_{0}, compiles_{0}, compile_nanoseconds_{0};
};

/// The process's own cache, with the LLVM generator and the default directory. LLVM starts with the first compilation.
KernelCache& kernel_cache();

}  // namespace lucid
