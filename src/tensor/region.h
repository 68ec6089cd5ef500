#pragma once

#include "tensor/node.h"

namespace lucid {

/// The subset of a tensor's elements that a view of it covers.
struct Region {
  /// Layout of the whole tensor, without repeated elements; its first element is at offset 0.
  Dims sizes;
  Dims strides;
  /// Layout of the part, in the same memory.
  Geometry part;
};

/// The part of `root` that a view of it covers. Throws RuntimeError if the root repeats elements: then a part of it
/// does not correspond to a part of its gradient.
Region region_of(const TensorImpl& root, const TensorImpl& view);

// Functions on regions. They are recorded if gradients are enabled and an operand requires grad. Those that change
// `whole` work in place if nothing else can see its memory.

/// A copy of the part.
Value take_region(const Value& whole, const Region& region);
/// `whole` with the part replaced. An empty `part` means zeros.
Value set_region(Value whole, const Region& region, const Value& part);
/// `whole` with `part` added to the part.
Value add_to_region(Value whole, const Region& region, const Value& part);
/// A tensor with `part` in the region and zeros elsewhere. It has the dtype of `part`.
Value embed_region(const Region& region, const Value& part);

/// A view read from its root: adds its gradient to the corresponding part of the root's gradient.
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

/// A root after a part was replaced. The gradient of the part flows to the replacement, the rest to the old value.
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

/// The same for a write by the user. As in PyTorch, a backward pass without retain_graph releases it.
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
