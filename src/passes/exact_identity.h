#pragma once

#include "passes/pass.h"

namespace lucid {

/// Removes nodes whose result equals one of their operands, and composes views. Every rule of identity_rules.h keeps
/// every bit. Float arithmetic has no such rules: x * 1 and x + 0 flush subnormal numbers, and x + 0 turns -0.0 into
/// 0.0. A rewrite may not change the strides of an output or update; LayoutFacts decides what is safe.
class ExactIdentityPass : public Pass {
 public:
  std::string name() const override { return "ExactIdentityPass"; }
  bool run(IRGraph& graph, ConstantPool& constants) override;
};

}  // namespace lucid
