// PlanTable: recordings, and the plans that are being compiled.

#include <fmt/format.h>

#include "base/blocking.h"
#include "base/error.h"
#include "base/out_of_memory.h"
#include "jit/plan_table.h"

namespace lucid::jit {
namespace {

/// How many recordings of branches that cannot be compiled are made before all calls with a key run eagerly.
constexpr int kMaxFailedBranches = 4;
/// How often a waiting thread checks for interrupts.
constexpr std::chrono::milliseconds kInterruptInterval(20);

}  // namespace

PlanTable::Recording::Recording(PlanTable& table, const CallKey& key, uint64_t rebinds)
    : table_(table), key_(key), rebinds_(rebinds) {
  const std::lock_guard lock(table.mutex());
  generation_ = table.generation_;
}

PlanTable::Recording::~Recording() {
  {
    const std::lock_guard lock(table_.mutex());
    table_.budget_.recorded(std::chrono::nanoseconds(std::chrono::steady_clock::now() - start_).count());
  }
  table_.recording_.release();
}

bool PlanTable::Recording::is_stale() const {
  const std::lock_guard lock(table_.mutex());
  return table_.generation_ != generation_ || rebinds_by_other_threads() != rebinds_;
}

void PlanTable::Recording::raised(const std::string& what) {
  const std::lock_guard lock(table_.mutex());
  if (table_.generation_ != generation_) return;
  has_memory_for([&] {
    // Recording takes much longer than the call, and a call that raised cannot be compiled.
    Variant& known = table_.variant(key_);
    if (++known.raised < kMaxRaising) return;
    known.reason = fmt::format("the last {} calls that were recorded raised {}", kMaxRaising, what);
    table_.add_event("runs eagerly until a call returns: " + known.reason);
  });
}

void PlanTable::Recording::finish(const Ref<TablePlan>& plan, const std::string& obstacle, bool read_values,
                                  const PassList* passes) {
  // Temporary: the next call is recorded again.
  if ((!plan && obstacle == kOutOfMemory) || is_stale()) return;
  std::string failure = obstacle;
  if (plan) plan->program->set_waits(table_.waits_);
  if (plan && table_.verify_ != 0) plan->program->keep_graph();
  if (plan && passes) {
    failure = plan->program->compile_now(passes);
  } else if (plan) {
    plan->program->compile_later();
  }
  Ref<TablePlan> oldest;
  std::vector<Ref<TablePlan>> gone;
  const bool is_done = !plan || passes;
  {
    const std::lock_guard lock(table_.mutex());
    if (table_.generation_ != generation_) return;
    Variant& known = plan ? table_.variant(plan->structure, plan->pattern) : table_.variant(key_);
    // Calls that read other values may still be compiled.
    if (!plan && !failure.empty() && read_values && ++known.failed_branches < kMaxFailedBranches) {
      table_.add_event("runs eagerly for some of the values that it reads: " + failure);
      ++table_.counters_.eager_calls;
    } else if (is_done) {
      gone = table_.add(known, plan, std::move(failure));
    } else {
      table_.pending_.push_back(plan);
      ++known.pending;
      if (table_.pending_.size() > table_.max_plans_) oldest = table_.pending_.front();
    }
  }
  // Calls with many keys must not outrun the compile thread.
  if (oldest) table_.finish_first(oldest);
}

template <typename Condition>
void PlanTable::finish_while(const Condition& holds) {
  for (;;) {
    Ref<TablePlan> first;
    {
      const std::lock_guard lock(mutex());
      if (pending_.empty() || !holds()) return;
      first = pending_.front();
    }
    finish_first(first);
  }
}

void PlanTable::finish_recordings() {
  finish_while([] { return true; });
}

void PlanTable::finish_recordings_of(const CallKey& key) {
  finish_while([&] { return is_pending(key); });
}

void PlanTable::finish_first(const Ref<TablePlan>& first) {
  for (;;) {
    {
      const BlockingScope waiting;
      if (first->program->wait(kInterruptInterval)) break;
    }
    check_interrupts();
  }
  add_first(first);
}

void PlanTable::add_compiled() {
  for (;;) {
    Ref<TablePlan> first;
    {
      const std::lock_guard lock(mutex());
      if (pending_.empty()) return;
      first = pending_.front();
    }
    if (!first->program->is_compiled()) return;
    add_first(first);
  }
}

void PlanTable::add_first(const Ref<TablePlan>& first) {
  // Destroyed after the lock is released.
  Ref<TablePlan> plan;
  std::vector<Ref<TablePlan>> gone;
  const std::lock_guard lock(mutex());
  // Another thread has finished or dropped it.
  if (pending_.empty() || pending_.front() != first) return;
  plan = std::move(pending_.front());
  pending_.pop_front();
  Variant* const known = find_variant(plan->structure, plan->pattern);
  --known->pending;
  has_memory_for([&] {
    std::string obstacle;
    try {
      obstacle = plan->program->finish();
    } catch (const std::exception& error) {
      obstacle = reason_of(error);
    }
    // Temporary: the next call is recorded again.
    if (obstacle == kOutOfMemory) return;
    gone = add(*known, plan, std::move(obstacle));
  });
}

}  // namespace lucid::jit
