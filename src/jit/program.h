#pragma once

#include <optional>
#include <unordered_set>

#include "base/options.h"
#include "base/ref_list.h"
#include "jit/call_plan.h"
#include "jit/compile_queue.h"
#include "jit/outcome.h"
#include "jit/plan_family.h"

namespace lucid::jit {

/// A compiled call. Runs on other arguments of the same types, as a transaction. It is immutable once it has its plan,
/// so many threads may run it at once.
class Program : public RefCounted {
 public:
  /// Finishes the recording of a call with these arguments and results; `context` has been stopped. `state` are the
  /// other tensors that the call may have used, found by a walk from the function; the default generator is always
  /// added to them. An argument that is one of these must be the same tensor in later calls. Returns null and sets
  /// `obstacle` if the call cannot be compiled. Otherwise the plan is compiled by compile_now(), or by compile_later()
  /// and finish(), which need nothing that the caller owns.
  static Ref<Program> record(TracingContext& context, std::span<const TensorRef> arguments,
                             std::span<const TensorRef> results, std::span<const TensorRef> state,
                             const std::string& name, std::string& obstacle);
  ~Program() override;

  /// Says whether calls with new sizes, and backward passes through the results, wait for plans that are being
  /// compiled. By default that depends on LUCID_COMPILE_WAIT.
  void set_waits(bool waits) {
    outcome_->gradients().set_waits(waits);
    waits_ = waits;
  }
  /// Keeps the recorded graph, so that a trial can say which node is wrong. Must precede compiling.
  void keep_graph() { job_->record.keeps_graph = true; }
  /// Declares, before compiling, that the contents of an argument are new at each call.
  void set_fresh(size_t argument) { job_->record.handles[argument].is_fresh = true; }
  /// Compiles with `passes`, or with the standard ones if null. Returns why there is no plan; empty if there is one.
  std::string compile_now(const PassList* passes = nullptr);
  /// Queues the work for the compile thread.
  void compile_later();
  /// Waits up to `timeout`; returns whether the task is done. The caller must not hold a lock that others wait for.
  bool wait(std::chrono::nanoseconds timeout) const { return task_->wait(timeout); }
  void wait() const { task_->wait(); }
  bool is_compiled() const { return task_->is_done(); }
  /// Takes over the plan of a finished task. Returns the same as compile_now(), and rethrows what compiling threw.
  std::string finish();

  /// The tensors that a run uses: the arguments, the state, and the gradients that are read. The gradients are held
  /// because another thread may drop them at any time; the caller keeps the arguments alive.
  struct Handles {
    SmallVector<TensorImpl*, 16> all;
    RefList<TensorImpl, 4> gradients;
    /// Further arguments, which the caller sets: tensors that it found itself.
    RefList<TensorImpl, 4> found;
    /// The values of the traced numbers, which the caller sets.
    std::vector<Scalar> numbers;
    /// The sizes among the arguments, which the caller sets and keeps alive.
    std::span<const Dim> sizes;
    /// The plan for the sizes of the arguments, if sizes are traced.
    Ref<const SizedPlan> sized;
    /// There is no such plan yet, but the recording describes the call: the function runs without being recorded.
    bool is_pending = false;
  };
  /// Whether the captured tensors have the recorded types, and all tensors the recorded aliasing, and all traced
  /// numbers have a value. If so, fills `handles` for run().
  bool fits(std::span<TensorImpl* const> arguments, Handles& handles) const;
  /// The values that a call reads, in order; see ValueGuard.
  using Branch = std::vector<std::string>;
  /// Whether the recorded call read values of tensors. Calls that would read others need another program.
  bool reads_values() const { return !branch_.empty(); }
  const Branch& branch() const { return branch_; }
  /// The lines of the user's program that read them.
  const std::vector<std::string>& branch_sources() const { return branch_sources_; }
  /// Whether the values that a call is known to read first are those of the recording.
  bool is_on(const Branch& known) const;
  /// Runs the plan and commits its writes. Returns false, without any effect, if the values that the call reads are not
  /// those of the recording, or if a check inside a kernel failed: the function must then run. In the first case sets
  /// `branch` to the values up to the first that differs.
  bool run(const Handles& handles, CallResults& results, Branch& branch) const;
  /// The same without the handles of fits(), for programs that read no values. Also returns false if a gradient that
  /// the program reads is gone.
  bool run(std::span<TensorImpl* const> arguments, CallResults& results) const;
  bool fits(std::span<TensorImpl* const> arguments) const;

  /// The graph after the passes. Its sizes may be traced.
  const IRGraph& graph() const { return family_ ? family_->source().call.graph : call_.graph; }
  /// The plans for other sizes; null if no size is traced.
  const PlanFamily* family() const { return family_.get(); }
  const Plan& plan() const { return *call_.plan; }
  /// The report of the passes.
  const PassReport& report() const { return call_.report; }
  const Outcome& outcome() const { return *outcome_; }
  /// The compiled call, for the sizes of the recorded one.
  const CallPlan& call() const { return call_; }
  /// A tensor that a run uses and that is the state of a generator.
  struct GeneratorUse {
    size_t handle = 0;
    /// How many random numbers the call samples, starting at the state before the call.
    int64_t count = 0;
    /// Whether the call sets the generator's state; otherwise it only advances the offset by `count`.
    bool sets_state = false;
  };
  std::span<const GeneratorUse> generators() const { return generators_; }
  /// How many numbers a run is given.
  size_t numbers() const { return numbers_; }
  /// Whether a run reads gradients, after the arguments and the state.
  bool reads_gradients() const { return !gradient_handles_.empty(); }
  /// How many tensors are given to a run, before the captured ones.
  size_t arguments() const { return known_arguments_.size(); }
  /// The captured tensors: those that it reads or writes and that are not arguments.
  std::span<const TensorRef> state() const { return state_; }

