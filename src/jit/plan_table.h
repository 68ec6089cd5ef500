#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/busy_flag.h"
#include "base/lock.h"
#include "base/ref_list.h"
#include "jit/branch_score.h"
#include "jit/call_key.h"
#include "jit/piece_score.h"
#include "jit/plan_counters.h"
#include "jit/program.h"
#include "jit/recording_budget.h"
#include "jit/shadow_run.h"
#include "jit/table_plan.h"
#include "jit/varying_numbers.h"
#include "tensor/deferred_ops.h"

namespace lucid::jit {

/// The plans of one compiled function, the plans being compiled, and the reasons why calls run eagerly. Thread-safe.
///
/// A front, in C++ or Python, runs calls through `call`, except inside another recording, which records them as part of
/// the outer call. It is a class with
///   using Result                           the type that a call returns
///   const CallKey& key() const
///   std::span<TensorImpl* const> tensors() const
///   bool holds(const TablePlan&, Program::Handles&) const
///                                          whether the guards of a plan with this key hold; sets the traced numbers
///   std::string difference(const TablePlan&) const
///                                          why a plan of the same structure does not match the call
///   void missed(PlanTable&, bool records) const
///                                          no plan matches, and the function is about to be recorded, or to run
///                                          after a review of the plans
///   bool is_stale(const TablePlan&, bool was_asked) const
///                                          whether a plan with this key serves the arguments, but depends on state
///                                          that has changed; `was_asked` if holds() was called for it
///   Result run() const                     runs the function eagerly
///   Result run_in_pieces(finish) const     the same with what it calls compiled, then calls `finish`
///   std::optional<Result> replay(const TablePlan&, const Program::Handles&, Program::Branch&) const
///                                          runs the plan and rebuilds the result; empty if Program::run() failed
///   std::optional<Result> verify(const TablePlan&, const Program::Handles&, Program::Branch&) const
///                                          runs the function and compares it with a shadow run of the plan; empty if
///                                          that failed
///   Result record(Recording&) const        runs and records the function; reports the outcome to the recording
class PlanTable {
 public:
  class Recording;

  /// `waits`: whether calls wait for plans that are being compiled. Otherwise, unless LUCID_COMPILE_WAIT is set, they
  /// run eagerly meanwhile. Every `verify`-th call that runs a plan is compared with the function; none if 0. `dynamic`
  /// says which sizes of tensors are traced: all, none, or, without a value, those that vary.
  static std::shared_ptr<PlanTable> make(std::string name, size_t max_plans, bool waits = false,
                                         int64_t verify = options().verify, std::optional<bool> dynamic = {});
  ~PlanTable();
  PlanTable(const PlanTable&) = delete;
  PlanTable& operator=(const PlanTable&) = delete;

  template <typename Front>
  typename Front::Result call(const Front& front);
  /// The newest plan that matches, or null.
  template <typename Front>
  Ref<TablePlan> find(const Front& front) const;
  /// The same, with what a run of its program needs.
  template <typename Front>
  Ref<TablePlan> find(const Front& front, Program::Handles& handles) const;

  // Those up to clear() finish the pending recordings first.
  PlanCounters counters();
  std::vector<Ref<TablePlan>> plans();  // oldest first
  std::string explain();
  /// Describes what a call would do. `found` is the plan that find() returned; `difference` says why newest() does not
  /// match.
  std::string explain_call(const CallKey& key, const TablePlan* found, const std::string& difference);
  /// Removes all plans and everything known about keys; calls are recorded again.
  void clear();
  /// The same without finishing recordings.
  void drop();

