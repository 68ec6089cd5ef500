#pragma once

#include <memory>

#include "ir/op.h"
#include "tensor/node.h"
#include "tensor/snapshot.h"

namespace lucid {

/// An op of the table, recorded: its gradient rule runs on what was saved of the call.
class OpNode : public GradNode, public Pooled<OpNode> {
 public:
  /// Saves the operands that the op's gradient rule reads, as they are now. `edges` has one entry for each operand.
  OpNode(const Call& call, std::vector<Edge> edges);
  /// Tells the results, which are saved if the rule reads them.
  void set_results(std::span<const Value> results);

  std::string_view name() const override { return op_.name(); }
  void run(BackwardPass& pass, Values gradients) override;
  void release_saved() override;
  bool is_made_of_ops() const override { return true; }
  Ref<GradNode> clone(NodeCloner& cloner) const override;

 private:
  OpNode(const OpNode& original, NodeCloner& cloner);

  /// What is kept of an operand: a number, a type, and the value if the rule reads it.
  struct Argument {
    std::optional<ValueBase> type;
    std::optional<Scalar> number;
    Snapshot saved;
    /// It required grad as a view made under no_grad does.
    bool drops_gradient = false;
    Operand operand() const { return type ? Operand(&*type) : number ? Operand(*number) : Operand(); }
  };

  const Op& op_;
  Attributes attributes_;
  std::unique_ptr<Argument[]> arguments_;
  std::unique_ptr<Snapshot[]> results_;
  /// Whether a gradient of any operand goes anywhere.
  bool is_wanted_ = false;
  bool saves_ = false;
};

/// A view, recorded where it was made: its gradient chains to the handle it was made from.
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
