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

/// The plans of a call whose sizes are traced. A plan for sizes that have not occurred before is made from a template
/// or, if none serves these sizes, from the recorded graph, without recording the call. Thread-safe.
class PlanFamily : public std::enable_shared_from_this<PlanFamily> {
 public:
  explicit PlanFamily(std::shared_ptr<const CallTemplate> source)
      : source_(std::move(source)), templates_{source_->plan} {}

  struct Answer {
    /// Null if the recording does not describe the call, because it would have gone another way or has other strides,
    /// or if there is no plan yet.
    Ref<const SizedPlan> plan;
    /// The recording describes the call, but there is no plan: it is being made, or cannot be made.
    bool is_pending = false;
  };
  /// The plan for a call with these handles, arguments first, and the sizes `given` among its arguments. If new steps
  /// must be written and that takes long, the compile thread makes the plan, unless the caller waits.
  Answer plan_for(std::span<TensorImpl* const> handles, std::span<const SymInt> given, bool waits);

  const CallTemplate& source() const { return *source_; }
  const SizeTrace& trace() const { return source_->record.sizes->trace; }
  /// How many plans and templates there are.
  struct Counts {
    size_t plans = 0;
    size_t templates = 0;
  };
  Counts count() const;

 private:
  using Sizes = std::vector<int64_t>;
  struct Entry {
    Ref<const SizedPlan> plan;
    std::list<Sizes>::iterator use;
  };
  /// The least recently used plan makes room for a new one.
  static constexpr size_t kMaxPlans = 256;
  /// In nanoseconds. A call writes steps itself if that takes less time. Eager calls need as much for the plans of a
  /// few ops with new sizes.
  static constexpr int64_t kShortWhile = 4'000'000;

  /// The templates of plans, of which the oldest makes room for a new one.
  static constexpr size_t kMaxTemplates = 64;
  static constexpr int64_t kShadows = 8;

  Ref<const SizedPlan> find(const Sizes& sizes);
  /// Null if no template serves the sizes.
  Ref<const SizedPlan> make_from_template(const Sizes& sizes, const SizeTrace::Evaluation& evaluation);
  /// Makes a template for the sizes, and the plan.
  Ref<const SizedPlan> make(const Sizes& sizes, const SizeTrace::Evaluation& evaluation);
  /// From a template or, if that is allowed, a new one. Null for errors, too: an error of the compiler means that there
  /// is no plan for good; if memory is short, the next call tries again.
  Ref<const SizedPlan> try_make(const Sizes& sizes, const SizeTrace::Evaluation& evaluation, bool may_write_steps);
  void make_later(const Sizes& sizes, const SizeTrace::Evaluation& evaluation);
  Ref<const SizedPlan> add(const Sizes& sizes, const SizeTrace::Evaluation& evaluation, Ref<Plan> plan);
  void add(const Sizes& sizes, const Ref<const SizedPlan>& plan);
  void keep(std::shared_ptr<const PlanTemplate> made);
  /// Whether templates have served other sizes than those that they were made for. The kernels of convolutions, for
  /// instance, depend on all sizes.
  bool templates_pay() const { return made_ < kShadows || made_ <= kShadows * served_; }
  bool has_geometries(std::span<TensorImpl* const> handles, const SizeTrace::Evaluation& sizes) const;
  Mutex& mutex() const { return mutex_of(LockRank::kPlanFamily, this); }

  const std::shared_ptr<const CallTemplate> source_;
  std::vector<std::shared_ptr<const PlanTemplate>> templates_;  // the newest last
  /// How many templates were made, and how many plans were made from a template that was there.
  std::atomic<int64_t> made_ = 0;
  std::atomic<int64_t> served_ = 0;
  std::map<Sizes, Entry> plans_;
  std::list<Sizes> uses_;  // the last used first
  /// The sizes for which the compile thread makes plans, and those for which that is impossible.
  std::set<Sizes> pending_;
  std::set<Sizes> impossible_;
  /// Estimated time for writing steps. Steps that take long, because a kernel has to be compiled, increase it only
  /// gradually.
  std::atomic<int64_t> nanoseconds_ = 0;
};

}  // namespace lucid::jit
