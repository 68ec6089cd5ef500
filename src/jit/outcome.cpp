#include "jit/outcome.h"

#include <algorithm>
#include <map>

#include "ir/evaluate.h"
#include "tensor/autograd_meta.h"
#include "tensor/eager.h"
#include "tensor/grad_mode.h"

namespace lucid::jit {
namespace {

constexpr const char* kNotFound = "uses a tensor that is neither an argument nor reachable from the function";

TensorRef viewed(TensorRef tensor, const std::vector<TracingContext::View>& views, const SizeTrace::Evaluation* sizes) {
  size_t detaches = 0;
  for (const TracingContext::View& view : views) detaches += !view.op;
  for (const TracingContext::View& view : views) {
    if (!view.op) {
      tensor = detach(*tensor);
      --detaches;
      continue;
    }
    // A view that is detached later is not part of the gradient graph.
    const GradModeScope mode(view.records_gradients && detaches == 0);
    const Operand operands[] = {Operand(tensor.get())};
    const Attributes attributes = sizes ? SizeReplacer(*sizes)(view.attributes) : view.attributes;
    tensor = TensorRef(tensor_of(eager().emit_one(*view.op, operands, attributes)));
  }
  return tensor;
}

bool contains(std::span<const TensorRef> tensors, const TensorRef& tensor) {
  return std::find(tensors.begin(), tensors.end(), tensor) != tensors.end();
}

/// The roots that must be rebuilt together with the results that view them: roots that the call created and that a
/// gradient or another result depends on. Views of handles find their root without help.
std::vector<TensorRef> roots_of(const TracingContext& context, std::span<const TensorRef> results) {
  std::vector<TensorRef> roots;
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i]->is_view()) continue;
    const TensorRef& root = results[i]->root();
    if (!context.is_own(*root) || contains(results, root) || contains(roots, root)) continue;
    const bool is_shared = std::any_of(results.begin(), results.end(), [&](const TensorRef& other) {
      return other != results[i] && other->root() == root;
    });
    if (is_shared || requires_grad(*results[i])) roots.push_back(root);
  }
  return roots;
}

}  // namespace

/// Finds the origin of tensors of the recorded call.
class Outcome::Finder {
 public:
  Finder(Outcome& outcome, TracingContext& context, std::span<const TensorRef> handles, std::string& obstacle)
      : outcome_(outcome), context_(context), handles_(handles), obstacle_(obstacle) {}

  /// A handle, views of a handle, or otherwise a view of a cell that the call created.
  Origin origin_of(const TensorRef& tensor) {
    Origin origin;
    for (TensorRef base = tensor;;) {
      if (const auto found = std::find(handles_.begin(), handles_.end(), base); found != handles_.end()) {
        origin.handle = found - handles_.begin();
        std::reverse(origin.views.begin(), origin.views.end());
        return origin;
      }
      const TracingContext::View* view = context_.view_of(*base);
      if (!view) break;
      origin.views.push_back(
          {.op = view->op, .attributes = view->attributes, .records_gradients = view->records_gradients});
      base = view->base;
    }
    origin = origin_at(context_.current_view(*tensor));
    if (origin.handle >= 0) obstacle_ = "returns a new handle on the memory of a tensor from outside";
    return origin;
  }

  /// A view of a cell. A cell from outside is named by a handle on it.
  Origin origin_at(const TracedView& view) {
    Origin origin{.dtype = view.dtype, .geometry = view.geometry};
    const TracedCell& cell = context_.trace().cells[static_cast<size_t>(view.cell)];
    if (cell.outside) {
      const auto handle =
          std::find_if(handles_.begin(), handles_.end(), [&](const TensorRef& h) { return h->cell() == cell.outside; });
      origin.handle = handle - handles_.begin();
      if (handle == handles_.end())
        obstacle_ = kNotFound;
      else
        origin.geometry.offset -= (*handle)->offset() + context_.shift_of(*cell.outside);
      return origin;
    }
    const auto [found, is_new] = cell_indices_.try_emplace(view.cell, outcome_.cells_.size());
    if (is_new) outcome_.cells_.push_back(view.cell);
    origin.cell = found->second;
    return origin;
  }

