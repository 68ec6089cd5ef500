#include <algorithm>
#include <bit>

#include "base/dim_math.h"
#include "ir/node_call.h"
#include "ops/rules.h"
#include "schedule/element_tree.h"
#include "schedule/kernels.h"
#include "schedule/row_loop.h"

namespace lucid {

using loop::kLanes;

namespace {

// The dimensions by descending stride. Iterating in this order makes stores adjacent, whatever the result's strides.
Dims memory_order(const Geometry& geometry) {
  Dims order = natural_order(geometry.sizes.rank());
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    const SymInt stride_a = geometry.strides[static_cast<size_t>(a)];
    const SymInt stride_b = geometry.strides[static_cast<size_t>(b)];
    return stride_a != stride_b ? stride_a > stride_b : a < b;
  });
  return order;
}

// Rows with much arithmetic leave time to prefetch the next ones, if the steps before and after this one work on a few
// rows at a time.
constexpr double kMinPrefetchCost = 20;
constexpr int64_t kPrefetchBytes = 16 << 10;

// All points are computed before the first is stored, so that code generation may interleave them. A result may share
// an operand's memory element by element: no store overwrites an element that another point still reads.
void compute_points(ElementTree& tree, std::span<const ElementTree::Point> points) {
  std::vector<std::vector<loop::Value>> values;
  for (const ElementTree::Point& at : points) values.push_back(tree.evaluate_all(at));
  for (size_t k = 0; k < points.size(); ++k)
    for (size_t i = 0; i < values[k].size(); ++i) tree.store(i, points[k], values[k][i]);
}

// One dimension: an item is one vector of elements.
KernelStep write_flat(ElementTree& tree, KernelWriter& writer) {
  loop::Builder& b = writer.builder();
  const SymInt elements = tree.sizes().empty() ? SymInt(1) : tree.sizes()[0];
  const bool point = tree.sizes().empty();
  const loop::Value size = writer.param(elements);
  const loop::Value lo = b.begin() * b.index(kLanes);
  const loop::Value hi = b.binary(loop::Code::kMin, b.end() * b.index(kLanes), size);
  if (point) {
    compute_points(tree, {{ElementTree::Point{}}});
  } else {
    row_loop(b, lo, hi, unroll_for(tree.cost()), [&](std::span<const loop::Value> starts, loop::Value mask) {
      std::vector<ElementTree::Point> points;
      for (loop::Value i : starts) points.push_back({{i}, 0, mask});
      compute_points(tree, points);
    });
  }
  return writer.finish(ceil_div(elements, kLanes), 1 + 0.4 * tree.cost());
}

// The last dimension with more than one element.
size_t row_dimension(const Dims& sizes) {
  size_t last = sizes.size() - 1;
  while (last > 0 && sizes[last] == 1) --last;
  return last;
}

// Several dimensions: an item is one row.
KernelStep write_rows(ElementTree& tree, KernelWriter& writer) {
  loop::Builder& b = writer.builder();
  const Dims& sizes = tree.sizes();
  const size_t last = row_dimension(sizes);
  SymInt rows = 1;
  std::vector<loop::Value> size_values;
  for (size_t d = 0; d < last; ++d) {
    rows *= sizes[d];
    size_values.push_back(writer.param(sizes[d]));
  }
  const loop::Value length = writer.param(sizes[last]);
  const bool prefetches = sizes.size() == 2 && tree.cost() >= kMinPrefetchCost;
  const int64_t row_bytes = sizes[last].unguarded() * 4;
  const auto rows_ahead =
      static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(1, kPrefetchBytes / row_bytes))));
  for_each_row(b, b.begin(), b.end(), size_values, [&](loop::Value, std::span<const loop::Value> index) {
    ElementTree::Point at{{index.begin(), index.end()}, static_cast<int64_t>(last), {}};
    at.index.resize(sizes.size(), b.index(0));
    tree.hoist(at);
    row_loop(b, b.index(0), length, unroll_for(tree.cost()),
             [&](std::span<const loop::Value> starts, loop::Value mask) {
               at.mask = mask;
               std::vector<ElementTree::Point> points(starts.size(), at);
               for (size_t k = 0; k < starts.size(); ++k) {
                 points[k].index[last] = starts[k];
                 if (prefetches) tree.prefetch(points[k], rows_ahead);
               }
               compute_points(tree, points);
             });
  });
  tree.declare_indexed_tiles();
  const int64_t vectors = ceil_div(sizes[last].unguarded(), kLanes);
  return writer.finish(rows, 5 + static_cast<double>(vectors) * (1 + 0.4 * tree.cost()),
                       last > 0 ? rows / sizes[0] : SymInt(1));
}

}  // namespace

