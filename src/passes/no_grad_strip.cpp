#include "passes/no_grad_strip.h"

#include <utility>

namespace lucid {

bool NoGradStripPass::run(IRGraph& graph, ConstantPool&) {
  bool changed = false;
  for (IRNode& node : graph.nodes) changed |= std::exchange(node.has_gradient, false);
  return changed;
}

}  // namespace lucid
