#include "base/lock.h"

#include <pthread.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "base/fork_count.h"

namespace lucid {
namespace {

constexpr size_t kRanks = static_cast<size_t>(LockRank::kCount);

struct alignas(64) PaddedMutex {
  Mutex mutex;
};
using Stripes = std::array<PaddedMutex, kLockStripes>;

template <size_t... kStripe>
constexpr Stripes make_stripes(LockRank rank, std::index_sequence<kStripe...>) {
  return {((void)kStripe, PaddedMutex{Mutex(rank)})...};
}

template <size_t... kRank>
constexpr std::array<Stripes, kRanks> make_all(std::index_sequence<kRank...>) {
  return {make_stripes(static_cast<LockRank>(kRank), std::make_index_sequence<kLockStripes>())...};
}

// Initialized at compile time, so nothing can throw.
// NOLINTNEXTLINE(bugprone-throwing-static-initialization)
constinit std::array<Stripes, kRanks> g_mutexes = make_all(std::make_index_sequence<kRanks>());

/// Number of locks of each rank that this thread holds; counted in debug builds only.
constinit thread_local std::array<uint32_t, kRanks> t_held{};
constinit thread_local bool t_is_forking = false;

/// A child process has only the thread that forked. A mutex held by another thread would stay locked in the child, and
/// the data that it protects could be half changed. Therefore a fork acquires all mutexes first, in order.
void lock_all() {
  t_is_forking = true;
  for (Stripes& stripes : g_mutexes)
    for (PaddedMutex& padded : stripes) padded.mutex.lock();
}

void unlock_all() {
  for (size_t rank = kRanks; rank-- > 0;)
    for (PaddedMutex& padded : g_mutexes[rank]) padded.mutex.unlock();
  t_is_forking = false;
}

void after_fork_in_child() {
  fork_detail::g_fork_count.fetch_add(1, std::memory_order_relaxed);
  unlock_all();
}

/// Registered before any other handler, and therefore called last before a fork: handlers that wait for work to finish
/// must run while the locks are free.
[[gnu::constructor(101)]] void register_fork_handlers() { pthread_atfork(lock_all, unlock_all, after_fork_in_child); }

[[noreturn]] void fail(const char* what, size_t held) {
  std::fprintf(stderr, "lucid: %s while lock %zu is held; see LockRank in src/base/lock.h\n", what, held);
  std::abort();
}

}  // namespace

void lock_detail::on_lock(LockRank rank) {
  for (size_t other = static_cast<size_t>(rank); other < kRanks && !t_is_forking; ++other)
    if (t_held[other] != 0) fail("a lock of the same or an earlier rank is acquired", other);
  ++t_held[static_cast<size_t>(rank)];
}

void lock_detail::on_unlock(LockRank rank) { --t_held[static_cast<size_t>(rank)]; }

void check_no_lock_is_held(const char* what) {
  if constexpr (!LUCID_CHECKS_LOCKS) return;
  for (size_t rank = 0; rank < kRanks; ++rank)
    if (t_held[rank] != 0) fail(what, rank);
}

void Mutex::wait() {
  while (state_.exchange(kContended, std::memory_order_acquire) != kFree)
    state_.wait(kContended, std::memory_order_relaxed);
}

Mutex& mutex_of(LockRank rank) { return mutex_of(rank, size_t{0}); }

Mutex& mutex_of(LockRank rank, size_t stripe) {
  return g_mutexes[static_cast<size_t>(rank)][stripe % kLockStripes].mutex;
}

Mutex& mutex_of(LockRank rank, const void* object) {
  // Objects are at least 16 bytes apart, and often have the same size.
  const auto address = reinterpret_cast<uintptr_t>(object);
  return mutex_of(rank, static_cast<size_t>((address >> 4) ^ (address >> 10)));
}

}  // namespace lucid
