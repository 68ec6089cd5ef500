#include "lucid/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>

#include "base/blocking.h"
#include "base/busy_flag.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/memory_reserve.h"
#include "base/out_of_memory.h"
#include "base/ref_list.h"
#include "jit/program.h"
#include "tensor/api.h"
#include "tensor/autograd_meta.h"
#include "tensor/grad_mode.h"

namespace lucid {
namespace {

using jit::Program;
using jit::TracingContext;

/// A key that was recorded so often without a plan that fits stays eager.
constexpr int kMostRecordings = 8;
/// So many keys are remembered that have no plan.
constexpr size_t kMostKeys = 64;

/// In bytes, everything of the arguments that a plan depends on, and the modes.
std::string key_of(const std::vector<Tensor>& arguments) {
  std::string key;
  key.push_back(static_cast<char>(GradMode::enabled()));
  key.push_back(static_cast<char>(GradMode::inference()));
  key.push_back(static_cast<char>(default_float()));
  const auto append = [&](DimsView dims) {
    key.append(reinterpret_cast<const char*>(dims.data()), dims.size() * sizeof(int64_t));
  };
  for (const Tensor& argument : arguments) {
    key.push_back(static_cast<char>(argument.defined()));
    if (!argument.defined()) continue;
    const TensorImpl& tensor = unwrap(argument);
    key.push_back(static_cast<char>(tensor.dtype()));
    key.push_back(static_cast<char>(requires_grad(tensor)));
    key.push_back(static_cast<char>(tensor.sizes().size()));
    append(tensor.sizes());
    append(tensor.strides());
  }
  return key;
}

std::vector<TensorRef> refs(const std::vector<Tensor>& tensors) {
  std::vector<TensorRef> result;
  for (const Tensor& tensor : tensors)
    if (tensor.defined()) result.emplace_back(&unwrap(tensor));
  return result;
}

/// Handles on the memory from outside that the recording met besides the arguments.
std::vector<TensorRef> state_of(TracingContext& context, const std::vector<TensorRef>& arguments) {
  std::vector<TensorRef> state;
  for (const jit::TracedCell& cell : context.trace().cells)
    if (cell.handle && std::find(arguments.begin(), arguments.end(), cell.handle) == arguments.end())
      state.push_back(cell.handle);
  return state;
}

}  // namespace

class PlanTable::Impl {
 public:
  explicit Impl(size_t max_entries) : max_entries_(max_entries) {}

  std::vector<Tensor> call(const std::vector<Tensor>& arguments, const Function& function) {
    // Inside another recording the call is part of that.
    if (TracingContext::is_active()) return function();
    const std::string key = key_of(arguments);
    std::vector<TensorImpl*> tensors;
    for (const Tensor& argument : arguments)
      if (argument.defined()) tensors.push_back(&unwrap(argument));
    for (;;) {
      if (const Ref<Program> program = find(key, tensors)) return run(*program, tensors, function);
      if (is_pending(key)) {
        settle(key);
        continue;
      }
      if (runs_eagerly(key)) {
        count(&CompileInfo::eager_calls);
        return function();
      }
      const BusyScope recording(recording_, BusyScope::Try());
      // Another thread may have recorded it since.
      if (recording.owns_flag() && (is_pending(key) || find(key, tensors))) continue;
      count(&CompileInfo::misses);
      // Another thread records: what it makes will serve the next call.
      if (!recording.owns_flag()) return function();
      return record(key, arguments, function);
    }
  }

  CompileInfo info() {
    settle_all();
    const std::lock_guard lock(mutex());
    CompileInfo info = info_;
    info.entries = entries_.size();
    return info;
  }

