#pragma once

#include "passes/pass.h"

namespace lucid {

/// Removes nodes whose results reach neither an output nor an update, and constants that nothing reads. Inputs,
/// parameters and states are kept, because callers pass them by position. Nodes that can raise are kept too, with
/// everything they depend on: eager code raises whether or not the result is used.
class DeadNodeElimPass : public Pass {
 public:
  std::string name() const override { return "DeadNodeElimPass"; }
  bool run(IRGraph& graph, ConstantPool& constants) override;
};

}  // namespace lucid
