#pragma once

#include <optional>

#include "jit/backward_part.h"
#include "tensor/engine.h"
#include "tensor/snapshot.h"

namespace lucid::jit {

/// One call's copies of the nodes of a BackwardPart.
class BackwardCopy : public NodeGroup {
 public:
  explicit BackwardCopy(Ref<BackwardPart> part);
  void set_node(uint32_t member, GradNode& node);
  void set_saved(size_t slot, const Snapshot& saved) { saved_[slot] = &saved; }

  /// Runs the nodes by a plan, if there is one for this request. The first request of its kind runs the nodes one by
  /// one and records them.
  bool run(BackwardPass& pass) override;

 private:
  using Entry = BackwardPart::Entry;
  /// What a backward pass requires of the nodes, and the arguments of a plan for it.
  struct Request {
    BackwardPart::Key key;
    /// The gradients at the key's starts, then the partial sums of `key.begun`.
    std::vector<Value*> sums;
    /// The tensors that the nodes saved, and all arguments of a plan: these, then the sums.
    std::vector<TensorRef> saved;
    std::vector<TensorImpl*> arguments;
  };

  /// Empty if the nodes must run one by one.
  std::optional<Request> inspect(BackwardPass& pass) const;
  bool find_starts(BackwardPass& pass, std::vector<BackwardPart::Start>& starts) const;
  bool can_run(const BackwardPart::Reach& reach) const;
  bool find_sums(BackwardPass& pass, Request& request) const;
  bool run_plan(BackwardPass& pass, Request& request, const Entry& entry) const;
  void record(BackwardPass& pass, Request request) const;
  const Edge& edge_at(const BackwardPart::Border& border) const;

  const Ref<BackwardPart> part_;
  /// Not owned: the nodes that a pass reaches are alive.
  std::vector<GradNode*> nodes_;
  std::vector<const Snapshot*> saved_;
  NodeOrder first_;
};

}  // namespace lucid::jit
