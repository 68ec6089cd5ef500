#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "passes/constants.h"

namespace lucid {

/// A graph rewrite that users cannot observe: outputs and updates keep every bit, every stride and every error (all
/// NaNs are equal). The remaining nodes keep their order and their source locations.
class Pass {
 public:
  virtual ~Pass() = default;
  /// The name in reports, logs and LUCID_DISABLE_PASSES.
  virtual std::string name() const = 0;
  /// Rewrites the graph, and updates the pool if constants are added or removed. Returns whether anything changed.
  virtual bool run(IRGraph& graph, ConstantPool& constants) = 0;
};

using PassList = std::vector<std::shared_ptr<Pass>>;

}  // namespace lucid
