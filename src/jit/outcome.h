#pragma once

#include <optional>

#include "base/ref_list.h"
#include "jit/gradient_template.h"
#include "jit/tracing_context.h"

namespace lucid::jit {

/// The tensors that a call returns.
using CallResults = RefList<TensorImpl, 4>;

/// The effects of a call other than writes to memory: its results, the `.grad` of handles, and positions in the
/// gradient graph.
class Outcome {
 public:
  /// A handle whose `.grad` the call replaces or, if `is_none`, clears.
  struct GradientEffect {
    size_t handle = 0;
    bool is_none = false;
  };

  /// Finds the effects of a recorded call with these results and handles. On failure `obstacle` says why.
  Outcome(TracingContext& context, std::span<const TensorRef> results, std::span<const TensorRef> handles,
          std::span<const GradientEffect> effects, std::string& obstacle);

  /// The outcome of a call whose results are new tensors outside the gradient graph, and that has no other effects.
  explicit Outcome(std::span<const TracedView> results);

  /// The cells that the call created and whose memory is needed after it.
  const std::vector<int32_t>& cells() const { return cells_; }
  const GradientTemplate& gradients() const { return *gradients_; }
  GradientTemplate& gradients() { return *gradients_; }
  /// Pairs (index in cells(), handle): the cell becomes the `.grad` of the handle.
  std::vector<std::pair<size_t, size_t>> new_gradients() const;
  /// Whether the handles that the call moves in the gradient graph can be moved, as in the recording: they are neither
  /// views nor leaves that require grad.
  bool fits(std::span<TensorImpl* const> handles) const;
  /// The cells of the handles of a call when it began, and where in them the handles were. Since then, other threads
  /// may have bound them to other memory.
  struct HandleMemory {
    std::span<Cell* const> cells;
    std::span<const SymInt> offsets;
  };
  /// Creates the results and applies the effects for another call. `cells` are the new contents of cells(), in the same
  /// order. `sizes` are those of the call, if the recorded ones are traced.
  void make(std::span<TensorImpl* const> handles, const HandleMemory& memory, std::span<Cell* const> cells,
            const SizeTrace::Evaluation* sizes, CallResults& results) const;
  /// Where a returned tensor comes from: a handle or a view of it, or else one of cells().
  struct Source {
    int64_t handle = -1;
    size_t cell = 0;
    Dtype dtype = Dtype::kF32;
    Geometry geometry;
  };
  std::vector<Source> sources() const;
  /// What make() would create, outside the gradient graph and without any effect. Gradients are given by their handles;
  /// null stands for none. Those that are handles, or views of handles, are left out.
  struct Contents {
    CallResults results;
    std::vector<std::pair<size_t, TensorRef>> gradients;
  };
  void find_contents(std::span<TensorImpl* const> handles, const HandleMemory& memory, std::span<Cell* const> cells,
                     const SizeTrace::Evaluation* sizes, Contents& contents) const;

 private:
  /// How a tensor is obtained: from one of the call's handles, or from a cell that the call created.
  struct Origin {
    /// Index of the handle, or -1.
    int64_t handle = -1;
    /// The view ops to apply to the handle; empty if the tensor is the handle itself.
    std::vector<TracingContext::View> views;
    /// Index in cells(), if there is no handle.
    size_t cell = 0;
    Dtype dtype = Dtype::kF32;
    /// Of saved tensors on a handle's cell, the offset is relative to that of the handle.
    Geometry geometry;
  };
  struct Result : Origin {
    /// Index of an earlier result that is the same tensor, or -1.
    int64_t same = -1;
    bool has_node = false;
    /// It requires grad and has no node in the gradient graph.
    bool is_leaf = false;
    /// Index of the result that it is a view of, or -1.
    int64_t root = -1;
    ViewKind view_kind = ViewKind::kRecorded;
  };

  class Finder;
  class Maker;

  std::vector<int32_t> cells_;
  /// The results of the call, then their roots if they are views, then the handles that move in the gradient graph.
  std::vector<Result> results_;
  size_t returned_ = 0;
  size_t first_rebased_ = 0;
  std::vector<std::pair<size_t, std::optional<Origin>>> gradient_effects_;
  std::vector<Origin> saved_;
  std::optional<GradientTemplate> gradients_;
};

}  // namespace lucid::jit
