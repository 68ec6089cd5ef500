#pragma once

#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "base/out_of_memory.h"
#include "jit/overlapping_cells.h"
#include "jit/trace.h"
#include "jit/traced_sizes.h"
#include "tensor/node.h"
#include "tensor/observer.h"
#include "tensor/snapshot.h"

namespace lucid::jit {

/// Records everything that this thread does to tensors, from construction to stop(). The call runs eagerly on real
/// tensors, without proxies. Of nested contexts only the outer one records.
class TracingContext : public EagerObserver {
 public:
  /// Returns the current line of the user's code, such as "example.py:4".
  using Source = std::function<std::string()>;
  explicit TracingContext(Source source = {});
  ~TracingContext() override { stop(); }
  TracingContext(const TracingContext&) = delete;
  TracingContext& operator=(const TracingContext&) = delete;

  /// Whether this thread is being recorded.
  static bool is_active();
  /// Ends the recording.
  void stop();
  /// What happens between these is not part of the recording. They do not nest.
  void pause();
  void resume();
  /// The values of a tensor have changed while the recording was paused, by what is repeated after the plan: from now
  /// on the call cannot use it.
  void outdate(const TensorImpl& tensor);
  /// How often the call has changed something that others may see: memory from outside, gradients, or positions of
  /// tensors in the gradient graph. Reading a gradient counts too.
  size_t effects() const { return effects_; }

  /// The sizes that are traced, or null. Set before anything is recorded.
  const std::shared_ptr<TracedSizes>& sizes() const { return sizes_; }
  void set_sizes(std::shared_ptr<TracedSizes> sizes) { sizes_ = std::move(sizes); }

  /// The recording itself; complete after stop().
  Trace& trace() { return trace_; }
  const Trace& trace() const { return trace_; }
  /// Nodes of the gradient graph with this number or a larger one were created during the recording.
  uint64_t first_node() const { return first_node_; }
  /// The view of a tensor, or of the tensor in a snapshot, at the current version of its cell.
  TracedView current_view(const TensorImpl& tensor);
  TracedView current_view(const Snapshot& snapshot);
  /// How the recorded call created a handle on memory from outside: by a view op, or by detach() if `op` is null.
  struct View {
    TensorRef view;
    TensorRef base;
    const Op* op = nullptr;
    Attributes attributes;
    bool records_gradients = true;
    Geometry geometry;
  };
  /// Null if the tensor was not created that way, or has been given other memory since.
  const View* view_of(const TensorImpl& tensor) const;
  /// How the call used the `.grad` of a leaf.
  struct GradientUse {
    /// Null if only nodes of the gradient graph used it: they know the slot, not the leaf.
    TensorRef leaf;
    Ref<GradSlot> slot;
    /// The gradient before the call; null if there was none, or it was replaced before it was read.
    TensorRef initial;
    bool reads_initial = false;
  };
  /// A handle from outside that moved to another position in the gradient graph, and its position before.
  struct Rebased {
    TensorRef root;
    Edge before;
  };
  const std::vector<Rebased>& rebased() const { return rebased_; }
  /// Whether the handle, not only its memory, was created during the recording.
  bool is_own(const TensorImpl& handle) const;
  /// Whether the leaf of an end of the gradient graph, or of a use, was created by the call.
  bool is_own_leaf(const GradNode& end) const;
  bool is_own_leaf(const GradientUse& use) const;
  /// The hooks of leaves from outside that ran. Holding them keeps their addresses unique.
  const std::vector<HookRef>& hooks_that_ran() const { return hooks_that_ran_; }
  const std::vector<GradientUse>& gradient_uses() const { return gradient_uses_; }
  /// Whether the call used tensors that other threads made while it was recorded: then the recording is incomplete.
  bool uses_tensors_of_other_threads() const;
  /// Handles on memory from outside that the recording used or returns, without these arguments.
  std::vector<TensorRef> captured(std::span<const TensorRef> arguments, std::span<const TensorRef> results);
  /// After the recording: whether the call keeps a tensor that it created, for instance in a variable from outside. The
  /// caller holds one reference to each of the results.
  bool keeps_tensors(std::span<const TensorImpl* const> results) const;
  /// Whether the recorded function read the dtype, a size or requires_grad of a tensor from outside.
  bool is_used(const TensorImpl& tensor) const { return used_.contains(&tensor); }
  /// The index of a cell in Trace::cells, or -1 if the call did not use it.
  int32_t find(const Cell& cell) const;
  /// After the recording: treats cells on overlapping imported memory as one cell if the call wrote to any of them.
  void join_overlapping_cells();
  /// The offset of a cell within the cell that it was joined to, in elements; zero for cells that were not joined.
  int64_t shift_of(const Cell& cell) const;

  /// Whether the call caught an error of the library. Which error is thrown may depend on any property
  /// of a tensor or number, and no guard covers that.
  bool caught_error() const { return caught_error_; }
  /// Whether the call ran nodes of the gradient graph.
  bool ran_backward() const { return ran_backward_; }

