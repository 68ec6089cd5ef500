#include "jit/cpp_call.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/memory_reserve.h"
#include "base/out_of_memory.h"
#include "ir/evaluate.h"
#include "jit/recorder.h"
#include "jit/traced_numbers.h"
#include "tensor/api.h"
#include "tensor/autograd_meta.h"

namespace lucid::jit {
namespace {

const CppPlan& as_cpp(const TablePlan& plan) { return static_cast<const CppPlan&>(plan); }

std::vector<TensorRef> refs(std::span<const Tensor> tensors) {
  std::vector<TensorRef> result;
  for (const Tensor& tensor : tensors)
    if (tensor.defined()) result.emplace_back(&unwrap(tensor));
  return result;
}

}  // namespace

/// The arguments of a call while it is recorded: the numbers, and the sizes that vary, are traced.
class CppCall::Traced {
 public:
  explicit Traced(const CppCall& call) : call_(call) {
    const std::vector<TensorImpl*> candidates = replaceable_tensors();
    const VaryingNumbers varying = call.table_.plans().varying(call.key_, positions_of(candidates));
    for (TensorImpl* const tensor : candidates) trace_sizes_of(*tensor, varying);
    for (size_t i = 0; i < call.arguments_.tensors().size(); ++i) {
      const Tensor& tensor = call.arguments_.tensors()[i];
      if (call.arguments_.is_direct(i))
        passed_.tensors.push_back(tensor.defined() ? wrap(TensorRef(traced_of(tensor.impl()))) : tensor);
    }
    for (uint32_t i = 0; i < call.arguments_.sizes().size(); ++i) {
      const SymInt size = call.arguments_.sizes()[i].unguarded();
      passed_.sizes.push_back(varying.is_fixed(call.first_size_ + i) ? size : recorder_.trace_size(size, i));
    }
    for (uint32_t i = 0; i < call.arguments_.numbers().size(); ++i) {
      const Number number = call.arguments_.numbers()[i].with_trace(0);
      passed_.numbers.push_back(varying.is_fixed(call.first_number_ + i) ? number : recorder_.trace_number(number, i));
    }
  }

  /// Calls the function.
  Result run() {
    Result results;
    recorder_.start();
    try {
      results = call_.function_(&passed_);
    } catch (...) {
      return_handles();
      throw;
    }
    return_handles();
    recorder_.stop();
    for (const uint32_t number : recorder_.read_numbers()) numbers().guard_value(number);
    return results;
  }

  Recorder& recorder() { return recorder_; }
  /// The tensors of the call, as the function got them.
  std::vector<TensorRef> tensors() const {
    std::vector<TensorRef> tensors;
    for (TensorImpl* const tensor : call_.tensors_) tensors.emplace_back(traced_of(tensor));
    return tensors;
  }

  /// The positions in the key of what is traced and, if `varies`, of what the call does not depend on; otherwise of
  /// what it depends on.
  std::set<uint32_t> positions_of_numbers(bool varies) const {
    std::set<uint32_t> positions;
    for (size_t i = 0; i < passed_.numbers.size(); ++i)
      if (passed_.numbers[i].traced() != 0 && numbers().is_read(i) != varies)
        positions.insert(call_.first_number_ + static_cast<uint32_t>(i));
    return positions;
  }
  std::set<uint32_t> positions_of_sizes(bool varies) const {
    std::set<uint32_t> positions;
    const TracedSizes& sizes = *recorder_.sizes();
    for (size_t i = 0; i < sizes.symbols.size(); ++i)
      if (sizes.trace.is_fixed(i) != varies) positions.insert(position_of(sizes.symbols[i]));
    return positions;
  }
  /// The positions of strides that vary with sizes.
  std::set<uint32_t> positions_of_strides() const {
    std::set<uint32_t> positions;
    for (const auto& [tensor, traced] : replaced_) {
      const auto rank = static_cast<uint32_t>(traced->sizes().size());
      if (is_traced(traced->strides()))
        for (uint32_t dim = 0; dim < rank; ++dim) positions.insert(first_position_of(tensor) + rank + dim);
    }
    return positions;
  }