  std::string explain() {
    settle_all();
    const std::lock_guard lock(mutex());
    std::string text =
        fmt::format("{} of at most {} plans: {} hits, {} misses, {} compiles, {} eager calls\n", entries_.size(),
                    max_entries_, info_.hits, info_.misses, info_.compiles, info_.eager_calls);
    for (const Entry& entry : entries_) {
      text += fmt::format("  {} nodes, {} kernels\n", entry.program->graph().nodes.size(),
                          entry.program->plan().steps.size());
      for (const jit::BackwardPlanInfo& plan : entry.program->outcome().gradients().backward_plans())
        text += "    " + to_text(plan) + "\n";
    }
    for (const auto& [key, known] : known_)
      if (!known.reason.empty()) text += fmt::format("  runs eagerly: {}\n", known.reason);
    return text;
  }

  void clear() {
    settle_all();
    std::deque<Entry> dropped;
    const std::lock_guard lock(mutex());
    dropped.swap(entries_);
    known_.clear();
    order_.clear();
  }

 private:
  struct Entry {
    std::string key;
    Ref<Program> program;
  };
  struct Known {
    int recordings = 0;
    /// Why calls with this key run eagerly.
    std::string reason;
  };

  std::vector<Tensor> run(const Program& program, std::span<TensorImpl* const> tensors, const Function& function) {
    std::vector<Tensor> wrapped;
    const bool has_run = [&] {
      const CommitScope commit;  // the results are part of what the call leaves behind
      const auto results = program.run(tensors);
      if (!results) return false;
      wrapped.reserve(results->size());
      for (const TensorRef& result : *results) wrapped.push_back(wrap(result));
      return true;
    }();
    // A check inside failed, before anything was written: the call says how.
    if (!has_run) return function();
    count(&CompileInfo::hits);
    return wrapped;
  }

  Ref<Program> find(const std::string& key, std::span<TensorImpl* const> tensors) const {
    RefList<Program, 8> candidates;
    {
      const std::lock_guard lock(mutex());
      for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry)
        if (entry->key == key) candidates.push_back(entry->program);
    }
    const auto programs = candidates.pointers();
    const auto found = std::ranges::find_if(programs, [&](const Program* program) { return program->fits(tensors); });
    return found == programs.end() ? Ref<Program>() : Ref<Program>(*found);
  }

  bool runs_eagerly(const std::string& key) const {
    const std::lock_guard lock(mutex());
    const auto known = known_.find(key);
    return known != known_.end() && !known->second.reason.empty();
  }

  void count(int64_t CompileInfo::* counter) {
    const std::lock_guard lock(mutex());
    ++(info_.*counter);
  }

  std::vector<Tensor> record(const std::string& key, const std::vector<Tensor>& arguments, const Function& function) {
    TracingContext context;
    std::vector<Tensor> results = function();
    context.stop();
    // The call is done, whatever becomes of its recording.
    Ref<Program> oldest;
    has_memory_for([&] { oldest = add_recording(key, arguments, results, context); });
    // No more may wait than there is room for: a call for each of many keys must not outrun the compile thread.
    if (oldest) take_in(oldest);
    return results;
  }

  /// Has a plan made of a recording. Returns the program that has waited longest, if there are too many.
  Ref<Program> add_recording(const std::string& key, const std::vector<Tensor>& arguments,
                             const std::vector<Tensor>& results, TracingContext& context) {
    std::string obstacle;
    Ref<Program> program;
    const std::vector<TensorRef> given = refs(arguments);
    if (std::all_of(results.begin(), results.end(), [](const Tensor& result) { return result.defined(); }))
      program = Program::record(context, given, refs(results), state_of(context, given), "function", obstacle);
    else
      obstacle = "returns a tensor that is none";
    if (!program) {
      if (obstacle == jit::kOutOfMemory) return nullptr;
      const std::lock_guard lock(mutex());
      known_as(key).reason = std::move(obstacle);
      forget_oldest();
      return nullptr;
    }
    program->compile_later();
    const std::lock_guard lock(mutex());
    pending_.push_back({key, std::move(program)});
    return pending_.size() > max_entries_ ? pending_.front().program : nullptr;
  }