  Result result_of(const TensorRef& tensor, std::span<const TensorRef> all) {
    Result result;
    static_cast<Origin&>(result) = origin_of(tensor);
    if (result.handle >= 0 && result.views.empty()) return result;
    const AutogradMeta* meta = tensor->autograd();
    result.is_leaf = meta && meta->requires_grad && !meta->edge;
    if (meta && (meta->retains_grad || (meta->slot && meta->slot->grad)))
      obstacle_ = "returns a tensor that has a gradient or retains one";
    if (tensor->is_parameter()) obstacle_ = "returns a new parameter";
    if (!tensor->is_view()) return result;
    const auto root = std::find(all.begin(), all.end(), tensor->root());
    if (root != all.end()) result.root = root - all.begin();
    result.view_kind = tensor->view_kind();
    return result;
  }

 private:
  Outcome& outcome_;
  TracingContext& context_;
  std::span<const TensorRef> handles_;
  std::string& obstacle_;
  std::map<int32_t, size_t> cell_indices_;
};

Outcome::Outcome(TracingContext& context, std::span<const TensorRef> results, std::span<const TensorRef> handles,
                 std::span<const GradientEffect> effects, std::string& obstacle)
    : returned_(results.size()) {
  Finder finder(*this, context, handles, obstacle);
  std::vector<TensorRef> all(results.begin(), results.end());
  for (TensorRef& root : roots_of(context, results)) all.push_back(std::move(root));
  first_rebased_ = all.size();
  for (const TracingContext::Rebased& rebased : context.rebased()) {
    if (!contains(handles, rebased.root))
      obstacle =
          "records an in-place operation on a tensor that is neither an argument nor reachable from the function";
    if (std::any_of(handles.begin(), handles.end(), [&](const TensorRef& h) { return h->root() == rebased.root; }))
      obstacle = "records an in-place operation on a tensor and uses views of it that are older than the call";
    all.push_back(rebased.root);
  }
  for (size_t i = 0; i < all.size(); ++i) {
    const auto earlier = std::find(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(i), all[i]);
    const bool is_same = earlier != all.begin() + static_cast<std::ptrdiff_t>(i) && i < first_rebased_;
    results_.push_back(is_same ? Result{.same = earlier - all.begin()} : finder.result_of(all[i], all));
  }
  for (const GradientEffect& effect : effects) {
    auto& [handle, origin] = gradient_effects_.emplace_back(effect.handle, std::nullopt);
    if (!effect.is_none) origin = finder.origin_of(gradient(*handles[handle]));
  }
  if (!obstacle.empty()) return;
  gradients_.emplace(context, all, handles, obstacle);
  if (!obstacle.empty()) return;
  for (size_t i = 0; i < results_.size(); ++i) {
    Result& result = results_[i];
    const bool is_handle = result.handle >= 0 && result.views.empty();
    // The node of a view may also be reachable from other results.
    result.has_node = result.same < 0 && (!is_handle || i >= first_rebased_) && gradients_->has_node(i);
  }
  for (const TracedView& saved : gradients_->saved()) saved_.push_back(finder.origin_at(saved));
}

Outcome::Outcome(std::span<const TracedView> results) : returned_(results.size()), first_rebased_(results.size()) {
  for (const TracedView& view : results) {
    const auto earlier = std::ranges::find(cells_, view.cell);
    Result& result = results_.emplace_back();
    result.cell = static_cast<size_t>(earlier - cells_.begin());
    result.dtype = view.dtype;
    result.geometry = view.geometry;
    // Each cell is one result.
    if (earlier == cells_.end())
      cells_.push_back(view.cell);
    else
      result.same = std::ranges::find(results, view.cell, &TracedView::cell) - results.begin();
  }
  gradients_.emplace();
}

std::vector<std::pair<size_t, size_t>> Outcome::new_gradients() const {
  std::vector<std::pair<size_t, size_t>> gradients;
  for (const auto& [handle, origin] : gradient_effects_)
    if (origin && origin->handle < 0) gradients.emplace_back(origin->cell, handle);
  return gradients;
}

std::vector<Outcome::Source> Outcome::sources() const {
  std::vector<Source> sources;
  for (size_t i = 0; i < returned_; ++i) {
    const Result& result = results_[i].same < 0 ? results_[i] : results_[static_cast<size_t>(results_[i].same)];
    sources.push_back({result.handle, result.cell, result.dtype, result.geometry});
  }
  return sources;
}