  /// Whether the function got the tensor itself.
  bool is_passed_itself(const TensorImpl* tensor) const { return traced_of(const_cast<TensorImpl*>(tensor)) == tensor; }

  /// What the caller gets: no traced sizes, and its own tensors.
  void restore(Result& results) const {
    const SizeTrace::Pause pause;
    for (Tensor& result : results) {
      if (!result.defined()) continue;
      const auto own = std::ranges::find(replaced_, result.impl(), [](const auto& pair) { return pair.second.get(); });
      if (own != replaced_.end())
        result = wrap(TensorRef(own->first));
      else if (is_traced(unwrap(result).geometry()))
        unwrap(result).trace_sizes(SizeReplacer()(unwrap(result).geometry()));
    }
  }

 private:
  NumberTrace& numbers() const { return *recorder_.numbers(); }

  /// The tensors in whose place the function may get other handles.
  std::vector<TensorImpl*> replaceable_tensors() const {
    std::vector<TensorImpl*> found;
    if (!may_replace_tensors()) return found;
    const std::vector<Tensor>& tensors = call_.arguments_.tensors();
    for (size_t i = 0; i < tensors.size(); ++i) {
      TensorImpl* const tensor = call_.arguments_.is_direct(i) ? tensors[i].impl() : nullptr;
      if (tensor && std::ranges::count(call_.tensors_, tensor) == 1) found.push_back(tensor);
    }
    return found;
  }

  void trace_sizes_of(TensorImpl& tensor, const VaryingNumbers& varying) {
    const std::vector<TracedSizes::Dimension> dims = varying.dims(tensor, first_position_of(&tensor));
    if (dims.empty()) return;
    const auto index = static_cast<size_t>(std::ranges::find(call_.tensors_, &tensor) - call_.tensors_.begin());
    replaced_.emplace_back(&tensor, recorder_.trace_sizes(tensor, index, dims));
    got_.push_back(alias_of(tensor));
    if (tensor.is_view()) replaced_.back().second->set_view_of(tensor.root(), tensor.view_kind());
  }

  /// What the function did to a handle in place of an argument, it did to the argument.
  void return_handles() const {
    const SizeTrace::Pause pause;
    for (size_t i = 0; i < replaced_.size(); ++i) {
      const auto& [tensor, traced] = replaced_[i];
      if (traced->autograd()) tensor->share_autograd(*traced);
      // Compared with what the function got: another thread may have given the argument itself another shape.
      const TensorImpl& got = *got_[i];
      const Geometry now = SizeReplacer()(traced->geometry()), before = got.geometry();
      if (now.sizes != before.sizes || now.strides != before.strides || now.offset != before.offset ||
          traced->cell() != got.cell() || traced->dtype() != got.dtype())
        tensor->rebind(traced->dtype(), now.sizes, now.strides, now.offset, traced->cell());
    }
  }

  /// Whether the function may get other handles on the memory of its arguments: these have no gradient state yet, and
  /// an earlier call had no effects.
  bool may_replace_tensors() const {
    if (call_.table_.plans().dynamic() == false) return false;
    if (std::ranges::any_of(call_.tensors_,
                            [](const TensorImpl* tensor) { return tensor->autograd() || requires_grad(*tensor); }))
      return false;
    bool is_known = false, has_effects = false;
    for (const Ref<TablePlan>& plan : call_.table_.plans().plans_now()) {
      if (plan->structure != call_.key_.structure()) continue;
      is_known = true;
      has_effects |= as_cpp(*plan).has_effects();
    }
    return is_known && !has_effects;
  }

