#include "jit/graph_builder.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <set>

#include "base/error.h"
#include "base/shape.h"
#include "ir/graph_emitter.h"
#include "ir/transfer.h"
#include "ops/region.h"
#include "tensor/plan_cache.h"

namespace lucid::jit {
namespace {

/// Thrown where a recording cannot become a graph.
struct Obstacle {
  std::string why;
};

using GeometryKey = std::tuple<std::vector<int64_t>, std::vector<int64_t>, int64_t>;

/// Views are the same if they have the same expressions, not if these happen to have the same value.
GeometryKey key_of(const Geometry& g) {
  const auto bits = [](const Dims& dims) {
    std::vector<int64_t> result;
    for (const SymInt dim : dims) result.push_back(std::bit_cast<int64_t>(dim));
    return result;
  };
  return {bits(g.sizes), bits(g.strides), std::bit_cast<int64_t>(g.offset)};
}

/// The state of a cell while the graph is built: the value that its memory holds, and the views of it that already have
/// a value.
struct CellValue {
  ValueId id = -1;
  Geometry geometry;
  std::map<GeometryKey, ValueId> views;
};

class Builder {
 public:
  explicit Builder(const CallRecord& record) : record_(record), emitter_(result_.graph), cells_(record.cells.size()) {
    result_.graph.name = record.name;
    for (const Event& event : *record.events)
      if (event.kind == Event::Kind::kWritten)
        for (const TracedView& view : event.results)
          if (cell(view).is_outside) written_.insert(view.cell);
  }

  CallGraph build() {
    if (record_.sizes) result_.graph.sizes = {record_.sizes, &record_.sizes->trace};
    for (const Event& event : *record_.events) add(event);
    for (int32_t cell : record_.wanted) add_output(cell, false);
    for (int32_t cell : written_) {
      const size_t handle = handle_on(cell);
      if (record_.handles[handle].is_advanced) continue;
      result_.written.push_back(handle);
      add_output(cell, true);
      result_.graph.updates.emplace_back(memory_inputs_.at(cell), result_.graph.output_ids.back());
    }
    check_devices();
    return std::move(result_);
  }

  FunctionGraph build_function() {
    is_function_ = true;
    FunctionGraph function{.sizes = record_.sizes};
    if (record_.sizes) result_.graph.sizes = {record_.sizes, &record_.sizes->trace};
    for (size_t i = 0; i < record_.handles.size(); ++i) function.handles.push_back(add_handle(i));
    for (const Event& event : *record_.events) add(event);
    for (const ResultRecord& result : record_.results) {
      if (result.view.cell < 0 && result.handle >= function.handles.size())
        throw Obstacle{"returns a view of a tensor that it does not use otherwise"};
      result_.graph.output_ids.push_back(result.view.cell < 0 ? function.handles[result.handle]
                                                              : value_at(result.view));
    }
    for (size_t i = 0; i < record_.handles.size(); ++i) {
      const HandleRecord& handle = record_.handles[i];
      // One tensor may be several arguments.
      const auto first = std::ranges::find(function.handles, function.handles[i]) - function.handles.begin();
      if (!written_.contains(handle.cell) || first != static_cast<std::ptrdiff_t>(i)) continue;
      const TracedView view{.cell = handle.cell, .dtype = handle.dtype, .geometry = handle.geometry};
      result_.graph.updates.emplace_back(function.handles[i], value_at(view));
    }
    for (GraphInput& input : result_.inputs)
      if (input.kind == GraphInput::Kind::kConstant)
        function.constants.emplace_back(input.id, std::move(input.constant));
    function.graph = std::move(result_.graph);
    return function;
  }

 private:
  /// A plan for a gpu computes everything there. Floats of the CPU are not: a gpu may treat subnormal numbers as 0.
  void check_devices() const {
    const IRGraph& graph = result_.graph;
    const Device device = device_of(graph);
    if (!device.is_gpu()) return;
    for (const IRNode& node : graph.nodes)
      for (const ValueId id : node.outputs) {
        const TensorType& type = graph.type(id);
        if (type.device.is_gpu() && type.device != device) throw Obstacle{"computes on several gpus"};
        if (!type.device.is_gpu() && is_float(type.dtype) && !is_copied(node))
          throw Obstacle{node.source + ": computes on the CPU and on a gpu"};
      }
  }

  static bool is_copied(const IRNode& node) { return is_transfer(*node.op) || node.op->view; }

  const CellRecord& cell(int32_t index) const { return record_.cells[static_cast<size_t>(index)]; }
  const CellRecord& cell(const TracedView& view) const { return cell(view.cell); }
  TensorType type_of(const TracedView& view) const { return {view.dtype, view.geometry.sizes, cell(view).device}; }
  CellValue& value_of(int32_t cell) { return cells_[static_cast<size_t>(cell)]; }

