#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/busy_flag.h"
#include "base/lock.h"
#include "jit/trace.h"
#include "tensor/node.h"

namespace lucid::jit {

class Program;

/// A backward plan and how often it ran; for people.
struct BackwardPlanInfo {
  /// Of the gradient graph, that it runs in place of.
  size_t nodes = 0;
  size_t kernels = 0;
  size_t arena_bytes = 0;
  int64_t runs = 0;
  /// Why there is none and the nodes run one by one; empty if there is one.
  std::string reason;
};

/// "backward: 5 nodes as 1 kernels, ...", as explain() says it.
std::string to_text(const BackwardPlanInfo& plan);

/// Of the whole process.
struct BackwardCounters {
  int64_t plans = 0;
  int64_t runs = 0;
};
BackwardCounters backward_counters();

/// What the copies of a stretch of a program's gradient graph have in common, and the plans for running them. A plan is
/// a program itself. Its arguments are what the nodes saved, the gradients that arrive at them, and the sums that other
/// nodes have begun where their edges end; its results are those sums, finished.
class BackwardPart : public RefCounted {
 public:
  /// Where an edge leads: to a member, to a place outside, or nowhere.
  struct Target {
    int32_t member = -1;
    int32_t border = -1;
  };
  struct Member {
    std::vector<Target> edges;
    /// What it saves.
    uint32_t first_slot = 0;
    uint32_t end_slot = 0;
  };
  struct Structure {
    std::vector<Member> members;  // in the order of their making
    size_t borders = 0;
    /// For each slot the number of what is saved there, for some save the same, and whether the call computed it.
    std::vector<uint32_t> values;
    std::vector<bool> is_computed;
  };

  BackwardPart(std::string name, Structure structure) : name_(std::move(name)), structure_(std::move(structure)) {}

  const std::string& name() const { return name_; }
  const Structure& structure() const { return structure_; }
  /// Whether there is a plan, or may be one.
  bool may_plan() const { return may_plan_.load(std::memory_order_relaxed); }
  std::vector<BackwardPlanInfo> plans() const;

  /// An output of a member at which a gradient arrives.
  struct Start {
    uint32_t member = 0;
    uint32_t output = 0;
    auto operator<=>(const Start&) const = default;
  };
  /// A place outside, by an edge that leads there.
  struct Border {
    uint32_t member = 0;
    uint32_t edge = 0;
  };
  /// What can be reached from some outputs.
  struct Reach {
    std::vector<Start> starts;
    std::vector<uint32_t> members;
    std::vector<Border> borders;
    /// One for each value that the members saved.
    std::vector<uint32_t> slots;
  };
  /// Null where there were too many others.
  std::shared_ptr<const Reach> reach_of(std::vector<Start> starts);

  /// All that a plan depends on besides the arguments' layouts.
  struct Key {
    std::shared_ptr<const Reach> reach;
    /// If only some gradients are wanted: whether those of the reach's members and borders are.
    std::vector<bool> wanted;
    /// Which of the reach's borders have a sum that was begun.
    std::vector<uint32_t> begun;
    /// For the starts and for these, whether nobody else sees the gradient, so that it may be written.
    std::vector<bool> is_own;
    Dtype default_float = Dtype::kF32;
    bool operator==(const Key&) const = default;
  };
  /// What is known of one key.
  struct Entry {
    Key key;
    std::vector<Dims> strides;  // of the arguments
    /// Null where there is none to compile.
    Ref<Program> program;
    /// The members that run, and which of the reach's borders get a sum: the results.
    std::vector<uint32_t> runs;
    std::vector<uint32_t> ends;
    /// Whether these are views, and thus nobody's to write to.
    std::vector<bool> is_view;
    mutable std::atomic<int64_t> count = 0;

    Entry();
    ~Entry();
    /// Whether it is known if there is a plan; settle() waits for that. The caller holds no lock.
    bool is_settled() const { return !program || is_settled_.load(std::memory_order_acquire); }
    void settle() const;
    /// Once it is settled: whether the nodes run one by one, and why.
    bool has_plan() const { return reason_.empty(); }
    const std::string& reason() const { return reason_; }
    /// Does a step on the way to a plan, which says why there can be none.
    void try_to(const std::function<std::string()>& step) const;

   private:
    mutable std::atomic<bool> is_settled_ = false;
    mutable std::string reason_;
  };
  /// Null if there is none. It may be that another will be found once it is settled.
  std::shared_ptr<const Entry> find(const Key& key, std::span<TensorImpl* const> arguments) const;
  /// Whether there is room for another.
  bool has_room() const;
  void add(std::shared_ptr<const Entry> entry);
  /// Takes out an entry that another recording may do better than.
  void forget(const Entry& entry);
  /// Copies need not ask any more.
  void give_up() { may_plan_.store(false, std::memory_order_relaxed); }
  /// Set while a thread makes an entry.
  BusyFlag& recording() { return recording_; }

 private:
  const std::string name_;
  const Structure structure_;
  std::atomic<bool> may_plan_ = true;
  Mutex& mutex() const { return mutex_of(LockRank::kBackwardPart, this); }

  BusyFlag recording_;
  std::vector<std::shared_ptr<const Reach>> reaches_;
  std::vector<std::shared_ptr<const Entry>> entries_;
};

/// Counts a run of a plan.
void count_backward_run();

/// A gradient graph and the stretches of it that plans can be made for.
struct BackwardParts {
  struct Member {
    int32_t part = -1;
    uint32_t number = 0;
  };
  std::vector<Ref<BackwardPart>> parts;
  std::vector<Member> members;  // for each node
  /// Of each part, what its first slot is among all that is saved.
  std::vector<size_t> first_saved;
};

/// `nodes` are in the order of their making; node i saved the places from saved_by[i] to saved_by[i + 1], of which some
/// were computed by the call. `end_of` tells apart the places that edges lead to outside them.
BackwardParts find_backward_parts(const std::string& name, const std::vector<Ref<GradNode>>& nodes,
                                  std::span<const Place> saved, const std::vector<bool>& is_computed,
                                  std::span<const size_t> saved_by,
                                  const std::function<size_t(const GradNode& end)>& end_of);

}  // namespace lucid::jit
