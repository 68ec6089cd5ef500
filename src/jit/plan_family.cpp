#include "jit/plan_family.h"

#include <algorithm>
#include <chrono>
#include <mutex>

#include "base/blocking.h"
#include "base/out_of_memory.h"
#include "ir/evaluate.h"
#include "jit/compile_queue.h"

namespace lucid::jit {

size_t PlanFamily::count() const {
  const std::lock_guard lock(mutex());
  return plans_.size();
}

Ref<const SizedPlan> PlanFamily::find(const Sizes& sizes) {
  const std::lock_guard lock(mutex());
  const auto found = plans_.find(sizes);
  if (found == plans_.end()) return nullptr;
  uses_.splice(uses_.begin(), uses_, found->second.use);
  return found->second.plan;
}

void PlanFamily::add(const Sizes& sizes, const Ref<const SizedPlan>& plan) {
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

Ref<const SizedPlan> PlanFamily::make(const Sizes& sizes, const SizeTrace::Evaluation& evaluation) {
  const auto start = std::chrono::steady_clock::now();
  Ref<const SizedPlan> plan = make_ref<const SizedPlan>(compile_call(*source_, evaluation), evaluation);
  const int64_t took = std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
  nanoseconds_ = std::min(took, 2 * nanoseconds_.load() + kShortWhile / 10);
  add(sizes, plan);
  return plan;
}

void PlanFamily::make_later(const Sizes& sizes, const SizeTrace::Evaluation& evaluation) {
  {
    const std::lock_guard lock(mutex());
    if (!pending_.insert(sizes).second) return;
  }
  CompileTask::start([self = shared_from_this(), sizes, evaluation] {
    has_memory_for([&] { self->make(sizes, evaluation); });
    const std::lock_guard lock(self->mutex());
    self->pending_.erase(sizes);
  });
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

PlanFamily::Answer PlanFamily::plan_for(std::span<TensorImpl* const> handles, bool waits) {
  const Sizes sizes = source_->record.sizes->sizes_in(handles);
  Answer answer{find(sizes)};
  if (answer.plan) return has_geometries(handles, answer.plan->sizes) ? answer : Answer{};
  const std::optional<SizeTrace::Evaluation> evaluation = SizeTrace::Evaluation::of(trace(), sizes);
  if (!evaluation || !has_geometries(handles, *evaluation)) return {};
  if (!waits && nanoseconds_ > kShortWhile) {
    make_later(sizes, *evaluation);
    return {.plan = nullptr, .is_pending = true};
  }
  const BlockingScope compiling;
  has_memory_for([&] { answer.plan = make(sizes, *evaluation); });
  return answer;
}

}  // namespace lucid::jit
