#include "passes/pipeline.h"

#include "passes/common_subexpression.h"
#include "passes/constant_fold.h"
#include "passes/dead_node_elim.h"
#include "passes/exact_identity.h"
#include "passes/no_grad_strip.h"

namespace lucid {

PassList standard_passes() {
  PassList passes;
  // First, so that no other pass spends time on unused nodes.
  passes.push_back(std::make_shared<DeadNodeElimPass>());
  // Before CommonSubexpressionPass, so that nodes no longer differ in a flag that is for eager gradients only.
  passes.push_back(std::make_shared<NoGradStripPass>());
  // Before identities, some of which need a constant where the user wrote a computation.
  passes.push_back(std::make_shared<ConstantFoldPass>());
  // Before common subexpressions, because it gives equal operands the same id.
  passes.push_back(std::make_shared<ExactIdentityPass>());
  passes.push_back(std::make_shared<CommonSubexpressionPass>());
  // Again, because the passes above leave nodes and constants without uses.
  passes.push_back(std::make_shared<DeadNodeElimPass>());
  return passes;
}

}  // namespace lucid
