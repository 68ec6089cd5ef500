#pragma once

#include <span>
#include <vector>

#include "schedule/element_tree.h"

namespace lucid {

/// The point of the iteration space that an indexed lowering is evaluated at.
class ElementTree::NodeContext : public ElementContext {
 public:
  NodeContext(ElementTree& tree, const IRNode& node, const Point& point) : tree_(tree), node_(node), point_(point) {}

  loop::Builder& builder() override { return tree_.writer_->builder(); }
  loop::Value index(int64_t axis) override;
  loop::Value number(SymInt value) override;
  loop::Value input_size(int input, int64_t axis) override;
  loop::Value load(int input, std::span<const loop::Value> index, loop::Value valid) override;
  void fail_if(loop::Value condition, int64_t code) override;

 private:
  ElementTree& tree_;
  const IRNode& node_;
  const Point& point_;
  size_t next_number_ = 0;
};

}  // namespace lucid