  /// Waits for the plans being compiled, and adds them. An interrupt ends the wait, but not the compilation.
  void finish_recordings();
  /// Why calls with a key run eagerly; empty if they do not.
  std::string reason(const CallKey& key) const;
  /// The newest plan with a key, whether it matches or not; null if there is none.
  Ref<TablePlan> newest(const CallKey& key) const;
  /// The newest plan with the structure of a key.
  Ref<TablePlan> newest_alike(const CallKey& key) const;
  /// What the recording of a call with this key traces, of the numbers and sizes at `positions`.
  VaryingNumbers varying(const CallKey& key, std::span<const uint32_t> positions) const;
  /// Calls with this structure depend on these numbers: each value has a plan of its own.
  void add_fixed(std::string_view structure, FixedNumbers fixed);
  /// The plans, oldest first, including pending ones, without waiting for them.
  std::vector<Ref<TablePlan>> plans_now() const;
  /// Removes plans that can never match again, pending or not, unless they are gone already.
  void remove(std::span<const Ref<TablePlan>> gone);
  /// Logs an event, and adds it to explain().
  void log_event(const std::string& text);
  /// Logs a call that runs eagerly for a reason other than its arguments.
  void log_eager_call(const std::string& reason);

  const std::string& name() const { return name_; }
  size_t max_plans() const { return max_plans_; }
  std::optional<bool> dynamic() const { return dynamic_; }
  /// How many entries the plans fill, of at most max_plans(). The branches of a key are one entry.
  size_t filled();
  /// How many recorded plans have not been added to the table yet, whether compiled or not.
  size_t pending() const;
  /// How many keys the table has information about.
  size_t known_keys() const;
  int64_t hits() const;
  /// Calls `visit` with each plan, including pending ones, and the number of references that the table has to it.
  /// `visit` may not use the table.
  template <typename Visit>
  void for_each_plan(const Visit& visit) const;

 private:
  /// Everything known about one key, or about the keys of plans whose numbers vary. The variants with the same
  /// structure form an entry.
  struct Variant {
    explicit Variant(NumberPattern numbers) : pattern(std::move(numbers)) {}

    const NumberPattern pattern;
    /// Newest first. Those that read values are the branches of the key; of these, the last one used is first.
    std::vector<Ref<TablePlan>> plans;
    BranchScore score;
    /// Recordings of branches that cannot be compiled.
    int failed_branches = 0;
    /// Whether it has ever had a plan.
    bool has_compiled = false;
    /// Calls that ran eagerly although there are plans, and at which of them the plans are reviewed next.
    uint32_t misses = 0;
    uint32_t next_review = 0;
    /// Recordings that raised since the last call that returned.
    int raised = 0;
    /// Why calls run eagerly; empty if they do not.
    std::string reason;
    /// Increases with each variant of the table.
    uint64_t serial = 0;
    size_t pending = 0;
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view structure) const { return std::hash<std::string_view>()(structure); }
  };
  using Entry = std::vector<std::unique_ptr<Variant>>;
  using Candidates = RefList<TablePlan, 4>;

  /// After this many consecutive recordings that raised, a key is not recorded again until a call returns.
  static constexpr int kMaxRaising = 3;
  /// What to do with a call that no plan matches.
  enum class Next : uint8_t {
    kFindAgain,            // plans were added since the search
    kTimeAndRun,           // run eagerly until there is a plan, and tell the budget the time
    kRunUntilItReturns,    // recordings raised: record again once a call returns
    kDefer,                // the key is never compiled: run the function, and defer its ops
    kReviewAndDefer,       // the same; drop plans that can no longer match
    kSkipAndDefer,         // the budget refuses, and calls wait for plans
    kTimeAndDefer,         // the budget refuses: tell it the time
    kLogSamplingAndDefer,  // the first call that the budget refuses: log what varies
    kRecord                // record; the caller has set `recording_`
  };

  PlanTable(std::string name, size_t max_plans, bool waits, int64_t verify, std::optional<bool> dynamic)
      : name_(std::move(name)),
        max_plans_(max_plans),
        waits_(waits),
        verify_(verify),
        dynamic_(dynamic),
        budget_(max_plans, !waits) {}

  /// Whether to compare the next call that runs a plan with the function.
  bool verifies_next() { return verify_ != 0 && replays_.fetch_add(1, std::memory_order_relaxed) % verify_ == 0; }

