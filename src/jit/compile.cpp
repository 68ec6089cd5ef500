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

/// Handles on memory from outside that the recording used and that are not arguments.
std::vector<TensorRef> state_of(TracingContext& context, const std::vector<TensorRef>& arguments) {
  std::vector<TensorRef> state;
  for (const jit::TracedCell& cell : context.trace().cells)
    if (cell.handle && std::find(arguments.begin(), arguments.end(), cell.handle) == arguments.end())
      state.push_back(cell.handle);
  return state;
}

/// One call from C++. There are no guards: the caller guarantees that everything else is unchanged.
class CppCall {
 public:
  using Result = std::vector<Tensor>;

  CppCall(const std::vector<Tensor>& arguments, const CompiledCalls::Function& function)
      : arguments_(arguments), function_(function) {
    for (const Tensor& argument : arguments) {
      key_.add_byte(static_cast<char>(argument.defined()));
      if (!argument.defined()) continue;
      key_.add_tensor(unwrap(argument));
      tensors_.push_back(&unwrap(argument));
    }
  }

  const CallKey& key() const { return key_; }
  std::span<TensorImpl* const> tensors() const { return tensors_; }
  bool holds(const TablePlan&, Program::Handles&) const { return true; }
  std::string difference(const TablePlan& plan) const {
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
  void missed(PlanTable&, bool) const {}
  Result run() const { return function_(); }

  std::optional<Result> replay(const TablePlan& plan, const Program::Handles& handles, Program::Branch& branch) const {
    // The results belong to the transaction: nothing may fail after the first write.
    const CommitScope commit;
    CallResults results;
    if (!plan.program->run(handles, results, branch)) return std::nullopt;
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
        Program::record(context, given, refs(results), state_of(context, given), "function", obstacle);
    return program ? make_ref<TablePlan>(std::move(program), key_) : nullptr;
  }

  const std::vector<Tensor>& arguments_;
  const CompiledCalls::Function& function_;
  CallKey key_;
  SmallVector<TensorImpl*, 8> tensors_;
};

}  // namespace

CompiledCalls::CompiledCalls(size_t max_plans, bool waits) : table_(PlanTable::make("function", max_plans, waits)) {}

std::vector<Tensor> CompiledCalls::call(const std::vector<Tensor>& arguments, const Function& function) const {
  if (TracingContext::is_active()) return function();
  return table_->call(CppCall(arguments, function));
}

CompileInfo CompiledCalls::info() const {
  const jit::PlanCounters counters = table_->counters();
  return {counters.hits, counters.misses, counters.compiles, counters.eager_calls, table_->filled()};
}

std::string CompiledCalls::explain() const { return table_->explain(); }

void CompiledCalls::clear() const { table_->clear(); }

void wait_for_compiles() { jit::finish_all_recordings(); }

}  // namespace lucid
