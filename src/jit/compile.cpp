#include "lucid/compile.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/memory_reserve.h"
#include "base/out_of_memory.h"
#include "jit/plan_table.h"
#include "tensor/api.h"

namespace lucid {
namespace {

using jit::CallKey;
using jit::CallResults;
using jit::PlanTable;
using jit::Program;
using jit::TablePlan;
using jit::TracingContext;

std::vector<TensorRef> refs(const std::vector<Tensor>& tensors) {
  std::vector<TensorRef> result;
  for (const Tensor& tensor : tensors)
    if (tensor.defined()) result.emplace_back(&unwrap(tensor));
  return result;
}

/// A plan of a function in C++, and what it depends on beside the arguments and tensors.
class CppPlan : public TablePlan {
 public:
  CppPlan(Ref<Program> program, const CallKey& key, TracingContext::Dependencies dependencies)
      : TablePlan(std::move(program), key), dependencies_(std::move(dependencies)) {
    guards = dependencies_.size();
  }
  /// The first that does not hold, or null.
  const Dependency* changed() const {
    for (const auto& dependency : dependencies_)
      if (!dependency->holds()) return dependency.get();
    return nullptr;
  }
  void ran() const {
    for (const auto& dependency : dependencies_) dependency->ran();
  }

 private:
  TracingContext::Dependencies dependencies_;
};

const CppPlan& as_cpp(const TablePlan& plan) { return static_cast<const CppPlan&>(plan); }

/// One call from C++.
class CppCall {
 public:
  using Result = std::vector<Tensor>;

  CppCall(const CallArguments& arguments, const CompiledCalls::Function& function)
      : arguments_(arguments.tensors()), function_(function) {
    key_.add_value(arguments.values().size());
    key_.add_bytes(arguments.values().data(), arguments.values().size());
    for (const Tensor& argument : arguments_) {
      // Code can tell whether two arguments are one.
      const auto same = std::ranges::find(tensors_, argument.impl());
      key_.add_value(argument.defined() ? same - tensors_.begin() : -1);
      if (!argument.defined()) continue;
      key_.add_tensor(unwrap(argument));
      tensors_.push_back(&unwrap(argument));
    }
  }

  const CallKey& key() const { return key_; }
  std::span<TensorImpl* const> tensors() const { return tensors_; }
  bool holds(const TablePlan& plan, Program::Handles&) const { return !as_cpp(plan).changed(); }
  std::string difference(const TablePlan& plan) const {
    if (const Dependency* changed = as_cpp(plan).changed()) return changed->name() + " has changed";
    size_t at = 0;
    for (size_t i = 0; i < tensors_.size(); ++i) {
      const size_t count = 2 * tensors_[i]->sizes().size();
      if (!std::ranges::equal(key_.numbers().subspan(at, count), std::span(plan.pattern.numbers).subspan(at, count)))
        return fmt::format("the shape or the strides of argument {} vary", i);
      at += count;
    }
    Program::Handles handles;
    if (plan.program->reads_values() && plan.program->fits(tensors(), handles)) return jit::kReadsOtherValues;
    return "tensors that it uses have different types or share memory differently";
  }
  void missed(PlanTable& table, bool records) const {
    if (const Ref<TablePlan> stale = records ? table.newest(key_) : nullptr)
      table.note("recorded again: " + difference(*stale));
  }
  Result run() const { return function_(); }

  std::optional<Result> replay(const TablePlan& plan, const Program::Handles& handles, Program::Branch& branch) const {
    // The results belong to the transaction: nothing may fail after the first write.
    const CommitScope commit;
    CallResults results;
    if (!plan.program->run(handles, results, branch)) return std::nullopt;
    as_cpp(plan).ran();
    Result wrapped;
    wrapped.reserve(results.size());
    for (size_t i = 0; i < results.size(); ++i) wrapped.push_back(wrap(results.take(i)));
    return wrapped;
  }