  /// Collects the plans with a key, in the order of their variants. Returns the value of `changes_` at that time.
  uint64_t find_candidates(const CallKey& key, Candidates& candidates) const;
  /// The same for a call: leaves out branches if they have not been of use lately.
  uint64_t find_for_call(const CallKey& key, Candidates& candidates);
  template <typename Front>
  static TablePlan* first_that_fits(const Front& front, const Candidates& candidates, Program::Handles& handles);
  /// Runs a plan that matches. Branches are tried in turn: each one that does not match tells what the call reads.
  /// Returns the plan that ran. If null, `must_run` says whether the function must run without being recorded.
  template <typename Front>
  TablePlan* replay(const Front& front, const Candidates& candidates, uint64_t rebinds,
                    std::optional<typename Front::Result>& result, bool& must_run);
  /// Runs the function in pieces: defers its ops (see DeferredOps), and compiles what it calls. If that takes longer
  /// than running the function as it is, does the latter.
  template <typename Front>
  typename Front::Result run_in_pieces(const Front& front);
  PieceScore::Mode next_mode();
  void ran(PieceScore::Mode mode, const std::optional<DeferredCounts>& counts, std::chrono::nanoseconds time);
  /// A branch has run, or no branch matched.
  void prefer(const TablePlan& plan);
  void count_unknown_branch(const TablePlan& plan);
  /// `changes` is the value that find_candidates() returned. If it returns kRecord, the caller owns `recording_`.
  Next next(const CallKey& key, uint64_t changes);
  /// A call that might have been recorded took this time without it.
  void ran_eagerly(std::chrono::nanoseconds time);
  /// A call with this key has returned: resets the count of recordings that raised.
  void has_returned(const CallKey& key);

  // The caller holds the lock.
  Ref<TablePlan> newest_now(const CallKey& key) const;
  Variant* find_variant(std::string_view structure, const NumberPattern& pattern) const;
  /// The variant with the numbers of a key, none of which varies.
  Variant* find_variant(const CallKey& key) const;
  Variant& variant(std::string_view structure, const NumberPattern& pattern);
  Variant& variant(const CallKey& key) { return variant(key.structure(), NumberPattern(key.numbers())); }
  /// Calls `visit` with the variants that serve a key, newest first, until it returns true. Returns whether it did.
  template <typename Visit>
  bool visit_matching(const CallKey& key, const Visit& visit) const;
  /// Whether a plan that serves the key is being compiled.
  bool is_pending(const CallKey& key) const;
  void erase(std::string_view structure, const Variant& known);
  void evict_keys_without_plans();
  void run_eagerly(Variant& known, std::string reason);
  /// Adds a plan, or keeps the obstacle. With neither, the next call is recorded. Returns the evicted plans.
  std::vector<Ref<TablePlan>> add(Variant& known, const Ref<TablePlan>& plan, std::string obstacle);
  /// Removes the plans of the oldest entry.
  std::vector<Ref<TablePlan>> remove_oldest();
  void take(Variant& known, const Ref<TablePlan>& plan);
  size_t filled_now() const;
  /// Counts an eager call; returns whether to review the plans of the key.
  static bool should_review(Variant& known);
  void add_event(const std::string& text);
  PlanCounters counters_now() const;

  /// Waits for the oldest recording and adds its plan.
  void finish_first(const Ref<TablePlan>& first);
  /// Adds the plan of the oldest recording, which is compiled, unless another thread has added or dropped it.
  void add_first(const Ref<TablePlan>& first);
  /// Adds the plans that are compiled, in the order of recording, without waiting for others.
  void add_compiled();
  /// The call will not be recorded. Reviews the plans, once for each plan, if the state that the newest one depends on
  /// has changed: it must not keep alive what the program has replaced.
  template <typename Front>
  void review_stale(const Front& front);
  /// The newest plan with a key that is being compiled, and true, or else newest() and false. Null if the state that it
  /// depends on was stale before.
  std::pair<Ref<TablePlan>, bool> newest_unless_stale(const CallKey& key) const;
  /// Logs that calls are being sampled, and how they differ.
  template <typename Front>
  void log_sampling(const Front& front);
  void log_sampling(const std::string& difference);
  /// Finishes recordings in the order of recording while a condition holds, so that eviction order does not depend on
  /// the order of later calls. The condition is evaluated under the lock.
  template <typename Condition>
  void finish_while(const Condition& holds);
  void finish_recordings_of(const CallKey& key);

