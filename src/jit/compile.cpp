#include "lucid/compile.h"

#include "base/error.h"
#include "jit/cpp_call.h"
#include "jit/plan_table_calls.h"

namespace lucid {

using jit::CppCall;
using jit::CppTable;
using jit::PlanTable;
using jit::Program;
using jit::TablePlan;

CompiledCalls::CompiledCalls(const CompileOptions& options) : table_(std::make_shared<CppTable>(options)) {}

std::vector<Tensor> CompiledCalls::call(CallArguments arguments, const Function& function) const {
  if (jit::TracingContext::is_active()) {
    jit::on_nested_call(table_);
    return function(nullptr);
  }
  table_->depends_on().add_to(arguments);
  return table_->plans().call(CppCall(*table_, arguments, function));
}

namespace {

/// The plan that serves a call, and what a run of it needs.
Ref<TablePlan> plan_for(CppTable& table, CallArguments& arguments, Program::Handles& handles) {
  PlanTable& plans = table.plans();
  table.depends_on().add_to(arguments);
  plans.finish_recordings();
  const CompiledCalls::Function none;
  const CppCall call(table, arguments, none);
  Ref<TablePlan> plan = plans.find(call, handles);
  if (!plan) {
    const std::string reason = plans.reason(call.key());
    throw RuntimeError("compile: there is no plan for a call with these arguments{}",
                       reason.empty() ? "; call the function first" : ": it " + reason);
  }
  return plan;
}

}  // namespace

std::string CompiledCalls::graph(CallArguments arguments) const {
  Program::Handles handles;
  return to_text(plan_for(*table_, arguments, handles)->program->graph());
}

std::string CompiledCalls::plan(CallArguments arguments, bool timed) const {
  Program::Handles handles;
  const Ref<TablePlan> plan = plan_for(*table_, arguments, handles);
  return timed ? jit::ShadowRun::text_with_times(*plan->program, handles) : to_text(plan->program->plan());
}

CompileInfo CompiledCalls::info() const {
  const jit::PlanCounters counters = table_->plans().counters();
  return {counters.hits,        counters.misses,          counters.compiles,
          counters.eager_calls, table_->plans().filled(), counters.piecewise_calls};
}

std::string CompiledCalls::explain() const { return table_->plans().explain(); }

void CompiledCalls::clear() const { table_->plans().clear(); }

void wait_for_compiles() { jit::finish_all_recordings(); }

}  // namespace lucid
