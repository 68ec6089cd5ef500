#pragma once

#include "passes/pass.h"

namespace lucid {

/// Computes nodes whose operands are all known, so that plans need not. Only where the reference's bits are the
/// kernels': for ops without math functions (Op::ulp is 0 for all parts), and where no subnormal number is met, since
/// whether those are flushed is decided when a plan runs. Nodes that raise stay, to raise when they run.
///
/// Tensors made from numbers alone (full, arange) and views are computed only for what is folded: a plan has them as
/// fast as it reads a constant. Operands and results have at most kMaxConstantElements.
class ConstantFoldPass : public Pass {
 public:
  std::string name() const override { return "ConstantFoldPass"; }
  bool run(IRGraph& graph, ConstantPool& constants) override;
};

}  // namespace lucid
