#include "runtime/thread_pool.h"

#include <immintrin.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <limits>
#include <mutex>
#include <new>
#include <vector>

#include "base/error.h"
#include "base/memory_reserve.h"
#include "base/options.h"
#include "runtime/cpu_count.h"
#include "runtime/float_mode.h"

namespace lucid {
namespace thread_pool_detail {

constinit std::atomic<int> g_num_threads{0};

}  // namespace thread_pool_detail

namespace {

using thread_pool_detail::g_num_threads;

/// About a millisecond: workers are still awake if the next region starts within that time.
constexpr int kSpins = 20000;
/// With more threads than CPUs, spinning only delays the thread that has work.
constexpr int kSpinsWhenCrowded = 50;
/// Several ranges for each thread balance the load when a thread is interrupted.
constexpr int64_t kChunksPerThread = 4;
constexpr size_t kCacheLine = 64;

/// Always true on workers; true on a caller inside its region.
constinit thread_local bool t_in_region = false;

long futex(std::atomic<uint32_t>& word, int operation, uint32_t value) {
  static_assert(sizeof word == sizeof(uint32_t));
  return syscall(SYS_futex, &word, operation | FUTEX_PRIVATE_FLAG, value, nullptr, nullptr, 0);
}
void sleep_while_equal(std::atomic<uint32_t>& word, uint32_t value) { futex(word, FUTEX_WAIT, value); }
void wake_one(std::atomic<uint32_t>& word) { futex(word, FUTEX_WAKE, 1); }

/// The chunks that a participant runs first. Then it takes chunks of the other lanes, so a late worker does not delay
/// the region. If all workers are on time, each thread gets the same part of the data in consecutive regions.
struct alignas(kCacheLine) Lane {
  std::atomic<int64_t> next{0};
  int64_t end = 0;
};

/// Wakes a sleeping worker. Each worker has its own futex word, so that a region wakes only the workers that it uses.
struct alignas(kCacheLine) Bell {
  std::atomic<uint32_t> rings{0};
  std::atomic<bool> asleep{false};
};

class Pool;

struct Worker {
  Worker(Pool* owner, size_t worker_number) : pool(owner), number(worker_number) {}
  Pool* const pool;
  const size_t number;
  Bell bell;
};

/// The workers and the one region that they can be running.
///
/// Workers enter and leave the region through the gate. Its low bits count the workers inside, and workers may enter
/// only while it is open. A worker inside may read the region's description. The caller closes the gate when no chunks
/// are left and waits for the count to reach zero. A worker that wakes up too late finds the gate closed, and the
/// caller has not waited for it.
class Pool {
 public:
  Pool() { lanes_ = std::make_unique<Lane[]>(1); }

  /// False when another thread is using the pool.
  bool try_run(int64_t count, int64_t grain, RangeFunction body, int threads) {
    if (busy_.exchange(true, std::memory_order_acquire)) return false;
    const Release release{busy_};
    run(count, grain, body, threads);
    if (error_) {
      prepare_to_throw();
      std::rethrow_exception(std::exchange(error_, nullptr));
    }
    return true;
  }

 private:
  struct Release {
    std::atomic<bool>& busy;
    ~Release() { busy.store(false, std::memory_order_release); }
  };
  static constexpr uint32_t kOpen = 1u << 31;
  static constexpr uint32_t kCallerSleeps = 1u << 30;
  static constexpr uint32_t kInside = kCallerSleeps - 1;

  void run(int64_t count, int64_t grain, RangeFunction body, int threads);
  size_t ensure_workers(size_t participants);
  void take_part(size_t number);
  void run_chunk(int64_t chunk);
  void wait_until_empty();
  void work(Worker& self);
  static void* worker_main(void* argument);

  std::atomic<bool> busy_{false};
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<Lane[]> lanes_;
  size_t lane_capacity_ = 1;
  std::atomic<int> spins_{kSpins};
  const int cpus_ = usable_cpus();

  // The region.
  const RangeFunction* body_ = nullptr;
  int64_t count_ = 0;
  int64_t chunks_ = 0;
  size_t participants_ = 0;
  uint32_t float_mode_ = 0;
  std::atomic<int64_t> failed_chunk_{0};
  std::mutex error_mutex_;
  std::exception_ptr error_;