  std::optional<Result> verify(const TablePlan& plan, const Program::Handles& handles, Program::Branch& branch) const {
    jit::Trial trial(*plan.program, handles);
    if (!trial.run(branch)) return std::nullopt;
    Result results = run();
    if (trial.is_disturbed()) return results;
    const CallResults& expected = trial.results();
    if (results.size() != expected.size()) trial.fail("the number of results", nullptr);
    for (size_t i = 0; i < results.size(); ++i)
      if (!results[i].defined() || jit::first_difference(TensorRef(expected[i]), TensorRef(&unwrap(results[i]))))
        trial.fail(fmt::format("result {}", i), nullptr);
    if (const auto difference = trial.difference()) trial.fail(plan.name_of(*difference), nullptr);
    return results;
  }

  Result record(PlanTable::Recording& recording) const {
    TracingContext context;
    context.collect_dependencies();
    Result results;
    try {
      results = function_();
    } catch (const std::exception& error) {
      recording.raised(error.what());
      throw;
    }
    context.stop();
    has_memory_for([&] {
      recording.returned(!context.trace().guards.empty(),
                         [&](std::string& obstacle) { return plan_of(context, results, obstacle); });
    });
    return results;
  }

 private:
  Ref<TablePlan> plan_of(TracingContext& context, const Result& results, std::string& obstacle) const {
    // The next call is recorded instead.
    if (context.trace().sets_up) return nullptr;
    if (!std::all_of(results.begin(), results.end(), [](const Tensor& result) { return result.defined(); })) {
      obstacle = "returns an undefined tensor";
      return nullptr;
    }
    const std::vector<TensorRef> given = refs(arguments_);
    Ref<Program> program =
        Program::record(context, given, refs(results), context.captured(given), "function", obstacle);
    if (!program) return nullptr;
    return make_ref<CppPlan>(std::move(program), key_, context.finish_dependencies());
  }

  const std::vector<Tensor>& arguments_;
  const CompiledCalls::Function& function_;
  CallKey key_;
  SmallVector<TensorImpl*, 8> tensors_;
};

}  // namespace

CompiledCalls::CompiledCalls(const CompileOptions& options)
    : table_(PlanTable::make("function", options.max_cache_entries, options.wait,
                             options.verify.value_or(lucid::options().verify))) {}

std::vector<Tensor> CompiledCalls::call(const CallArguments& arguments, const Function& function) const {
  if (TracingContext::is_active()) return function();
  return table_->call(CppCall(arguments, function));
}

namespace {

/// The plan that serves a call, and what a run of it needs.
Ref<TablePlan> plan_for(PlanTable& table, const CallArguments& arguments, Program::Handles& handles) {
  table.finish_recordings();
  const CompiledCalls::Function none;
  const CppCall call(arguments, none);
  Ref<TablePlan> plan = table.find(call, handles);
  if (!plan) {
    const std::string reason = table.reason(call.key());
    throw RuntimeError("compile: there is no plan for a call with these arguments{}",
                       reason.empty() ? "; call the function first" : ": it " + reason);
  }
  return plan;
}

}  // namespace

std::string CompiledCalls::graph(const CallArguments& arguments) const {
  Program::Handles handles;
  return to_text(plan_for(*table_, arguments, handles)->program->graph());
}

std::string CompiledCalls::plan(const CallArguments& arguments, bool timed) const {
  Program::Handles handles;
  const Ref<TablePlan> plan = plan_for(*table_, arguments, handles);
  return timed ? jit::Trial::text_with_times(*plan->program, handles) : to_text(plan->program->plan());
}

CompileInfo CompiledCalls::info() const {
  const jit::PlanCounters counters = table_->counters();
  return {counters.hits, counters.misses, counters.compiles, counters.eager_calls, table_->filled()};
}

std::string CompiledCalls::explain() const { return table_->explain(); }

void CompiledCalls::clear() const { table_->clear(); }

void wait_for_compiles() { jit::finish_all_recordings(); }

}  // namespace lucid
