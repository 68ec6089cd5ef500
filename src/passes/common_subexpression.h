#pragma once

#include "passes/pass.h"

namespace lucid {

/// Merges equal nodes: the same op on the same operands with the same attributes. Numbers are equal if their category
/// and bits are. Graphs are functional, so this includes random ops, whose generator state is an operand, and nodes
/// that can raise: if the first does not raise, neither would the others.
class CommonSubexpressionPass : public Pass {
 public:
  std::string name() const override { return "CommonSubexpressionPass"; }
  bool run(IRGraph& graph, ConstantPool& constants) override;
};

}  // namespace lucid
