#include "schedule/element_tree.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/dim_math.h"
#include "base/error.h"
#include "ir/node_call.h"
#include "schedule/indexed_context.h"

namespace lucid {

namespace {

// Dimension d can be merged into d - 1 if, for every operand, one step along d - 1 equals the whole extent of d.
bool is_contiguous_with(SymInt outer_stride, SymInt inner_stride, SymInt inner_size) {
  return outer_stride == inner_stride * inner_size;
}

// Sixteen-bit floats round at every node, fused or not.
loop::Value round_to(loop::Builder& b, loop::Value value, Dtype dtype) {
  if (compute_dtype(dtype) == dtype) return value;
  return b.convert(b.convert(value, dtype), compute_dtype(dtype));
}

// The bytes that one index of the first dimension covers.
TileSpan span_of(DimsView strides, DimsView sizes, int64_t element_bytes) {
  SymInt last = 0;
  for (size_t d = 1; d < sizes.size(); ++d) last += (sizes[d] - 1) * strides[d];
  return {strides[0] * element_bytes, (last + 1) * element_bytes};
}

}  // namespace

ElementTree::ElementTree(const IRGraph& graph, const std::map<ValueId, Layout>& layouts, const Group& group,
                         std::span<const ValueId> values, DimsView shape, std::span<const MemoryOperand> extra,
                         DimsView order, size_t outer)
    : graph_(graph), values_(values.begin(), values.end()) {
  for (size_t node : group.nodes)
    if (graph.nodes[node].op->is_lowered()) producers_[graph.nodes[node].outputs[0]] = node;

  auto memory_of = [&](ValueId id) {
    const Layout& layout = layouts.at(id);
    return MemoryOperand{layout.storage, graph.type(id).dtype, layout.geometry, BufferUse::Kind::kValue};
  };
  auto add_read = [&](ValueId id) {
    if (reads_.contains(id)) return;
    MemoryOperand memory = memory_of(id);
    Dims strides = broadcast_strides(memory.geometry.sizes, memory.geometry.strides, shape);
    reads_[id] = operands_.size();
    operands_.push_back({std::move(memory), std::move(strides), {}, {}});
  };

  // Walks the expressions from their roots, so that only needed values are read.
  std::vector<ValueId> pending = values_;
  std::map<ValueId, bool> seen;
  while (!pending.empty()) {
    const ValueId id = pending.back();
    pending.pop_back();
    if (std::exchange(seen[id], true)) continue;
    const auto producer = producers_.find(id);
    const bool fused = producer != producers_.end() &&
                       (graph.nodes[producer->second].op->is_pointwise() ||
                        std::holds_alternative<IndexedLowering>(graph.nodes[producer->second].op->lowering));
    if (!fused) {
      add_read(id);
      continue;
    }
    const IRNode& node = graph.nodes[producer->second];
    cost_ += node.op->cost;
    has_checks_ = has_checks_ || !node.op->errors.empty();
    const bool pointwise = node.op->is_pointwise();
    indexed_ = indexed_ || !pointwise;
    for (const IROperand& input : node.inputs) {
      if (input.id < 0) continue;
      if (pointwise) {
        pending.push_back(input.id);
      } else {
        MemoryOperand memory = memory_of(input.id);
        Dims strides = memory.geometry.strides;
        indexed_inputs_.try_emplace(input.id, Access{std::move(memory), std::move(strides), {}, {}});
      }
    }
  }
  add_extra(extra, shape);
  merge_dimensions(shape, order, outer);
}

ElementTree::ElementTree(const IRGraph& graph, const MemoryOperand& source, std::span<const MemoryOperand> extra,
                         DimsView order, size_t outer)
    : graph_(graph), values_{-1} {
  reads_[-1] = 0;
  operands_.push_back({source, source.geometry.strides, {}, {}});
  add_extra(extra, source.geometry.sizes);
  merge_dimensions(source.geometry.sizes, order, outer);
}

void ElementTree::add_extra(std::span<const MemoryOperand> extra, DimsView shape) {
  extra_begin_ = operands_.size();
  for (const MemoryOperand& memory : extra)
    operands_.push_back({memory, broadcast_strides(memory.geometry.sizes, memory.geometry.strides, shape), {}, {}});
  cost_ += static_cast<double>(operands_.size() + indexed_inputs_.size());
}

void ElementTree::merge_dimensions(DimsView shape, DimsView order, size_t outer) {
  Dims kept;  // the innermost dimension of each merged one
  for (size_t position = 0; position < order.size(); ++position) {
    const auto d = static_cast<size_t>(order[position]);
    // Indexed nodes need the index along each axis, so no axis is merged or dropped.
    if (!indexed_ && shape[d] == 1) continue;
    const bool first_inner = position >= outer && kept.size() == outer_count_;
    const bool merges =
        !indexed_ && !kept.empty() && !first_inner &&
        std::all_of(operands_.begin(), operands_.end(), [&](const Access& access) {
          return is_contiguous_with(access.strides[static_cast<size_t>(kept.back())], access.strides[d], shape[d]);
        });
    if (merges) {
      sizes_.back() *= shape[d];
      kept.back() = static_cast<int64_t>(d);
    } else {
      kept.push_back(static_cast<int64_t>(d));
      sizes_.push_back(shape[d]);
      if (position < outer) ++outer_count_;
    }
  }
  if (indexed_) {
    positions_.resize(kept.size());
    for (size_t i = 0; i < kept.size(); ++i) positions_[static_cast<size_t>(kept[i])] = static_cast<int64_t>(i);
  }
  for (Access& access : operands_) {
    Dims strides;
    for (int64_t d : kept) strides.push_back(access.strides[static_cast<size_t>(d)]);
    access.strides = std::move(strides);
  }
}

TileSpan ElementTree::tile_of(const Access& access) const {
  const auto bytes = static_cast<int64_t>(size_of(access.memory.dtype));
  if (std::any_of(access.strides.begin(), access.strides.end(), [](SymInt stride) { return stride < 0; })) return {};
  if (tiling_ == Tiling::kVectors) {
    if (!is_multiple(sizes_[0], loop::kLanes)) return {};
    return {loop::kLanes * access.strides[0] * bytes, ((loop::kLanes - 1) * access.strides[0] + 1) * bytes};
  }
  if (tiling_ == Tiling::kPanels) return panel_of(access);
  return span_of(access.strides, sizes_, bytes);
}

TileSpan ElementTree::panel_of(const Access& access) const {
  const auto bytes = static_cast<int64_t>(size_of(access.memory.dtype));
  const SymInt step = access.strides[0];
  const SymInt pitch = access.strides[1];
  if (pitch != 0 && pitch < step * sizes_[0]) return {};
  const SymInt rows = pitch == 0 ? SymInt(1) : sizes_[1];
  return {kPanelColumns * step * bytes, ((kPanelColumns - 1) * step + 1) * bytes, rows, pitch * bytes};
}

void ElementTree::declare(KernelWriter& writer, Tiling tiling) {
  writer_ = &writer;
  tiling_ = tiling;
  for (Access& access : operands_)
    access.buffer = writer.value(access.memory, tiling == Tiling::kUnknown ? TileSpan{} : tile_of(access));
  for (auto& [_, access] : indexed_inputs_) access.buffer = writer.value(access.memory);
  if (has_checks_) writer.declare_error();
  auto make_strides = [&](Access& access) {
    access.stride_values.resize(access.strides.size());
    for (size_t d = 0; d < access.strides.size(); ++d)
      if (stride_of(access, d) == Stride::kAny) access.stride_values[d] = writer.param(access.strides[d]);
  };
  for (Access& access : operands_) make_strides(access);
  for (auto& [_, access] : indexed_inputs_) make_strides(access);
}

void ElementTree::declare_elements() {
  const auto results = operands_.begin() + static_cast<std::ptrdiff_t>(extra_begin_);
  for (const Access& access : operands_) {
    const auto alike =
        std::find_if(results, operands_.end(), [&](const Access& result) { return result.strides == access.strides; });
    const bool is_alone =
        alike != operands_.end() && std::all_of(operands_.begin(), operands_.end(), [&](const Access& other) {
          return other.buffer.index != access.buffer.index || other.strides == access.strides;
        });
    const bool is_indexed = std::any_of(indexed_inputs_.begin(), indexed_inputs_.end(), [&](const auto& input) {
      return input.second.buffer.index == access.buffer.index;
    });
    if (is_alone && !is_indexed) writer_->set_order(access.buffer, static_cast<uint8_t>(alike - results + 1));
  }
}

void ElementTree::declare_indexed_tiles() {
  if (tiling_ != Tiling::kFirstDimension || indexed_inputs_.empty() || positions_.empty() || positions_[0] != 0) return;
  for (const auto& [_, access] : indexed_inputs_) {
    const Geometry& geometry = access.memory.geometry;
    if (!access.follows_point || geometry.sizes.empty()) continue;
    const TileSpan tile = span_of(access.strides, geometry.sizes, static_cast<int64_t>(size_of(access.memory.dtype)));
    const bool agrees = std::all_of(operands_.begin(), operands_.end(), [&](const Access& other) {
      return other.buffer.index != access.buffer.index || tile_of(other) == tile;
    });
    if (agrees) writer_->set_tile(access.buffer, tile);
  }
}

loop::Value ElementTree::base_address(Access& access, const Point& point) {
  loop::Builder& b = writer_->builder();
  loop::Value sum = b.index(0);
  for (size_t d = 0; d < access.strides.size(); ++d) {
    if (static_cast<int64_t>(d) == point.lane_axis || stride_of(access, d) == Stride::kZero) continue;
    const loop::Value term =
        stride_of(access, d) == Stride::kOne ? point.index[d] : point.index[d] * access.stride_values[d];
    sum = sum + term;
  }
  return sum;
}

void ElementTree::hoist(const Point& point) {
  for (Access& access : operands_) base_address(access, point);
}

loop::Value ElementTree::load(Access& access, const Point& point) {
  loop::Builder& b = writer_->builder();
  const loop::Value base = base_address(access, point);
  loop::Value value;
  if (point.lane_axis < 0) {
    value = b.load(access.buffer, base);
  } else {
    const auto lane = static_cast<size_t>(point.lane_axis);
    const loop::Value start = point.index[lane];
    switch (stride_of(access, lane)) {
      case Stride::kZero:
        value = b.load(access.buffer, base);
        break;
      case Stride::kOne:
        value = b.load_vector(access.buffer, base + start, point.mask);
        break;
      case Stride::kAny:
        value = b.gather(access.buffer, (b.splat(start) + b.iota()) * access.stride_values[lane] + base, point.mask);
        break;
    }
  }
  return b.convert(value, compute_dtype(access.memory.dtype));
}

loop::Value ElementTree::operand(const IROperand& operand, Dtype wanted, const Point& point,
                                 std::map<ValueId, loop::Value>& known) {
  loop::Builder& b = writer_->builder();
  if (operand.number) {
    // Passed at run time, so that kernels that differ only in these numbers share their text.
    loop::Value& bits = constants_[&operand];
    const Dtype dtype = compute_dtype(wanted);
    if (operand.number->is_size() || !is_float(dtype)) {
      if (!bits)
        bits = writer_->param(operand.number->is_size() ? operand.number->size() : SymInt(operand.number->to_int()));
      return b.convert(bits, dtype);
    }
    if (!bits) {
      // Rounded here, as for an eager call: a kernel flushes denormals.
      int64_t word = 0;
      operand.number->store(dtype, &word);
      bits = writer_->param(word);
    }
    return b.bitcast(dtype == Dtype::kF32 ? b.convert(bits, Dtype::kI32) : bits, dtype);
  }
  const auto found = known.find(operand.id);
  if (found != known.end()) return found->second;
  loop::Value value;
  if (const auto read = reads_.find(operand.id); read != reads_.end()) {
    value = load(operands_[read->second], point);
  } else {
    value = evaluate_node(producers_.at(operand.id), point, known);
  }
  known[operand.id] = value;
  return value;
}

loop::Value ElementTree::evaluate_node(size_t index, const Point& point, std::map<ValueId, loop::Value>& known) {
  loop::Builder& b = writer_->builder();
  const IRNode& node = graph_.nodes[index];
  const Dtype result = graph_.type(node.outputs[0]).dtype;
  const NodeCall call(graph_, node);
  if (const auto* pointwise = std::get_if<PointwiseLowering>(&node.op->lowering)) {
    std::vector<loop::Value> inputs;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const bool present = node.inputs[i].id >= 0 || node.inputs[i].number;
      inputs.push_back(present ? operand(node.inputs[i], operand_dtype(call.call(), i), point, known) : loop::Value());
    }
    NodeContext context(*this, node, point);
    if (pointwise->fails) {
      if (const loop::Value failed = pointwise->fails(b, inputs, call.call())) context.fail_if(failed, 1);
    }
    return round_to(b, b.convert(pointwise->body(b, inputs, call.call()), compute_dtype(result)), result);
  }
  NodeContext context(*this, node, point);
  const auto& indexed = std::get<IndexedLowering>(node.op->lowering);
  return round_to(b, b.convert(indexed.body(context, call.call()), compute_dtype(result)), result);
}

