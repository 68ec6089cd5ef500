#pragma once

#include <memory>

#include "bindings/errors.h"
#include "passes/pass.h"

namespace lucid::python {

/// What Python's `IRGraph` holds. Graphs of programs are copied: nobody edits a plan's.
struct GraphHandle {
  std::shared_ptr<IRGraph> graph;
};

/// The passes in a Python sequence: names of our own, or objects with a method `run(graph) -> bool`.
PassList to_passes(nb::handle sequence);

/// `_core.IRGraph`, `_core.IRNode`, `_core.IRValue` and the passes on them.
void bind_graph(nb::module_& module);

}  // namespace lucid::python