  /// The positions in the key of the sizes and strides of these tensors, and of the numbers among the arguments.
  std::vector<uint32_t> positions_of(std::span<TensorImpl* const> tensors) const {
    std::vector<uint32_t> positions;
    for (const TensorImpl* tensor : tensors)
      for (uint32_t i = 0; i < 2 * tensor->sizes().size(); ++i) positions.push_back(first_position_of(tensor) + i);
    for (auto i = call_.first_number_; i < call_.key_.numbers().size(); ++i) positions.push_back(i);
    return positions;
  }

  uint32_t first_position_of(const TensorImpl* tensor) const {
    uint32_t position = 0;
    for (const TensorImpl* other : call_.tensors_) {
      if (other == tensor) break;
      position += 2 * static_cast<uint32_t>(other->sizes().size());
    }
    return position;
  }
  uint32_t position_of(const TracedSizes::Symbol& symbol) const {
    const auto dim = static_cast<uint32_t>(symbol.dim);
    return dim + (symbol.argument == TracedSizes::kGiven ? call_.first_size_
                                                         : first_position_of(call_.tensors_[symbol.argument]));
  }
  TensorImpl* traced_of(TensorImpl* tensor) const {
    const auto found = std::ranges::find(replaced_, tensor, [](const auto& pair) { return pair.first; });
    return found == replaced_.end() ? tensor : found->second.get();
  }

  const CppCall& call_;
  Recorder recorder_{{.collects_dependencies = true}};
  TracedArguments passed_;
  /// The tensors whose sizes are traced, and what the function gets in their place.
  std::vector<std::pair<TensorImpl*, TensorRef>> replaced_;
  /// What those were then.
  std::vector<TensorRef> got_;
};

CppCall::CppCall(CppTable& table, const CallArguments& arguments, const CompiledCalls::Function& function)
    : table_(table), arguments_(arguments), function_(function) {
  key_.add_value(arguments.values().size());
  key_.add_bytes(arguments.values().data(), arguments.values().size());
  for (const Tensor& argument : arguments.tensors()) {
    // Code can tell whether two arguments are one.
    const auto same = std::ranges::find(tensors_, argument.impl());
    key_.add_value(argument.defined() ? same - tensors_.begin() : -1);
    if (!argument.defined()) continue;
    key_.add_tensor(unwrap(argument));
    tensors_.push_back(&unwrap(argument));
  }
  first_number_ = static_cast<uint32_t>(key_.numbers().size());
  for (const Number& number : arguments.numbers()) key_.add_number(number.bits());
  first_size_ = static_cast<uint32_t>(key_.numbers().size());
  for (const SymInt size : arguments.sizes()) key_.add_number(size.unguarded());
}

bool CppCall::holds(const TablePlan& plan, Program::Handles& handles) const {
  return as_cpp(plan).may_serve(tensors()) && holds_otherwise(plan, handles);
}

bool CppCall::holds_otherwise(const TablePlan& plan, Program::Handles& handles) const {
  handles.sizes = arguments_.sizes();
  return !as_cpp(plan).changed() && as_cpp(plan).find_numbers(arguments_.numbers(), handles.numbers);
}

std::vector<Ref<TablePlan>> CppCall::ambiguous_plans() const {
  std::vector<Ref<TablePlan>> plans;
  for (const Ref<TablePlan>& plan : table_.plans().plans_now()) {
    Program::Handles handles;
    if (as_cpp(*plan).is_ambiguous() && plan->structure == key_.structure() && plan->pattern.matches(key_.numbers()) &&
        holds_otherwise(*plan, handles) && plan->program->fits(tensors(), handles))
      plans.push_back(plan);
  }
  return plans;
}

std::string CppCall::difference(const TablePlan& plan) const {
  if (const Dependency* changed = as_cpp(plan).changed()) return changed->name() + " has changed";
  const auto differs = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      if (!plan.pattern.varies(i) && key_.numbers()[i] != plan.pattern.numbers[i]) return true;
    return false;
  };
  size_t at = 0;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const size_t end = at + 2 * tensors_[i]->sizes().size();
    if (differs(at, end)) return fmt::format("the shape or the strides of argument {} vary", i);
    at = end;
  }
  if (differs(first_number_, first_size_)) return "the value of a Number varies";
  if (differs(first_size_, key_.numbers().size())) return "the value of a SymInt varies";
  if (!as_cpp(plan).may_serve(tensors()))
    return "an argument may be a captured tensor, and was another one in the recorded call";
  Program::Handles handles;
  if (!holds(plan, handles)) return "a guard on the value of a Number fails";
  const bool fits = plan.program->fits(tensors(), handles);
  if (plan.program->reads_values() && fits) return kReadsOtherValues;
  if (plan.program->family() && !fits) return "a guard on sizes or strides fails";
  return "tensors that it uses have different types or share memory differently";
}

