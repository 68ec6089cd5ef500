#pragma once

#include <atomic>
#include <list>
#include <map>
#include <memory>
#include <set>
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
class PlanFamily : public std::enable_shared_from_this<PlanFamily> {
 public:
  explicit PlanFamily(std::shared_ptr<const CallTemplate> source) : source_(std::move(source)) {}

  struct Answer {
    /// Null if the recording does not describe the call, because it would have gone another way or has other strides,
    /// or if there is no plan yet.
    Ref<const SizedPlan> plan;
    /// The recording describes the call, but there is no plan: it is being made, or cannot be made.
    bool is_pending = false;
  };
  /// The plan for a call with these handles, arguments first. If it has to be made, and that takes longer than a short
  /// while, the compile thread makes it, unless the caller waits.
  Answer plan_for(std::span<TensorImpl* const> handles, bool waits);

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
  /// In nanoseconds. A call makes a plan itself if that takes less time: eager calls need as much for the plans of a
  /// few ops with new sizes.
  static constexpr int64_t kShortWhile = 4'000'000;

  Ref<const SizedPlan> find(const Sizes& sizes);
  Ref<const SizedPlan> make(const Sizes& sizes, const SizeTrace::Evaluation& evaluation);
  /// The same, but returns null for errors. An error of the compiler means that there is no plan for good; if memory is
  /// short, the next call tries again.
  Ref<const SizedPlan> try_make(const Sizes& sizes, const SizeTrace::Evaluation& evaluation);
  void make_later(const Sizes& sizes, const SizeTrace::Evaluation& evaluation);
  void add(const Sizes& sizes, const Ref<const SizedPlan>& plan);
  bool has_geometries(std::span<TensorImpl* const> handles, const SizeTrace::Evaluation& sizes) const;
  Mutex& mutex() const { return mutex_of(LockRank::kPlanFamily, this); }

  const std::shared_ptr<const CallTemplate> source_;
  std::map<Sizes, Entry> plans_;
  std::list<Sizes> uses_;  // the last used first
  /// The sizes for which the compile thread makes plans, and those for which that is impossible.
  std::set<Sizes> pending_;
  std::set<Sizes> impossible_;
  /// An estimate of the time that it takes to make a plan. A plan that takes long, because a kernel has to be compiled,
  /// increases it only gradually.
  std::atomic<int64_t> nanoseconds_ = 0;
};

}  // namespace lucid::jit
