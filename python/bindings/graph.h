#pragma once

#include <memory>
#include <optional>

#include "bindings/errors.h"
#include "passes/pass.h"

namespace lucid::python {

/// The contents of Python's `IRGraph`. Always a copy: the graph of a program is never edited.
struct GraphHandle {
  std::shared_ptr<IRGraph> graph;
};

/// Converts a Python sequence of passes: names of built-in passes, or objects with a method `run(graph) -> bool`. Empty
/// for None, which stands for the standard passes.
std::optional<PassList> to_passes(nb::handle sequence);

/// `_core.IRGraph`, `_core.IRNode`, `_core.IRValue` and the passes on them.
void bind_graph(nb::module_& module);

}  // namespace lucid::python