  /// Keeps what the memory from outside held before the call wrote to it. Set before anything is recorded.
  void keep_contents() { keeps_contents_ = true; }
  /// After the recording: gives that memory its old contents.
  void restore_contents();

  /// Collects what the call depends on other than tensors. Set before anything is recorded.
  void collect_dependencies() { collects_dependencies_ = true; }
  using Dependencies = std::vector<std::shared_ptr<const Dependency>>;
  /// After the recording. Sets `obstacle` if one of them prevents a plan.
  Dependencies finish_dependencies(std::string& obstacle);

  bool needs_dependency(const void* object) const override {
    return collects_dependencies_ && !dependencies_.contains(object);
  }
  void depends(const void* object, const std::shared_ptr<Dependency>& dependency) override {
    dependencies_.emplace(object, dependency);
  }
  void made(const TensorImpl& tensor) override;
  void made_handle(const TensorImpl& handle, const TensorImpl* source) override;
  void destroyed(const TensorImpl& handle) override { own_handles_.erase(&handle); }
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
  void values_read(const TensorImpl& tensor, ValuesRead what) override;
  void escaped(const TensorImpl& tensor, std::string_view how) override;
  void acted_outside(std::string_view how) override;
  void sets_up() override { trace_.sets_up = true; }
  void changed(const TensorImpl& tensor, std::string_view how) override;
  void inspected(const TensorImpl& tensor, std::string_view how) override;
  void used(const TensorImpl& tensor) override;
  void hashed(const TensorImpl& tensor) override;
  /// Tensors from outside whose hash the call read.
  const std::vector<TensorRef>& hashed() const { return hashed_; }

 private:
  Event& add_event(Event::Kind kind, const Call* call);
  void keep_contents_of(const TensorImpl& tensor, const TracedCell& cell);
  void trace_sizes(const Call& call, const Values& results);
  /// Adds a guard on the values of a tensor: an op that the call did not run copies them to a cell of its own.
  void add_guard(const TensorImpl& tensor, const Op& op, std::span<const Operand> operands, Dtype dtype,
                 std::string expected);
  int32_t add_cell(const TensorImpl& tensor);
  void add_own_cell(const TensorImpl& tensor);
  int32_t cell_of(const TensorImpl& tensor);
  /// Adds a handle that the call uses, unless the call created the handle or its memory.
  void add_handle(const TensorImpl& tensor);
  void add_view(const TensorImpl& view, const TensorImpl& base, const Call* call);
  /// Whether a node is where the graph that the call created ends: an older node, or the accumulator of a leaf.
  bool is_end(const GradNode& node) const;
  void use_gradient(const TensorImpl* leaf, const GradSlot* slot, bool reads);
  void give_up(std::string_view why);
  void join(std::span<const ImportedCell> group);
  /// Runs a step of the recording. If memory runs out, the recording is abandoned; the recorded call continues.
  template <typename Step>
  void record(const Step& step) {
    if (!is_out_of_memory_ && !has_memory_for(step)) run_out_of_memory();
  }
  void run_out_of_memory();

  Source source_;
  std::shared_ptr<TracedSizes> sizes_;
  Trace trace_;
  uint64_t serial_ = 0;
  uint64_t first_node_;
  /// Cells from outside, by address; the trace keeps them alive.
  std::unordered_map<const Cell*, int32_t> outside_;
  std::unordered_map<const Cell*, int64_t> shifts_;
  /// Cells from outside that the call can no longer use.
  std::vector<Ref<Cell>> outdated_;
  /// The handles from outside that the call used, several for a cell if they are views of each other.
  std::vector<TensorRef> handles_;
  std::unordered_set<const TensorImpl*> known_handles_;
  /// Those of handles_ for which is_used().
  std::unordered_set<const TensorImpl*> used_;
  /// The addresses of the handles that the call created, without those that this thread has destroyed. Others may be
  /// gone: a handle that was there before the call cannot get their addresses.
  std::unordered_set<const TensorImpl*> own_handles_;
  std::unordered_map<const TensorImpl*, View> views_;
  std::vector<GradientUse> gradient_uses_;
  std::vector<Rebased> rebased_;
  std::vector<TensorRef> own_leaves_;
  std::vector<HookRef> hooks_that_ran_;
  std::vector<TensorRef> hashed_;
  /// By object, which the dependency keeps alive.
  std::unordered_map<const void*, std::shared_ptr<Dependency>> dependencies_;
  const uint64_t errors_before_;
  bool caught_error_ = false;
  bool ran_backward_ = false;
  bool keeps_contents_ = false;
  /// Tensors whose memory the call wrote to, and copies of that memory.
  std::vector<std::pair<TensorRef, Ref<Storage>>> kept_;
  bool collects_dependencies_ = false;
  EagerObserver* before_ = nullptr;
  size_t effects_ = 0;
  bool is_installed_ = false;
  bool is_out_of_memory_ = false;
};

}  // namespace lucid::jit
