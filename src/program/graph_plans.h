#pragma once

#include "program/loaded_program.h"

namespace lucid::program {

/// Makes plans from the graphs of a program, which need not be trusted. Null in the library without a compiler.
std::unique_ptr<PlanMaker> make_graph_plans();

}  // namespace lucid::program
