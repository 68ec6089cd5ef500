#include "runtime/allocator.h"

#include <sys/sysinfo.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <memory>
#include <mutex>
#include <new>

#include "base/error.h"
#include "base/lock.h"
#include "base/memory_reserve.h"
#include "runtime/block_cache.h"
#include "runtime/guarded_memory.h"
#include "runtime/small_blocks.h"
#include "runtime/unused_part.h"

namespace lucid {
namespace {

constexpr size_t kSlab = size_t{64} << 10;
/// How many bytes of one class a thread caches. A quarter of that moves to or from the shared lists at a time.
constexpr size_t kThreadBytesPerClass = size_t{128} << 10;
constexpr int64_t kReportEvery = int64_t{64} << 10;

uint32_t max_cached(size_t size_class) { return static_cast<uint32_t>(kThreadBytesPerClass / kClassSizes[size_class]); }

void add_unshared(std::atomic<int64_t>& counter, int64_t amount) {
  counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
}

/// One thread's free lists. Only its thread writes to it; others read the counters.
struct ThreadCache {
  std::array<FreeList, kClasses> lists;
  /// Bytes not yet added to the shared counter; negative when this thread frees blocks that others allocated.
  std::atomic<int64_t> unreported{0};
  std::atomic<int64_t> allocations{0};
  // Neighbours in the list of all threads.
  ThreadCache* previous = nullptr;
  ThreadCache* next = nullptr;
};

size_t machine_memory() {
  struct sysinfo info;
  if (sysinfo(&info) != 0) return std::numeric_limits<size_t>::max() / 4;
  return (static_cast<size_t>(info.totalram) + info.totalswap) * info.mem_unit;
}

/// The state shared by all threads. Never destroyed: tensors may outlive static objects.
class Central {
 public:
  static Central& get() {
    static Central* const instance = new Central;
    return *instance;
  }

  void refill(ThreadCache& cache, size_t size_class);
  void drain(ThreadCache& cache, size_t size_class, uint32_t keep);
  void* allocate_small(size_t size_class);
  void deallocate_small(void* data, size_t size_class);
  void* allocate_large(size_t bytes);
  void deallocate_large(void* data, size_t bytes);
  void* allocate_guarded(size_t bytes, GuardMode mode);
  void deallocate_guarded(size_t bytes);
  void empty_cache();

  void enter(ThreadCache* cache);
  void leave(ThreadCache* cache);
  void report(ThreadCache& cache);
  MemoryStats stats();
  void reset_peak();

 private:
  /// `others` are bytes in use that threads have not reported yet.
  void add_in_use(int64_t bytes, int64_t others = 0);
  /// Called with the lock held.
  int64_t unreported() const;
  /// Returns the peak.
  int64_t raise_peak(int64_t in_use);
  void* pop_or_carve(size_t size_class);
  void refuse_if_it_cannot_fit(size_t bytes, size_t size);

  const size_t machine_bytes_ = machine_memory();
  const size_t cache_limit_ = cache_limit();

  Mutex& mutex_ = mutex_of(LockRank::kAllocator);
  std::array<FreeList, kClasses> lists_;
  BlockCache cache_;
  ThreadCache* first_thread_ = nullptr;

