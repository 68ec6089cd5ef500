#pragma once

#include <memory>

#include "ir/op.h"
#include "tensor/node.h"
#include "tensor/snapshot.h"

namespace lucid {

/// A recorded op. Its gradient rule runs on the saved operands and results.
class OpNode : public GradNode, public Pooled<OpNode> {
 public:
  /// Saves the current values of the operands that the op's gradient rule reads. `edges` has one entry per operand.
  OpNode(const Call& call, std::vector<Edge> edges);
  /// Sets the results. They are saved if the rule reads them.
  void set_results(std::span<const Value> results);

  std::string_view name() const override { return op_.name(); }
  void run(BackwardPass& pass, Values gradients) override;
  void release_saved() override;
  bool is_made_of_ops() const override { return true; }
  Ref<GradNode> clone(NodeCloner& cloner) const override;

 private:
  OpNode(const OpNode& original, NodeCloner& cloner);

  /// The saved part of an operand: a number or a type, and the value if the rule reads it.
  struct Argument {
    std::optional<ValueBase> type;
    std::optional<Scalar> number;
    Snapshot saved;
    /// It is a view created under no_grad: it required grad, but drops its gradient.
    bool drops_gradient = false;
    Operand operand() const { return type ? Operand(&*type) : number ? Operand(*number) : Operand(); }
  };

  const Op& op_;
  Attributes attributes_;
  std::unique_ptr<Argument[]> arguments_;
  std::unique_ptr<Snapshot[]> results_;
  /// Whether the gradient of any operand has a destination.
  bool is_wanted_ = false;
  bool saves_ = false;
};

/// A view, recorded at its creation. Its gradient flows to the handle that it was created from.
class ViewNode : public GradNode, public Pooled<ViewNode> {
 public:
  ViewNode(const Call& call, Edge edge, const Dims& view_sizes);
  std::string_view name() const override { return op_.name(); }
  void run(BackwardPass& pass, Values gradients) override;
  bool is_made_of_ops() const override { return true; }
  Ref<GradNode> clone(NodeCloner& cloner) const override;

 private:
  ViewNode(const ViewNode& original, NodeCloner& cloner);

  const Op& op_;
  Attributes attributes_;
  ValueBase operand_;
};

}  // namespace lucid
