#include "runtime/kernel_cache.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>
#include <utility>

#include "base/error.h"
#include "base/memory_reserve.h"
#include "base/stack.h"
#include "codegen/llvm_generator.h"
#include "device/gpu.h"

namespace lucid {

KernelCache::KernelCache(std::unique_ptr<CodeGenerator> generator, std::string directory, uint64_t disk_limit)
    : generator_(std::move(generator)), store_(std::move(directory), disk_limit) {}

Ref<LoadedCode> KernelCache::get(const loop::Kernel& kernel, CpuLevel target) {
  std::string key = loop::key_of(kernel);
  key += static_cast<char>(target);
  std::shared_ptr<Entry> entry;
  {
    std::unique_lock lock(mutex());
    const auto found = entries_.find(key);
    if (found != entries_.end()) return wait_for(found->second, lock);
    entry = std::make_shared<Entry>();
    entries_.emplace(key, entry);
  }
  misses_.fetch_add(1, std::memory_order_relaxed);
  try {
    Ref<LoadedCode> code;
    with_large_stack([&] { code = make(kernel, target); });
    LoadedParts evicted;  // freed after the lock is released
    const std::lock_guard lock(mutex());
    entry->code = code;
    entry->last_use = ++clock_;
    bytes_ += code->memory_bytes();
    entry->done.notify_all();
    if (entries_.size() > evict_beyond_.entries || bytes_ > evict_beyond_.bytes) evicted = evict();
    return code;
  } catch (...) {
    // Does not allocate: the failure may be that memory ran out.
    const std::lock_guard lock(mutex());
    entries_.erase(key);
    entry->failure = std::current_exception();
    entry->done.notify_all();
    throw;
  }
}

Ref<LoadedCode> KernelCache::wait_for(const std::shared_ptr<Entry>& entry, std::unique_lock<Mutex>& lock) {
  // Keeps the entry alive: a failed entry is removed from the map during the wait.
  const std::shared_ptr<Entry> awaited = entry;
  awaited->done.wait(lock, [&] { return awaited->code || awaited->failure; });
  if (awaited->code) {
    hits_.fetch_add(1, std::memory_order_relaxed);
    awaited->last_use = ++clock_;
    return awaited->code;
  }
  prepare_to_throw();
  std::rethrow_exception(awaited->failure);
}

std::string KernelCache::store_key(const loop::Kernel& kernel, CpuLevel target) const {
  return fmt::format("{}\n{}\n{}", generator_->version(), name_of(target), loop::to_text(kernel));
}

Ref<LoadedCode> KernelCache::make(const loop::Kernel& kernel, CpuLevel target) {
  LoadedParts parts;
  for (const loop::Kernel& part : kernel.parts) parts.push_back(get(part, target));
  const std::string key = store_key(kernel, target);
  if (const auto object = store_.get(key)) {
    try {
      Ref<LoadedCode> code = generator_->load(kernel, *object, parts);
      disk_hits_.fetch_add(1, std::memory_order_relaxed);
      return code;
    } catch (const Error& error) {
      if (error.error_class() == ErrorClass::kMemory) throw;
      // The file is intact but the code cannot be loaded: it is compiled again below, which overwrites the file.
    }
  }
  // Kernels that were on disk were verified when they were compiled.
  loop::verify(kernel);
  const auto start = std::chrono::steady_clock::now();
  const std::string object = generator_->compile(kernel, target);
  Ref<LoadedCode> code = generator_->load(kernel, object, parts);
  const auto spent = std::chrono::steady_clock::now() - start;
  compiles_.fetch_add(1, std::memory_order_relaxed);
  compile_nanoseconds_.fetch_add(
      static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(spent).count()),
      std::memory_order_relaxed);
  try {
    store_.put(key, object);
  } catch (const std::bad_alloc&) {
    // The store is only a cache: the code is already loaded.
  }
  return code;
}

