#pragma once

#include <functional>
#include <unordered_map>

#include "jit/trace.h"
#include "tensor/node.h"
#include "tensor/observer.h"
#include "tensor/snapshot.h"

namespace lucid::jit {

/// Records what this thread does to tensors, from its making to stop(). The call runs as ever: nothing is replaced by
/// stand-ins. One inside another sees nothing: the outer one records all.
class TracingContext : public EagerObserver {
 public:
  /// Says where the user's code is at this moment: "example.py:4".
  using Source = std::function<std::string()>;
  explicit TracingContext(Source source = {});
  ~TracingContext() override { stop(); }
  TracingContext(const TracingContext&) = delete;
  TracingContext& operator=(const TracingContext&) = delete;

  /// Whether this thread is being recorded.
  static bool is_active();
  /// Ends the recording.
  void stop();

  /// The recording itself; complete after stop().
  Trace& trace() { return trace_; }
  const Trace& trace() const { return trace_; }
  /// Nodes of the gradient graph with at least this number were made during the recording.
  uint64_t first_node() const { return first_node_; }
  /// Where a tensor lies now.
  Place place_of(const TensorImpl& tensor);
  /// What a snapshot holds.
  Place place_of(const Snapshot& snapshot);
  /// How a handle on memory from outside was made during the recording: by a view, or by detach() if there is no op.
  struct View {
    TensorRef view;
    TensorRef base;
    const Op* op = nullptr;
    Attributes attributes;
    bool records_gradients = true;
    Geometry geometry;
  };
  /// Null if it was not, or was given other memory since.
  const View* view_of(const TensorImpl& tensor) const;
  /// What the call did with a leaf's `.grad`.
  struct GradientUse {
    /// The leaf, if it was named; nodes of the gradient graph know only the slot.
    TensorRef leaf;
    Ref<GradSlot> slot;
    /// What was there first, unless it was replaced before anybody read it.
    TensorRef initial;
    bool reads_initial = false;
  };
  /// A handle from outside that was given another place in the gradient graph, and the one that it had.
  struct Rebased {
    TensorRef root;
    Edge before;
  };
  const std::vector<Rebased>& rebased() const { return rebased_; }
  /// Whether the handle, not only its memory, was made during the recording.
  bool is_own(const TensorImpl& handle) const;
  /// Whether an end of the gradient graph, or a use, is that of a leaf that the call made.
  bool is_own_leaf(const GradNode& end) const;
  bool is_own_leaf(const GradientUse& use) const;
  /// The hooks of leaves from outside that ran. They are held, so that none is taken for another.
  const std::vector<HookRef>& hooks_that_ran() const { return hooks_that_ran_; }
  const std::vector<GradientUse>& gradient_uses() const { return gradient_uses_; }
  /// The number of a cell, or -1 if the call did not touch it.
  int32_t find(const Cell& cell) const;

  void made(const TensorImpl& tensor) override;
  void computed(const Call& call, const Values& results) override;
  void viewed(const Call& call, const TensorImpl& result) override;
  void writes(const Call& call, std::span<TensorImpl* const> destinations) override;
  void written(const Call& call, std::span<TensorImpl* const> destinations) override;
  void moved(const TensorImpl& source, const TensorImpl& copy) override;
  void gradient_read(const TensorImpl* leaf, const GradSlot* slot) override;
  void gradient_replaced(const TensorImpl* leaf, const GradSlot* slot) override;
  void detached(const TensorImpl& source, const TensorImpl& result) override;
  void rebases(TensorImpl& root) override;
  void hooked(const GradNode* node) override;
  void ran(const GradNode& node) override;
  void escaped(const TensorImpl& tensor, std::string_view how) override;
  void sets_up() override { trace_.sets_up = true; }
  void changed(const TensorImpl& tensor, std::string_view how) override;

 private:
  Event& add_event(Event::Kind kind, const Call* call);
  int32_t add_cell(const TensorImpl& tensor);
  void add_own_cell(const TensorImpl& tensor);
  int32_t cell_of(const TensorImpl& tensor);
  void add_view(const TensorImpl& view, const TensorImpl& base, const Call* call);
  /// Whether a node ends the graph that the call made.
  bool is_end(const GradNode& node) const;
  void use_gradient(const TensorImpl* leaf, const GradSlot* slot, bool reads);
  void give_up(std::string_view why);
  /// Notes something. Where there is no memory for it the recording is given up: what is being recorded goes on.
  template <typename Step>
  void note(const Step& step);

  Source source_;
  Trace trace_;
  uint64_t serial_;
  uint64_t first_node_;
  /// Cells from outside, by address; the trace holds them.
  std::unordered_map<const Cell*, int32_t> outside_;
  std::unordered_map<const TensorImpl*, View> views_;
  std::vector<GradientUse> gradient_uses_;
  std::vector<Rebased> rebased_;
  std::vector<TensorRef> own_leaves_;
  std::vector<HookRef> hooks_that_ran_;
  EagerObserver* before_ = nullptr;
  bool is_installed_ = false;
  bool is_out_of_memory_ = false;
};

}  // namespace lucid::jit
