// Which plans a table keeps.

#include <algorithm>

#include "jit/plan_table.h"

namespace lucid::jit {
namespace {

/// How many branches of a key there are plans for.
constexpr int64_t kMaxBranches = 64;

/// A review of plans may take longer than a thousand short calls. Keys that are never recorded have their plans
/// reviewed ever more rarely, at least once in kMaxReviewInterval eager calls. All others are reviewed when a call is
/// recorded, and the budget of recordings pays for it.
constexpr uint32_t kMinReviewInterval = 16;
constexpr uint32_t kMaxReviewInterval = 4096;

bool is_branch(const Ref<TablePlan>& plan) { return plan->is_branch(); }

}  // namespace

std::vector<Ref<TablePlan>> PlanTable::add(Variant& known, const Ref<TablePlan>& plan, std::string obstacle) {
  std::vector<Ref<TablePlan>> gone;
  if (!obstacle.empty()) {
    run_eagerly(known, std::move(obstacle));
  } else if (plan) {
    known.plans.reserve(known.plans.size() + 1);
    plans_.push_back(plan);
    ++counters_.compiles;
    counters_.recompiles += known.has_compiled;
    known.has_compiled = true;
    known.plans.insert(known.plans.begin(), plan);
    if (std::ranges::count_if(known.plans, is_branch) > kMaxBranches) {
      // The last one in the list is the one that has not been used for the longest time.
      gone.push_back(*std::ranges::find_if(known.plans.rbegin(), known.plans.rend(), is_branch));
      take(known, gone.front());
    }
    if (filled_now() > max_plans_) std::ranges::move(remove_oldest(), std::back_inserter(gone));
  }
  ++changes_;
  return gone;
}

std::vector<Ref<TablePlan>> PlanTable::remove_oldest() {
  const Ref<TablePlan> oldest = plans_.front();
  Variant* const known = find_variant(oldest->structure, oldest->pattern);
  std::vector<Ref<TablePlan>> gone;
  if (oldest->is_branch())
    std::ranges::copy_if(known->plans, std::back_inserter(gone), is_branch);
  else
    gone.push_back(oldest);
  for (const Ref<TablePlan>& plan : gone) take(*known, plan);
  if (known->plans.empty() && known->pending == 0 && known->reason.empty()) erase(oldest->structure, *known);
  return gone;
}

void PlanTable::take(Variant& known, const Ref<TablePlan>& plan) {
  counters_.hits += plan->hits();
  std::erase(known.plans, plan);
  std::erase(plans_, plan);
}

size_t PlanTable::filled_now() const {
  size_t count = 0;
  for (const auto& [structure, entry] : entries_)
    for (const std::unique_ptr<Variant>& known : entry) {
      const auto branches = static_cast<size_t>(std::ranges::count_if(known->plans, is_branch));
      count += known->plans.size() - branches + (branches > 0);
    }
  return count;
}

size_t PlanTable::filled() {
  finish_recordings();
  const std::lock_guard lock(mutex());
  return filled_now();
}

void PlanTable::remove(std::span<const Ref<TablePlan>> gone) {
  const std::lock_guard lock(mutex());
  for (const Ref<TablePlan>& plan : gone) {
    Variant* const known = find_variant(plan->structure, plan->pattern);
    if (std::erase(pending_, plan) > 0) {
      --known->pending;
    } else if (std::erase(plans_, plan) > 0) {
      std::erase(known->plans, plan);
      counters_.hits += plan->hits();
    }
  }
  ++changes_;
}

bool PlanTable::should_review(Variant& known) {
  if (known.plans.empty()) return false;
  const uint32_t before = known.misses++;
  if (before != known.next_review) return false;
  known.next_review += std::clamp(3 * std::min(before, kMaxReviewInterval), kMinReviewInterval, kMaxReviewInterval);
  return true;
}

std::pair<Ref<TablePlan>, bool> PlanTable::newest_unless_stale(const CallKey& key) const {
  const std::lock_guard lock(mutex());
  Ref<TablePlan> found;
  for (const Ref<TablePlan>& plan : pending_)
    if (plan->structure == key.structure() && plan->pattern.matches(key.numbers())) found = plan;
  const bool is_pending = static_cast<bool>(found);
  if (!found) found = newest_now(key);
  // Branches depend on values of tensors first.
  if (found && (found->was_stale_ || found->is_branch())) found = nullptr;
  return {std::move(found), is_pending};
}

}  // namespace lucid::jit
