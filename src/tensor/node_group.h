#pragma once

#include "base/ref.h"

namespace lucid {

class BackwardPass;

/// Nodes that were made one after the other and can be run as one, as those of a compiled call are.
class NodeGroup : public RefCounted {
 public:
  /// Asked when a pass comes to the first of them: runs all that the pass needs of them and leaves the sums where their
  /// edges end. Returns false, and nothing has happened, where they must run one by one.
  virtual bool run(BackwardPass& pass) = 0;
};

}  // namespace lucid
