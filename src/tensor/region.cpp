#include "tensor/region.h"

#include "base/error.h"
#include "tensor/autograd_meta.h"
#include "tensor/compute.h"
#include "tensor/engine.h"
#include "tensor/grad_mode.h"

namespace lucid {
namespace {

bool records(const Value& a, const Value& b) {
  return GradMode::enabled() && ((a && requires_grad(*tensor_of(a))) || (b && requires_grad(*tensor_of(b))));
}

Edge edge_of(const Value& value) {
  return value && requires_grad(*tensor_of(value)) ? gradient_edge(*tensor_of(value)) : Edge();
}

TensorRef part_of(const TensorImpl& whole, const Region& region) {
  Geometry part = region.part;
  part.offset += whole.offset();
  return alias_of(whole, part);
}

/// A writable tensor with the region's layout, whose memory nothing else can see: `whole` itself if possible.
TensorRef writable(Value whole, const Region& region) {
  TensorRef tensor(tensor_of(whole));
  whole = Value();
  if (tensor->strides() == region.strides && is_exclusive(tensor)) {
    tensor->before_write();
    return tensor;
  }
  return copy_of(*tensor, region.strides);
}

void write_part(TensorImpl& whole, const Region& region, const Value& part) {
  const TensorRef target = part_of(whole, region);
  if (part)
    copy_into(*tensor_of(part), *target);
  else
    fill_into(*target, Scalar(0));
}

}  // namespace

Region region_of(const TensorImpl& root, const TensorImpl& view) {
  if (has_internal_overlap(root.sizes(), root.strides()))
    throw RuntimeError(
        "an in-place operation cannot be recorded through a view of {}, whose elements repeat in memory because it was "
        "expanded; clone() it first",
        to_string(root.type()));
  Region region{root.sizes(), root.strides(), view.geometry()};
  region.part.offset -= root.offset();
  return region;
}

Value take_region(const Value& whole, const Region& region) {
  const TensorImpl& tensor = *tensor_of(whole);
  // A tensor with another layout is first copied to the region's layout.
  const TensorRef source =
      tensor.strides() == region.strides ? TensorRef(tensor_of(whole)) : copy_of(tensor, region.strides);
  TensorRef part = copy_of(*part_of(*source, region), contiguous_strides(region.part.sizes));
  if (records(whole, {})) set_gradient_node(*part, {make_ref<GatherNode>(edge_of(whole), whole.type(), region), 0});
  return part;
}

Value set_region(Value whole, const Region& region, const Value& part) {
  Ref<GradNode> node;
  if (records(whole, part)) node = make_ref<SetRegionNode>(edge_of(whole), edge_of(part), whole.type(), region);
  TensorRef result = writable(std::move(whole), region);
  write_part(*result, region, part);
  if (node) set_gradient_node(*result, {std::move(node), 0});
  return result;
}

Value add_to_region(Value whole, const Region& region, const Value& part) {
  Ref<GradNode> node;
  if (records(whole, part)) node = make_ref<AddRegionNode>(edge_of(whole), edge_of(part), whole.type(), region);
  TensorRef result = writable(std::move(whole), region);
  const TensorRef target = part_of(*result, region);
  add_into(*tensor_of(part), *target);
  if (node) set_gradient_node(*result, {std::move(node), 0});
  return result;
}

Value embed_region(const Region& region, const Value& part) {
  TensorRef whole = make_tensor(part.dtype(), region.sizes, region.strides, part.device());
  fill_into(*whole, Scalar(0));
  return set_region(std::move(whole), region, part);
}

GatherNode::GatherNode(Edge root, TensorType root_type, Region region)
    : GatherNode(std::move(root), std::move(root_type), std::move(region), {reserve_number(), 0}) {}

GatherNode::GatherNode(Edge root, TensorType root_type, Region region, NodeOrder order)
    : GradNode({std::move(root)}, {{root_type.dtype, region.part.sizes, root_type.device}}, order),
      root_type_(std::move(root_type)),
      region_(std::move(region)) {}

void GatherNode::run(BackwardPass& pass, Values gradients) {
  pass.add_region(edges()[0], region_, std::move(gradients.front()));
}

Ref<GradNode> GatherNode::clone(NodeCloner& cloner) const {
  return make_ref<GatherNode>(cloner.edge(edges()[0]), root_type_, region_);
}

SetRegionNode::SetRegionNode(Edge root, Edge part, TensorType root_type, Region region)
    : GradNode({std::move(root), std::move(part)}, {std::move(root_type)}), region_(std::move(region)) {}

void SetRegionNode::run(BackwardPass& pass, Values gradients) {
  Value gradient = std::move(gradients.front());
  if (pass.needs(edges()[1])) pass.add(edges()[1], take_region(gradient, region_));
  if (pass.needs(edges()[0])) pass.add(edges()[0], set_region(std::move(gradient), region_, {}));
}

Ref<GradNode> SetRegionNode::clone(NodeCloner& cloner) const {
  const std::vector<Edge> copies = cloner.edges(edges());
  return make_ref<SetRegionNode>(copies[0], copies[1], outputs()[0], region_);
}

Ref<GradNode> WriteRegionNode::clone(NodeCloner& cloner) const {
  const std::vector<Edge> copies = cloner.edges(edges());
  auto copy = make_ref<WriteRegionNode>(copies[0], copies[1], outputs()[0], region_);
  copy->set_released(is_released());
  return copy;
}

void WriteRegionNode::run(BackwardPass& pass, Values gradients) {
  if (is_released()) fail_released();
  SetRegionNode::run(pass, std::move(gradients));
}

AddRegionNode::AddRegionNode(Edge root, Edge part, TensorType root_type, Region region)
    : GradNode({std::move(root), std::move(part)}, {std::move(root_type)}), region_(std::move(region)) {}

Ref<GradNode> AddRegionNode::clone(NodeCloner& cloner) const {
  const std::vector<Edge> copies = cloner.edges(edges());
  return make_ref<AddRegionNode>(copies[0], copies[1], outputs()[0], region_);
}

void AddRegionNode::run(BackwardPass& pass, Values gradients) {
  Value gradient = std::move(gradients.front());
  if (pass.needs(edges()[1])) pass.add(edges()[1], take_region(gradient, region_));
  if (pass.needs(edges()[0])) pass.add(edges()[0], std::move(gradient));
}

}  // namespace lucid
