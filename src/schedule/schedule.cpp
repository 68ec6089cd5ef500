#include "schedule/schedule.h"

#include "base/cancellation.h"
#include "base/error.h"
#include "schedule/group.h"
#include "schedule/kernels.h"
#include "schedule/repeated_groups.h"

namespace lucid {
namespace {

void schedule_contraction_node(Schedule& schedule, const IRGraph& graph, const Group& group) {
  const IRNode& node = graph.nodes[group.root()];
  schedule_contraction(schedule, memory_of(schedule, graph, node.inputs[0].id),
                       memory_of(schedule, graph, node.inputs[1].id), memory_of(schedule, graph, node.outputs[0]));
}

void schedule_host(Schedule& schedule, const IRGraph& graph, size_t index) {
  const IRNode& node = graph.nodes[index];
  KernelStep step;
  step.host = index;
  const auto add = [&](ValueId id) {
    const MemoryOperand memory = memory_of(schedule, graph, id);
    LUCID_CHECK(is_contiguous(memory.geometry.sizes, memory.geometry.strides),
                "{}: operands and results of a host function must be contiguous", node.op->name());
    step.buffers.push_back({memory.kind, memory.id, memory.geometry.offset * size_of(memory.dtype), {}});
  };
  for (const IROperand& input : node.inputs)
    if (input.id >= 0) add(input.id);
  for (ValueId id : node.outputs) add(id);
  schedule.steps.push_back(std::move(step));
}

struct KindScheduler {
  Schedule& schedule;
  const IRGraph& graph;
  const Group& group;

  void operator()(const std::monostate&) const {}
  void operator()(const PointwiseLowering&) const { schedule_elementwise(schedule, graph, group); }
  void operator()(const IndexedLowering&) const { schedule_elementwise(schedule, graph, group); }
  void operator()(const ReduceLowering&) const { schedule_reduce(schedule, graph, group); }
  void operator()(const ScanLowering&) const { schedule_scan(schedule, graph, group); }
  void operator()(const ScatterLowering&) const { schedule_scatter(schedule, graph, group); }
  void operator()(const ConcatLowering&) const { schedule_concat(schedule, graph, group); }
  void operator()(const RegionLowering&) const { schedule_region(schedule, graph, group); }
  void operator()(const ConvolutionLowering&) const { schedule_convolution(schedule, graph, group); }
  void operator()(const ContractionLowering&) const { schedule_contraction_node(schedule, graph, group); }
  void operator()(const AttentionLowering&) const { schedule_attention(schedule, graph, group); }
};

}  // namespace

MemoryOperand memory_of(const Schedule& schedule, const IRGraph& graph, ValueId id) {
  const Layout& layout = schedule.layouts.at(id);
  return {layout.storage, graph.type(id).dtype, layout.geometry, BufferUse::Kind::kValue};
}

std::string kernel_name(const IRGraph& graph, const Group& group) {
  constexpr size_t kMaxNames = 4;
  std::string name;
  const size_t first = group.nodes.size() > kMaxNames ? group.nodes.size() - kMaxNames : 0;
  for (size_t i = first; i < group.nodes.size(); ++i) {
    if (!name.empty()) name += '_';
    name += graph.nodes[group.nodes[i]].op->name();
  }
  return name;
}

Schedule schedule_graph(const IRGraph& graph, std::map<ValueId, Layout> layouts, const TargetTraits& target) {
  Schedule schedule;
  schedule.target = target;
  schedule.layouts = std::move(layouts);
  RepeatedGroups repeated(graph, schedule);
  for (const Group& group : group_nodes(graph)) {
    check_cancelled();
    const IRNode& root = graph.nodes[group.root()];
    if (root.op->host) {
      schedule_host(schedule, graph, group.root());
      continue;
    }
    LUCID_CHECK(root.op->view || root.op->is_lowered(), "{} is not a primitive", root.op->name());
    const auto write = [&] { std::visit(KindScheduler{schedule, graph, group}, root.op->lowering); };
    // What a scatter writes also depends on other nodes.
    if (std::holds_alternative<ScatterLowering>(root.op->lowering))
      write();
    else
      repeated.schedule(group, write);
  }
  return schedule;
}

}  // namespace lucid
