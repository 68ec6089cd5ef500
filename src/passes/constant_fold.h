#pragma once

#include "passes/pass.h"

namespace lucid {

/// Computes nodes whose operands are all known at compile time. A node is folded only if the reference produces the
/// same bits as the kernels: for ops without math functions (Op::ulp is 0 for all parts), and if no subnormal number
/// occurs, since flushing of those is decided when a plan runs. Nodes that raise are left in place, so that they raise
/// when they run.
///
/// Tensors created from numbers alone (full, arange) and views are computed only as operands of folded nodes: a plan
/// produces them as fast as it reads a constant. Operands and results have at most kMaxConstantElements.
class ConstantFoldPass : public Pass {
 public:
  std::string name() const override { return "ConstantFoldPass"; }
  bool run(IRGraph& graph, ConstantPool& constants) override;
};

}  // namespace lucid
