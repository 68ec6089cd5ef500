#pragma once

#include <exception>
#include <string>

#include "jit/graph_builder.h"
#include "passes/runner.h"
#include "runtime/plan.h"

namespace lucid::jit {

/// What becomes of the record of a call: its graph after the passes, and the plan that computes it.
struct CallPlan {
  IRGraph graph;
  Ref<Plan> plan;
  /// What the passes did.
  PassReport report;
  std::vector<GraphInput> inputs;
  std::vector<KeptCell> kept;
  std::vector<size_t> written;
  /// Why there is no plan; empty if there is.
  std::string obstacle;
};

/// Makes a plan of a record, on any thread. The graph goes through `passes`, or through the standard ones.
CallPlan compile_call(const CallRecord& record, const PassList* passes = nullptr);

/// Why calls run as they are written after compiling threw. The recorded call itself went well: only speed is lost.
/// kOutOfMemory needs no memory.
std::string reason_of(const std::exception& error);

}  // namespace lucid::jit
