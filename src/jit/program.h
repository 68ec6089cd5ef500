#pragma once

#include <optional>
#include <unordered_set>

#include "jit/graph_builder.h"
#include "jit/outcome.h"
#include "passes/runner.h"
#include "runtime/plan.h"

namespace lucid::jit {

/// A recorded call, compiled: runs on other arguments of the same types as a transaction. Immutable, so that many
/// threads may run it at once.
class Program : public RefCounted {
 public:
  /// Compiles what `context`, stopped, recorded of a call with these arguments and results. `state` are the tensors
  /// that the call may have used besides, found in the program around it; the default generator is always among them.
  /// If an argument is one of these, it must be it in later calls too.
  /// The graph goes through `passes`, or through the standard ones. Returns null and says why where no plan can be
  /// made.
  static Ref<Program> compile(TracingContext& context, std::span<const TensorRef> arguments,
                              std::span<const TensorRef> results, std::span<const TensorRef> state,
                              const std::string& name, const PassList* passes, std::string& obstacle);

  /// Whether the tensors that the call uses besides its arguments are as they were, and share memory as they did.
  bool fits(std::span<TensorImpl* const> arguments) const;
  /// Runs the plan and commits what it wrote. Nothing, and nothing happened, where a check inside a kernel failed: then
  /// the call must run as it was written.
  std::optional<std::vector<TensorRef>> run(std::span<TensorImpl* const> arguments) const;

  const IRGraph& graph() const { return graph_; }
  const Plan& plan() const { return *plan_; }
  /// What the passes did.
  const PassReport& report() const { return report_; }
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

  /// Whether gradients are where they were when the recording began, and nobody watches them.
  bool gradients_fit(std::span<TensorImpl* const> handles) const;
  /// Finds out what becomes of the `.grad` of handles, and adds those that are read to the handles.
  std::vector<Outcome::GradientEffect> find_gradients(const TracingContext& context, std::vector<TensorRef>& handles,
                                                      std::string& obstacle);
  /// Where a plan writes what will be kept; nothing for what it writes in place.
  Ref<Storage> memory_for(size_t kept, std::span<TensorImpl* const> handles) const;
  bool shares_as_recorded(std::span<TensorImpl* const> handles) const;
  /// Whether the same arguments as ever are tensors that the call knows besides.
  bool is_known_as_recorded(std::span<TensorImpl* const> arguments) const;
  SmallVector<TensorImpl*, 16> all_handles(std::span<TensorImpl* const> arguments) const;

  IRGraph graph_;
  Ref<Plan> plan_;
  PassReport report_;
  std::vector<TensorRef> state_;
  std::vector<Kind> state_kinds_;
  /// The tensors that the call may use besides, by address, and for each argument the one that it was, or null.
  std::unordered_set<const TensorImpl*> known_;
  std::vector<const TensorImpl*> known_arguments_;
  std::vector<GraphInput> inputs_;
  std::vector<KeptCell> kept_;
  std::vector<size_t> written_;
  /// Whether it draws from the default generator.
  bool draws_ = false;
  /// If anything is written: which handles share a cell, as the number of the first of them.
  std::vector<size_t> sharing_;
  std::vector<size_t> written_bytes_;
  /// Handles on one cell, and how far apart they began: the recording could not tell them from views of each other.
  struct Shared {
    size_t first;
    size_t other;
    int64_t distance;
  };
  std::vector<Shared> shared_;
  /// Handles on what is written, and where they begin there.
  std::vector<std::pair<size_t, int64_t>> offsets_;
  /// The handles whose `.grad` is a handle too, in the order of those, and those whose is none.
  std::vector<size_t> gradient_handles_;
  std::vector<size_t> without_gradient_;
  /// The hooks of the handles whose `.grad` is used: they ran in the recording.
  struct Watched {
    size_t handle;
    std::vector<std::shared_ptr<GradientHook>> hooks;
  };
  std::vector<Watched> watched_;
  /// For each kept cell, the handle whose gradient it will be without the one before being read, or -1.
  std::vector<int64_t> replaces_gradient_of_;
  std::optional<Outcome> outcome_;
};

}  // namespace lucid::jit