  // ---- Leaves.

  size_t handle_on(int32_t cell) const {
    for (size_t i = 0; i < record_.handles.size(); ++i)
      if (record_.handles[i].cell == cell && record_.handles[i].shift == 0) return i;
    throw Obstacle{"uses a tensor that is neither an argument nor reachable from the function"};
  }

  ValueId add_leaf(GraphInput input, const TensorType& type) {
    input.id = result_.graph.add_value(type);
    IRGraph& graph = result_.graph;
    if (input.kind == GraphInput::Kind::kConstant)
      graph.constant_ids.push_back(input.id);
    else if (input.kind == GraphInput::Kind::kNumber ||
             (input.handle < record_.arguments && input.kind == GraphInput::Kind::kHandle))
      graph.input_ids.push_back(input.id);
    else if (record_.handles[input.handle].is_parameter)
      graph.param_ids.push_back(input.id);
    else
      graph.state_ids.push_back(input.id);
    result_.inputs.push_back(std::move(input));
    return result_.inputs.back().id;
  }

  /// Adds the input of a function that a handle is. If it is all of its memory, that has the same value.
  ValueId add_handle(size_t index) {
    const HandleRecord& handle = record_.handles[index];
    const GeometryKey key = key_of(handle.geometry);
    if (handle.cell >= 0)
      if (const auto known = value_of(handle.cell).views.find(key); known != value_of(handle.cell).views.end())
        return known->second;
    Geometry geometry = handle.geometry;
    geometry.offset = 0;
    const ValueId id = add_leaf({.kind = GraphInput::Kind::kHandle, .handle = index, .geometry = geometry},
                                {handle.dtype, handle.geometry.sizes, handle.device});
    if (handle.cell < 0) return id;
    CellValue& value = value_of(handle.cell);
    value.views[key] = id;
    if (value.id < 0 && cell(handle.cell).dtype == handle.dtype && is_whole(cell(handle.cell), handle.geometry)) {
      value.id = id;
      value.geometry = handle.geometry;
    }
    return id;
  }

  /// The geometry of a cell's whole memory as one dimension.
  static Geometry row_of(const CellRecord& cell) { return {{cell.bytes / size_of(cell.dtype)}, {1}, 0}; }

  /// Adds a value for the contents of the cell before the call, or before the first event on it.
  void define(int32_t index) {
    const CellRecord& cell = this->cell(index);
    CellValue& value = value_of(index);
    if (value.id >= 0) return;
    if (is_function_ && cell.is_outside)
      throw Obstacle{"uses other memory of an argument or a captured tensor than the tensor itself"};
    value.geometry = row_of(cell);
    const TensorType type{cell.dtype, value.geometry.sizes, cell.device};
    if (cell.is_outside) {
      GraphInput input{.kind = GraphInput::Kind::kMemory, .handle = handle_on(index), .geometry = value.geometry};
      value.id = add_leaf(std::move(input), type);
      memory_inputs_[index] = value.id;
    } else if (cell.constant) {
      GraphInput input{.kind = GraphInput::Kind::kConstant, .constant = cell.constant, .geometry = value.geometry};
      value.id = add_leaf(std::move(input), type);
    } else {
      throw Obstacle{"reads memory before anything was written to it"};
    }
    value.views[key_of(value.geometry)] = value.id;
  }

  // ---- Values.

  Value emit(std::string_view op, const std::vector<Operand>& operands, const Attributes& attributes) {
    return emitter_.emit_one(op_table().at(op), operands, attributes);
  }

  /// The current value of a view.
  ValueId value_at(const TracedView& view) {
    CellValue& value = value_of(view.cell);
    const GeometryKey key = key_of(view.geometry);
    if (const auto found = value.views.find(key); found != value.views.end()) return found->second;
    if (cell(view).is_outside && !written_.contains(view.cell)) {
      // The call does not write to the cell: each handle is a separate input, even if handles share memory.
      for (size_t i = 0; i < record_.handles.size(); ++i) {
        const HandleRecord& handle = record_.handles[i];
        if (handle.cell != view.cell || key_of(handle.geometry) != key) continue;
        Geometry geometry = view.geometry;
        geometry.offset = 0;
        const ValueId id = add_leaf({.kind = GraphInput::Kind::kHandle, .handle = i, .geometry = geometry},
                                    {view.dtype, view.geometry.sizes, cell(view).device});
        value.views[key] = id;
        return id;
      }
    }
    define(view.cell);
    const Value whole = emitter_.value(in_memory_order(view.cell));
    // The offset of an empty view may be past the end of the memory.
    const SymInt offset = numel(view.geometry.sizes) == 0 ? SymInt(0) : view.geometry.offset;
    const Value part = emit("strided_part", {whole}, {view.geometry.sizes, view.geometry.strides, offset});
    const ValueId id = GraphEmitter::id_of(part);
    value_of(view.cell).views[key] = id;
    return id;
  }