 private:
  struct Kind {
    TensorType type;
    Dims strides;
    bool requires_grad;
  };

  bool uses_gradients() const { return !without_gradient_.empty() || !watched_.empty(); }
  /// Whether the handles that had no gradient when the recording began have none, and the hooks are the recorded ones.
  bool gradients_fit(std::span<TensorImpl* const> handles) const;
  /// Finds the effects on the `.grad` of handles, and appends the gradients that are read to the handles.
  std::vector<Outcome::GradientEffect> find_gradients(const TracingContext& context, std::vector<TensorRef>& handles,
                                                      std::string& obstacle);
  /// The memory for an output of the plan; null if the plan writes it in place.
  Ref<Storage> memory_for(const CallPlan& call, size_t output, std::span<TensorImpl* const> handles) const;
  /// The first handle on the same cell, and this handle's offset relative to it: the recording cannot tell handles on
  /// one cell from views of each other.
  struct Sharing {
    size_t first;
    int64_t distance;
    bool operator==(const Sharing&) const = default;
  };
  static std::vector<Sharing> sharing_of(std::span<TensorImpl* const> handles);
  /// Appends a description of how the imported memory of handles on different cells overlaps: the place and size of
  /// each cell in its group. Groups that the call does not write to may overlap in any way.
  void add_overlaps(std::span<TensorImpl* const> handles, std::vector<Sharing>& sharing) const;
  /// Whether handles that shared a cell still do, at the same distance. Other handles may share a cell too.
  bool shares_as_recorded(std::span<TensorImpl* const> handles) const;
  /// Whether the same arguments are captured tensors as when the plan was recorded.
  bool arguments_alias_as_recorded(std::span<TensorImpl* const> arguments) const;
  /// Collects the handles of a run. Returns whether all gradients that are read exist.
  bool find_handles(std::span<TensorImpl* const> arguments, Handles& handles) const;
  /// Finds the handles that are generator states, and how the call changes them.
  void find_generators(const TracingContext& context, std::span<const TensorRef> handles);
  /// Null for handles that are not on the state of a generator.
  const GeneratorUse* generator_use_of(size_t handle) const;
  /// Fills in everything that depends on the handles but not on the plan.
  void describe_handles(TracingContext& context, std::span<const TensorRef> handles, size_t arguments);
  std::string take(CallPlan& call);

  class Frame;
  friend class Trial;

  /// How many traced numbers the call has.
  size_t numbers_ = 0;
  /// The values that the recorded call read. The plan outputs what other calls would read, after the cells that the
  /// outcome needs.
  Branch branch_;
  std::vector<std::string> branch_sources_;

  /// The data of the compile task, which holds nothing else.
  struct Job {
    CallRecord record;
    CallPlan result;
  };
  std::shared_ptr<Job> job_;
  /// Not reset when the task is done: other threads may still be waking up from wait().
  std::shared_ptr<CompileTask> task_;

  CallPlan call_;
  std::shared_ptr<PlanFamily> family_;
  bool waits_ = options().compile_wait;
  std::vector<TensorRef> state_;
  std::vector<Kind> state_kinds_;
  /// The addresses of all tensors that the call might capture, and for each argument its address if it was one of them,
  /// otherwise null.
  std::unordered_set<const TensorImpl*> known_;
  std::vector<const TensorImpl*> known_arguments_;
  std::vector<GeneratorUse> generators_;
  /// For each handle; then the overlaps.
  std::vector<Sharing> sharing_;
  /// How the call uses the memory of each handle.
  enum class MemoryUse : uint8_t { kNone, kRead, kWritten };
  std::vector<MemoryUse> uses_;
  /// The size of each handle's memory.
  std::vector<size_t> bytes_;
  /// Handles on cells that the call writes, and their offsets.
  std::vector<std::pair<size_t, int64_t>> offsets_;
  /// The handles whose `.grad` is read; the gradients are the last handles, in this order.
  std::vector<size_t> gradient_handles_;
  /// The handles whose `.grad` is read and was None.
  std::vector<size_t> without_gradient_;
  /// The hooks of the handles whose `.grad` is used; they ran during the recording.
  struct Watched {
    size_t handle;
    std::vector<HookRef> hooks;
  };
  std::vector<Watched> watched_;
  /// For each cell of Outcome::cells(): the handle whose `.grad` it replaces without the old one being read, or -1.
  std::vector<int64_t> replaces_gradient_of_;
  std::optional<Outcome> outcome_;
};

}  // namespace lucid::jit
