#include <algorithm>

#include "ir/node_call.h"
#include "schedule/element_tree.h"
#include "schedule/kernels.h"
#include "schedule/row_loop.h"

namespace lucid {

using loop::kLanes;

namespace {

loop::Value combined(Combine combine, loop::Value so_far, loop::Value next) {
  return combine == Combine::kProd ? so_far * next : so_far + next;
}

}  // namespace

void schedule_scan(Schedule& schedule, const IRGraph& graph, const Group& group) {
  const IRNode& node = graph.nodes[group.root()];
  const Combine combine = std::get<ScanLowering>(node.op->lowering).combine;
  const MemoryOperand result = memory_of(schedule, graph, node.outputs[0]);
  const int64_t elements = numel(result.geometry.sizes);
  if (elements == 0) return;
  const auto rank = result.geometry.sizes.rank();
  const NodeCall call(graph, node);
  const int64_t axis = call.call().axis("dim");
  Dims order;
  for (int64_t d = 0; d < rank; ++d)
    if (d != axis) order.push_back(d);
  if (rank) order.push_back(axis);
  ElementTree tree(graph, schedule.layouts, group, {&node.inputs[0].id, 1}, result.geometry.sizes, {&result, 1}, order,
                   static_cast<size_t>(std::max<int64_t>(rank - 1, 0)));
  const Dtype dtype = compute_dtype(result.dtype);
  const size_t outer = tree.outer_count();
  const bool has_chain = tree.sizes().size() > outer;
  const int64_t length = has_chain ? tree.sizes().back() : SymInt(1);

  KernelWriter writer(kernel_name(graph, group));
  tree.declare(writer);
  loop::Builder& b = writer.builder();
  // Chains that are adjacent in memory advance together, one in each lane.
  const bool lanes = outer > 0 && tree.reads_adjacent(outer - 1) && tree.extra_stride(0, outer - 1) == Stride::kOne &&
                     tree.sizes()[outer - 1] >= kLanes / 2;
  const int64_t width = lanes ? tree.sizes()[outer - 1] : SymInt(1);
  const int64_t groups = (width + kLanes - 1) / kLanes;
  std::vector<loop::Value> sizes;
  for (size_t d = 0; d < outer - (lanes ? 1 : 0); ++d) sizes.push_back(writer.param(tree.sizes()[d]));
  const loop::Value group_count = writer.param(groups);
  const loop::Value width_value = writer.param(width);
  const loop::Value length_value = writer.param(length);
  b.for_loop(b.begin(), b.end(), 1, [&](loop::Value item) {
    ElementTree::Point point{split_index(b, lanes ? item / group_count : item, sizes), -1, {}};
    if (lanes) {
      const loop::Value start = b.binary(loop::Code::kRem, item, group_count) * b.index(kLanes);
      point.index.push_back(start);
      point.lane_axis = static_cast<int64_t>(outer - 1);
      point.mask = b.lanes_below(width_value - start);
    }
    if (has_chain) point.index.push_back(b.index(0));
    loop::Value start = b.constant(dtype, combine == Combine::kProd ? 1 : 0);
    if (lanes) start = b.splat(start);
    const std::vector<loop::Value> initial = {start};
    b.for_loop(b.index(0), length_value, 1, initial, [&](loop::Value i, std::span<const loop::Value> current) {
      if (has_chain) point.index.back() = i;
      const loop::Value next = combined(combine, current[0], b.convert(tree.evaluate(point), dtype));
      tree.store(0, point, next);
      return std::vector<loop::Value>{next};
    });
  });
  const int64_t chains = elements / length;
  const int64_t items = lanes ? chains / width * groups : chains;
  schedule.steps.push_back(writer.finish(items, 5 + 2.0 * static_cast<double>(length)));
}

}  // namespace lucid
