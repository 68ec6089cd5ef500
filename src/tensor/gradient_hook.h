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

/// Sees the gradient of a tensor during backward and may replace it: an empty value leaves it as it is.
using GradientHook = std::function<Value(const Value& gradient)>;

/// A hook that may be removed while other threads run it.
class RegisteredHook {
 public:
  explicit RegisteredHook(GradientHook function) : function_(std::move(function)) {}

  /// A copy, to be called without any lock; empty once the hook is removed.
  GradientHook get() const;
  void remove();
  bool is_removed() const { return is_removed_.load(std::memory_order_acquire); }
  /// For callers that know that nobody removes it meanwhile.
  const GradientHook& peek() const { return function_; }

 private:
  GradientHook function_;
  std::atomic<bool> is_removed_ = false;
};

using HookRef = std::shared_ptr<RegisteredHook>;

/// Hooks in the order in which they were registered. Any thread may add to it or remove what it added while others run
/// them.
class HookList {
 public:
  struct Entry {
    /// Which of a node's results the hook watches.
    uint32_t output = 0;
    HookRef hook;
    /// Whether copies of the node may share the function: it holds nothing of the call that registered it.
    bool may_copy = false;
    /// Grows from entry to entry.
    uint64_t number = 0;
  };

  void add(uint32_t output, HookRef hook, bool may_copy);
  /// The first one after a number that is still there. A hook may remove itself, remove others or add some.
  std::optional<Entry> next(uint64_t after) const;
  /// Those that are still there.
  std::vector<Entry> entries() const;
  bool empty() const { return count_.load(std::memory_order_acquire) == 0 || !next(0); }
  /// Calls `visit(entry)` for each, with the list's lock held, until it returns something other than 0; returns that.
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
