#include "jit/plan_family.h"

#include <mutex>

#include "base/blocking.h"
#include "base/out_of_memory.h"
#include "ir/evaluate.h"

namespace lucid::jit {

size_t PlanFamily::count() const {
  const std::lock_guard lock(mutex());
  return plans_.size();
}

Ref<const SizedPlan> PlanFamily::find(const Sizes& sizes) const {
  const std::lock_guard lock(mutex());
  const auto found = plans_.find(sizes);
  if (found == plans_.end()) return nullptr;
  uses_.splice(uses_.begin(), uses_, found->second.use);
  return found->second.plan;
}

void PlanFamily::add(const Sizes& sizes, const Ref<const SizedPlan>& plan) const {
  Ref<const SizedPlan> evicted;  // destroyed after the lock is released
  const std::lock_guard lock(mutex());
  const auto [found, is_new] = plans_.try_emplace(sizes);
  if (!is_new) return;
  uses_.push_front(sizes);
  found->second = {plan, uses_.begin()};
  if (plans_.size() <= kMaxPlans) return;
  const auto oldest = plans_.find(uses_.back());
  evicted = std::move(oldest->second.plan);
  plans_.erase(oldest);
  uses_.pop_back();
}

Ref<const SizedPlan> PlanFamily::make(const Sizes& sizes) const {
  std::optional<SizeTrace::Evaluation> evaluation = SizeTrace::Evaluation::of(trace(), sizes);
  if (!evaluation) return nullptr;
  Ref<const SizedPlan> plan;
  const BlockingScope compiling;
  has_memory_for([&] {
    plan = make_ref<const SizedPlan>(compile_call(*source_, *evaluation), *evaluation);
    add(sizes, plan);
  });
  return plan;
}

bool PlanFamily::has_geometries(std::span<TensorImpl* const> handles, const SizeTrace::Evaluation& sizes) const {
  const SizeReplacer replace(sizes);
  for (size_t i = 0; i < source_->record.arguments; ++i) {
    const Geometry& recorded = source_->record.handles[i].geometry;
    if (!is_traced(recorded)) continue;
    const Geometry expected = replace(recorded);
    if (handles[i]->sizes() != expected.sizes || handles[i]->strides() != expected.strides) return false;
  }
  return true;
}

Ref<const SizedPlan> PlanFamily::plan_for(std::span<TensorImpl* const> handles) const {
  const Sizes sizes = source_->record.sizes->sizes_in(handles);
  Ref<const SizedPlan> plan = find(sizes);
  if (!plan) plan = make(sizes);
  return plan && has_geometries(handles, plan->sizes) ? plan : nullptr;
}

}  // namespace lucid::jit
