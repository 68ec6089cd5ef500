#pragma once

#include "tensor/node.h"

namespace lucid {

/// Some of the elements of a tensor: those that a view of it shows.
struct Region {
  /// The whole as it lies in memory, without repeated elements; its first element is at 0.
  Dims sizes;
  Dims strides;
  /// The part, in the same memory.
  Geometry part;
};

/// The part of `root` that its view shows. Throws RuntimeError when the root repeats elements: then a part of it is not
/// a part of its gradient.
Region region_of(const TensorImpl& root, const TensorImpl& view);

// Functions on regions, recorded when gradients are enabled and an operand requires one. Those that change `whole` do
// so where it lies if nobody else can see it.

/// A copy of the part.
Value take_region(const Value& whole, const Region& region);
/// `whole` with the part replaced; an empty `part` means zeros.
Value set_region(Value whole, const Region& region, const Value& part);
/// `whole` with `part` added to the part.
Value add_to_region(Value whole, const Region& region, const Value& part);
/// Zeros outside the part. The result has the dtype of `part`.
Value embed_region(const Region& region, const Value& part);

/// A view read off its root: passes its gradient on to that part of the root's.
class GatherNode : public GradNode {
 public:
  GatherNode(Edge root, TensorType root_type, Region region);
  GatherNode(Edge root, TensorType root_type, Region region, NodeOrder order);
  std::string_view name() const override { return "gather_region"; }
  void run(BackwardPass& pass, Values gradients) override;
  bool is_made_of_ops() const override { return true; }
  Ref<GradNode> clone(NodeCloner& cloner) const override;

 private:
  TensorType root_type_;
  Region region_;
};

/// A root after a part of it was replaced: the part's gradient goes to what replaced it, the rest to what was there.
class SetRegionNode : public GradNode {
 public:
  SetRegionNode(Edge root, Edge part, TensorType root_type, Region region);
  std::string_view name() const override { return "set_region"; }
  void run(BackwardPass& pass, Values gradients) override;
  bool is_made_of_ops() const override { return true; }
  Ref<GradNode> clone(NodeCloner& cloner) const override;

 protected:
  Region region_;
};

/// The same for a write by the user. As in PyTorch, it is part of what a backward pass without retain_graph frees.
class WriteRegionNode : public SetRegionNode {
 public:
  using SetRegionNode::SetRegionNode;
  std::string_view name() const override { return "a write to a part of a tensor"; }
  void run(BackwardPass& pass, Values gradients) override;
  void release_saved() override { set_released(); }
  Ref<GradNode> clone(NodeCloner& cloner) const override;
};

/// A sum of a whole and a part.
class AddRegionNode : public GradNode {
 public:
  AddRegionNode(Edge root, Edge part, TensorType root_type, Region region);
  std::string_view name() const override { return "add_region"; }
  void run(BackwardPass& pass, Values gradients) override;
  bool is_made_of_ops() const override { return true; }
  Ref<GradNode> clone(NodeCloner& cloner) const override;

 private:
  Region region_;
};

}  // namespace lucid
