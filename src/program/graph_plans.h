#pragma once

#include "program/loaded_program.h"

namespace lucid::program {

/// Makes plans from the graphs of a program, which need not be trusted. Null in the library without a compiler.
std::unique_ptr<PlanMaker> make_graph_plans();

/// Throws ValueError unless the graph of a call is well-formed and has the inputs and outputs of the call.
void check_graph(const Call& call, std::span<const int64_t> sizes);

}  // namespace lucid::program
