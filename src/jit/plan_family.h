#pragma once

#include <list>
#include <map>
#include <span>
#include <vector>

#include "base/lock.h"
#include "jit/call_plan.h"

namespace lucid::jit {

/// A plan for particular sizes.
struct SizedPlan : RefCounted {
  SizedPlan(CallPlan call, SizeTrace::Evaluation sizes) : call(std::move(call)), sizes(std::move(sizes)) {}
  const CallPlan call;
  const SizeTrace::Evaluation sizes;
};

/// The plans of a call whose sizes are traced. A plan for sizes that have not occurred before is made from the recorded
/// graph, without recording the call. Thread-safe.
class PlanFamily {
 public:
  explicit PlanFamily(std::shared_ptr<const CallTemplate> source) : source_(std::move(source)) {}

  /// The plan for a call with these handles, arguments first. Null if the recording does not describe the call, because
  /// it would have gone another way or has other strides, or if there is not enough memory for a plan.
  Ref<const SizedPlan> plan_for(std::span<TensorImpl* const> handles) const;

  const CallTemplate& source() const { return *source_; }
  const SizeTrace& trace() const { return source_->record.sizes->trace; }
  /// How many plans there are.
  size_t count() const;

 private:
  using Sizes = std::vector<int64_t>;
  struct Entry {
    Ref<const SizedPlan> plan;
    std::list<Sizes>::iterator use;
  };
  /// The least recently used plan makes room for a new one.
  static constexpr size_t kMaxPlans = 256;

  Ref<const SizedPlan> find(const Sizes& sizes) const;
  Ref<const SizedPlan> make(const Sizes& sizes) const;
  void add(const Sizes& sizes, const Ref<const SizedPlan>& plan) const;
  bool has_geometries(std::span<TensorImpl* const> handles, const SizeTrace::Evaluation& sizes) const;
  Mutex& mutex() const { return mutex_of(LockRank::kPlanFamily, this); }

  const std::shared_ptr<const CallTemplate> source_;
  mutable std::map<Sizes, Entry> plans_;
  mutable std::list<Sizes> uses_;  // the last used first
};

}  // namespace lucid::jit
