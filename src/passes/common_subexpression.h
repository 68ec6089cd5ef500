#pragma once

#include "passes/pass.h"

namespace lucid {

/// Computes once what several nodes compute: the same op on the same operands with the same attributes, numbers being
/// the same when their category and bits are. Graphs are functional, so that includes random draws, which name the
/// state they draw from, and nodes that can raise: where the first does not, the others would not.
class CommonSubexpressionPass : public Pass {
 public:
  std::string name() const override { return "CommonSubexpressionPass"; }
  bool run(IRGraph& graph, ConstantPool& constants) override;
};

}  // namespace lucid