std::vector<loop::Value> ElementTree::evaluate_all(const Point& point, size_t count) {
  std::map<ValueId, loop::Value> known;
  std::vector<loop::Value> results;
  for (size_t i = 0; i < std::min(count, values_.size()); ++i)
    results.push_back(operand({values_[i], std::nullopt}, Dtype::kF32, point, known));
  return results;
}

void ElementTree::store(size_t which, const Point& point, loop::Value value) {
  loop::Builder& b = writer_->builder();
  Access& access = operands_[extra_begin_ + which];
  value = b.convert(value, access.memory.dtype);
  const loop::Value base = base_address(access, point);
  if (point.lane_axis < 0) {
    b.store(access.buffer, base, value);
    return;
  }
  if (!value.is_vector()) value = b.splat(value);
  const auto lane = static_cast<size_t>(point.lane_axis);
  if (stride_of(access, lane) == Stride::kOne) {
    b.store(access.buffer, base + point.index[lane], value, point.mask);
  } else {
    const loop::Value stride = stride_of(access, lane) == Stride::kZero ? b.index(0) : access.stride_values[lane];
    b.scatter(access.buffer, (b.splat(point.index[lane]) + b.iota()) * stride + base, value, point.mask);
  }
}

void ElementTree::prefetch(const Point& point, int64_t rows) {
  loop::Builder& b = writer_->builder();
  const auto lane = static_cast<size_t>(point.lane_axis);
  for (size_t i = 0; i < extra_begin_; ++i) {
    Access& access = operands_[i];
    if (stride_of(access, lane) != Stride::kOne || stride_of(access, 0) != Stride::kAny) continue;
    const loop::Value ahead = access.stride_values[0] * b.index(rows);
    b.prefetch(access.buffer, base_address(access, point) + ahead + point.index[lane]);
  }
}

bool ElementTree::reads_adjacent(size_t dimension) const {
  return std::all_of(operands_.begin(), operands_.begin() + static_cast<std::ptrdiff_t>(extra_begin_),
                     [&](const Access& access) { return stride_of(access, dimension) != Stride::kAny; });
}

}  // namespace lucid
