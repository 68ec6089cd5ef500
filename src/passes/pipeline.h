#pragma once

#include "passes/pass.h"

namespace lucid {

/// Whether autodiff has yet to run on a graph.
enum class Gradients {
  kDone,     // there are no gradients, or autodiff has run and the graph contains them
  kPending,  // autodiff has yet to run
};

/// The only list of the standard passes, in order.
PassList standard_passes(Gradients gradients);

}  // namespace lucid