std::string KernelCache::object(const loop::Kernel& kernel, CpuLevel target) {
  const std::string key = store_key(kernel, target);
  if (auto object = store_.get(key)) return std::move(*object);
  loop::verify(kernel);
  std::string object = generator_->compile(kernel, target);
  store_.put(key, object);
  return object;
}

/// Removes the least recently used kernels beyond the limits and returns them. New references come only from the cache,
/// whose lock is held, so a kernel that only the cache refers to stays unreferenced.
LoadedParts KernelCache::evict() {
  // Evicts a quarter more than needed, so that evictions are rare.
  const KernelCacheLimits wanted{limits_.entries - limits_.entries / 4, limits_.bytes - limits_.bytes / 4};
  using Position = decltype(entries_)::iterator;
  std::vector<Position> unused;
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry)
    if (entry->second->code && entry->second->code->use_count() == 1) unused.push_back(entry);
  std::ranges::sort(unused, {}, [](const Position& position) { return position->second->last_use; });
  LoadedParts evicted;
  for (const Position& position : unused) {
    if (entries_.size() <= wanted.entries && bytes_ <= wanted.bytes) break;
    bytes_ -= position->second->code->memory_bytes();
    evicted.push_back(std::move(position->second->code));
    entries_.erase(position);
  }
  evict_beyond_ = {std::max(limits_.entries, entries_.size() + limits_.entries / 8),
                   std::max(limits_.bytes, bytes_ + limits_.bytes / 8)};
  return evicted;
}

void KernelCache::set_limits(const KernelCacheLimits& limits) {
  LoadedParts evicted;
  const std::lock_guard lock(mutex());
  limits_ = evict_beyond_ = limits;
  if (entries_.size() > limits.entries || bytes_ > limits.bytes) evicted = evict();
}

KernelCacheStats KernelCache::stats() {
  const std::lock_guard lock(mutex());
  return {.hits = hits_,
          .misses = misses_,
          .disk_hits = disk_hits_,
          .compiles = compiles_,
          .compile_nanoseconds = compile_nanoseconds_,
          .entries = entries_.size(),
          .bytes = bytes_};
}

void KernelCache::clear() {
  decltype(entries_) removed;  // freed after the lock is released
  const std::lock_guard lock(mutex());
  removed.swap(entries_);
  // Compilations in progress stay: threads wait for them, and others should not start them again.
  for (auto entry = removed.begin(); entry != removed.end();) {
    const auto here = entry++;
    if (!here->second->code) entries_.insert(removed.extract(here));
  }
  bytes_ = 0;
}

void KernelCache::after_fork_in_child() {
  const std::lock_guard lock(mutex());
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    if (entry->second->code) {
      ++entry;
      continue;
    }
    // Leaked, because its condition variable may have waiters that do not exist in this process.
    entry->second->self = entry->second;
    entry = entries_.erase(entry);
  }
}

namespace {

/// The caches of all devices, by the gpu's index; the CPU's is last. Never destroyed: other threads may still run
/// kernels while the process exits.
std::atomic<KernelCache*> g_caches[kMaxGpus + 1] = {};

void after_fork_in_child() {
  for (const std::atomic<KernelCache*>& cache : g_caches)
    if (cache) cache.load()->after_fork_in_child();
}

KernelCache& make_cache(Device device, std::atomic<KernelCache*>& place) {
  auto generator = device.is_gpu() ? Gpu::at(device.index()).make_generator() : codegen::make_llvm_generator();
  auto made = std::make_unique<KernelCache>(std::move(generator), default_cache_directory());
  KernelCache* expected = nullptr;
  if (!place.compare_exchange_strong(expected, made.get())) return *expected;
  static const int registered = ::pthread_atfork(nullptr, nullptr, after_fork_in_child);
  static_cast<void>(registered);
  return *made.release();
}

}  // namespace

KernelCache& kernel_cache(Device device) {
  std::atomic<KernelCache*>& place = g_caches[device.number()];
  KernelCache* const cache = place.load();
  return cache ? *cache : make_cache(device, place);
}

}  // namespace lucid
