#pragma once

#include <exception>
#include <string>

#include "compiler/compile_plan.h"
#include "ir/evaluate.h"
#include "jit/graph_builder.h"
#include "passes/runner.h"
#include "runtime/plan.h"

namespace lucid::jit {

/// LUCID_LOG=jit logs what happens to calls and their plans.
constexpr std::string_view kLogTopic = "jit";

/// The graph of a call record after the passes, with traced sizes, and what is needed to make plans of it.
struct CallTemplate {
  CallGraph call;
  CallRecord record;  // without events
  /// The plan for the sizes of the recorded call, and for others if they need the same steps.
  std::shared_ptr<const PlanTemplate> plan;
};

/// A compiled call record: its graph after the passes, and the plan that computes it.
struct CallPlan {
  IRGraph graph;
  Ref<Plan> plan;
  /// The report of the passes.
  PassReport report;
  std::vector<GraphInput> inputs;
  std::vector<OutputCell> outputs;
  std::vector<size_t> written;
  /// See PlanOptions.
  std::vector<PlanUpdate> updates;
  std::vector<ExpectedOutput> expected;
  std::vector<size_t> fresh;
  /// Why there is no plan; empty if there is.
  std::string obstacle;
  /// For making plans for other sizes; null if no size is traced.
  std::shared_ptr<const CallTemplate> source;
  /// The graph before the passes, if CallRecord::keeps_graph.
  std::shared_ptr<const CallGraph> recorded;
};

/// Compiles a record, on any thread, with `passes` or the standard ones if null.
CallPlan compile_call(const CallRecord& record, const PassList* passes = nullptr);

/// Runs `passes` over a function, or the standard ones if null. Nothing is compiled.
void run_passes(FunctionGraph& function, const PassList* passes = nullptr);

/// Runs the passes over a graph, and makes a plan of it without regard for the call that it is part of.
Ref<Plan> compile_alone(CallGraph& call, const PassList* passes);

CallGraph with_sizes(const CallGraph& call, const SizeReplacer& replace);

/// Makes a plan template for other sizes, for which the conditions of the trace hold.
std::shared_ptr<const PlanTemplate> compile_template(const CallTemplate& source, std::span<const int64_t> sizes,
                                                     const SizeTrace::Evaluation& evaluation);

/// Makes a plan for these sizes alone.
Ref<Plan> compile_plan(const CallTemplate& source, const SizeTrace::Evaluation& sizes);

/// The call plan for other sizes, without a graph.
CallPlan with_plan(const CallTemplate& source, const SizeTrace::Evaluation& sizes, Ref<Plan> plan);

/// A plan of the call as data, with kernels for `level`. `sizes` are those of the symbols, if sizes are traced: the
/// conditions of their trace must hold. Throws ValueError if the plan cannot be written to a file.
PlanSource form_of(const CallPlan& call, std::span<const int64_t> sizes, CpuLevel level);

/// The graph that plans of the call compute. Its inputs are those of the call.
IRGraph plan_graph(const CallPlan& call);

/// The reason for running calls eagerly after compiling threw `error`. The recorded call itself succeeded: only speed
/// is lost. Returning kOutOfMemory does not allocate.
std::string reason_of(const std::exception& error);

}  // namespace lucid::jit
