#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/busy_flag.h"
#include "base/lock.h"
#include "base/ref_list.h"
#include "jit/call_key.h"
#include "jit/program.h"

namespace lucid::jit {

/// A plan of a plan table. Fronts derive from it what they need to ask guards and to rebuild results; it may be dropped
/// on any thread.
class TablePlan : public RefCounted {
 public:
  TablePlan(Ref<Program> program, const CallKey& key)
      : program(std::move(program)), structure(key.structure()), numbers(key.numbers()) {}

  /// How often it ran.
  int64_t hits() const { return hits_.load(std::memory_order_relaxed); }

  const Ref<Program> program;
  const std::string structure;
  const SmallVector<int64_t, 16> numbers;
  /// Where the tensors of the program's state were found; may be empty.
  std::vector<std::string> places;
  /// How many places in the user's program the front guards.
  size_t guards = 0;

 private:
  friend class PlanTable;
  mutable std::atomic<int64_t> hits_ = 0;
};

/// What a table, or all tables of the process, have done so far.
struct PlanCounters {
  int64_t hits = 0;
  /// Calls that no plan fitted.
  int64_t misses = 0;
  int64_t compiles = 0;
  /// Compiles for a key that had a plan.
  int64_t recompiles = 0;
  /// Calls that ran eagerly because no plan can be made of them.
  int64_t eager_calls = 0;

  PlanCounters& operator+=(const PlanCounters& other);
};

/// The plans of one compiled function, those being made, and why calls run eagerly. Any number of threads may use it.
///
/// A front, in C++ or Python, runs calls through `call`, except inside another recording, of which they are part. It is
/// a class with
///   using Result                           what a call returns
///   const CallKey& key() const
///   std::span<TensorImpl* const> tensors() const
///   bool holds(const TablePlan&) const     whether the guards of a plan with this key hold
///   Result run() const                     runs the function eagerly
///   std::optional<Result> replay(const TablePlan&, const Program::Handles&) const
///                                          runs the plan and rebuilds the result; nothing if a check in it failed
///   Result record(Recording&) const        runs it while it is recorded, and tells the recording what came of it
class PlanTable {
 public:
  class Recording;

  static std::shared_ptr<PlanTable> make(std::string name, size_t max_plans);
  ~PlanTable();
  PlanTable(const PlanTable&) = delete;
  PlanTable& operator=(const PlanTable&) = delete;

  template <typename Front>
  typename Front::Result call(const Front& front);
  /// The newest plan that fits, or null.
  template <typename Front>
  Ref<TablePlan> find(const Front& front) const;

  // What follows finishes the recordings that it needs first.
  PlanCounters counters();
  /// The oldest first.
  std::vector<Ref<TablePlan>> plans();
  std::string explain();
  /// What a call would do for which find() returned `found`. `difference` says why newest() does not fit.
  std::string explain_call(const CallKey& key, const TablePlan* found, const std::string& difference);
  /// Forgets everything; calls are recorded again.
  void clear();
  /// The same without finishing recordings.
  void drop();

  /// Waits for the plans being made, and adds them. An interrupt ends the waiting, not the compiling.
  void finish_recordings();
  /// Why calls with a key run eagerly; empty if they do not.
  std::string reason(const CallKey& key) const;
  /// The newest plan with a key, whether it fits or not; null if there is none.
  Ref<TablePlan> newest(const CallKey& key) const;
  /// Keeps a remark for explain(), and logs it.
  void note(const std::string& text);

  const std::string& name() const { return name_; }
  size_t max_plans() const { return max_plans_; }
  /// How many plans nobody has asked for yet, made or not.
  size_t pending() const;
  /// Of how many keys something is known.
  size_t known_keys() const;
  int64_t hits() const;
  /// Calls `visit` with each plan, also those being made, and how often the table refers to it. It may not use the
  /// table.
  template <typename Visit>
  void for_each_plan(const Visit& visit) const;

 private:
  /// What is known of one key. Those with one structure are an entry.
  struct Variant {
    std::vector<int64_t> numbers;
    std::vector<Ref<TablePlan>> plans;  // the newest first
    int recordings = 0;
    /// Recordings that raised since the last call that returned.
    int raised = 0;
    /// Why calls run eagerly; empty if they do not.
    std::string reason;
    /// Grows with each variant of the table.
    uint64_t number = 0;
    size_t pending = 0;
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view structure) const { return std::hash<std::string_view>()(structure); }
  };
  using Entry = std::vector<std::unique_ptr<Variant>>;
  using Candidates = RefList<TablePlan, 4>;

  /// What to do with a call that no plan fits.
  enum class Next : uint8_t { kFindAgain, kRun, kRunUntilItReturns, kRecord };

  PlanTable(std::string name, size_t max_plans) : name_(std::move(name)), max_plans_(max_plans) {}

  /// The plans with a key, the newest first. Returns how often the table had changed by then.
  uint64_t find_candidates(const CallKey& key, Candidates& candidates) const;
  template <typename Front>
  static TablePlan* first_that_fits(const Front& front, const Candidates& candidates, Program::Handles& handles);
  /// `changes` is what find_candidates() returned. After kRecord the caller has recording_.
  Next next(const CallKey& key, uint64_t changes);
  /// A call ran that had kept raising.
  void has_returned(const CallKey& key);

