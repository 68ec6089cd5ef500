#pragma once

#include <optional>
#include <unordered_set>

#include "base/ref_list.h"
#include "jit/call_plan.h"
#include "jit/compile_queue.h"
#include "jit/outcome.h"

namespace lucid::jit {

/// A recorded call, compiled: runs on other arguments of the same types as a transaction. Once it has its plan it does
/// not change, so that many threads may run it at once.
class Program : public RefCounted {
 public:
  /// Takes in what `context`, stopped, recorded of a call with these arguments and results. `state` are the tensors
  /// that the call may have used besides, found in the program around it; the default generator is always among them.
  /// If an argument is one of these, it must be it in later calls too. Returns null and says why where no plan can be
  /// made. Otherwise the plan is still to be made, by compile_now(), or by compile_later() and finish(): nothing of the
  /// caller's is needed for that.
  static Ref<Program> record(TracingContext& context, std::span<const TensorRef> arguments,
                             std::span<const TensorRef> results, std::span<const TensorRef> state,
                             const std::string& name, std::string& obstacle);
  ~Program() override;

  /// Says, before the plan is made, that an argument has other contents at each call.
  void set_fresh(size_t argument) { job_->record.handles[argument].is_fresh = true; }
  /// The graph goes through `passes`, or through the standard ones. Returns why there can be no plan; nothing if there
  /// is one.
  std::string compile_now(const PassList* passes = nullptr);
  /// Leaves it to the compile thread.
  void compile_later();
  /// Whether that is done at last, for which `most` is waited. The caller keeps no lock that others wait for.
  bool wait(std::chrono::nanoseconds most) const { return task_->wait(most); }
  void wait() const { task_->wait(); }
  /// Takes the plan that has been made. Returns as compile_now() does, and throws what compiling threw.
  std::string finish();

  /// The tensors that a run uses: the arguments, the state, and the gradients that are read, which another thread may
  /// drop at any time. The caller keeps the arguments.
  struct Handles {
    SmallVector<TensorImpl*, 16> all;
    RefList<TensorImpl, 4> gradients;
  };
  /// Whether the tensors that the call uses besides its arguments are as they were, and share memory as they did. Then
  /// `handles` are those for run().
  bool fits(std::span<TensorImpl* const> arguments, Handles& handles) const;
  /// Runs the plan and commits what it wrote. Returns false, and nothing happened, where a check inside a kernel
  /// failed: then the call must run eagerly.
  bool run(const Handles& handles, CallResults& results) const;
  /// The same without the handles of fits(). Fails also where a gradient that it reads is gone by now.
  bool run(std::span<TensorImpl* const> arguments, CallResults& results) const;
  bool fits(std::span<TensorImpl* const> arguments) const;

  const IRGraph& graph() const { return call_.graph; }
  const Plan& plan() const { return *call_.plan; }
  /// What the passes did.
  const PassReport& report() const { return call_.report; }
  const Outcome& outcome() const { return *outcome_; }
  /// The tensors besides the arguments that it reads or writes.
  std::span<const TensorRef> state() const { return state_; }

 private:
  struct Kind {
    Dtype dtype;
    Dims sizes;
    Dims strides;
    bool requires_grad;
  };

  bool uses_gradients() const { return !without_gradient_.empty() || !watched_.empty(); }
  /// Whether gradients are where they were when the recording began, and nobody watches them.
  bool gradients_fit(std::span<TensorImpl* const> handles) const;
  /// Finds out what becomes of the `.grad` of handles, and adds those that are read to the handles.
  std::vector<Outcome::GradientEffect> find_gradients(const TracingContext& context, std::vector<TensorRef>& handles,
                                                      std::string& obstacle);
  /// Where a plan writes what will be kept; nothing for what it writes in place.
  Ref<Storage> memory_for(size_t kept, std::span<TensorImpl* const> handles) const;
  /// The first handle on the same cell, and how far behind it this one begins: the recording could not tell handles on
  /// one cell from views of each other.
  struct Sharing {
    size_t first;
    int64_t distance;
    bool operator==(const Sharing&) const = default;
  };
  static std::vector<Sharing> sharing_of(std::span<TensorImpl* const> handles);
  /// Whether handles that shared a cell still do. Others may share one too.
  bool shares_as_recorded(std::span<TensorImpl* const> handles) const;
  /// Whether the same arguments as ever are tensors that the call knows besides.
  bool is_known_as_recorded(std::span<TensorImpl* const> arguments) const;
  /// Whether all gradients that are read are there.
  bool find_handles(std::span<TensorImpl* const> arguments, Handles& handles) const;
  /// Finds out which handles are states of generators, and what becomes of them.
  void find_draws(const TracingContext& context, std::span<const TensorRef> handles);
  struct Draws;
  /// Null for handles that are not on the state of a generator.
  const Draws* draws_of(size_t handle) const;
  /// Everything that depends on the handles but not on the plan.
  void describe_handles(TracingContext& context, std::span<const TensorRef> handles, size_t arguments);
  std::string take(CallPlan& call);

  class Frame;

  /// What the compile thread works on: it holds nothing else.
  struct Job {
    CallRecord record;
    CallPlan result;
  };
  std::shared_ptr<Job> job_;
  /// Stays when it is done: other threads may be about to hear of that.
  std::shared_ptr<CompileTask> task_;

  CallPlan call_;
  std::vector<TensorRef> state_;
  std::vector<Kind> state_kinds_;
  /// The tensors that the call may use besides, by address, and for each argument the one that it was, or null.
  std::unordered_set<const TensorImpl*> known_;
  std::vector<const TensorImpl*> known_arguments_;
  /// A handle that is the state of a generator.
  struct Draws {
    size_t handle = 0;
    /// How many numbers the call draws from the state that it finds.
    int64_t count = 0;
    /// Whether it gives the generator another state; otherwise it only draws.
    bool sets_state = false;
  };
  std::vector<Draws> draws_;
  /// For each handle.
  std::vector<Sharing> sharing_;
  /// The size of each handle's memory.
  std::vector<size_t> bytes_;
  /// Handles on what is written, and where they begin there.
  std::vector<std::pair<size_t, int64_t>> offsets_;
  /// The handles whose `.grad` is a handle too, in the order of those, and those whose is none.
  std::vector<size_t> gradient_handles_;
  std::vector<size_t> without_gradient_;
  /// The hooks of the handles whose `.grad` is used: they ran in the recording.
  struct Watched {
    size_t handle;
    std::vector<HookRef> hooks;
  };
  std::vector<Watched> watched_;
  /// For each cell that the call made and keeps, the handle whose gradient it will be without the one before being
  /// read, or -1.
  std::vector<int64_t> replaces_gradient_of_;
  std::optional<Outcome> outcome_;
};

}  // namespace lucid::jit
