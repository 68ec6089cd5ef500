#pragma once

#include "base/ref.h"

namespace lucid {

class BackwardPass;

/// Nodes created one after the other that can run as one, such as the nodes of a compiled call.
class NodeGroup : public RefCounted {
 public:
  /// Called when a pass reaches the first node of the group. Runs all nodes that the pass needs and adds the resulting
  /// gradients at their edges. Returns false, without any effect, if the nodes must run one by one.
  virtual bool run(BackwardPass& pass) = 0;
};

}  // namespace lucid
