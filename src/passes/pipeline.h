#pragma once

#include "passes/pass.h"

namespace lucid {

/// Whether gradients will still be taken through a graph.
enum class Gradients {
  kDone,    // none, or autodiff has run and the graph holds them
  kToCome,  // autodiff has yet to run
};

/// The passes that a graph goes through, in order: the one list.
PassList standard_passes(Gradients gradients);

}  // namespace lucid
