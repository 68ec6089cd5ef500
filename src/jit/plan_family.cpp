#include "jit/plan_family.h"

#include <algorithm>
#include <chrono>
#include <mutex>

#include "base/blocking.h"
#include "base/log.h"
#include "base/options.h"
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

Ref<const SizedPlan> PlanFamily::try_make(const Sizes& sizes, const SizeTrace::Evaluation& evaluation) {
  try {
    return make(sizes, evaluation);
  } catch (const std::exception& error) {
    if (is_out_of_memory(error)) return nullptr;
    if (options().logs("jit")) log("jit", fmt::format("{}: {}", source_->record.name, reason_of(error)));
  }
  const std::lock_guard lock(mutex());
  impossible_.insert(sizes);
  return nullptr;
}

void PlanFamily::make_later(const Sizes& sizes, const SizeTrace::Evaluation& evaluation) {
  CompileTask::start([self = shared_from_this(), sizes, evaluation] {
    self->try_make(sizes, evaluation);
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
  Answer answer{.plan = find(sizes)};
  if (answer.plan) return has_geometries(handles, answer.plan->sizes) ? answer : Answer{};
  const std::optional<SizeTrace::Evaluation> evaluation = SizeTrace::Evaluation::of(trace(), sizes);
  if (!evaluation || !has_geometries(handles, *evaluation)) return {};
  const bool is_later = !waits && nanoseconds_ > kShortWhile;
  {
    const std::lock_guard lock(mutex());
    if (impossible_.contains(sizes) || (!waits && pending_.contains(sizes))) return {.is_pending = true};
    if (is_later) pending_.insert(sizes);
  }
  if (is_later) {
    make_later(sizes, *evaluation);
    return {.is_pending = true};
  }
  const BlockingScope compiling;
  answer.plan = try_make(sizes, *evaluation);
  answer.is_pending = !answer.plan;
  return answer;
}

}  // namespace lucid::jit
