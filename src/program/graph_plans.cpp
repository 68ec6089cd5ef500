#include "program/graph_plans.h"

#include "base/checked_int.h"
#include "base/error.h"
#include "compiler/compile_plan.h"
#include "ir/evaluate.h"
#include "program/elements.h"

namespace lucid::program {
namespace {

Dims to_dims(std::span<const int64_t> numbers) { return {numbers.begin(), numbers.end()}; }

/// The graph of a call with plain sizes.
IRGraph graph_of(const Call& call, std::span<const int64_t> sizes) {
  IRGraph graph = parse_graph(call.graph);
  if (const size_t symbols = graph.sizes ? graph.sizes->sizes().size() : 0; symbols != sizes.size())
    fail_damaged("a graph has other symbols than its call");
  if (graph.sizes) {
    const std::optional<SizeTrace::Evaluation> evaluation = SizeTrace::Evaluation::of(*graph.sizes, sizes);
    if (!evaluation) throw ValueError("a size is too large");
    graph = SizeReplacer(*evaluation)(graph);
    graph.sizes.reset();
  }
  try {
    verify(graph);
  } catch (const InternalError& error) {
    fail_damaged(error.what());
  }
  if (!graph.param_ids.empty() || !graph.state_ids.empty() || !graph.constant_ids.empty() || !graph.updates.empty())
    fail_damaged("a graph has other inputs than its call");
  for (const auto& [id, value] : graph.values)
    if (value.type.device.is_gpu()) fail_damaged("a graph uses a gpu");
  return graph;
}

/// A graph with plain sizes, and the strides of its inputs.
struct SizedGraph {
  SizedGraph(const Call& call, std::span<const int64_t> sizes) : graph(graph_of(call, sizes)) {
    if (graph.input_ids.size() != call.operands.size() || graph.output_ids.size() != call.output_bytes.size())
      fail_damaged("a graph has other inputs or outputs than its call");
    for (size_t i = 0; i < call.operands.size(); ++i) {
      const Call::Operand& operand = call.operands[i];
      // The caller has checked that it is within its memory.
      const Elements elements = elements_of(operand.view, sizes, size_of(operand.dtype), INT64_MAX);
      const TensorType& type = graph.type(graph.input_ids[i]);
      if (type.dtype != operand.dtype || type.shape != to_dims(elements.shape) || elements.offset != 0)
        fail_damaged("a graph has inputs of other types than its call");
      inputs[graph.input_ids[i]] = {type.shape, to_dims(elements.strides), 0};
    }
    for (size_t i = 0; i < graph.output_ids.size(); ++i) {
      const TensorType& type = graph.type(graph.output_ids[i]);
      if (checked_bytes(type.shape, size_of(type.dtype)) != value_of(call.output_bytes[i], sizes))
        fail_damaged("a graph has outputs of other sizes than its call");
    }
  }

  IRGraph graph;
  std::map<ValueId, Geometry> inputs;
};

class GraphPlans : public PlanMaker {
 public:
  Ref<Plan> make(const Call& call, std::span<const int64_t> sizes) override {
    const SizedGraph sized(call, sizes);
    std::vector<PlanUpdate> updates;
    for (const auto& [operand, output] : call.updates) updates.push_back({operand, output});
    std::vector<ExpectedOutput> expected;
    for (const Call::Read& read : call.reads) expected.push_back({read.output, read.expected});
    return compile_plan(sized.graph, sized.inputs,
                        {.updates = updates, .order = OutputOrder::kRowMajor, .expected = expected});
  }
};

}  // namespace

std::unique_ptr<PlanMaker> make_graph_plans() { return std::make_unique<GraphPlans>(); }

void check_graph(const Call& call, std::span<const int64_t> sizes) { const SizedGraph checked(call, sizes); }

}  // namespace lucid::program