  alignas(kCacheLine) std::atomic<uint32_t> gate_{0};
};

void Pool::run(int64_t count, int64_t grain, RangeFunction body, int threads) {
  const int64_t max_chunks = count / std::max<int64_t>(grain, 1);
  participants_ = ensure_workers(static_cast<size_t>(std::min<int64_t>(threads, max_chunks)));
  const auto participants = static_cast<int64_t>(participants_);
  chunks_ = std::min(kChunksPerThread, max_chunks / participants) * participants;
  count_ = count;
  body_ = &body;
  float_mode_ = current_float_mode();
  failed_chunk_.store(std::numeric_limits<int64_t>::max(), std::memory_order_relaxed);
  spins_.store(threads <= cpus_ ? kSpins : kSpinsWhenCrowded, std::memory_order_relaxed);
  for (size_t i = 0; i < participants_; ++i) {
    const auto number = static_cast<int64_t>(i);
    lanes_[i].next.store(number * chunks_ / participants, std::memory_order_relaxed);
    lanes_[i].end = (number + 1) * chunks_ / participants;
  }

  gate_.store(kOpen, std::memory_order_release);
  for (size_t i = 0; i < std::min(participants_ - 1, workers_.size()); ++i) {
    Bell& bell = workers_[i]->bell;
    // Sequentially consistent with the worker's store and load when it falls asleep: one of the two sees the other.
    bell.rings.fetch_add(1, std::memory_order_seq_cst);
    if (bell.asleep.load(std::memory_order_seq_cst)) wake_one(bell.rings);
  }
  t_in_region = true;
  take_part(0);
  t_in_region = false;
  gate_.fetch_and(~kOpen, std::memory_order_acq_rel);
  wait_until_empty();
}

/// Starts workers for a region; called while no worker is inside the gate. Returns the number of participants. If the
/// system has no more threads or memory, the existing workers run the region.
size_t Pool::ensure_workers(size_t participants) {
  if (lane_capacity_ < participants) {
    auto* const lanes = new (std::nothrow) Lane[participants];
    if (!lanes) return lane_capacity_;
    lanes_.reset(lanes);
    lane_capacity_ = participants;
  }
  const size_t workers = participants - 1;
  if (workers_.size() >= workers) return participants;
  try {
    workers_.reserve(workers);
  } catch (const std::bad_alloc&) {
    return participants;
  }
  // Signals are delivered to the program's own threads: workers inherit a mask that blocks them all.
  sigset_t all, saved;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &saved);
  while (workers_.size() < workers) {
    std::unique_ptr<Worker> worker(new (std::nothrow) Worker(this, workers_.size() + 1));
    pthread_t thread;
    if (!worker || pthread_create(&thread, nullptr, worker_main, worker.get()) != 0) break;
    char name[16];  // the limit of Linux
    std::snprintf(name, sizeof name, "lucid-%zu", worker->number);
    pthread_setname_np(thread, name);
    // Never joined: an idle worker accesses only this pool, which is never destroyed.
    pthread_detach(thread);
    workers_.push_back(std::move(worker));
  }
  pthread_sigmask(SIG_SETMASK, &saved, nullptr);
  return participants;
}

void Pool::take_part(size_t number) {
  for (size_t i = 0; i < participants_; ++i) {
    Lane& lane = lanes_[(number + i) % participants_];
    while (lane.next.load(std::memory_order_relaxed) < lane.end) {
      const int64_t chunk = lane.next.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= lane.end) break;
      run_chunk(chunk);
    }
  }
}

void Pool::run_chunk(int64_t chunk) {
  // Chunks below a failed one still run: the lowest exception is the one that a single thread would have thrown.
  if (chunk > failed_chunk_.load(std::memory_order_relaxed)) return;
  // Avoids the product of chunk and count, which may overflow.
  const int64_t size = count_ / chunks_, rest = count_ % chunks_;
  const int64_t begin = chunk * size + std::min(chunk, rest);
  try {
    (*body_)(begin, begin + size + (chunk < rest ? 1 : 0));
  } catch (...) {
    const std::lock_guard lock(error_mutex_);
    if (chunk < failed_chunk_.load(std::memory_order_relaxed)) {
      failed_chunk_.store(chunk, std::memory_order_relaxed);
      error_ = std::current_exception();
    }
  }
}

