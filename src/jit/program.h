#pragma once

#include <optional>

#include "base/options.h"
#include "jit/call_plan.h"
#include "jit/compile_queue.h"
#include "jit/plan_family.h"
#include "jit/recorded_call.h"

namespace lucid::jit {

/// A recorded call with its plan. Runs on other arguments of the same types, as a transaction. Once it has its plan it
/// is immutable, and any number of threads may run it at once.
class Program : public RefCounted {
 public:
  /// The plan is compiled by compile_now(), or by compile_later() and finish(), which need nothing that the caller
  /// owns.
  explicit Program(RecordedCall call) : recorded_(std::move(call)), job_(std::make_shared<Job>()) {
    job_->record = std::move(recorded_.record);
  }
  ~Program() override;

  /// Says whether calls with new sizes, and backward passes through the results, wait for plans that are being
  /// compiled. By default that depends on LUCID_COMPILE_WAIT.
  void set_waits(bool waits) {
    recorded_.outcome->gradients().set_waits(waits);
    waits_ = waits;
  }
  /// Keeps the recorded graph, so that a shadow run can say which node is wrong. Must precede compiling.
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
    std::span<const SymInt> sizes;
    /// The plan for the sizes of the arguments, if sizes are traced.
    Ref<const SizedPlan> sized;
    /// There is no such plan yet, but the recording describes the call: the function runs without being recorded.
    bool is_pending = false;
  };
  /// Whether the captured tensors have the recorded types, and all tensors the recorded aliasing, and all traced
  /// numbers have a value. If so, fills `handles` for run().
  bool fits(std::span<TensorImpl* const> arguments, Handles& handles) const;
  /// Runs the deferred ops that use memory which a run reads or writes. Must precede fits().
  void run_deferred(std::span<TensorImpl* const> arguments, Handles& handles) const;
  using Branch = RecordedCall::Branch;
  /// Whether the recorded call read values of tensors. Calls that would read others need another program.
  bool reads_values() const { return !recorded_.branch.empty(); }
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
  /// The recorded call, without its recording.
  const RecordedCall& recorded() const { return recorded_; }
  /// The compiled call, for the sizes of the recorded one.
  const CallPlan& call() const { return call_; }
  /// How many numbers a run is given.
  size_t numbers() const { return numbers_; }

 private:
  /// The memory for an output of the plan; null if the plan writes it in place.
  Ref<Storage> memory_for(const CallPlan& call, size_t output, std::span<TensorImpl* const> handles) const;
  /// Collects the handles of a run. Returns whether all gradients that are read exist.
  bool find_handles(std::span<TensorImpl* const> arguments, Handles& handles) const;
  std::string take(CallPlan& call);

  class Frame;
  friend class ShadowRun;

  /// How many traced numbers the call has.
  size_t numbers_ = 0;
  RecordedCall recorded_;

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
  /// Handles on cells that the call writes, and their offsets.
  std::vector<std::pair<size_t, int64_t>> offsets_;
};

}  // namespace lucid::jit