void write_elementwise(Schedule& schedule, ElementTree& tree, const std::string& name) {
  KernelWriter writer(name);
  const Dims& sizes = tree.sizes();
  if (sizes.size() <= 1) {
    tree.declare(writer, sizes.empty() ? ElementTree::Tiling::kUnknown : ElementTree::Tiling::kVectors);
    tree.declare_elements();
    schedule.steps.push_back(write_flat(tree, writer));
  } else {
    tree.declare(writer,
                 row_dimension(sizes) > 0 ? ElementTree::Tiling::kFirstDimension : ElementTree::Tiling::kUnknown);
    tree.declare_elements();
    schedule.steps.push_back(write_rows(tree, writer));
  }
}

void schedule_elementwise(Schedule& schedule, const IRGraph& graph, const Group& group) {
  std::vector<ValueId> results;
  std::vector<MemoryOperand> memory;
  for (size_t root : group.roots) {
    results.push_back(graph.nodes[root].outputs[0]);
    memory.push_back(memory_of(schedule, graph, results.back()));
  }
  const Geometry& geometry = memory.back().geometry;
  if (numel(geometry.sizes) == 0) return;
  ElementTree tree(graph, schedule.layouts, group, results, geometry.sizes, memory, memory_order(geometry));
  write_elementwise(schedule, tree, kernel_name(graph, group));
}

void copy_operand(Schedule& schedule, const IRGraph& graph, const Group& group, ValueId operand,
                  const MemoryOperand& target, const std::string& name) {
  if (numel(target.geometry.sizes) == 0) return;
  ElementTree tree(graph, schedule.layouts, group, {&operand, 1}, target.geometry.sizes, {&target, 1},
                   natural_order(target.geometry.sizes.rank()));
  write_elementwise(schedule, tree, name);
}

void schedule_concat(Schedule& schedule, const IRGraph& graph, const Group& group) {
  const IRNode& node = graph.nodes[group.root()];
  const MemoryOperand result = memory_of(schedule, graph, node.outputs[0]);
  const NodeCall call(graph, node);
  const auto axis = static_cast<size_t>(call.call().axis("dim"));
  SymInt start = 0;
  for (const IROperand& input : node.inputs) {
    MemoryOperand part = result;
    part.geometry.sizes = graph.type(input.id).shape;
    part.geometry.offset += start * result.geometry.strides[axis];
    start += part.geometry.sizes[axis];
    copy_operand(schedule, graph, group, input.id, part, node.op->name());
  }
}

void schedule_region(Schedule& schedule, const IRGraph& graph, const Group& group) {
  const IRNode& node = graph.nodes[group.root()];
  const MemoryOperand result = memory_of(schedule, graph, node.outputs[0]);
  const NodeCall call(graph, node);
  copy_operand(schedule, graph, group, node.inputs[0].id, result, "copy");
  MemoryOperand part = result;
  part.geometry = {graph.type(node.inputs[1].id).shape, call.call().ints("stride"),
                   result.geometry.offset + call.call().integer("offset")};
  copy_operand(schedule, graph, group, node.inputs[1].id, part, node.op->name());
}

}  // namespace lucid
