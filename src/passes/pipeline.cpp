#include "passes/pipeline.h"

#include "passes/common_subexpression.h"
#include "passes/constant_fold.h"
#include "passes/dead_node_elim.h"
#include "passes/exact_identity.h"
#include "passes/no_grad_strip.h"

namespace lucid {

PassList standard_passes(Gradients gradients) {
  PassList passes;
  // First, so that no other pass spends time on what nobody asks for.
  passes.push_back(std::make_shared<DeadNodeElimPass>());
  // The passes below merge and skip nodes. Autodiff adds the gradients of a value in the order of its uses, so before
  // it has run they would change the sums' bits.
  if (gradients == Gradients::kToCome) return passes;
  // Before nodes are compared, which then no longer differ by what only autodiff asks.
  passes.push_back(std::make_shared<NoGradStripPass>());
  // Before identities, some of which need to see a constant where the user wrote a computation.
  passes.push_back(std::make_shared<ConstantFoldPass>());
  // Before common subexpressions, for operands that are the same in fact become the same by name.
  passes.push_back(std::make_shared<ExactIdentityPass>());
  passes.push_back(std::make_shared<CommonSubexpressionPass>());
  // Again: the passes above leave behind nodes and constants whose uses they took away.
  passes.push_back(std::make_shared<DeadNodeElimPass>());
  return passes;
}

}  // namespace lucid
