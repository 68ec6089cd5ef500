#include "jit/call_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/cancellation.h"
#include "base/log.h"
#include "base/options.h"
#include "base/out_of_memory.h"
#include "compiler/compile_plan.h"
#include "ir/evaluate.h"
#include "passes/may_raise.h"
#include "passes/pipeline.h"

namespace lucid::jit {
namespace {

/// Pairs each input that is the whole memory of a written cell with the output that is its new contents.
std::vector<PlanUpdate> updates_of(const CallGraph& call, std::span<const HandleRecord> handles) {
  std::vector<PlanUpdate> updates;
  const size_t own = call.outputs.size() - call.written.size();
  for (size_t i = 0; i < call.written.size(); ++i) {
    const auto is_on_cell = [&](const GraphInput& input) {
      return input.has_handle() && handles[input.handle].cell == handles[call.written[i]].cell;
    };
    if (std::count_if(call.inputs.begin(), call.inputs.end(), is_on_cell) != 1) continue;
    const auto input = std::find_if(call.inputs.begin(), call.inputs.end(), is_on_cell);
    if (input->kind == GraphInput::Kind::kMemory)
      updates.push_back({static_cast<size_t>(input - call.inputs.begin()), own + i});
  }
  return updates;
}

/// The arguments of compile_plan().
struct PlanRequest {
  IRGraph graph;
  std::map<ValueId, Geometry> geometries;
  std::vector<PlanUpdate> updates;
  std::vector<ExpectedOutput> expected;
  std::vector<size_t> fresh;