  bool is_pending(const std::string& key) const {
    const std::lock_guard lock(mutex());
    return is_among_pending(key);
  }
  bool is_among_pending(const std::string& key) const {
    return std::any_of(pending_.begin(), pending_.end(), [&](const Entry& entry) { return entry.key == key; });
  }

  /// Waits for the plans that are being made, as far as the one for a key, and takes them in. In the order of their
  /// recordings, so that the oldest leaves first whatever calls come in between.
  void settle(const std::string& key) {
    settle_while([&] { return is_among_pending(key); });
  }
  void settle_all() {
    settle_while([&] { return !pending_.empty(); });
  }
  /// The condition is asked under the lock, and holds only while something is pending.
  template <typename Condition>
  void settle_while(const Condition& holds) {
    for (;;) {
      Ref<Program> next;
      {
        const std::lock_guard lock(mutex());
        if (!holds()) return;
        next = pending_.front().program;
      }
      take_in(next);
    }
  }

  /// Waits for the plan of a program, and takes it in unless another thread has, or it was forgotten. What there is no
  /// memory for is forgotten, and recorded again.
  void take_in(const Ref<Program>& program) {
    {
      const BlockingScope waiting;
      program->wait();
    }
    // Destroyed after the lock is given back.
    Entry taken, oldest;
    const std::lock_guard lock(mutex());
    if (pending_.empty() || pending_.front().program != program) return;
    taken = std::move(pending_.front());
    pending_.pop_front();
    has_memory_for([&] {
      std::string obstacle;
      try {
        obstacle = program->finish();
      } catch (const std::exception& error) {
        obstacle = jit::reason_of(error);
      }
      if (obstacle == jit::kOutOfMemory) return;
      Known& known = known_as(taken.key);
      if (!obstacle.empty()) {
        known.reason = std::move(obstacle);
      } else if (++known.recordings > kMostRecordings) {
        known.reason = "the tensors that it uses are different at every call";
      } else {
        entries_.push_back(std::move(taken));
        ++info_.compiles;
        if (entries_.size() > max_entries_) {
          oldest = std::move(entries_.front());
          entries_.pop_front();
        }
      }
      forget_oldest();
    });
  }

  Known& known_as(const std::string& key) {
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
    order_.push_back(key);
    try {
      return known_[key];
    } catch (...) {
      order_.pop_back();
      throw;
    }
  }

  /// Keeps the number of keys that have no plan within bounds.
  void forget_oldest() {
    if (known_.size() <= kMostKeys + max_entries_) return;
    const auto without = std::find_if(order_.begin(), order_.end(), [&](const std::string& key) {
      return std::none_of(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.key == key; });
    });
    known_.erase(*without);
    order_.erase(without);
  }

  Mutex& mutex() const { return mutex_of(LockRank::kPlanTable, this); }

  const size_t max_entries_;
  /// Set while a thread records.
  BusyFlag recording_;
  std::deque<Entry> entries_;  // the oldest first
  std::deque<Entry> pending_;  // recorded, in order; their plans are being made
  std::map<std::string, Known> known_;
  std::deque<std::string> order_;  // of the keys in known_, the oldest first
  CompileInfo info_;
};

PlanTable::PlanTable(size_t max_entries) {
  if (max_entries < 1) throw ValueError("compile: there must be room for at least one plan");
  impl_ = std::make_shared<Impl>(max_entries);
}

std::vector<Tensor> PlanTable::call(const std::vector<Tensor>& arguments, const Function& function) const {
  return impl_->call(arguments, function);
}

CompileInfo PlanTable::info() const { return impl_->info(); }

std::string PlanTable::explain() const { return impl_->explain(); }

void PlanTable::clear() const { impl_->clear(); }

void wait_for_compiles() {
  const BlockingScope waiting;
  jit::wait_for_compile_tasks();
}

}  // namespace lucid
