#pragma once

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "base/ref_list.h"
#include "jit/graph_builder.h"
#include "jit/outcome.h"
#include "tensor/autograd_meta.h"

namespace lucid::jit {

/// A call that was recorded: what it computes, and what that depends on. Nothing has been compiled. A Program makes a
/// plan of it; its graph can also be exported or transformed.
struct RecordedCall {
  /// Finishes the recording of a call with these arguments and results; `context` has been stopped. `state` are the
  /// other tensors that the call may have used, found by a walk from the function; the default generator is always
  /// added to them. An argument that is one of these must be the same tensor in later calls. Returns nothing and sets
  /// `obstacle` if the call cannot become a graph.
  static std::optional<RecordedCall> finish(TracingContext& context, std::span<const TensorRef> arguments,
                                            std::span<const TensorRef> results, std::span<const TensorRef> state,
                                            const std::string& name, std::string& obstacle);

  /// The call that computes a function, for graphs that were built or transformed. Nothing runs. `captured` are the
  /// tensors of the last handles. The arguments of the call must be in row-major order. Its results are new tensors
  /// outside the gradient graph; tensors that are updated are written to.
  static RecordedCall from_graph(const FunctionGraph& function, std::vector<TensorRef> captured = {});

  /// What a plan computes, on the memory of tensors. Sizes may be traced; no pass has run.
  CallGraph graph() const;
  /// The call as a function of tensors. Sizes may be traced; no pass has run.
  FunctionGraph function() const;

  /// The values that a call reads, in order; see ValueGuard.
  using Branch = std::vector<std::string>;
  /// The type of a captured tensor.
  struct Kind {
    TensorType type;
    Dims strides;
    bool requires_grad;
  };
  /// A handle that is the state of a generator.
  struct GeneratorUse {
    size_t handle = 0;
    /// How many random numbers the call samples, starting at the state before the call.
    int64_t count = 0;
    /// Whether the call sets the generator's state; otherwise it only advances the offset by `count`.
    bool sets_state = false;
  };
  /// The first handle on the same cell, and this handle's offset relative to it: the recording cannot tell handles on
  /// one cell from views of each other.
  struct Sharing {
    size_t first;
    int64_t distance;
    bool operator==(const Sharing&) const = default;
  };
  /// How the call uses the memory of a handle.
  enum class MemoryUse : uint8_t { kNone, kRead, kWritten };
  /// A handle whose `.grad` the call uses, and the hooks that ran.
  struct Watched {
    size_t handle;
    std::vector<HookRef> hooks;
  };

  /// Appends the captured tensors, then the gradients that the call reads, to the arguments in `handles`. Returns false
  /// if one of the gradients is missing. `gradients` keeps them alive.
  bool find_handles(SmallVector<TensorImpl*, 16>& handles, RefList<TensorImpl, 4>& gradients) const;
  /// Whether another call may run the plan: its captured tensors and gradients have the recorded types, its arguments
  /// are captured tensors exactly where they were when recorded, and the hooks are the recorded ones. The key has
  /// compared the types of the arguments.
  bool fits(std::span<TensorImpl* const> handles) const;
  /// Whether handles share memory as in the recorded call. If `exactly`, others do not; that matters if the call writes
  /// to memory from outside.
  bool shares(std::span<TensorImpl* const> handles, bool exactly) const;
  /// Null for handles that are not on the state of a generator.
  const GeneratorUse* generator_use_of(size_t handle) const;
  /// Whether the values that a call is known to read first are those of the recording.
  bool is_on(const Branch& known) const;
  size_t argument_count() const { return known_arguments.size(); }

  /// What the graph is built from.
  CallRecord record;
  /// Results, gradients, and positions in the gradient graph.
  std::optional<Outcome> outcome;
  /// The tensors from outside that the call reads or writes and that are not arguments.
  std::vector<TensorRef> captured;
  std::vector<Kind> kinds;
  /// The values of tensors that the call read, and the lines of the user's program that read them. The graph outputs
  /// what other calls would read, after the cells that the outcome needs.
  Branch branch;
  std::vector<std::string> branch_sources;
  /// The addresses of all tensors that the call might capture, and for each argument its address if it was one of them,
  /// otherwise null.
  std::unordered_set<const TensorImpl*> known;
  std::vector<const TensorImpl*> known_arguments;
  std::vector<GeneratorUse> generators;
  /// For each handle; then the overlaps of imported memory.
  std::vector<Sharing> sharing;
  std::vector<MemoryUse> uses;
  /// The size of each handle's memory.
  std::vector<size_t> bytes;
  /// The handles whose `.grad` is read; the gradients are the last handles, in this order.
  std::vector<size_t> gradient_handles;
  /// The handles whose `.grad` is read and was None.
  std::vector<size_t> without_gradient;
  std::vector<Watched> watched;
  /// For each cell of Outcome::cells(): the handle whose `.grad` it replaces without the old one being read, or -1.
  std::vector<int64_t> replaces_gradient_of;

 private:
  /// Finds the effects on the `.grad` of handles, and appends the gradients that are read to the handles.
  std::vector<Outcome::GradientEffect> find_gradients(const TracingContext& context, std::vector<TensorRef>& handles,
                                                      std::string& obstacle);
  void describe_handles(TracingContext& context, std::span<const TensorRef> handles);
  /// `tensors` are those of the last handles.
  void find_generators(std::span<const TensorRef> tensors);
  void describe_values(const TracingContext& context);
  void describe_results(TracingContext& context, std::span<const TensorRef> results,
                        std::span<const TensorRef> handles);
  bool shares_exactly(std::span<TensorImpl* const> handles) const;
  /// Appends a description of how the imported memory of handles on different cells overlaps: the place and size of
  /// each cell in its group. Groups that the call does not write to may overlap in any way.
  void add_overlaps(std::span<TensorImpl* const> handles, std::vector<Sharing>& found) const;
};

// These run at every hit.

[[gnu::always_inline]] inline bool RecordedCall::find_handles(SmallVector<TensorImpl*, 16>& handles,
                                                              RefList<TensorImpl, 4>& gradients) const {
  for (const TensorRef& handle : captured) handles.push_back(handle.get());
  for (const size_t leaf : gradient_handles) {
    TensorRef grad = gradient(*handles[leaf]);
    if (!grad) return false;
    handles.push_back(grad.get());
    gradients.push_back(std::move(grad));
  }
  return true;
}

inline bool RecordedCall::shares(std::span<TensorImpl* const> handles, bool exactly) const {
  if (exactly) return shares_exactly(handles);
  for (size_t i = 0; i < sharing.size(); ++i) {
    const auto& [first, distance] = sharing[i];
    if (first == i) continue;
    if (handles[i]->cell() != handles[first]->cell()) return false;
    if (handles[i]->offset() - handles[first]->offset() != distance) return false;
  }
  return true;
}

inline const RecordedCall::GeneratorUse* RecordedCall::generator_use_of(size_t handle) const {
  for (const GeneratorUse& use : generators)
    if (sharing[use.handle].first == sharing[handle].first) return &use;
  return nullptr;
}

inline bool RecordedCall::is_on(const Branch& known) const {
  return known.size() <= branch.size() && std::equal(known.begin(), known.end(), branch.begin());
}

}  // namespace lucid::jit
