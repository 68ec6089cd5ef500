#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/busy_flag.h"
#include "base/lock.h"
#include "base/options.h"
#include "jit/trace.h"
#include "tensor/node.h"

namespace lucid::jit {

class Program;

/// Facts about a backward plan, for explain().
struct BackwardPlanInfo {
  /// Nodes of the gradient graph that it replaces.
  size_t nodes = 0;
  size_t kernels = 0;
  size_t arena_bytes = 0;
  int64_t runs = 0;
  /// Why there is no plan and the nodes run one by one; empty if there is one.
  std::string reason;
};

/// The line that explain() prints: "backward: 5 nodes as 1 kernels, ...".
std::string to_text(const BackwardPlanInfo& plan);

/// Counters of the whole process.
struct BackwardCounters {
  int64_t plans = 0;
  int64_t runs = 0;
};
BackwardCounters backward_counters();

/// A segment of a program's gradient graph, shared by all copies of the graph, and the plans that run it. A plan is
/// itself a program. Its arguments are the tensors that the nodes saved, the gradients that arrive at them, and the
/// partial sums of gradients where their edges leave the segment. Its results are those sums, with the segment's
/// contributions added.
class BackwardPart : public RefCounted {
 public:
  /// The target of an edge: a member, an output of a node outside the segment, or nothing.
  struct Target {
    int32_t member = -1;
    int32_t border = -1;
  };
  struct Member {
    std::vector<Target> edges;
    /// The range of slots for the tensors that it saves.
    uint32_t first_slot = 0;
    uint32_t end_slot = 0;
  };
  struct Structure {
    std::vector<Member> members;  // in the order of creation
    size_t borders = 0;
    /// For each slot: the index of the saved value, since several nodes may save the same one, and whether the call
    /// computed it.
    std::vector<uint32_t> values;
    std::vector<bool> is_computed;
  };

  BackwardPart(std::string name, Structure structure)
      : name_(std::move(name)), structure_(std::move(structure)), waits_(options().compile_wait) {}

  const std::string& name() const { return name_; }
  const Structure& structure() const { return structure_; }
  /// Whether a pass waits for a plan that is being compiled. Otherwise its nodes run one by one.
  bool waits() const { return waits_.load(std::memory_order_relaxed); }
  void set_waits(bool waits) { waits_.store(waits, std::memory_order_relaxed); }
  /// Whether there is a plan, or may be one.
  bool may_plan() const { return may_plan_.load(std::memory_order_relaxed); }
  std::vector<BackwardPlanInfo> plans() const;

  /// An output of a member at which a gradient arrives.
  struct Start {
    uint32_t member = 0;
    uint32_t output = 0;
    auto operator<=>(const Start&) const = default;
  };
  /// An edge by which gradients leave the segment.
  struct Border {
    uint32_t member = 0;
    uint32_t edge = 0;
  };
  /// The members, borders and saved values reachable from some starts.
  struct Reach {
    std::vector<Start> starts;
    std::vector<uint32_t> members;
    std::vector<Border> borders;
    /// One slot for each value that the members saved.
    std::vector<uint32_t> slots;
  };
  /// Null if the limit on different reaches has been hit.
  std::shared_ptr<const Reach> reach_of(std::vector<Start> starts);

  /// Everything that a plan depends on, except the layouts of its arguments.
  struct Key {
    std::shared_ptr<const Reach> reach;
    /// Empty if all gradients are wanted; otherwise whether each member and each border of the reach is.
    std::vector<bool> wanted;
    /// The borders of the reach, by index, that already have a partial sum.
    std::vector<uint32_t> begun;
    /// For the starts and then for `begun`: whether nothing else refers to the gradient, so that it may be overwritten.
    std::vector<bool> is_own;
    Dtype default_float = Dtype::kF32;
    bool operator==(const Key&) const = default;
  };
  /// The plan for one key, or the reason why there is none.
  struct Entry {
    Key key;
    std::vector<Dims> strides;  // of the arguments
    /// Null if there is nothing to compile.
    Ref<Program> program;
    /// The members that run, and the borders of the reach, by index, that get a sum: the results.
    std::vector<uint32_t> runs;
    std::vector<uint32_t> ends;
    /// For each result: whether it is a view and thus must not be written.
    std::vector<bool> is_view;
    mutable std::atomic<int64_t> count = 0;

    Entry();
    ~Entry();
    /// Whether compiling has ended, with a plan or without; finalize() waits for that. The caller must not hold a lock.
    bool is_finalized() const { return !program || is_finalized_.load(std::memory_order_acquire); }
    void finalize() const;
    /// Valid once finalized. Without a plan the nodes run one by one.
    bool has_plan() const { return reason_.empty(); }
    const std::string& reason() const { return reason_; }
    /// Runs a step towards a plan. The step returns why there is no plan, or an empty string. An exception becomes the
    /// reason.
    void try_to(const std::function<std::string()>& step) const;

   private:
    mutable std::atomic<bool> is_finalized_ = false;
    mutable std::string reason_;
  };
  /// Null if there is none. An entry that is not finalized may turn out not to match: the caller finalizes it and
  /// searches again.
  std::shared_ptr<const Entry> find(const Key& key, std::span<TensorImpl* const> arguments) const;
  /// Whether the part has fewer entries than the limit.
  bool can_add() const;
  void add(std::shared_ptr<const Entry> entry);
  /// Removes an entry that ran out of memory, so that it is recorded again.
  void forget(const Entry& entry);
  /// Stops looking for plans: the nodes of all copies run one by one.
  void give_up() { may_plan_.store(false, std::memory_order_relaxed); }
  /// Set while a thread records an entry.
  BusyFlag& recording() { return recording_; }

 private:
  const std::string name_;
  const Structure structure_;
  std::atomic<bool> waits_;
  std::atomic<bool> may_plan_ = true;
  Mutex& mutex() const { return mutex_of(LockRank::kBackwardPart, this); }

  BusyFlag recording_;
  std::vector<std::shared_ptr<const Reach>> reaches_;
  std::vector<std::shared_ptr<const Entry>> entries_;
};

/// Adds a run of a plan to the counters.
void count_backward_run();

/// A gradient graph divided into segments that can be compiled.
struct BackwardParts {
  struct Member {
    int32_t part = -1;
    uint32_t index = 0;
  };
  std::vector<Ref<BackwardPart>> parts;
  std::vector<Member> members;  // for each node
  /// For each part, the index of its first slot among all saved tensors.
  std::vector<size_t> first_saved;
};

/// `nodes` are in the order of creation. Node i saved the tensors from saved_by[i] up to saved_by[i + 1]; `is_computed`
/// says which of the saved tensors the call computed. `end_of` identifies the nodes outside `nodes` that edges lead to.
BackwardParts find_backward_parts(const std::string& name, const std::vector<Ref<GradNode>>& nodes,
                                  std::span<const TracedView> saved, const std::vector<bool>& is_computed,
                                  std::span<const size_t> saved_by,
                                  const std::function<size_t(const GradNode& end)>& end_of);

}  // namespace lucid::jit