void CppCall::missed(PlanTable& table, bool records) const {
  if (const Ref<TablePlan> stale = records ? table.newest(key_) : nullptr)
    table.log_event("recorded again: " + difference(*stale));
}

std::optional<CppCall::Result> CppCall::replay(const TablePlan& plan, const Program::Handles& handles,
                                               Program::Branch& branch) const {
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

std::optional<CppCall::Result> CppCall::verify(const TablePlan& plan, const Program::Handles& handles,
                                               Program::Branch& branch) const {
  ShadowRun shadow(*plan.program, handles);
  if (!shadow.run(branch)) return std::nullopt;
  Result results = run();
  if (shadow.is_invalidated()) return results;
  const CallResults& expected = shadow.results();
  if (results.size() != expected.size()) shadow.fail("the number of results", nullptr);
  for (size_t i = 0; i < results.size(); ++i)
    if (!results[i].defined() || first_difference(TensorRef(expected[i]), TensorRef(&unwrap(results[i]))))
      shadow.fail(fmt::format("result {}", i), nullptr);
  if (const auto difference = shadow.difference()) shadow.fail(plan.name_of(*difference), nullptr);
  return results;
}

CppCall::Result CppCall::record(PlanTable::Recording& recording) const {
  Traced traced(*this);
  const std::vector<Ref<TablePlan>> ambiguous = ambiguous_plans();
  Result results;
  try {
    results = traced.run();
  } catch (const std::exception& error) {
    recording.raised(error.what());
    throw;
  }
  has_memory_for([&] {
    recording.returned(!traced.recorder().context().trace().guards.empty(),
                       [&](std::string& obstacle) { return plan_of(traced, ambiguous, results, obstacle); });
  });
  traced.restore(results);
  return results;
}

std::string CppCall::obstacle_of(const Recorder& recorder, const Result& results) const {
  if (std::string obstacle = recorder.obstacle(); !obstacle.empty()) return obstacle;
  if (!key_.structure().starts_with(CallKey().structure()))
    return "leaves another gradient mode, default dtype or default device";
  if (!std::ranges::all_of(results, &Tensor::defined)) return "returns an undefined tensor";
  return "";
}

std::optional<CppCall::Varying> CppCall::find_varying(Traced& traced, const Result& results) const {
  TracingContext& context = traced.recorder().context();
  // What is left of the gradient graph holds the recorded numbers.
  const bool leaves_graph = !context.rebased().empty() || std::ranges::any_of(results, [](const Tensor& result) {
    return requires_grad(unwrap(result));
  });
  Varying found{.has_effects = leaves_graph || !may_run_twice(context)};
  if (traced.recorder().traces_sizes()) {
    std::set<uint32_t> sizes = traced.positions_of_sizes(true), fixed = traced.positions_of_sizes(false);
    if (found.has_effects) fixed.merge(sizes);
    table_.plans().add_fixed(key_.structure(), {.positions = std::move(fixed)});
    if (found.has_effects || sizes.empty()) return std::nullopt;
    found.positions = std::move(sizes);
    found.positions.merge(traced.positions_of_strides());
  }
  std::set<uint32_t> numbers = traced.positions_of_numbers(true), fixed = traced.positions_of_numbers(false);
  if (leaves_graph) fixed.merge(numbers);
  table_.plans().add_fixed(key_.structure(), {.positions = std::move(fixed)});
  const std::shared_ptr<NumberTrace>& trace = traced.recorder().numbers();
  std::vector<uint32_t> given = renumber_operands(
      context, [&](uint32_t number) { return !leaves_graph && trace->has(number) && !trace->depends_on(number); });
  if (numbers.empty()) return found;
  found.numbers = {.trace = trace, .given = std::move(given)};
  found.positions.merge(numbers);
  return found;
}

Ref<TablePlan> CppCall::plan_of(Traced& traced, std::span<const Ref<TablePlan>> ambiguous, const Result& results,
                                std::string& obstacle) const {
  Recorder& recorder = traced.recorder();
  TracingContext& context = recorder.context();
  // The next call is recorded instead.
  if (context.trace().sets_up) return nullptr;
  obstacle = obstacle_of(recorder, results);
  if (!obstacle.empty()) return nullptr;
  std::vector<const TensorImpl*> pointers;
  for (const Tensor& result : results) pointers.push_back(result.impl());
  const bool keeps_tensors = context.keeps_tensors(pointers);
  std::optional<Varying> varying = find_varying(traced, results);
  // The next call is recorded without traced sizes.
  if (!varying) return nullptr;
  const std::vector<TensorRef> tensors = traced.tensors();
  auto call = recorder.finish(tensors, refs(results), "function", obstacle);
  TracingContext::Dependencies dependencies = context.finish_dependencies(obstacle);
  if (!call || !obstacle.empty()) return nullptr;
  if (keeps_tensors) {
    // At first, the next call is recorded instead.
    if (!table_.add_keeping(key_)) obstacle = "keeps a tensor that it creates, such as in a captured variable";
    return nullptr;
  }
  auto plan = make_ref<CppPlan>(make_ref<Program>(std::move(*call)), key_,
                                std::vector<uint32_t>(varying->positions.begin(), varying->positions.end()),
                                std::move(dependencies), std::move(varying->numbers), varying->has_effects);
  guard_arguments(*plan, traced, tensors, ambiguous);
  for (size_t i = first_number_; i < key_.numbers().size(); ++i)
    if (plan->pattern.varies(i)) plan->varying.emplace_back(i < first_size_ ? "a Number" : "a SymInt");
  if (!varying->positions.empty() && *varying->positions.begin() < first_number_)
    plan->varying.emplace_back("shapes of arguments");
  return plan;
}

void CppCall::guard_arguments(CppPlan& plan, const Traced& traced, const std::vector<TensorRef>& recorded,
                              std::span<const Ref<TablePlan>> ambiguous) const {
  std::vector<TensorRef> may_be_captured = recorded;
  for (size_t i = 0; i < may_be_captured.size(); ++i) {
    // Which arguments are one tensor is part of the key.
    const bool is_repeated = std::find(tensors_.begin(), tensors_.begin() + i, tensors_[i]) != tensors_.begin() + i;
    if (is_repeated || !traced.is_passed_itself(tensors_[i])) may_be_captured[i] = nullptr;
  }
  plan.guard_arguments(tensors(), std::move(may_be_captured));
  const RecordedCall& call = plan.program->recorded();
  for (const Ref<TablePlan>& other : ambiguous) {
    const RecordedCall& other_call = other->program->recorded();
    if (other_call.branch != call.branch) continue;
    as_cpp(*other).rule_out(recorded, call.captured);
    plan.rule_out(as_cpp(*other).ambiguous_arguments(), other_call.captured);
  }
}

}  // namespace lucid::jit