  /// The cell's value with its dimensions permuted to memory order.
  ValueId in_memory_order(int32_t index) {
    const CellValue& value = value_of(index);
    const Geometry& g = value.geometry;
    if (is_contiguous(g.sizes, g.strides)) return value.id;
    Dims order(g.sizes.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      const auto i = static_cast<size_t>(a), j = static_cast<size_t>(b);
      if (g.strides[i] != g.strides[j]) return g.strides[i] > g.strides[j];
      return g.sizes[i] != g.sizes[j] ? g.sizes[i] > g.sizes[j] : a < b;
    });
    return GraphEmitter::id_of(emit("permute", {emitter_.value(value.id)}, {order}));
  }

  bool is_whole(const CellRecord& cell, const Geometry& geometry) const {
    return geometry.offset == 0 && is_dense(geometry.sizes, geometry.strides) &&
           has_bytes(cell, numel(geometry.sizes) * size_of(cell.dtype));
  }

  /// The tensors of a function have memory of their own: its size, which is never traced, says nothing of other calls.
  bool has_bytes(const CellRecord& cell, SymInt bytes) const {
    std::optional<SizeTrace::Pause> pause;
    if (is_function_ && cell.is_outside) pause.emplace();
    return cell.bytes == bytes;
  }

  /// Replaces the contents of a view by `id`; the rest of the cell is unchanged.
  void assign(const TracedView& view, ValueId id) {
    if (numel(view.geometry.sizes) == 0) {
      define(view.cell);
      value_of(view.cell).views[key_of(view.geometry)] = id;
      return;
    }
    if (is_whole(cell(view), view.geometry)) {
      if (cell(view).is_outside) define(view.cell);  // the state that is updated
      value_of(view.cell) = {id, view.geometry, {{key_of(view.geometry), id}}};
      return;
    }
    if (may_overlap(view.geometry)) throw Obstacle{"writes to a tensor whose elements may share memory"};
    define(view.cell);
    const Value whole = emitter_.value(in_memory_order(view.cell));
    const Value row = emit("reshape", {whole}, {row_of(cell(view)).sizes});
    const Value changed =
        emit("set_strided_part", {row, emitter_.value(id)}, {view.geometry.strides, view.geometry.offset});
    const ValueId changed_id = GraphEmitter::id_of(changed);
    const Geometry geometry = row_of(cell(view));
    value_of(view.cell) = {changed_id, geometry, {{key_of(geometry), changed_id}, {key_of(view.geometry), id}}};
  }

  /// The cell of `to` is new and gets the contents of `from`.
  void move(const TracedView& from, const TracedView& to) {
    const bool is_known = !is_function_ || !cell(from).is_outside || value_of(from.cell).id >= 0;
    if (is_known && from.geometry == to.geometry && has_bytes(cell(from), cell(to).bytes)) {
      // The whole cell was moved, for one view of it or for several.
      define(from.cell);
      if (value_of(to.cell).id < 0) value_of(to.cell) = value_of(from.cell);
      return;
    }
    const ValueId id = value_at(from);
    Geometry stored = to.geometry;
    for (size_t i = 0; i < stored.sizes.size(); ++i)
      if (stored.strides[i] == 0) stored.sizes[i] = std::min<int64_t>(stored.sizes[i], 1);
    ValueId stored_id = id;
    if (stored.sizes != to.geometry.sizes) {
      // Broadcast elements are stored once.
      const Dims strides = contiguous_strides(to.geometry.sizes);
      stored_id = GraphEmitter::id_of(emit("strided_part", {emitter_.value(id)}, {stored.sizes, strides, int64_t{0}}));
    }
    value_of(to.cell) = {stored_id, stored, {{key_of(stored), stored_id}, {key_of(to.geometry), id}}};
  }

  // ---- Events.