bool Outcome::fits(std::span<TensorImpl* const> handles) const {
  return std::all_of(results_.begin() + static_cast<std::ptrdiff_t>(first_rebased_), results_.end(),
                     [&](const Result& rebased) {
                       TensorImpl& handle = *handles[static_cast<size_t>(rebased.handle)];
                       return !handle.is_view() && (!requires_grad(handle) || !is_leaf(handle));
                     });
}

/// Creates tensors of another call from their origins.
class Outcome::Maker {
 public:
  Maker(std::span<TensorImpl* const> handles, const HandleMemory& memory, std::span<Cell* const> cells,
        const SizeTrace::Evaluation* sizes)
      : handles_(handles), memory_(memory), cells_(cells), sizes_(sizes) {}

  /// A view of a cell.
  TensorRef at(const Origin& origin) const {
    return sizes_ ? on(SizeReplacer(*sizes_)(origin.geometry), origin) : on(origin.geometry, origin);
  }
  TensorRef make(const Origin& origin) const {
    if (origin.handle < 0) return at(origin);
    return viewed(TensorRef(handles_[static_cast<size_t>(origin.handle)]), origin.views, sizes_);
  }

 private:
  TensorRef on(const Geometry& geometry, const Origin& origin) const {
    Cell* cell = nullptr;
    SymInt offset = geometry.offset;
    if (origin.handle < 0) {
      cell = cells_[origin.cell];
    } else {
      const auto handle = static_cast<size_t>(origin.handle);
      cell = memory_.cells[handle];
      offset += memory_.offsets[handle];
    }
    return make_ref<TensorImpl>(origin.dtype, geometry.sizes, geometry.strides, offset, Ref<Cell>(cell));
  }

  std::span<TensorImpl* const> handles_;
  const HandleMemory& memory_;
  std::span<Cell* const> cells_;
  const SizeTrace::Evaluation* sizes_;
};

void Outcome::find_contents(std::span<TensorImpl* const> handles, const HandleMemory& memory,
                            std::span<Cell* const> cells, const SizeTrace::Evaluation* sizes,
                            Contents& contents) const {
  const GradModeScope mode(false);
  const Maker maker(handles, memory, cells, sizes);
  for (size_t i = 0; i < returned_; ++i) {
    const Result& result = results_[i];
    contents.results.push_back(result.same >= 0 ? TensorRef(contents.results[static_cast<size_t>(result.same)])
                                                : maker.make(result));
  }
  for (const auto& [handle, origin] : gradient_effects_)
    if (!origin || origin->handle < 0)
      contents.gradients.emplace_back(handle, origin ? maker.at(*origin) : TensorRef());
}

void Outcome::make(std::span<TensorImpl* const> handles, const HandleMemory& memory, std::span<Cell* const> cells,
                   const SizeTrace::Evaluation* sizes, CallResults& results) const {
  const Maker maker(handles, memory, cells, sizes);
  // Leaves are created first, because the graph ends at them; then the nodes, then the other results. Views of handles
  // create the accumulators at which the graph ends, and backward runs those in the order of their creation.
  results.resize(results_.size());
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results_[i].is_leaf) continue;
    results.set(i, maker.make(results_[i]));
    set_requires_grad(*results[i], true);
  }
  std::vector<Edge> edges;
  if (!gradients_->empty()) {
    std::vector<TensorRef> saved;
    saved.reserve(saved_.size());
    for (const Origin& origin : saved_) saved.push_back(maker.at(origin));
    edges = gradients_->instantiate(saved, handles, results.pointers());
  }
  for (size_t i = 0; i < results.size(); ++i) {
    const Result& result = results_[i];
    if (results[i]) continue;
    results.set(i, result.same >= 0 ? TensorRef(results[static_cast<size_t>(result.same)]) : maker.make(result));
  }
  for (const auto& [handle, origin] : gradient_effects_)
    set_gradient(*handles[handle], origin ? maker.make(*origin) : TensorRef());
  for (size_t i = first_rebased_; i < results.size(); ++i) rebase(*results[i], edges[i]);
  for (size_t i = 0; i < first_rebased_; ++i) {
    const Result& result = results_[i];
    if (result.root >= 0) results[i]->set_view_of(results[static_cast<size_t>(result.root)], result.view_kind);
    if (result.has_node) set_gradient_node(*results[i], edges[i]);
    if (first_rebased_ < results.size() && results[i]->is_view())
      results[i]->set_graph_version(results[i]->root()->graph_version());
  }
  results.resize(returned_);
}

}  // namespace lucid::jit
