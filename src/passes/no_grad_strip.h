#pragma once

#include "passes/pass.h"

namespace lucid {

/// Marks every node as one that no backward pass runs through: for graphs run without gradients, and for those that
/// hold their gradients already.
class NoGradStripPass : public Pass {
 public:
  std::string name() const override { return "NoGradStripPass"; }
  bool run(IRGraph& graph, ConstantPool& constants) override;
};

}  // namespace lucid
