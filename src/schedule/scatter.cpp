#include <algorithm>
#include <map>

#include "schedule/element_tree.h"
#include "schedule/kernels.h"
#include "schedule/node_call.h"
#include "schedule/row_loop.h"

namespace lucid {
namespace {

/// One operand in memory with its run-time strides.
struct ScatterOperand {
  MemoryOperand memory;
  loop::BufferRef buffer;
  std::vector<loop::Value> strides;

  loop::Value address(loop::Builder& b, std::span<const loop::Value> index) const {
    loop::Value sum = b.index(0);
    for (size_t d = 0; d < strides.size(); ++d) sum = sum + index[d] * strides[d];
    return sum;
  }
};

/// The source element that the scatter is at; everything is scalar.
class SourceContext : public ElementContext {
 public:
  SourceContext(KernelWriter& writer, const IRGraph& graph, const IRNode& node,
                const std::vector<ScatterOperand>& operands, std::vector<loop::Value> index)
      : writer_(writer), graph_(graph), node_(node), operands_(operands), index_(std::move(index)) {}

  loop::Builder& builder() override { return writer_.builder(); }
  loop::Value index(int64_t axis) override { return index_[static_cast<size_t>(axis)]; }
  loop::Value number(int64_t value) override { return writer_.number(value); }
  loop::Value input_size(int input, int64_t axis) override {
    const ValueId id = node_.inputs[static_cast<size_t>(input)].id;
    return writer_.number(graph_.type(id).shape[static_cast<size_t>(axis)]);
  }
  loop::Value load(int input, std::span<const loop::Value> index, loop::Value valid) override {
    loop::Builder& b = builder();
    const ScatterOperand& operand = operands_[static_cast<size_t>(input)];
    const loop::Value address = operand.address(b, index);
    loop::Value value;
    if (!valid) {
      value = b.load(operand.buffer, address);
    } else {
      const loop::Value mask = b.splat(valid) & b.lanes_below(b.index(1));
      value = b.extract(b.gather(operand.buffer, b.splat(address), mask), 0);
    }
    return b.convert(value, compute_dtype(operand.memory.dtype));
  }
  void fail_if(loop::Value condition, int64_t code) override {
    loop::Builder& b = builder();
    b.if_then(condition, [&] { b.store(writer_.error(), b.index(0), b.index(code)); });
    failed_ = failed_ ? failed_ | condition : condition;
  }
  /// Holds when some check failed, in which case the target may be out of range; empty when nothing was checked.
  loop::Value failed() const { return failed_; }

 private:
  KernelWriter& writer_;
  const IRGraph& graph_;
  const IRNode& node_;
  const std::vector<ScatterOperand>& operands_;
  std::vector<loop::Value> index_;
  loop::Value failed_;
};

loop::Value combined(ScatterCombine combine, loop::Builder& b, loop::Value held, loop::Value next) {
  if (is_bool(held.dtype()) && combine != ScatterCombine::kReplace) {
    // Bools are 0 and 1: the sum and the maximum are "or", the product and the minimum "and".
    return combine == ScatterCombine::kAdd || combine == ScatterCombine::kMax ? held | next : held & next;
  }
  switch (combine) {
    case ScatterCombine::kReplace:
      return next;
    case ScatterCombine::kAdd:
      return held + next;
    case ScatterCombine::kMul:
      return held * next;
    case ScatterCombine::kMax:
      return b.select((next > held) | (next != next), next, held);
    case ScatterCombine::kMin:
      return b.select((next < held) | (next != next), next, held);
  }
  return next;
}

// out = in0, element by element.
void copy_base(Schedule& schedule, const IRGraph& graph, const Group& group, const MemoryOperand& result) {
  const IRNode& node = graph.nodes[group.root()];
  ElementTree tree(graph, schedule.layouts, group, node.inputs[0].id, result.geometry.sizes, {&result, 1},
                   natural_order(result.geometry.sizes.rank()));
  write_elementwise(schedule, tree, "copy");
}

}  // namespace

void schedule_scatter(Schedule& schedule, const IRGraph& graph, const Group& group) {
  const IRNode& node = graph.nodes[group.root()];
  const auto& lowering = std::get<ScatterLowering>(node.op->lowering);
  const MemoryOperand result = memory_of(schedule, graph, node.outputs[0]);
  if (numel(result.geometry.sizes) == 0) return;
  copy_base(schedule, graph, group, result);
  const MemoryOperand source = memory_of(schedule, graph, node.inputs[static_cast<size_t>(lowering.source)].id);
  const int64_t elements = numel(source.geometry.sizes);
  if (elements == 0) return;

  KernelWriter writer(kernel_name(graph, group));
  std::vector<ScatterOperand> operands(node.inputs.size());
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    operands[i].memory = memory_of(schedule, graph, node.inputs[i].id);
    operands[i].buffer = writer.value(operands[i].memory);
  }
  ScatterOperand out{result, writer.value(result), {}};
  writer.declare_error();
  for (ScatterOperand& operand : operands)
    for (int64_t stride : operand.memory.geometry.strides) operand.strides.push_back(writer.number(stride));
  for (int64_t stride : result.geometry.strides) out.strides.push_back(writer.number(stride));
  loop::Builder& b = writer.builder();
  std::vector<loop::Value> sizes;
  for (int64_t size : source.geometry.sizes) sizes.push_back(writer.number(size));
  const loop::Value count = writer.number(elements);
  const NodeCall call(graph, node);
  const Dtype dtype = compute_dtype(result.dtype);
  // One item: elements that meet in one place must arrive in order.
  b.for_loop(b.begin(), b.end(), 1, [&](loop::Value) {
    b.for_loop(b.index(0), count, 1, [&](loop::Value position) {
      const std::vector<loop::Value> index = split_index(b, position, sizes);
      SourceContext context(writer, graph, node, operands, index);
      const std::vector<loop::Value> target = lowering.target(context, call.call());
      auto update = [&] {
        const loop::Value address = out.address(b, target);
        const ScatterOperand& from = operands[static_cast<size_t>(lowering.source)];
        const loop::Value next = b.convert(b.load(from.buffer, from.address(b, index)), dtype);
        const loop::Value held = b.convert(b.load(out.buffer, address), dtype);
        b.store(out.buffer, address, b.convert(combined(lowering.combine, b, held, next), result.dtype));
      };
      if (context.failed())
        b.if_then(~context.failed(), update);
      else
        update();
    });
  });
  schedule.steps.push_back(writer.finish(1, 4.0 * static_cast<double>(elements)));
}

}  // namespace lucid