  std::atomic<int64_t> in_use_{0};
  std::atomic<int64_t> peak_{0};
  std::atomic<int64_t> from_system_{0};
  std::atomic<int64_t> allocations_{0};
};

[[noreturn]] void fail(size_t bytes, const char* why) {
  prepare_to_throw();
  throw MemoryError("out of memory: cannot allocate {} bytes ({:.1f} GiB): {}", bytes,
                    static_cast<double>(bytes) / (size_t{1} << 30), why);
}

/// Created when the library is loaded, while there is one thread: if another thread constructed it during a fork, the
/// child would wait for that thread forever.
[[gnu::constructor]] void make_central() { Central::get(); }

void Central::add_in_use(int64_t bytes, int64_t others) {
  raise_peak(in_use_.fetch_add(bytes, std::memory_order_relaxed) + bytes + others);
}

int64_t Central::unreported() const {
  int64_t bytes = 0;
  for (const ThreadCache* cache = first_thread_; cache; cache = cache->next)
    bytes += cache->unreported.load(std::memory_order_relaxed);
  return bytes;
}

int64_t Central::raise_peak(int64_t in_use) {
  int64_t peak = peak_.load(std::memory_order_relaxed);
  while (in_use > peak && !peak_.compare_exchange_weak(peak, in_use, std::memory_order_relaxed)) {
  }
  return std::max(in_use, peak);
}

/// Called with the lock held. Null when the system has no more memory.
void* Central::pop_or_carve(size_t size_class) {
  FreeList& list = lists_[size_class];
  if (void* const block = list.pop()) return block;
  auto* const slab = static_cast<char*>(system_allocate(kSlab));
  if (!slab) return nullptr;
  from_system_.fetch_add(kSlab, std::memory_order_relaxed);
  const size_t size = kClassSizes[size_class];
  for (size_t offset = kSlab / size * size; offset > 0; offset -= size) list.push(slab + offset - size);
  return list.pop();
}

void Central::refill(ThreadCache& cache, size_t size_class) {
  const std::lock_guard lock(mutex_);
  for (uint32_t left = max_cached(size_class) / 4; left > 0; --left) {
    void* const block = pop_or_carve(size_class);
    if (!block) break;
    cache.lists[size_class].push(block);
  }
}

void Central::drain(ThreadCache& cache, size_t size_class, uint32_t keep) {
  const std::lock_guard lock(mutex_);
  FreeList& list = cache.lists[size_class];
  while (list.count > keep) lists_[size_class].push(list.pop());
}

void* Central::allocate_small(size_t size_class) {
  const std::lock_guard lock(mutex_);
  void* const block = pop_or_carve(size_class);
  if (!block) return nullptr;
  add_in_use(kClassSizes[size_class]);
  allocations_.fetch_add(1, std::memory_order_relaxed);
  return block;
}

void Central::deallocate_small(void* data, size_t size_class) {
  add_in_use(-static_cast<int64_t>(kClassSizes[size_class]));
  const std::lock_guard lock(mutex_);
  lists_[size_class].push(data);
}

void Central::refuse_if_it_cannot_fit(size_t bytes, size_t size) {
  const auto used = static_cast<size_t>(std::max<int64_t>(in_use_.load(std::memory_order_relaxed), 0));
  if (size > machine_bytes_ || used > machine_bytes_ - size)
    throw MemoryError(
        "out of memory: cannot allocate {} bytes ({:.1f} GiB): {:.1f} of the machine's {:.1f} GiB are in use", bytes,
        static_cast<double>(bytes) / (size_t{1} << 30), static_cast<double>(used) / (size_t{1} << 30),
        static_cast<double>(machine_bytes_) / (size_t{1} << 30));
}

void* Central::allocate_large(size_t bytes) {
  refuse_if_it_cannot_fit(bytes, bytes);
  const size_t size = large_block_size(bytes);
  void* block = nullptr;
  int64_t others = 0;
  {
    const std::lock_guard lock(mutex_);
    block = cache_.take(size);
    // Compared with a block of this size, the bytes that threads have not reported matter for the peak.
    if (static_cast<int64_t>(size) >= kReportEvery) others = unreported();
  }
  if (!block) {
    const auto taken = static_cast<size_t>(from_system_.load(std::memory_order_relaxed));
    if (taken + size > machine_bytes_) empty_cache();
    block = system_allocate(size);
    if (!block) {
      empty_cache();
      block = system_allocate(size);
    }
    if (!block) fail(bytes, "the system has no more memory");
    from_system_.fetch_add(static_cast<int64_t>(size), std::memory_order_relaxed);
  }
  add_in_use(static_cast<int64_t>(size), others);
  allocations_.fetch_add(1, std::memory_order_relaxed);
  return block;
}

void Central::deallocate_large(void* data, size_t bytes) {
  const size_t size = large_block_size(bytes);
  BlockCache::Block* surplus = nullptr;
  size_t surplus_bytes = 0;
  {
    const std::lock_guard lock(mutex_);
    cache_.give(data, size);
    const size_t before = cache_.bytes();
    surplus = cache_.shrink(cache_limit_);
    surplus_bytes = before - cache_.bytes();
  }
  add_in_use(-static_cast<int64_t>(size));
  from_system_.fetch_sub(static_cast<int64_t>(surplus_bytes), std::memory_order_relaxed);
  BlockCache::release_all(surplus);
}

void* Central::allocate_guarded(size_t bytes, GuardMode mode) {
  refuse_if_it_cannot_fit(bytes, bytes);
  void* const data = guarded_allocate(bytes, mode);
  if (!data) fail(bytes, "the system has no more memory");
  from_system_.fetch_add(static_cast<int64_t>(bytes), std::memory_order_relaxed);
  add_in_use(static_cast<int64_t>(bytes));
  allocations_.fetch_add(1, std::memory_order_relaxed);
  return data;
}

void Central::deallocate_guarded(size_t bytes) {
  from_system_.fetch_sub(static_cast<int64_t>(bytes), std::memory_order_relaxed);
  add_in_use(-static_cast<int64_t>(bytes));
}

void Central::empty_cache() {
  BlockCache::Block* blocks = nullptr;
  {
    const std::lock_guard lock(mutex_);
    from_system_.fetch_sub(static_cast<int64_t>(cache_.bytes()), std::memory_order_relaxed);
    blocks = cache_.shrink(0);
  }
  BlockCache::release_all(blocks);
}

void Central::enter(ThreadCache* cache) {
  const std::lock_guard lock(mutex_);
  cache->next = first_thread_;
  if (first_thread_) first_thread_->previous = cache;
  first_thread_ = cache;
}

void Central::leave(ThreadCache* cache) {
  for (size_t size_class = 0; size_class < kClasses; ++size_class) drain(*cache, size_class, 0);
  report(*cache);
  const std::lock_guard lock(mutex_);
  allocations_.fetch_add(cache->allocations.load(std::memory_order_relaxed), std::memory_order_relaxed);
  (cache->previous ? cache->previous->next : first_thread_) = cache->next;
  if (cache->next) cache->next->previous = cache->previous;
}

void Central::report(ThreadCache& cache) {
  add_in_use(cache.unreported.load(std::memory_order_relaxed));
  cache.unreported.store(0, std::memory_order_relaxed);
}

MemoryStats Central::stats() {
  const std::lock_guard lock(mutex_);
  const int64_t in_use = in_use_.load(std::memory_order_relaxed) + unreported();
  int64_t allocations = allocations_.load(std::memory_order_relaxed);
  for (const ThreadCache* cache = first_thread_; cache; cache = cache->next)
    allocations += cache->allocations.load(std::memory_order_relaxed);
  return {.bytes_in_use = in_use,
          .peak_bytes = raise_peak(in_use),  // the peak is never below a reported use
          .cached_bytes = from_system_.load(std::memory_order_relaxed) - in_use,
          .allocations = static_cast<uint64_t>(allocations)};
}

void Central::reset_peak() { peak_.store(stats().bytes_in_use, std::memory_order_relaxed); }

constinit thread_local ThreadCache* t_cache = nullptr;
constinit thread_local bool t_thread_ended = false;

/// Returns the thread's lists when it ends. Blocks freed after that, by destructors that run later, go directly to the
/// shared lists.
struct ThreadEnd {
  bool awaited = false;
  ~ThreadEnd() {
    t_thread_ended = true;
    if (ThreadCache* const cache = std::exchange(t_cache, nullptr)) {
      Central::get().leave(cache);
      delete cache;
    }
  }
};
thread_local ThreadEnd t_thread_end;

/// Null in a thread that is ending, and when there is no memory for a cache: freeing must not fail.
ThreadCache* this_thread_cache() {
  if (t_cache || t_thread_ended || !has_some_memory()) return t_cache;
  // The first use of the object registers its destructor, which runs when the thread ends.
  t_thread_end.awaited = true;
  auto* const cache = new (std::nothrow) ThreadCache;
  if (cache) Central::get().enter(cache);
  return t_cache = cache;
}

void count_small(ThreadCache& cache, int64_t bytes) {
  add_unshared(cache.unreported, bytes);
  const int64_t unreported = cache.unreported.load(std::memory_order_relaxed);
  if (unreported >= kReportEvery || unreported <= -kReportEvery) [[unlikely]]
    Central::get().report(cache);
}

/// The number of reasons to leave the fast path: an active guard mode, live guarded blocks, a failure scope.
constinit std::atomic<int64_t> g_special{0};
constinit std::atomic<GuardMode> g_guard_mode{GuardMode::kOff};
constinit std::atomic<bool> g_failing{false};
constinit std::atomic<int64_t> g_successes_left{0};  // below zero after the first failure
constinit std::atomic<bool> g_fails_once{false};

void* pop_small(ThreadCache& cache, size_t size_class) {
  void* const block = cache.lists[size_class].pop();
  if (!block) return nullptr;
  count_small(cache, kClassSizes[size_class]);
  add_unshared(cache.allocations, 1);
  return block;
}

void* allocate_uncommon(size_t bytes) {
  Central& central = Central::get();
  if (g_special.load(std::memory_order_relaxed) != 0) {
    if (g_failing.load()) {
      const int64_t left = g_successes_left.fetch_sub(1);
      if (left == 0 || (left < 0 && !g_fails_once.load())) fail(bytes, "a test makes allocations fail");
    }
    const GuardMode mode = g_guard_mode.load();
    if (mode != GuardMode::kOff) {
      void* const data = central.allocate_guarded(bytes, mode);
      g_special.fetch_add(1);
      return data;
    }
  }
  if (bytes > kLargestSmallBlock) return without_unused_part(central.allocate_large(bytes), bytes);
  const size_t size_class = class_of(bytes);
  ThreadCache* const cache = this_thread_cache();
  if (cache && !cache->lists[size_class].head) central.refill(*cache, size_class);
  void* const block = cache ? pop_small(*cache, size_class) : central.allocate_small(size_class);
  if (!block) fail(bytes, "the system has no more memory");
  return without_unused_part(block, bytes);
}

void deallocate_uncommon(void* data, size_t bytes) {
  Central& central = Central::get();
  if (g_special.load(std::memory_order_relaxed) != 0 && guarded_release(data)) {
    g_special.fetch_sub(1);
    return central.deallocate_guarded(bytes);
  }
  restore_unused_part(data, bytes);
  if (bytes > kLargestSmallBlock) return central.deallocate_large(data, bytes);
  const size_t size_class = class_of(bytes);
  ThreadCache* const cache = this_thread_cache();
  if (!cache) return central.deallocate_small(data, size_class);
  cache->lists[size_class].push(data);
  count_small(*cache, -static_cast<int64_t>(kClassSizes[size_class]));
  if (cache->lists[size_class].count > max_cached(size_class))
    central.drain(*cache, size_class, max_cached(size_class) * 3 / 4);
}

}  // namespace

void* allocate(size_t bytes) {
  ThreadCache* const cache = t_cache;
  if (bytes <= kLargestSmallBlock && cache && g_special.load(std::memory_order_relaxed) == 0) [[likely]] {
    if (void* const block = pop_small(*cache, class_of(bytes))) [[likely]]
      return without_unused_part(block, bytes);
  }
  return allocate_uncommon(bytes);
}

void deallocate(void* data, size_t bytes) noexcept {
  if (!data) return;
  ThreadCache* const cache = t_cache;
  if (bytes <= kLargestSmallBlock && cache && g_special.load(std::memory_order_relaxed) == 0) [[likely]] {
    const size_t size_class = class_of(bytes);
    FreeList& list = cache->lists[size_class];
    if (list.count < max_cached(size_class)) [[likely]] {
      restore_unused_part(data, bytes);
      list.push(data);
      return count_small(*cache, -static_cast<int64_t>(kClassSizes[size_class]));
    }
  }
  deallocate_uncommon(data, bytes);
}

MemoryStats memory_stats() { return Central::get().stats(); }
void reset_peak_memory() { Central::get().reset_peak(); }
void empty_cache() { Central::get().empty_cache(); }

size_t cache_limit() { return std::clamp<size_t>(machine_memory() / 8, size_t{64} << 20, size_t{4} << 30); }

void set_guard_mode(GuardMode mode) {
  const GuardMode previous = g_guard_mode.exchange(mode);
  g_special.fetch_add((mode != GuardMode::kOff) - (previous != GuardMode::kOff));
}

AllocationFailureScope::AllocationFailureScope(int64_t successes, bool only_one) {
  g_successes_left.store(successes);
  g_fails_once.store(only_one);
  LUCID_CHECK(!g_failing.exchange(true), "two AllocationFailureScopes at the same time");
  g_special.fetch_add(1);
}

bool AllocationFailureScope::has_failed() const { return g_successes_left.load() < 0; }

AllocationFailureScope::~AllocationFailureScope() {
  g_failing.store(false);
  g_special.fetch_sub(1);
}

}  // namespace lucid