  PlanOptions options() const {
    // An output's memory becomes the contents of a cell, so its elements must be in row-major order.
    return {.updates = updates, .order = OutputOrder::kRowMajor, .fresh = fresh, .expected = expected};
  }
};

/// Every leaf of the graph becomes an input of the plan.
PlanRequest request_of(const CallGraph& call) {
  PlanRequest request{.graph = call.graph};
  IRGraph& graph = request.graph;
  graph.param_ids.clear();
  graph.state_ids.clear();
  graph.constant_ids.clear();
  graph.updates.clear();
  graph.input_ids.clear();
  for (const GraphInput& input : call.inputs) {
    graph.input_ids.push_back(input.id);
    request.geometries[input.id] = input.geometry;
  }
  return request;
}

PlanRequest request_of(const CallGraph& call, const CallRecord& record) {
  PlanRequest request = request_of(call);
  const std::vector<HandleRecord>& handles = record.handles;
  request.updates = updates_of(call, handles);
  // They are the last of the wanted cells, which are the first outputs.
  const size_t first = record.wanted.size() - record.expected.size();
  for (size_t i = 0; i < record.expected.size(); ++i) request.expected.push_back({first + i, record.expected[i]});
  for (size_t i = 0; i < call.inputs.size(); ++i)
    if (call.inputs[i].kind == GraphInput::Kind::kHandle && handles[call.inputs[i].handle].is_fresh)
      request.fresh.push_back(i);
  return request;
}

using Constants = std::vector<std::pair<ValueId, Ref<Storage>>>;

/// Runs the passes, which may remove constants and add new ones.
PassReport run_graph_passes(IRGraph& graph, Constants& constants, const PassList* passes) {
  ConstantPool pool;
  for (const auto& [id, contents] : constants) {
    ConstantData& data = pool[id];
    data.type = graph.type(id);
    data.bytes.resize(contents->bytes());
    read_bytes(contents->device(), data.bytes.data(), contents->data(), data.bytes.size());
  }
  PassReport report = passes ? run_passes(graph, pool, *passes) : run_passes(graph, pool);
  constants.clear();
  for (const ValueId id : graph.constant_ids) {
    const ConstantData& constant = pool.at(id);
    const auto& [_, contents] =
        constants.emplace_back(id, Storage::allocate(constant.bytes.size(), constant.type.device));
    write_bytes(constant.type.device, contents->data(), constant.bytes.data(), constant.bytes.size());
  }
  return report;
}

PassReport run_graph_passes(CallGraph& call, const PassList* passes) {
  Constants constants;
  std::erase_if(call.inputs, [&](GraphInput& input) {
    const bool is_constant = input.kind == GraphInput::Kind::kConstant;
    if (is_constant) constants.emplace_back(input.id, std::move(input.constant));
    return is_constant;
  });
  PassReport report = run_graph_passes(call.graph, constants, passes);
  for (auto& [id, contents] : constants) {
    const Dims& shape = call.graph.type(id).shape;
    call.inputs.push_back({.kind = GraphInput::Kind::kConstant,
                           .id = id,
                           .constant = std::move(contents),
                           .geometry = {shape, contiguous_strides(shape), 0}});
  }
  return report;
}

void replace_sizes(std::vector<GraphInput>& inputs, std::vector<OutputCell>& outputs, const SizeReplacer& replace) {
  for (GraphInput& input : inputs) input.geometry = replace(input.geometry);
  for (OutputCell& output : outputs) output.bytes = replace(output.bytes);
}

std::shared_ptr<const CallTemplate> template_of(const CallGraph& call, const CallRecord& record, PassReport& report) {
  auto result = std::make_shared<CallTemplate>(call, record);
  result->record.events.reset();
  result->record.cells.clear();
  const PlanRequest request = request_of(call, record);
  const SizeTrace& trace = record.sizes->trace;
  result->plan = std::make_shared<const PlanTemplate>(request.graph, request.geometries, request.options(), trace,
                                                      trace.sizes(), &report);
  return result;
}

/// Why a plan cannot have the effects of the graph: it would end after one, and the call would run again. Empty if it
/// can.
std::string obstacle_of_effects(const IRGraph& graph, const CallRecord& record) {
  const auto effect =
      std::ranges::find(graph.nodes, Effects::kOrdered, [](const IRNode& node) { return node.op->effects; });
  if (effect == graph.nodes.end()) return "";
  const auto reason = [&](const IRNode& node, std::string_view what) {
    return fmt::format("{}{}{} {}", node.source, node.source.empty() ? "" : ": ", node.op->name(), what);
  };
  if (!record.expected.empty()) return reason(*effect, "has effects, and the call also reads values of tensors");
  const IRGraph primitives = expand_to_primitives(graph);
  const IRNode* late = may_raise_after_effect(primitives);
  return late ? reason(*effect, fmt::format("has effects, and {} may fail after it", late->op->name())) : "";
}

Ref<Plan> plan_of(const CallGraph& call, const CallRecord& record, PassReport& report) {
  const PlanRequest request = request_of(call, record);
  return lucid::compile_plan(request.graph, request.geometries, request.options(), &report);
}

}  // namespace

CallGraph with_sizes(const CallGraph& call, const SizeReplacer& replace) {
  CallGraph result = call;
  result.graph = replace(call.graph);
  replace_sizes(result.inputs, result.outputs, replace);
  return result;
}

Ref<Plan> compile_alone(CallGraph& call, const PassList* passes) {
  run_graph_passes(call, passes);
  const PlanRequest request = request_of(call);
  return lucid::compile_plan(request.graph, request.geometries, request.options());
}

std::shared_ptr<const PlanTemplate> compile_template(const CallTemplate& source, std::span<const int64_t> sizes,
                                                     const SizeTrace::Evaluation& evaluation) {
  const CallGraph call = with_sizes(source.call, SizeReplacer(evaluation, SizeReplacer::Kind::kTraced));
  const PlanRequest request = request_of(call, source.record);
  return std::make_shared<const PlanTemplate>(request.graph, request.geometries, request.options(),
                                              source.record.sizes->trace, sizes);
}

Ref<Plan> compile_plan(const CallTemplate& source, const SizeTrace::Evaluation& sizes) {
  PassReport report;
  return plan_of(with_sizes(source.call, SizeReplacer(sizes)), source.record, report);
}

CallPlan with_plan(const CallTemplate& source, const SizeTrace::Evaluation& sizes, Ref<Plan> plan) {
  CallPlan result{.plan = std::move(plan),
                  .inputs = source.call.inputs,
                  .outputs = source.call.outputs,
                  .written = source.call.written};
  replace_sizes(result.inputs, result.outputs, SizeReplacer(sizes));
  return result;
}

namespace {

CallGraph graph_of(const CallPlan& call) {
  if (call.source) return call.source->call;
  return {.graph = call.graph, .inputs = call.inputs, .outputs = call.outputs, .written = call.written};
}

}  // namespace

IRGraph plan_graph(const CallPlan& call) { return request_of(graph_of(call)).graph; }

PlanSource form_of(const CallPlan& call, std::span<const int64_t> sizes, CpuLevel level) {
  const SizeTrace plain;
  const SizeTrace& trace = call.source ? call.source->record.sizes->trace : plain;
  CallGraph graph = graph_of(call);
  if (call.source) {
    const std::optional<SizeTrace::Evaluation> evaluation = SizeTrace::Evaluation::of(trace, sizes);
    if (!evaluation) throw ValueError("export: a number is too large for some of the sizes; export smaller ranges");
    graph = with_sizes(graph, SizeReplacer(*evaluation, SizeReplacer::Kind::kTraced));
  }
  const PlanRequest request = request_of(graph);
  return compile_form(request.graph, request.geometries,
                      {.updates = call.updates,
                       .order = OutputOrder::kRowMajor,
                       .fresh = call.fresh,
                       .expected = call.expected,
                       .level = level},
                      trace, sizes);
}

std::string reason_of(const std::exception& error) {
  if (is_out_of_memory(error)) return std::string(kOutOfMemory);
  return fmt::format("cannot be compiled, internal error: {}", error.what());
}

void run_passes(FunctionGraph& function, const PassList* passes) {
  const SizeTrace::Scope scope(function.graph.sizes ? const_cast<SizeTrace*>(function.graph.sizes.get()) : nullptr);
  run_graph_passes(function.graph, function.constants, passes);
}

CallPlan compile_call(const CallRecord& record, const PassList* passes) {
  const auto start = std::chrono::steady_clock::now();
  CallPlan result;
  CallGraph call;
  {
    const SizeTrace::Scope scope(record.sizes ? &record.sizes->trace : nullptr);
    call = build_graph(record);
    result.obstacle = std::move(call.obstacle);
    if (!result.obstacle.empty()) return result;
    check_cancelled();
    if (record.keeps_graph) result.recorded = std::make_shared<const CallGraph>(call);
    result.report = run_graph_passes(call, passes);
    result.obstacle = obstacle_of_effects(call.graph, record);
    if (!result.obstacle.empty()) return result;
    check_cancelled();
  }
  if (record.sizes) {
    result.source = template_of(call, record, result.report);
    result.plan = result.source->plan->plan_for(record.sizes->trace.sizes());
    call = with_sizes(call, SizeReplacer());
  }
  if (!result.plan) result.plan = plan_of(call, record, result.report);
  result.graph = std::move(call.graph);
  result.inputs = std::move(call.inputs);
  result.outputs = std::move(call.outputs);
  result.written = std::move(call.written);
  PlanRequest request =
      request_of({.inputs = result.inputs, .outputs = result.outputs, .written = result.written}, record);
  result.updates = std::move(request.updates);
  result.expected = std::move(request.expected);
  result.fresh = std::move(request.fresh);
  if (options().logs(kLogTopic)) {
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    log(kLogTopic, fmt::format("{}: compiled {} nodes to {} kernels in {:.1f} ms", record.name,
                               result.graph.nodes.size(), result.plan->kernel_count(), took.count()));
    if (record.sizes)
      for (const std::string& condition : record.sizes->trace.conditions())
        log(kLogTopic, fmt::format("{}: holds for sizes with {}", record.name, condition));
  }
  return result;
}

}  // namespace lucid::jit
