#pragma once

#include <optional>

#include "jit/backward_part.h"
#include "tensor/engine.h"
#include "tensor/snapshot.h"

namespace lucid::jit {

/// The nodes that one call has of a part of its program's gradient graph.
class BackwardCopy : public NodeGroup {
 public:
  explicit BackwardCopy(Ref<BackwardPart> part);
  void set_node(uint32_t member, GradNode& node);
  void set_saved(size_t slot, const Snapshot& saved) { saved_[slot] = &saved; }

  /// By a plan, if there is one for what the pass asks. The first time it does, the nodes run one by one while they are
  /// recorded.
  bool run(BackwardPass& pass) override;

 private:
  using Entry = BackwardPart::Entry;
  /// What a pass asks of the nodes.
  struct Situation {
    BackwardPart::Key key;
    /// Of the key's starts and of the sums that were begun.
    std::vector<Value*> sums;
    /// What the nodes saved, and all that a plan is given.
    std::vector<TensorRef> saved;
    std::vector<TensorImpl*> arguments;
  };

  /// Nothing where the nodes must run one by one.
  std::optional<Situation> look(BackwardPass& pass) const;
  bool find_starts(BackwardPass& pass, std::vector<BackwardPart::Start>& starts) const;
  bool can_run(const BackwardPart::Reach& reach) const;
  bool find_sums(BackwardPass& pass, Situation& situation) const;
  bool run_plan(BackwardPass& pass, Situation& situation, const Entry& entry) const;
  void record(BackwardPass& pass, Situation situation) const;
  const Edge& edge_at(const BackwardPart::Border& border) const;

  const Ref<BackwardPart> part_;
  /// Not held: those that a pass reaches are alive.
  std::vector<GradNode*> nodes_;
  std::vector<const Snapshot*> saved_;
  NodeOrder first_;
};

}  // namespace lucid::jit