  void add(const Event& event) {
    if (event.kind == Event::Kind::kMoved) return move(*event.operands[0].view, event.results[0]);
    if (event.op->host && !event.op->infer)
      throw Obstacle{event.source + ": the output size of " + event.op->name() + " depends on values"};
    // Ops without operands compute on the device of their results.
    const DeviceScope device(cell(event.results.front()).device);
    Values held;
    for (const TracedOperand& operand : event.operands)
      held.push_back(operand.view ? emitter_.value(value_at(*operand.view)) : Value());
    const size_t first = result_.graph.nodes.size();
    const Values results = has_traced_number(event)
                               ? emit_with_numbers(event, held)
                               : emitter_.emit(*event.op, operands_of(event, held), event.attributes);
    for (size_t i = 0; i < results.size(); ++i) {
      const TracedView& view = event.results[i];
      switch (event.kind) {
        case Event::Kind::kComputed:
          LUCID_CHECK(results[i].type() == type_of(view), "{} was recorded as {} but returns {}", event.op->name(),
                      to_string(type_of(view)), to_string(results[i].type()));
          value_of(view.cell) = {GraphEmitter::id_of(results[i]),
                                 view.geometry,
                                 {{key_of(view.geometry), GraphEmitter::id_of(results[i])}}};
          break;
        case Event::Kind::kViewed:
          value_of(view.cell).views[key_of(view.geometry)] = GraphEmitter::id_of(results[i]);
          break;
        case Event::Kind::kWritten:
          assign(view, GraphEmitter::id_of(emitter_.cast(results[i], view.dtype)));
          break;
        case Event::Kind::kMoved:
          break;
      }
    }
    for (size_t i = first; i < result_.graph.nodes.size(); ++i) result_.graph.nodes[i].source = event.source;
  }

  static std::vector<Operand> operands_of(const Event& event, const Values& held) {
    std::vector<Operand> operands;
    for (size_t i = 0; i < held.size(); ++i) {
      const TracedOperand& operand = event.operands[i];
      operands.push_back(held[i] ? Operand(held[i]) : operand.number ? Operand(*operand.number) : Operand());
    }
    return operands;
  }

  static bool has_traced_number(const Event& event) {
    return std::ranges::any_of(event.operands,
                               [](const TracedOperand& operand) { return operand.number && operand.number->traced(); });
  }

  /// Passes the traced numbers as inputs, as eager calls pass all numbers (plan_cache.h).
  Values emit_with_numbers(const Event& event, Values& held) {
    LUCID_CHECK(passes_numbers(*event.op), "{} depends on the values of its numbers", event.op->name());
    const std::vector<Operand> recorded = operands_of(event, held);
    const Call call(*event.op, recorded, event.attributes);
    const std::vector<TensorType> types = infer_types(call);
    for (size_t i = 0; i < recorded.size(); ++i)
      if (recorded[i].is_scalar() && recorded[i].scalar().traced())
        held[i] = emitter_.value(number_input(recorded[i].scalar().traced() - 1, number_dtype(call, i)));
    Values results = emitter_.emit(*event.op, operands_of(event, held), event.attributes);
    // A number that became a tensor may have changed the dtype of the result.
    for (size_t i = 0; i < results.size(); ++i) results[i] = emitter_.cast(results[i], types[i].dtype);
    return results;
  }

  ValueId number_input(size_t number, Dtype dtype) {
    const auto [found, is_new] = number_inputs_.try_emplace({number, dtype}, -1);
    if (is_new)
      found->second = add_leaf({.kind = GraphInput::Kind::kNumber, .number = number, .dtype = dtype}, {dtype, {}});
    return found->second;
  }

  /// Adds the cell's memory as an output: in its own shape, or as one dimension, which is the form of state updates.
  void add_output(int32_t index, bool as_row) {
    const CellRecord& cell = this->cell(index);
    define(index);
    const CellValue& value = value_of(index);
    if (!is_whole(cell, value.geometry)) throw Obstacle{"returns a result with gaps in its memory"};
    const Value ordered = emitter_.value(in_memory_order(index));
    const Value output = as_row ? emit("reshape", {ordered}, {row_of(cell).sizes}) : ordered;
    result_.graph.output_ids.push_back(GraphEmitter::id_of(output));
    result_.outputs.push_back({index, cell.bytes, cell.device});
  }

  const CallRecord& record_;
  bool is_function_ = false;
  CallGraph result_;
  GraphEmitter emitter_;
  std::vector<CellValue> cells_;
  std::set<int32_t> written_;
  std::map<int32_t, ValueId> memory_inputs_;
  std::map<std::pair<size_t, Dtype>, ValueId> number_inputs_;
};

}  // namespace

CallGraph build_graph(const CallRecord& record) {
  try {
    return Builder(record).build();
  } catch (const Obstacle& obstacle) {
    CallGraph result;
    result.obstacle = obstacle.why;
    return result;
  }
}

FunctionGraph build_function(const CallRecord& record) {
  try {
    return Builder(record).build_function();
  } catch (const Obstacle& obstacle) {
    FunctionGraph result;
    result.obstacle = obstacle.why;
    return result;
  }
}

}  // namespace lucid::jit
