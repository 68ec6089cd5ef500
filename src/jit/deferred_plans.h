#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <unordered_map>

#include "jit/call_plan.h"
#include "jit/compile_queue.h"
#include "tensor/deferred_ops.h"

namespace lucid::jit {

/// The plans of batches of deferred ops, shared by all compiled functions: the ops between two points at which a
/// program needs values are the same in most calls, whatever its Python code does. A batch that occurs again is
/// compiled, on the compile thread. Used by the thread that runs deferred ops, one at a time.
class DeferredPlans {
 public:
  static DeferredPlans& get();

  /// See DeferredRunner.
  bool run(DeferredBatch& batch);
  /// The same, but runs the ops one by one, and compares what the plan would have left with what they leave. Throws
  /// RuntimeError if it differs.
  bool verify(DeferredBatch& batch);

 private:
  struct Entry;
  struct Job;

  /// A further entry evicts the oldest.
  static constexpr size_t kMaxEntries = 1024;
  /// If this many batches wait for the compile thread, others are compiled when they occur again.
  static constexpr int kMaxPending = 8;

  Entry& find(DeferredBatch& batch);
  Entry& add(uint64_t hash, const DeferredBatch& batch);
  /// Whether the entry's plan can be used from now on.
  bool is_ready(Entry& entry, const DeferredBatch& batch);

  std::unordered_multimap<uint64_t, std::unique_ptr<Entry>> entries_;
  std::deque<std::pair<uint64_t, const Entry*>> order_;  // oldest first
  /// The entry that was found last. What followed it before will probably follow it again.
  Entry* last_ = nullptr;
  /// How many batches wait for the compile thread.
  const std::shared_ptr<std::atomic<int>> pending_ = std::make_shared<std::atomic<int>>(0);
};

// The runners of compiled functions, and of calls that are verified.
inline bool run_deferred(DeferredBatch& batch) { return DeferredPlans::get().run(batch); }
inline bool verify_deferred(DeferredBatch& batch) { return DeferredPlans::get().verify(batch); }

}  // namespace lucid::jit
