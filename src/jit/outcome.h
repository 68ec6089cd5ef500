#pragma once

#include <optional>

#include "base/ref_list.h"
#include "jit/gradient_template.h"
#include "jit/tracing_context.h"

namespace lucid::jit {

/// What a call returns.
using CallResults = RefList<TensorImpl, 4>;

/// What a call leaves behind besides the contents of memory: its results, the `.grad` of handles, and places in the
/// gradient graph.
class Outcome {
 public:
  /// A handle whose `.grad` is another afterwards, or none.
  struct GradientEffect {
    size_t handle = 0;
    bool is_none = false;
  };

  /// Finds out what became of a call with these results and handles. On failure `obstacle` says why.
  Outcome(TracingContext& context, std::span<const TensorRef> results, std::span<const TensorRef> handles,
          std::span<const GradientEffect> effects, std::string& obstacle);

  /// The cells that the call made whose memory is needed afterwards.
  const std::vector<int32_t>& cells() const { return cells_; }
  const GradientTemplate& gradients() const { return *gradients_; }
  GradientTemplate& gradients() { return *gradients_; }
  /// The numbers of cells that become the `.grad` of handles, with those.
  std::vector<std::pair<size_t, size_t>> new_gradients() const;
  /// Whether handles that get other places in the graph may, as those of the recording could.
  bool fits(std::span<TensorImpl* const> handles) const;
  /// Makes it all for another call. `handle_cells` are the cells that the handles were on when it began, and `cells`
  /// those of cells().
  void make(std::span<TensorImpl* const> handles, std::span<Cell* const> handle_cells, std::span<Cell* const> cells,
            CallResults& results) const;

 private:
  /// Where a tensor comes from.
  struct Part {
    /// One of the call's handles, or -1.
    int64_t handle = -1;
    /// How it is made of that, if it is not the handle itself.
    std::vector<TracingContext::View> views;
    /// Otherwise one of the cells.
    size_t cell = 0;
    Dtype dtype = Dtype::kF32;
    Geometry geometry;
  };
  struct Result : Part {
    /// An earlier result that it is, or -1.
    int64_t same = -1;
    bool has_node = false;
    /// It asks for a gradient, and is no result of a recorded op.
    bool is_leaf = false;
    /// The result that it is a view of, or -1.
    int64_t root = -1;
    ViewKind view_kind = ViewKind::kRecorded;
  };

  class Finder;

  std::vector<int32_t> cells_;
  /// The call's, then those that they are views of, then handles that get another place in the graph.
  std::vector<Result> results_;
  size_t returned_ = 0;
  size_t first_rebased_ = 0;
  std::vector<std::pair<size_t, std::optional<Part>>> gradient_effects_;
  std::vector<Part> saved_;
  std::optional<GradientTemplate> gradients_;
};

}  // namespace lucid::jit