  // Under the lock.
  Variant* find_variant(std::string_view structure, std::span<const int64_t> numbers) const;
  Variant& variant(std::string_view structure, std::span<const int64_t> numbers);
  void erase(std::string_view structure, const Variant& known);
  void forget_keys_without_plans();
  void run_eagerly(Variant& known, std::string reason);
  void give_up_if_unused(Variant& known);
  /// Adds a plan, or notes why there is none; with neither, something was learned. Returns the plan that had to leave.
  Ref<TablePlan> add(Variant& known, const Ref<TablePlan>& plan, std::string obstacle);
  Ref<TablePlan> remove_oldest();
  void add_note(const std::string& text);
  PlanCounters counters_now() const;

  /// Waits for the oldest recording and adds its plan, unless another thread has or it was forgotten.
  void finish_first(const Ref<TablePlan>& first);
  /// Finishes recordings in their order, so that the oldest plan leaves first whatever calls come in between, while a
  /// condition holds. It is asked under the lock.
  template <typename Condition>
  void finish_while(const Condition& holds);

  Mutex& mutex() const { return mutex_of(LockRank::kPlanTable, this); }

  const std::string name_;
  const size_t max_plans_;
  /// Set while a thread records.
  BusyFlag recording_;
  std::unordered_map<std::string, Entry, Hash, std::equal_to<>> entries_;
  std::deque<Ref<TablePlan>> plans_;    // the oldest first
  std::deque<Ref<TablePlan>> pending_;  // in the order of recording
  /// Counts changes of the plans, for calls that look again.
  uint64_t changes_ = 0;
  /// How often everything was forgotten: what was recorded before is not kept.
  uint64_t generation_ = 0;
  uint64_t next_number_ = 0;
  /// Without the hits, which plans count, except those of plans that are gone.
  PlanCounters counters_;
  std::vector<std::string> notes_;
};

/// A call that is being recorded. Its destructor ends the recording; a front that says nothing has learned something,
/// and the next call is recorded again.
class PlanTable::Recording {
 public:
  Recording(PlanTable& table, const CallKey& key);
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording();

  /// The call raised this: the class of the exception, or its message.
  void raised(const std::string& what);
  /// The call returned. What follows only makes later calls faster: `make` returns a plan that is still to be compiled,
  /// or null; then `obstacle` says why there can be none, or is empty if the next call is to be recorded. The standard
  /// passes run on the compile thread, others here.
  template <typename Make>
  void returned(const Make& make, const PassList* passes = nullptr);

 private:
  void finish(const Ref<TablePlan>& plan, const std::string& obstacle, const PassList* passes);
  bool is_forgotten() const;

  PlanTable& table_;
  const CallKey& key_;
  uint64_t generation_ = 0;
};

/// Waits for the plans being made of all tables, and for other compile tasks.
void finish_all_recordings();
/// Of all tables of the process. Finishes their recordings.
PlanCounters total_counters();

template <typename Front>
typename Front::Result PlanTable::call(const Front& front) {
  for (;;) {
    Candidates candidates;
    const uint64_t changes = find_candidates(front.key(), candidates);
    Program::Handles handles;
    if (const TablePlan* plan = first_that_fits(front, candidates, handles)) {
      std::optional<typename Front::Result> result = front.replay(*plan, handles);
      // Where a check fails, nothing was written, and the function raises what it raises.
      if (!result) return front.run();
      plan->hits_.fetch_add(1, std::memory_order_relaxed);
      return std::move(*result);
    }
    switch (next(front.key(), changes)) {
      case Next::kFindAgain:
        continue;
      case Next::kRecord: {
        Recording recording(*this, front.key());
        return front.record(recording);
      }
      case Next::kRunUntilItReturns: {
        auto result = front.run();
        has_returned(front.key());
        return result;
      }
      case Next::kRun:
        return front.run();
    }
  }
}

template <typename Front>
TablePlan* PlanTable::first_that_fits(const Front& front, const Candidates& candidates, Program::Handles& handles) {
  for (TablePlan* plan : candidates.pointers())
    if (front.holds(*plan) && plan->program->fits(front.tensors(), handles)) return plan;
  return nullptr;
}

template <typename Front>
Ref<TablePlan> PlanTable::find(const Front& front) const {
  Candidates candidates;
  find_candidates(front.key(), candidates);
  Program::Handles handles;
  return first_that_fits(front, candidates, handles);
}

template <typename Visit>
void PlanTable::for_each_plan(const Visit& visit) const {
  const std::lock_guard lock(mutex());
  for (const Ref<TablePlan>& plan : plans_) visit(*plan, 2);
  for (const Ref<TablePlan>& plan : pending_) visit(*plan, 1);
}

template <typename Make>
void PlanTable::Recording::returned(const Make& make, const PassList* passes) {
  table_.has_returned(key_);
  if (is_forgotten()) return;
  std::string obstacle;
  const Ref<TablePlan> plan = make(obstacle);
  finish(plan, obstacle, passes);
}

}  // namespace lucid::jit
