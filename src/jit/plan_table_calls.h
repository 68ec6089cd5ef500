#pragma once

#include "jit/deferred_plans.h"
#include "jit/plan_table.h"

/// Calls through a plan table, for each front: plans are tried, then the call is recorded or runs in pieces.
namespace lucid::jit {

template <typename Front>
typename Front::Result PlanTable::call(const Front& front) {
  const uint64_t rebinds = rebinds_by_other_threads();
  for (;;) {
    Candidates candidates;
    const uint64_t changes = find_for_call(front.key(), candidates);
    std::optional<typename Front::Result> result;
    bool must_run = false;
    if (const TablePlan* plan = replay(front, candidates, rebinds, result, must_run)) {
      plan->hits_.fetch_add(1, std::memory_order_relaxed);
      if (DeferredOps::is_deferring()) [[unlikely]]
        DeferredOps::get().count_call(true);
      return std::move(*result);
    }
    if (must_run) return front.run();
    // A plan that is removed now must not be held during the call.
    candidates.clear();
    switch (next(front.key(), changes)) {
      case Next::kFindAgain:
        continue;
      case Next::kRecord: {
        if (DeferredOps::is_deferring()) DeferredOps::get().count_call(false);
        Recording recording(*this, front.key(), rebinds);
        front.missed(*this, true);
        return front.record(recording);
      }
      case Next::kRunUntilItReturns: {
        auto result = front.run();
        has_returned(front.key());
        return result;
      }
      case Next::kTimeAndRun: {
        if (DeferredOps::is_deferring()) DeferredOps::get().count_call(false);
        review_stale(front);
        const auto start = std::chrono::steady_clock::now();
        auto result = front.run();
        ran_eagerly(std::chrono::steady_clock::now() - start);
        return result;
      }
      case Next::kLogSamplingAndDefer:
        log_sampling(front);
        review_stale(front);
        return run_in_pieces(front);
      case Next::kSkipAndDefer:
        review_stale(front);
        return run_in_pieces(front);
      case Next::kTimeAndDefer: {
        review_stale(front);
        const auto start = std::chrono::steady_clock::now();
        auto result = run_in_pieces(front);
        ran_eagerly(std::chrono::steady_clock::now() - start);
        return result;
      }
      case Next::kReviewAndDefer:
        front.missed(*this, false);
        return run_in_pieces(front);
      case Next::kDefer:
        return run_in_pieces(front);
    }
  }
}

template <typename Front>
typename Front::Result PlanTable::run_in_pieces(const Front& front) {
  const PieceScore::Mode mode = next_mode();
  const auto start = mode.is_timed ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point();
  const auto finish = [&](DeferScope* scope) {
    const std::optional<DeferredCounts> counts = scope ? scope->finish() : std::nullopt;
    ran(mode, counts, mode.is_timed ? std::chrono::steady_clock::now() - start : std::chrono::nanoseconds(0));
  };
  if (!mode.in_pieces) {
    typename Front::Result result = front.run();
    finish(nullptr);
    return result;
  }
  DeferScope scope(verifies_next() ? &verify_deferred : &run_deferred);
  return front.run_in_pieces([&] { finish(&scope); });
}

template <typename Front>
TablePlan* PlanTable::replay(const Front& front, const Candidates& candidates, uint64_t rebinds,
                             std::optional<typename Front::Result>& result, bool& must_run) {
  Program::Branch branch;
  const TablePlan* tried = nullptr;
  for (TablePlan* plan : candidates.pointers()) {
    Program::Handles handles;
    if (!plan->program->recorded().is_on(branch) || !front.holds(*plan, handles)) continue;
    if (DeferredOps::any()) [[unlikely]]
      plan->program->run_deferred(front.tensors(), handles);
    // The arguments may have other types than those in the key, if the call has waited since it was made.
    if (rebinds_by_other_threads() != rebinds) {
      must_run = true;
      return nullptr;
    }
    if (!plan->program->fits(front.tensors(), handles)) {
      must_run |= handles.is_pending;
      continue;
    }
    const bool verifies = verifies_next() && ShadowRun::is_possible(*plan->program, handles);
    result = verifies ? front.verify(*plan, handles, branch) : front.replay(*plan, handles, branch);
    if (result) {
      if (plan->is_branch()) prefer(*plan);
      return plan;
    }
    // A check failed and nothing was written: the function raises the error when it runs eagerly.
    if (!plan->is_branch()) {
      must_run = true;
      return nullptr;
    }
    if (!tried) tried = plan;
  }
  if (tried) count_unknown_branch(*tried);
  return nullptr;
}

template <typename Front>
TablePlan* PlanTable::first_that_fits(const Front& front, const Candidates& candidates, Program::Handles& handles) {
  for (TablePlan* plan : candidates.pointers())
    if (front.holds(*plan, handles) && plan->program->fits(front.tensors(), handles)) return plan;
  return nullptr;
}

template <typename Front>
void PlanTable::review_stale(const Front& front) {
  {
    const auto [plan, is_pending] = newest_unless_stale(front.key());
    if (!plan || !front.is_stale(*plan, !is_pending)) return;
    plan->was_stale_ = true;
  }
  front.missed(*this, false);
}

template <typename Front>
void PlanTable::log_sampling(const Front& front) {
  const Ref<TablePlan> alike = newest_alike(front.key());
  log_sampling(alike ? front.difference(*alike) : "the types of its arguments vary");
}

template <typename Front>
Ref<TablePlan> PlanTable::find(const Front& front) const {
  Program::Handles handles;
  return find(front, handles);
}

template <typename Front>
Ref<TablePlan> PlanTable::find(const Front& front, Program::Handles& handles) const {
  Candidates candidates;
  find_candidates(front.key(), candidates);
  return first_that_fits(front, candidates, handles);
}

}  // namespace lucid::jit
