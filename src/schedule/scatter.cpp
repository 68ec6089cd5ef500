#include <algorithm>
#include <map>
#include <optional>

#include "ir/node_call.h"
#include "ops/index_rules.h"
#include "schedule/element_tree.h"
#include "schedule/kernels.h"
#include "schedule/row_loop.h"

namespace lucid {

using loop::kLanes;

namespace {

/// An operand in memory and its run-time strides.
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

/// The source element that is being scattered; everything is scalar.
class SourceContext : public ElementContext {
 public:
  SourceContext(KernelWriter& writer, const IRGraph& graph, const IRNode& node,
                const std::vector<ScatterOperand>& operands, std::vector<loop::Value> index, bool reports)
      : writer_(writer), graph_(graph), node_(node), operands_(operands), index_(std::move(index)), reports_(reports) {}

  loop::Builder& builder() override { return writer_.builder(); }
  loop::Value index(int64_t axis) override { return index_[static_cast<size_t>(axis)]; }
  loop::Value number(SymInt value) override { return writer_.param(value); }
  loop::Value input_size(int input, int64_t axis) override {
    const ValueId id = node_.inputs[static_cast<size_t>(input)].id;
    return writer_.param(graph_.type(id).shape[static_cast<size_t>(axis)]);
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
    if (reports_) b.if_then(condition, [&] { b.store(writer_.error(), b.index(0), b.index(code)); });
    failed_ = failed_ ? failed_ | condition : condition;
  }
  /// True at run time if a check failed, in which case the target may be out of range. Empty if nothing is checked.
  loop::Value failed() const { return failed_; }

 private:
  KernelWriter& writer_;
  const IRGraph& graph_;
  const IRNode& node_;
  const std::vector<ScatterOperand>& operands_;
  std::vector<loop::Value> index_;
  bool reports_;
  loop::Value failed_;
};

loop::Value combined(ScatterCombine combine, loop::Builder& b, loop::Value current, loop::Value next) {
  if (is_bool(current.dtype()) && combine != ScatterCombine::kReplace) {
    // Bools are 0 and 1: the sum and the maximum are "or", the product and the minimum "and".
    return combine == ScatterCombine::kAdd || combine == ScatterCombine::kMax ? current | next : current & next;
  }
  switch (combine) {
    case ScatterCombine::kReplace:
      return next;
    case ScatterCombine::kAdd:
      return current + next;
    case ScatterCombine::kMul:
      return current * next;
    case ScatterCombine::kMax:
      return b.select((next > current) | (next != next), next, current);
    case ScatterCombine::kMin:
      return b.select((next < current) | (next != next), next, current);
  }
  return next;
}

/// Indices along one dimension that a node checks, and their exclusive upper bound. Nothing depends on a bound that
/// varies until it is compared.
struct CheckedIndices {
  ValueId index = -1;
  SymInt bound = 0;
};

std::optional<CheckedIndices> checked_indices(const IRGraph& graph, const IRNode& node) {
  const Schema& schema = node.op->schema;
  if (node.op->errors.empty()) return std::nullopt;
  const NodeCall call(graph, node);
  if (schema.operand_index("index") == 1 && schema.attribute_index("dim") >= 0) {
    const bool has_axis = call.call().rank(0) > 0;
    return CheckedIndices{node.inputs[1].id,
                          has_axis ? call.call().shape(0)[static_cast<size_t>(call.call().axis("dim"))] : SymInt(1)};
  }
  // A list of indices along the first dimensions, which may be negative.
  const bool is_first = schema.operand_index("indices") == 2 && node.inputs.size() == 3;
  return is_first ? std::optional(CheckedIndices{node.inputs[2].id, call.call().shape(0)[0]}) : std::nullopt;
}

/// Whether another node already checks the indices of this one: the node whose gradient this is, or one that reads at
/// the positions at which this one writes.
bool is_checked_elsewhere(const Schedule& schedule, const IRGraph& graph, const IRNode& node) {
  const std::optional<CheckedIndices> own = checked_indices(graph, node);
  if (!own) return false;
  const Layout& index = schedule.layouts.at(own->index);
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const IRNode& other) {
    if (!std::holds_alternative<IndexedLowering>(other.op->lowering)) return false;
    const std::optional<CheckedIndices> found = checked_indices(graph, other);
    if (!found) return false;
    const Layout& its = schedule.layouts.at(found->index);
    return its.storage == index.storage && its.geometry == index.geometry &&
           numel(graph.type(other.outputs[0]).shape) > 0 && found->bound == own->bound;
  });
}

