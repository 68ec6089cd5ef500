#pragma once

#include "passes/pass.h"

namespace lucid {

/// Marks all nodes as not taking part in a backward pass. For graphs that run without gradients, and for graphs that
/// already contain their gradients.
class NoGradStripPass : public Pass {
 public:
  std::string name() const override { return "NoGradStripPass"; }
  bool run(IRGraph& graph, ConstantPool& constants) override;
};

}  // namespace lucid
