#include "schedule/schedule.h"

#include "base/error.h"
#include "schedule/group.h"
#include "schedule/kernels.h"

namespace lucid {
namespace {

void schedule_contraction_node(Schedule& schedule, const IRGraph& graph, const Group& group) {
  const IRNode& node = graph.nodes[group.root()];
  schedule_contraction(schedule, memory_of(schedule, graph, node.inputs[0].id),
                       memory_of(schedule, graph, node.inputs[1].id), memory_of(schedule, graph, node.outputs[0]));
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
  constexpr size_t kMostNames = 4;
  std::string name;
  const size_t first = group.nodes.size() > kMostNames ? group.nodes.size() - kMostNames : 0;
  for (size_t i = first; i < group.nodes.size(); ++i) {
    if (!name.empty()) name += '_';
    name += graph.nodes[group.nodes[i]].op->name();
  }
  return name;
}

Schedule schedule_graph(const IRGraph& graph, std::map<ValueId, Layout> layouts) {
  Schedule schedule;
  schedule.layouts = std::move(layouts);
  for (const Group& group : group_nodes(graph)) {
    const IRNode& root = graph.nodes[group.root()];
    LUCID_CHECK(root.op->view || root.op->is_lowered(), "{} is no primitive", root.op->name());
    std::visit(KindScheduler{schedule, graph, group}, root.op->lowering);
  }
  return schedule;
}

}  // namespace lucid
