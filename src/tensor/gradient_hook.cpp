#include "tensor/gradient_hook.h"

#include <utility>

namespace lucid {

GradientHook RegisteredHook::get() const {
  const std::lock_guard lock(mutex_of(LockRank::kHooks, this));
  return function_;
}

void RegisteredHook::remove() {
  GradientHook removed;  // destroyed after the lock is released: it may hold Python objects
  const std::lock_guard lock(mutex_of(LockRank::kHooks, this));
  removed.swap(function_);
  is_removed_.store(true, std::memory_order_release);
}

void HookList::add(uint32_t output, HookRef hook, bool may_copy) {
  const std::lock_guard lock(mutex());
  std::erase_if(entries_, [](const Entry& entry) { return entry.hook->is_removed(); });
  entries_.push_back({output, std::move(hook), may_copy, ++last_number_});
  count_.store(static_cast<uint32_t>(entries_.size()), std::memory_order_release);
}

std::optional<HookList::Entry> HookList::next(uint64_t after) const {
  const std::lock_guard lock(mutex());
  for (const Entry& entry : entries_)
    if (entry.number > after && !entry.hook->is_removed()) return entry;
  return std::nullopt;
}

std::vector<HookList::Entry> HookList::entries() const {
  std::vector<Entry> found;
  if (count_.load(std::memory_order_acquire) == 0) return found;
  const std::lock_guard lock(mutex());
  for (const Entry& entry : entries_)
    if (!entry.hook->is_removed()) found.push_back(entry);
  return found;
}

}  // namespace lucid