void Pool::wait_until_empty() {
  for (int spin = spins_.load(std::memory_order_relaxed); spin > 0; --spin) {
    if (gate_.load(std::memory_order_acquire) == 0) return;
    _mm_pause();
  }
  uint32_t gate = gate_.fetch_or(kCallerSleeps, std::memory_order_acq_rel) | kCallerSleeps;
  while (gate & kInside) {
    sleep_while_equal(gate_, gate);
    gate = gate_.load(std::memory_order_acquire);
  }
  gate_.store(0, std::memory_order_relaxed);
}

void Pool::work(Worker& self) {
  t_in_region = true;
  Bell& bell = self.bell;
  uint32_t heard = 0;
  for (;;) {
    for (int spin = spins_.load(std::memory_order_relaxed); spin > 0; --spin) {
      if (bell.rings.load(std::memory_order_acquire) != heard) break;
      _mm_pause();
    }
    while (bell.rings.load(std::memory_order_acquire) == heard) {
      bell.asleep.store(true, std::memory_order_seq_cst);
      if (bell.rings.load(std::memory_order_seq_cst) == heard) sleep_while_equal(bell.rings, heard);
      bell.asleep.store(false, std::memory_order_relaxed);
    }
    heard = bell.rings.load(std::memory_order_acquire);

    uint32_t gate = gate_.load(std::memory_order_relaxed);
    while ((gate & kOpen) && !gate_.compare_exchange_weak(gate, gate + 1, std::memory_order_acquire)) {
    }
    if (!(gate & kOpen)) continue;
    {
      const FloatModeScope mode(float_mode_);
      take_part(self.number);
    }
    const uint32_t before = gate_.fetch_sub(1, std::memory_order_acq_rel);
    if ((before & kCallerSleeps) && (before & kInside) == 1) wake_one(gate_);
  }
}

void* Pool::worker_main(void* argument) {
  prepare_to_throw();
  auto* const self = static_cast<Worker*>(argument);
  self->pool->work(*self);
  return nullptr;
}

/// Null until the first region, and again in the child of a fork, which has no workers. The child abandons the copy of
/// the parent's pool, whose state is arbitrary, and creates its own pool when it needs one.
constinit std::atomic<Pool*> g_pool{nullptr};

/// Creates the pool on first use. Null if there is no memory for it.
Pool* pool() {
  Pool* current = g_pool.load(std::memory_order_acquire);
  if (current) return current;
  // Takes no lock, because a fork could copy it while it is held. Registering the handler twice is harmless.
  pthread_atfork(nullptr, nullptr, [] { g_pool.store(nullptr, std::memory_order_relaxed); });
  try {
    auto made = std::make_unique<Pool>();
    if (g_pool.compare_exchange_strong(current, made.get(), std::memory_order_acq_rel)) current = made.release();
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  return current;
}

}  // namespace

namespace thread_pool_detail {

void run(int64_t count, int64_t grain, RangeFunction body) {
  const int threads = num_threads();
  const bool divisible = count / std::max<int64_t>(grain, 1) > 1;
  Pool* const helpers = threads == 1 || !divisible || t_in_region ? nullptr : pool();
  if (!helpers || !helpers->try_run(count, grain, body, threads)) body(0, count);
}

}  // namespace thread_pool_detail

int num_threads() {
  const int threads = g_num_threads.load(std::memory_order_relaxed);
  if (threads > 0) return threads;
  const int wanted = options().num_threads;
  int unset = 0;
  g_num_threads.compare_exchange_strong(unset, wanted > 0 ? wanted : std::min(usable_cpus(), kMaxThreads));
  return g_num_threads.load(std::memory_order_relaxed);
}

void set_thread_count(int threads) {
  if (threads < 1 || threads > kMaxThreads)
    throw ValueError("set_num_threads: {} threads; expected 1 to {}", threads, kMaxThreads);
  g_num_threads.store(threads, std::memory_order_relaxed);
}

}  // namespace lucid