  Mutex& mutex() const { return mutex_of(LockRank::kPlanTable, this); }
  const std::string name_;
  const size_t max_plans_;
  const bool waits_;
  const int64_t verify_;
  const std::optional<bool> dynamic_;
  /// How many calls have run a plan; counted only for `verify_`.
  std::atomic<int64_t> replays_ = 0;
  RecordingBudget budget_;
  PieceScore pieces_;
  BusyFlag recording_;  // set while a thread records
  std::unordered_map<std::string, Entry, Hash, std::equal_to<>> entries_;
  std::map<std::string, FixedNumbers, std::less<>> fixed_;  // by structure
  std::deque<Ref<TablePlan>> plans_;                        // oldest first
  std::deque<Ref<TablePlan>> pending_;                      // in the order of recording
  /// Counts changes of the plans, so that a call can tell whether to search again.
  uint64_t changes_ = 0;
  /// Counts calls of drop(): a recording that began in an earlier generation is discarded.
  uint64_t generation_ = 0;
  uint64_t next_serial_ = 0;
  /// The hits are those of removed plans only; each plan counts its own.
  PlanCounters counters_;
  std::vector<std::string> events_;
};

/// A call that is being recorded. The destructor ends the recording. If the front reports nothing, the next call is
/// recorded again.
class PlanTable::Recording {
 public:
  Recording(PlanTable& table, const CallKey& key, uint64_t rebinds);
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording();

  const PlanTable& table() const { return table_; }
  /// The call runs without being recorded. A later one may be.
  void skipped(const std::string& reason) { table_.log_eager_call(reason); }
  /// The call raised `what`: the class of the exception, or its message.
  void raised(const std::string& what);
  /// The call returned. `make` returns a plan that is not compiled yet, or null; if null, its `obstacle` says why there
  /// is no plan, or is empty if the next call is to be recorded. Standard passes run on the compile thread; `passes`,
  /// if given, run on this thread.
  /// `read_values`: the call read values of tensors, so that other calls with its key may take another branch.
  template <typename Make>
  void returned(bool read_values, const Make& make, const PassList* passes = nullptr);

 private:
  void finish(const Ref<TablePlan>& plan, const std::string& obstacle, bool read_values, const PassList* passes);
  /// Whether the table was cleared after the recording began, or another thread has given a tensor other memory since
  /// the key was made, when rebinds_by_other_threads() was `rebinds`: what was recorded may be of several calls.
  bool is_stale() const;

  PlanTable& table_;
  const CallKey& key_;
  uint64_t generation_ = 0;
  const uint64_t rebinds_;
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Waits for the plans of all tables that are being compiled, and for all other compile tasks.
void finish_all_recordings();
/// PlanTable::plans_now() of all tables of the process.
std::vector<Ref<TablePlan>> plans_of_all_tables();
/// The counters of all tables of the process. Finishes their recordings.
PlanCounters total_counters();

template <typename Visit>
void PlanTable::for_each_plan(const Visit& visit) const {
  const std::lock_guard lock(mutex());
  for (const Ref<TablePlan>& plan : plans_) visit(*plan, 2);
  for (const Ref<TablePlan>& plan : pending_) visit(*plan, 1);
}

template <typename Make>
void PlanTable::Recording::returned(bool read_values, const Make& make, const PassList* passes) {
  table_.has_returned(key_);
  if (is_stale()) return;
  std::string obstacle;
  const Ref<TablePlan> plan = make(obstacle);
  finish(plan, obstacle, read_values, passes);
}

}  // namespace lucid::jit
