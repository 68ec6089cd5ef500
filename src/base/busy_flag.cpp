#include "base/busy_flag.h"

#include "base/blocking.h"
#include "base/fork_count.h"

namespace lucid {

bool BusyFlag::try_acquire() {
  const uint32_t mine = fork_count() + 1;
  uint32_t owner = owner_.load(std::memory_order_relaxed);
  while (owner != mine)
    if (owner_.compare_exchange_weak(owner, mine, std::memory_order_acquire)) return true;
  return false;
}

void BusyFlag::acquire() {
  if (try_acquire()) return;
  const BlockingScope waiting;
  while (!try_acquire()) owner_.wait(fork_count() + 1, std::memory_order_relaxed);
}

void BusyFlag::release() {
  owner_.store(0, std::memory_order_release);
  owner_.notify_all();
}

}  // namespace lucid
