#pragma once

#include "passes/pass.h"

namespace lucid {

/// Leaves out nodes whose result is one of their operands, and composes views: by the rules of identity_rules.h, each
/// of which keeps every bit. Float arithmetic is not among them: x * 1 and x + 0 flush subnormal numbers, and x + 0
/// makes -0.0 positive. Nor may a rewrite change the strides of an output or update; LayoutFacts says what is safe.
class ExactIdentityPass : public Pass {
 public:
  std::string name() const override { return "ExactIdentityPass"; }
  bool run(IRGraph& graph, ConstantPool& constants) override;
};

}  // namespace lucid
