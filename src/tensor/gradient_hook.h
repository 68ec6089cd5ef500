#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "base/lock.h"
#include "ir/value.h"

namespace lucid {

/// Called with the gradient of a tensor during backward. May return a replacement; an empty value keeps the gradient.
using GradientHook = std::function<Value(const Value& gradient)>;

/// A hook that may be removed while other threads run it.
class RegisteredHook {
 public:
  explicit RegisteredHook(GradientHook function) : function_(std::move(function)) {}

  /// A copy, to be called without holding a lock. Empty once the hook is removed.
  GradientHook get() const;
  void remove();
  bool is_removed() const { return is_removed_.load(std::memory_order_acquire); }
  /// For callers that know that no other thread removes it meanwhile.
  const GradientHook& peek() const { return function_; }

 private:
  GradientHook function_;
  std::atomic<bool> is_removed_ = false;
};

using HookRef = std::shared_ptr<RegisteredHook>;

/// Hooks in order of registration. Any thread may add hooks, or remove its own, while others run them.
class HookList {
 public:
  struct Entry {
    /// The node output that the hook observes.
    uint32_t output = 0;
    HookRef hook;
    /// Whether copies of the node may share the function: it holds no state of the call that registered it.
    bool may_copy = false;
    /// Increases from entry to entry.
    uint64_t number = 0;
  };

  void add(uint32_t output, HookRef hook, bool may_copy);
  /// The first remaining entry after number `after`. A hook may remove itself, remove other hooks or add hooks.
  std::optional<Entry> next(uint64_t after) const;
  /// The remaining entries.
  std::vector<Entry> entries() const;
  bool empty() const { return count_.load(std::memory_order_acquire) == 0 || !next(0); }
  /// Calls `visit(entry)` for each entry, holding the list's lock, until it returns nonzero; returns that value.
  template <typename Visit>
  int for_each(const Visit& visit) const {
    const std::lock_guard lock(mutex());
    for (const Entry& entry : entries_)
      if (const int result = visit(entry)) return result;
    return 0;
  }

 private:
  Mutex& mutex() const { return mutex_of(LockRank::kHooks, this); }

  std::vector<Entry> entries_;
  std::atomic<uint32_t> count_ = 0;
  uint64_t last_number_ = 0;
};

}  // namespace lucid