/// Writes the kernel of one scatter.
class ScatterWriter {
 public:
  ScatterWriter(Schedule& schedule, const IRGraph& graph, const Group& group)
      : graph_(graph),
        node_(graph.nodes[group.root()]),
        lowering_(std::get<ScatterLowering>(node_.op->lowering)),
        call_(graph, node_),
        writer_(kernel_name(graph, group)),
        operands_(node_.inputs.size()),
        reports_(!is_checked_elsewhere(schedule, graph, node_)),
        out_{memory_of(schedule, graph, node_.outputs[0]), {}, {}} {
    for (size_t i = 1; i < node_.inputs.size(); ++i) {
      operands_[i].memory = memory_of(schedule, graph, node_.inputs[i].id);
      operands_[i].buffer = writer_.value(operands_[i].memory);
    }
    out_.buffer = writer_.value(out_.memory);
    if (reports_) writer_.declare_error();
    for (ScatterOperand& operand : operands_)
      for (int64_t stride : operand.memory.geometry.strides) operand.strides.push_back(writer_.param(stride));
    for (int64_t stride : out_.memory.geometry.strides) out_.strides.push_back(writer_.param(stride));
    for (int64_t size : source().memory.geometry.sizes) sizes_.push_back(writer_.param(size));
  }

  /// Whether whole rows move: all elements of a row along the last axis go to the same target row and keep their
  /// position in it, so that the target of the first element holds for all.
  bool moves_rows() {
    const Geometry& from = source().memory.geometry;
    const Geometry& to = out_.memory.geometry;
    if (from.sizes.size() < 2 || from.sizes.back() < kLanes / 2 || from.sizes.back() != to.sizes.back() ||
        from.strides.back() != 1 || to.strides.back() != 1)
      return false;
    std::vector<loop::Value> index(sizes_.size(), writer_.param(0));
    index.back() = writer_.param(0);
    SourceContext context(writer_, graph_, node_, operands_, index, reports_);
    const std::vector<loop::Value> target = lowering_.target(context, call_.call());
    if (target.back().id() != index.back().id()) return false;
    std::vector<loop::Value> others(target.begin(), target.end() - 1);
    if (context.failed()) others.push_back(context.failed());
    return std::none_of(others.begin(), others.end(), [&](loop::Value value) { return depends(value, index.back()); });
  }

  /// A single item: elements with the same target must be combined in order.
  KernelStep write_elements(int64_t elements) {
    loop::Builder& b = writer_.builder();
    const loop::Value count = writer_.param(elements);
    b.for_loop(b.begin(), b.end(), 1, [&](loop::Value) {
      b.for_loop(b.index(0), count, 1, [&](loop::Value position) {
        const std::vector<loop::Value> index = split_index(b, position, sizes_);
        at_target(index, [&](loop::Value from, loop::Value to) {
          const loop::Value next = b.convert(b.load(source().buffer, from), dtype());
          const loop::Value current = b.convert(b.load(out_.buffer, to), dtype());
          b.store(out_.buffer, to, b.convert(combined(lowering_.combine, b, current, next), out_.memory.dtype));
        });
      });
    });
    return writer_.finish(1, 4.0 * static_cast<double>(elements));
  }

