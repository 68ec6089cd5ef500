#include "jit/plan_family.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <ranges>

#include "base/blocking.h"
#include "base/log.h"
#include "base/options.h"
#include "base/out_of_memory.h"
#include "ir/evaluate.h"
#include "jit/compile_queue.h"

namespace lucid::jit {

void PlanFamily::keep(std::shared_ptr<const PlanTemplate> made) {
  ++made_;
  std::shared_ptr<const PlanTemplate> evicted;  // destroyed after the lock is released
  const std::lock_guard lock(mutex());
  if (templates_.size() == kMaxTemplates) {
    evicted = std::move(templates_.front());
    templates_.erase(templates_.begin());
  }
  templates_.push_back(std::move(made));
}

PlanFamily::Counts PlanFamily::count() const {
  const std::lock_guard lock(mutex());
  return {plans_.size(), templates_.size()};
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

Ref<const SizedPlan> PlanFamily::add(const Sizes& sizes, const SizeTrace::Evaluation& evaluation, Ref<Plan> plan) {
  auto sized = make_ref<const SizedPlan>(with_plan(*source_, evaluation, std::move(plan)), evaluation);
  add(sizes, sized);
  return sized;
}

Ref<const SizedPlan> PlanFamily::make_from_template(const Sizes& sizes, const SizeTrace::Evaluation& evaluation) {
  std::vector<std::shared_ptr<const PlanTemplate>> templates;
  {
    const std::lock_guard lock(mutex());
    templates = templates_;
  }
  for (const auto& known : std::views::reverse(templates))
    if (Ref<Plan> plan = known->plan_for(sizes)) {
      ++served_;
      return add(sizes, evaluation, std::move(plan));
    }
  return nullptr;
}

Ref<const SizedPlan> PlanFamily::make(const Sizes& sizes, const SizeTrace::Evaluation& evaluation) {
  const auto start = std::chrono::steady_clock::now();
  const auto add_time = [&] {
    const int64_t took = std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
    nanoseconds_ = std::min(took, 2 * nanoseconds_.load() + kShortWhile / 10);
  };
  if (!templates_pay()) {
    Ref<Plan> plan = compile_plan(*source_, evaluation);
    add_time();
    return add(sizes, evaluation, std::move(plan));
  }
  std::shared_ptr<const PlanTemplate> made = compile_template(*source_, sizes, evaluation);
  add_time();
  if (options().logs("jit"))
    for (const std::string& condition : made->trace().conditions())
      log("jit", fmt::format("{}: its steps for {} serve sizes with {}", source_->record.name, fmt::join(sizes, ", "),
                             condition));
  Ref<Plan> plan = made->plan_for(sizes);
  // Numbers that are too large cannot be traced.
  if (!plan) return add(sizes, evaluation, compile_plan(*source_, evaluation));
  keep(std::move(made));
  return add(sizes, evaluation, std::move(plan));
}

Ref<const SizedPlan> PlanFamily::try_make(const Sizes& sizes, const SizeTrace::Evaluation& evaluation,
                                          bool may_write_steps) {
  try {
    Ref<const SizedPlan> plan = make_from_template(sizes, evaluation);
    return plan || !may_write_steps ? plan : make(sizes, evaluation);
  } catch (const std::exception& error) {
    if (is_out_of_memory(error)) return nullptr;
    if (options().logs("jit")) log("jit", fmt::format("{}: {}", source_->record.name, reason_of(error)));
  }
  const std::lock_guard lock(mutex());
  impossible_.insert(sizes);
  return nullptr;
}

void PlanFamily::make_later(const Sizes& sizes, const SizeTrace::Evaluation& evaluation) {
  {
    const std::lock_guard lock(mutex());
    if (!pending_.insert(sizes).second) return;
  }
  CompileTask::start([self = shared_from_this(), sizes, evaluation] {
    self->try_make(sizes, evaluation, true);
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

PlanFamily::Answer PlanFamily::plan_for(std::span<TensorImpl* const> handles, std::span<const SymInt> given,
                                        bool waits) {
  const Sizes sizes = source_->record.sizes->sizes_in(handles, given);
  Answer answer{.plan = find(sizes)};
  if (answer.plan) return has_geometries(handles, answer.plan->sizes) ? answer : Answer{};
  const std::optional<SizeTrace::Evaluation> evaluation = SizeTrace::Evaluation::of(trace(), sizes);
  if (!evaluation || !has_geometries(handles, *evaluation)) return {};
  {
    const std::lock_guard lock(mutex());
    if (impossible_.contains(sizes) || (!waits && pending_.contains(sizes))) return {.is_pending = true};
  }
  const uint64_t rebinds = rebinds_by_other_threads();
  {
    const BlockingScope compiling;
    const bool is_later = !waits && nanoseconds_ > kShortWhile;
    answer.plan = try_make(sizes, *evaluation, !is_later);
    if (!answer.plan && is_later) make_later(sizes, *evaluation);
  }
  // The handles may have other sizes now.
  if (rebinds_by_other_threads() != rebinds) answer.plan = nullptr;
  answer.is_pending = !answer.plan;
  return answer;
}

}  // namespace lucid::jit
