#include "jit/plan_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "base/blocking.h"
#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "base/out_of_memory.h"

namespace lucid::jit {
namespace {

/// How many keys without a plan the table remembers.
constexpr size_t kMaxKeysWithoutPlan = 64;

/// All tables of the process, and the counters of tables that were destroyed.
struct Tables {
  std::vector<std::weak_ptr<PlanTable>> tables;
  PlanCounters gone;
};

Tables& all_tables() {
  static auto* const tables = new Tables;  // never destroyed: used until the process ends
  return *tables;
}

Mutex& tables_mutex() { return mutex_of(LockRank::kPlanTables); }

std::vector<std::shared_ptr<PlanTable>> live_tables() {
  std::vector<std::shared_ptr<PlanTable>> live;
  const std::lock_guard lock(tables_mutex());
  for (const std::weak_ptr<PlanTable>& table : all_tables().tables)
    if (std::shared_ptr<PlanTable> used = table.lock()) live.push_back(std::move(used));
  return live;
}

}  // namespace

PlanCounters& PlanCounters::operator+=(const PlanCounters& other) {
  hits += other.hits;
  misses += other.misses;
  compiles += other.compiles;
  recompiles += other.recompiles;
  eager_calls += other.eager_calls;
  piecewise_calls += other.piecewise_calls;
  return *this;
}

std::string TablePlan::name_of(const ShadowRun::Difference& difference) const {
  const size_t arguments = program->recorded().argument_count();
  std::string name = "a tensor that it captures";
  if (difference.handle < arguments)
    name = fmt::format("argument {}", difference.handle);
  else if (difference.handle - arguments < sources.size())
    name = sources[difference.handle - arguments];
  return difference.is_gradient ? "the gradient of " + name : name;
}

std::shared_ptr<PlanTable> PlanTable::make(std::string name, size_t max_plans, bool waits, int64_t verify,
                                           std::optional<bool> dynamic) {
  if (max_plans < 1) throw ValueError("compile: max_cache_entries must be at least 1, got 0");
  std::shared_ptr<PlanTable> table(
      new PlanTable(std::move(name), max_plans, waits || options().compile_wait, verify, dynamic));
  const std::lock_guard lock(tables_mutex());
  auto& tables = all_tables().tables;
  std::erase_if(tables, [](const std::weak_ptr<PlanTable>& other) { return other.expired(); });
  tables.push_back(table);
  return table;
}

PlanTable::~PlanTable() {
  const PlanCounters last = counters_now();
  const std::lock_guard lock(tables_mutex());
  all_tables().gone += last;
}

// ---- Calls.

uint64_t PlanTable::find_candidates(const CallKey& key, Candidates& candidates) const {
  const std::lock_guard lock(mutex());
  visit_matching(key, [&](const Variant& known) {
    for (const Ref<TablePlan>& plan : known.plans) candidates.push_back(plan);
    return false;
  });
  return changes_;
}

uint64_t PlanTable::find_for_call(const CallKey& key, Candidates& candidates) {
  const std::lock_guard lock(mutex());
  visit_matching(key, [&](Variant& known) {
    std::optional<bool> tries_branches;
    for (const Ref<TablePlan>& plan : known.plans) {
      if (plan->is_branch() && !tries_branches) tries_branches = known.score.take();
      if (!plan->is_branch() || *tries_branches) candidates.push_back(plan);
    }
    return false;
  });
  return changes_;
}

void PlanTable::prefer(const TablePlan& plan) {
  const std::lock_guard lock(mutex());
  Variant* const known = find_variant(plan.structure, plan.pattern);
  if (!known) return;
  known->score.succeeded();
  const auto found = std::ranges::find(known->plans, &plan, &Ref<TablePlan>::get);
  if (found != known->plans.end()) std::rotate(known->plans.begin(), found, found + 1);
}

void PlanTable::count_unknown_branch(const TablePlan& plan) {
  const std::lock_guard lock(mutex());
  if (Variant* const known = find_variant(plan.structure, plan.pattern)) known->score.failed();
}

PlanTable::Next PlanTable::next(const CallKey& key, uint64_t changes) {
  if (!waits_) add_compiled();
  {
    const std::lock_guard lock(mutex());
    Variant* known = nullptr;
    bool pends = false;
    visit_matching(key, [&](Variant& each) {
      if (each.pattern.varying.empty()) known = &each;
      pends |= each.pending > 0;
      return false;
    });
    if (!pends || !waits_) {
      // Another thread has added a plan since.
      if (changes_ != changes) return Next::kFindAgain;
      if (known && !known->reason.empty() && known->raised < kMaxRaising) {
        ++counters_.eager_calls;
        return should_review(*known) ? Next::kReviewAndDefer : Next::kDefer;
      }
      ++counters_.misses;
      if (known && known->raised >= kMaxRaising) return Next::kRunUntilItReturns;
      // Its plan is being compiled; or calls with many keys would outrun the compile thread.
      if (!waits_ && (pends || pending_.size() >= max_plans_)) return Next::kTimeAndRun;
      // If another thread is recording, this call runs eagerly; the plan will serve the next call.
      if (!recording_.try_acquire()) return Next::kTimeAndRun;
      const bool is_full = plans_.size() >= max_plans_ && filled_now() >= max_plans_;
      if (budget_.take(counters_now().hits, is_full)) return Next::kRecord;
      recording_.release();
      // Once after each recording: to find what differs takes as long as several short calls.
      if (budget_.skipped() == 1) return Next::kLogSamplingAndDefer;
      return waits_ ? Next::kSkipAndDefer : Next::kTimeAndDefer;
    }
  }
  finish_recordings_of(key);
  return Next::kFindAgain;
}

void PlanTable::ran_eagerly(std::chrono::nanoseconds time) {
  const std::lock_guard lock(mutex());
  budget_.ran_eagerly(time.count());
}

PieceScore::Mode PlanTable::next_mode() {
  // What a call does must not depend on the clock if calls wait for plans.
  if (waits_) return {};
  const std::lock_guard lock(mutex());
  return pieces_.next();
}

void PlanTable::ran(PieceScore::Mode mode, const std::optional<DeferredCounts>& counts, std::chrono::nanoseconds time) {
  const std::lock_guard lock(mutex());
  const bool is_planned = counts && counts->batches > 0 && counts->planned == counts->batches;
  counters_.piecewise_calls += is_planned;
  if (mode.in_pieces) pieces_.ran_in_pieces(is_planned);
  if (!mode.is_timed) return;
  const std::optional<double> ratio = pieces_.took(mode, time.count());
  if (ratio && options().logs(kLogTopic))
    log(kLogTopic, fmt::format("{}: in pieces, calls take {:.2f} times as long as they are", name_, *ratio));
  if (ratio && !pieces_.in_pieces()) add_event("runs without pieces, which would take longer");
}

void PlanTable::has_returned(const CallKey& key) {
  const std::lock_guard lock(mutex());
  if (Variant* known = find_variant(key); known && known->raised > 0) {
    known->raised = 0;
    known->reason.clear();
  }
}

// ---- Keys. The caller holds the lock.

template <typename Visit>
bool PlanTable::visit_matching(const CallKey& key, const Visit& visit) const {
  const auto entry = entries_.find(key.structure());
  if (entry == entries_.end()) return false;
  for (const std::unique_ptr<Variant>& known : entry->second)
    if (known->pattern.matches(key.numbers()) && visit(*known)) return true;
  return false;
}

bool PlanTable::is_pending(const CallKey& key) const {
  return visit_matching(key, [](const Variant& known) { return known.pending > 0; });
}

PlanTable::Variant* PlanTable::find_variant(const CallKey& key) const {
  Variant* found = nullptr;
  visit_matching(key, [&](Variant& known) {
    if (known.pattern.varying.empty()) found = &known;
    return found != nullptr;
  });
  return found;
}

PlanTable::Variant* PlanTable::find_variant(std::string_view structure, const NumberPattern& pattern) const {
  const auto entry = entries_.find(structure);
  if (entry == entries_.end()) return nullptr;
  for (const std::unique_ptr<Variant>& known : entry->second)
    if (known->pattern == pattern) return known.get();
  return nullptr;
}

PlanTable::Variant& PlanTable::variant(std::string_view structure, const NumberPattern& pattern) {
  if (Variant* known = find_variant(structure, pattern)) return *known;
  auto added = std::make_unique<Variant>(pattern);
  added->serial = next_serial_++;
  Entry& entry = entries_.try_emplace(std::string(structure)).first->second;
  // Newest first: the next call is most likely similar to the last one.
  entry.insert(entry.begin(), std::move(added));
  Variant& result = *entry.front();
  evict_keys_without_plans();
  return result;
}

void PlanTable::erase(std::string_view structure, const Variant& known) {
  const auto entry = entries_.find(structure);
  std::erase_if(entry->second, [&](const std::unique_ptr<Variant>& other) { return other.get() == &known; });
  if (entry->second.empty()) entries_.erase(entry);
}

void PlanTable::evict_keys_without_plans() {
  for (;;) {
    size_t count = 0;
    std::pair<const std::string*, const Variant*> oldest;
    for (const auto& [structure, entry] : entries_)
      for (const std::unique_ptr<Variant>& known : entry) {
        if (!known->plans.empty() || known->pending > 0) continue;
        ++count;
        if (!oldest.second || known->serial < oldest.second->serial) oldest = {&structure, known.get()};
      }
    if (count <= kMaxKeysWithoutPlan) return;
    erase(*oldest.first, *oldest.second);
  }
}

void PlanTable::run_eagerly(Variant& known, std::string reason) {
  add_event("runs eagerly: " + reason);
  known.reason = std::move(reason);
  ++counters_.eager_calls;
}

void PlanTable::clear() {
  finish_recordings();
  drop();
}

void PlanTable::drop() {
  // Destroyed after the lock is released.
  decltype(entries_) entries;
  std::deque<Ref<TablePlan>> plans, pending;
  const std::lock_guard lock(mutex());
  for (const Ref<TablePlan>& plan : plans_) counters_.hits += plan->hits();
  ++generation_;
  ++changes_;
  budget_ = RecordingBudget(max_plans_, !waits_, counters_.hits);
  pieces_ = {};
  entries.swap(entries_);
  fixed_.clear();
  plans.swap(plans_);
  pending.swap(pending_);
}

// ---- Queries.

int64_t PlanTable::hits() const {
  const std::lock_guard lock(mutex());
  return counters_now().hits;
}

size_t PlanTable::pending() const {
  const std::lock_guard lock(mutex());
  return pending_.size();
}

size_t PlanTable::known_keys() const {
  const std::lock_guard lock(mutex());
  size_t count = 0;
  for (const auto& [structure, entry] : entries_) count += entry.size();
  return count;
}

PlanCounters PlanTable::counters_now() const {
  PlanCounters counters = counters_;
  for (const Ref<TablePlan>& plan : plans_) counters.hits += plan->hits();
  return counters;
}

PlanCounters PlanTable::counters() {
  finish_recordings();
  const std::lock_guard lock(mutex());
  return counters_now();
}

std::vector<Ref<TablePlan>> PlanTable::plans() {
  finish_recordings();
  const std::lock_guard lock(mutex());
  return {plans_.begin(), plans_.end()};
}

std::vector<Ref<TablePlan>> PlanTable::plans_now() const {
  const std::lock_guard lock(mutex());
  std::vector<Ref<TablePlan>> all(plans_.begin(), plans_.end());
  all.insert(all.end(), pending_.begin(), pending_.end());
  return all;
}

std::string PlanTable::reason(const CallKey& key) const {
  const std::lock_guard lock(mutex());
  const Variant* const known = find_variant(key);
  return known ? known->reason : std::string();
}

Ref<TablePlan> PlanTable::newest(const CallKey& key) const {
  const std::lock_guard lock(mutex());
  return newest_now(key);
}

Ref<TablePlan> PlanTable::newest_now(const CallKey& key) const {
  Ref<TablePlan> found;
  visit_matching(key, [&](const Variant& known) {
    if (!known.plans.empty()) found = known.plans.front();
    return static_cast<bool>(found);
  });
  return found;
}

Ref<TablePlan> PlanTable::newest_alike(const CallKey& key) const {
  const std::lock_guard lock(mutex());
  for (const Ref<TablePlan>& plan : std::views::reverse(plans_))
    if (plan->structure == key.structure()) return plan;
  return nullptr;
}

void finish_all_recordings() {
  for (const std::shared_ptr<PlanTable>& table : live_tables()) table->finish_recordings();
  const BlockingScope waiting;
  wait_for_compile_tasks();
}

std::vector<Ref<TablePlan>> plans_of_all_tables() {
  std::vector<Ref<TablePlan>> all;
  for (const std::shared_ptr<PlanTable>& table : live_tables())
    for (Ref<TablePlan>& plan : table->plans_now()) all.push_back(std::move(plan));
  return all;
}

PlanCounters total_counters() {
  finish_all_recordings();
  const std::vector<std::shared_ptr<PlanTable>> tables = live_tables();
  PlanCounters total;
  for (const std::shared_ptr<PlanTable>& table : tables) total += table->counters();
  const std::lock_guard lock(tables_mutex());
  return total += all_tables().gone;
}

}  // namespace lucid::jit