  /// An item is some columns of all rows. Rows with the same target are combined in order.
  KernelStep write_rows(int64_t elements) {
    loop::Builder& b = writer_.builder();
    const int64_t width = source().memory.geometry.sizes.back();
    const loop::Value row_count = writer_.param(elements / width);
    const loop::Value columns = writer_.param(width);
    const std::vector<loop::Value> outer(sizes_.begin(), sizes_.end() - 1);
    b.for_loop(b.begin(), b.end(), 1, [&](loop::Value item) {
      const loop::Value first = item * b.index(kColumns);
      const loop::Value left = b.binary(loop::Code::kMin, columns - first, b.index(kColumns));
      b.for_loop(b.index(0), row_count, 1, [&](loop::Value row) {
        std::vector<loop::Value> index = split_index(b, row, outer);
        index.push_back(first);
        at_target(index, [&](loop::Value from, loop::Value to) {
          row_loop(b, b.index(0), left, 1, [&](std::span<const loop::Value> starts, loop::Value mask) {
            const loop::Value i = starts.front();
            const loop::Value next = b.convert(b.load_vector(source().buffer, from + i, mask), dtype());
            const loop::Value current = b.convert(b.load_vector(out_.buffer, to + i, mask), dtype());
            b.store(out_.buffer, to + i, b.convert(combined(lowering_.combine, b, current, next), out_.memory.dtype),
                    mask);
          });
        });
      });
    });
    const int64_t items = (width + kColumns - 1) / kColumns;
    const int64_t share = elements / items;
    return writer_.finish(items, static_cast<double>(share) * 0.5);
  }

 private:
  /// Number of columns of an item of write_rows.
  static constexpr int64_t kColumns = 4 * kLanes;

  const ScatterOperand& source() const { return operands_[static_cast<size_t>(lowering_.source)]; }
  Dtype dtype() const { return compute_dtype(out_.memory.dtype); }

  /// Calls f with the addresses of a source element and its target, unless a check failed.
  template <typename F>
  void at_target(const std::vector<loop::Value>& index, F f) {
    loop::Builder& b = writer_.builder();
    SourceContext context(writer_, graph_, node_, operands_, index, reports_);
    const std::vector<loop::Value> target = lowering_.target(context, call_.call());
    const auto update = [&] { f(source().address(b, index), out_.address(b, target)); };
    if (context.failed())
      b.if_then(~context.failed(), update);
    else
      update();
  }

  bool depends(loop::Value value, loop::Value on) {
    if (value.id() == on.id()) return true;
    loop::Builder& b = writer_.builder();
    const auto operands = b.definition(value).operands;
    return std::any_of(operands.begin(), operands.end(), [&](loop::Id id) { return depends(b.value(id), on); });
  }

  const IRGraph& graph_;
  const IRNode& node_;
  const ScatterLowering& lowering_;
  const NodeCall call_;
  KernelWriter writer_;
  std::vector<ScatterOperand> operands_;
  const bool reports_;
  ScatterOperand out_;
  std::vector<loop::Value> sizes_;
};

}  // namespace

void schedule_scatter(Schedule& schedule, const IRGraph& graph, const Group& group) {
  const IRNode& node = graph.nodes[group.root()];
  const auto& lowering = std::get<ScatterLowering>(node.op->lowering);
  const MemoryOperand result = memory_of(schedule, graph, node.outputs[0]);
  if (numel(result.geometry.sizes) == 0) return;
  const ValueId base = node.inputs[0].id;
  copy_operand(schedule, graph, group, base, result, "copy");
  schedule.steps.back().is_copy = std::ranges::none_of(group.nodes, [&](size_t each) {
    const std::vector<ValueId>& computed = graph.nodes[each].outputs;
    return std::ranges::find(computed, base) != computed.end();
  });
  const int64_t elements = numel(graph.type(node.inputs[static_cast<size_t>(lowering.source)].id).shape);
  if (elements == 0) return;
  const bool rows = ScatterWriter(schedule, graph, group).moves_rows();
  ScatterWriter writer(schedule, graph, group);
  schedule.steps.push_back(rows ? writer.write_rows(elements) : writer.write_elements(elements));
}

}  // namespace lucid
