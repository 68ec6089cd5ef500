#pragma once

#include <vector>

#include "ir/graph.h"

namespace lucid {

/// Adapts a graph node to the Call that the rules of its op expect.
class NodeCall {
 public:
  NodeCall(const IRGraph& graph, const IRNode& node) : attributes_(node.attributes) {
    values_.reserve(node.inputs.size());
    for (const IROperand& input : node.inputs) {
      if (input.id >= 0) {
        values_.emplace_back(make_ref<GraphValue>(graph.type(input.id), input.id));
        operands_.emplace_back(values_.back());
      } else if (input.number) {
        operands_.emplace_back(*input.number);
      } else {
        operands_.emplace_back();
      }
    }
    call_.emplace(*node.op, operands_, attributes_);
  }
  NodeCall(const NodeCall&) = delete;
  NodeCall& operator=(const NodeCall&) = delete;

  const Call& call() const { return *call_; }

 private:
  Attributes attributes_;
  std::vector<Value> values_;
  std::vector<Operand> operands_;
  std::optional<Call> call_;
};

}  // namespace lucid
