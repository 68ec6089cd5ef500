#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "passes/constants.h"

namespace lucid {

/// A rewriting of graphs that users cannot notice: the outputs and updates keep every bit, every stride and every error
/// (all NaNs count as equal). Nodes that stay keep their order and where the user's code asked for them.
class Pass {
 public:
  virtual ~Pass() = default;
  /// What reports, logs and LUCID_DISABLE_PASSES call it.
  virtual std::string name() const = 0;
  /// Rewrites the graph, and the pool with it where constants come or go. Returns whether anything changed.
  virtual bool run(IRGraph& graph, ConstantPool& constants) = 0;
};

using PassList = std::vector<std::shared_ptr<Pass>>;

}  // namespace lucid
