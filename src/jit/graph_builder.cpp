#include "jit/graph_builder.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "base/error.h"
#include "base/shape.h"
#include "ops/region.h"

namespace lucid::jit {
namespace {

/// Thrown where a recording cannot become a graph.
struct Obstacle {
  std::string why;
};

using GeometryKey = std::tuple<std::vector<int64_t>, std::vector<int64_t>, int64_t>;

GeometryKey key_of(const Geometry& g) {
  return {{g.sizes.begin(), g.sizes.end()}, {g.strides.begin(), g.strides.end()}, g.offset};
}

/// A cell while the graph is built: the value that its memory holds now, and looks at it that are values already.
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
        for (const Place& place : event.results)
          if (cell(place).is_outside) written_.insert(place.cell);
  }

  CallGraph build() {
    for (const Event& event : *record_.events) add(event);
    for (int32_t cell : record_.wanted) keep(cell, false);
    for (int32_t cell : written_) {
      result_.written.push_back(handle_on(cell));
      keep(cell, true);
      result_.graph.updates.emplace_back(memory_inputs_.at(cell), result_.graph.output_ids.back());
    }
    return std::move(result_);
  }

 private:
  const CellRecord& cell(int32_t index) const { return record_.cells[static_cast<size_t>(index)]; }
  const CellRecord& cell(const Place& place) const { return cell(place.cell); }
  CellValue& value_of(int32_t cell) { return cells_[static_cast<size_t>(cell)]; }

  // ---- Leaves.

  size_t handle_on(int32_t cell) const {
    for (size_t i = 0; i < record_.handles.size(); ++i)
      if (record_.handles[i].cell == cell) return i;
    throw Obstacle{"uses a tensor that is neither an argument nor found among what the function refers to"};
  }

  ValueId add_leaf(GraphInput input, const TensorType& type) {
    input.id = result_.graph.add_value(type);
    IRGraph& graph = result_.graph;
    if (input.kind == GraphInput::Kind::kConstant)
      graph.constant_ids.push_back(input.id);
    else if (input.handle < record_.arguments && input.kind == GraphInput::Kind::kHandle)
      graph.input_ids.push_back(input.id);
    else if (record_.handles[input.handle].is_parameter)
      graph.param_ids.push_back(input.id);
    else
      graph.state_ids.push_back(input.id);
    result_.inputs.push_back(std::move(input));
    return result_.inputs.back().id;
  }

  /// A cell's whole memory as a row of elements.
  static Geometry row_of(const CellRecord& cell) {
    const auto elements = static_cast<int64_t>(cell.bytes / size_of(cell.dtype));
    return {{elements}, {1}, 0};
  }

  /// Makes a value of what the cell holds before the call, or before anything is recorded on it.
  void define(int32_t index) {
    const CellRecord& cell = this->cell(index);
    CellValue& value = value_of(index);
    if (value.id >= 0) return;
    value.geometry = row_of(cell);
    const TensorType type{cell.dtype, value.geometry.sizes};
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

  /// The value of a place at this moment.
  ValueId value_at(const Place& place) {
    CellValue& value = value_of(place.cell);
    const GeometryKey key = key_of(place.geometry);
    if (const auto found = value.views.find(key); found != value.views.end()) return found->second;
    if (cell(place).is_outside && !written_.contains(place.cell)) {
      // Nobody writes to it: each handle is an input of its own, whatever memory they share.
      for (size_t i = 0; i < record_.handles.size(); ++i) {
        const HandleRecord& handle = record_.handles[i];
        if (handle.cell != place.cell || key_of(handle.geometry) != key) continue;
        Geometry geometry = place.geometry;
        geometry.offset = 0;
        const ValueId id = add_leaf({.kind = GraphInput::Kind::kHandle, .handle = i, .geometry = geometry},
                                    {place.dtype, place.geometry.sizes});
        value.views[key] = id;
        return id;
      }
    }
    define(place.cell);
    const Value whole = emitter_.value(in_memory_order(place.cell));
    // Where nothing is, the offset may lie behind the end.
    const int64_t offset = numel(place.geometry.sizes) == 0 ? 0 : place.geometry.offset;
    const Value part = emit("strided_part", {whole}, {place.geometry.sizes, place.geometry.strides, offset});
    const ValueId id = GraphEmitter::id_of(part);
    value_of(place.cell).views[key] = id;
    return id;
  }

  /// The cell's value with its dimensions in the order that they have in memory.
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

  static bool is_whole(const CellRecord& cell, const Geometry& geometry) {
    return geometry.offset == 0 && is_dense(geometry.sizes, geometry.strides) &&
           static_cast<size_t>(numel(geometry.sizes)) * size_of(cell.dtype) == cell.bytes;
  }

  /// The cell holds `id` at `geometry` from now on, and elsewhere what it held before.
  void assign(const Place& place, ValueId id) {
    if (numel(place.geometry.sizes) == 0) {
      define(place.cell);
      value_of(place.cell).views[key_of(place.geometry)] = id;
      return;
    }
    if (is_whole(cell(place), place.geometry)) {
      if (cell(place).is_outside) define(place.cell);  // the state that is updated
      value_of(place.cell) = {id, place.geometry, {{key_of(place.geometry), id}}};
      return;
    }
    if (may_overlap(place.geometry)) throw Obstacle{"writes to a tensor whose elements may share memory"};
    define(place.cell);
    const Value whole = emitter_.value(in_memory_order(place.cell));
    const Value row = emit("reshape", {whole}, {row_of(cell(place)).sizes});
    const Value changed =
        emit("set_strided_part", {row, emitter_.value(id)}, {place.geometry.strides, place.geometry.offset});
    const ValueId changed_id = GraphEmitter::id_of(changed);
    const Geometry geometry = row_of(cell(place));
    value_of(place.cell) = {changed_id, geometry, {{key_of(geometry), changed_id}, {key_of(place.geometry), id}}};
  }

  /// The cell of `to`, which is new, holds what that of `from` did there.
  void move(const Place& from, const Place& to) {
    if (from.geometry == to.geometry && cell(from).bytes == cell(to).bytes) {
      // All of it was moved, for one look at it or for several.
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
      // Repeated elements are there once.
      const Dims strides = contiguous_strides(to.geometry.sizes);
      stored_id = GraphEmitter::id_of(emit("strided_part", {emitter_.value(id)}, {stored.sizes, strides, int64_t{0}}));
    }
    value_of(to.cell) = {stored_id, stored, {{key_of(stored), stored_id}, {key_of(to.geometry), id}}};
  }

  // ---- Events.

  void add(const Event& event) {
    if (event.kind == Event::Kind::kMoved) return move(*event.operands[0].place, event.results[0]);
    if (event.op->host && !event.op->infer)
      throw Obstacle{event.source + ": the size of what " + event.op->name() + " gives depends on values"};
    Values held;
    std::vector<Operand> operands;
    for (const TracedOperand& operand : event.operands)
      held.push_back(operand.place ? emitter_.value(value_at(*operand.place)) : Value());
    for (size_t i = 0; i < held.size(); ++i) {
      const TracedOperand& operand = event.operands[i];
      operands.push_back(held[i] ? Operand(held[i]) : operand.number ? Operand(*operand.number) : Operand());
    }
    const size_t first = result_.graph.nodes.size();
    const Values results = emitter_.emit(*event.op, operands, event.attributes);
    for (size_t i = 0; i < results.size(); ++i) {
      const Place& place = event.results[i];
      switch (event.kind) {
        case Event::Kind::kComputed:
          LUCID_CHECK(results[i].type() == (TensorType{place.dtype, place.geometry.sizes}),
                      "{} was recorded as {} but gives {}", event.op->name(),
                      to_string(TensorType{place.dtype, place.geometry.sizes}), to_string(results[i].type()));
          value_of(place.cell) = {GraphEmitter::id_of(results[i]),
                                  place.geometry,
                                  {{key_of(place.geometry), GraphEmitter::id_of(results[i])}}};
          break;
        case Event::Kind::kViewed:
          value_of(place.cell).views[key_of(place.geometry)] = GraphEmitter::id_of(results[i]);
          break;
        case Event::Kind::kWritten:
          assign(place, GraphEmitter::id_of(emitter_.cast(results[i], place.dtype)));
          break;
        case Event::Kind::kMoved:
          break;
      }
    }
    for (size_t i = first; i < result_.graph.nodes.size(); ++i) result_.graph.nodes[i].source = event.source;
  }

  /// Makes the cell's memory an output: as it is, or as a row of elements, which states are.
  void keep(int32_t index, bool as_row) {
    const CellRecord& cell = this->cell(index);
    define(index);
    const CellValue& value = value_of(index);
    if (!is_whole(cell, value.geometry)) throw Obstacle{"gives a result with gaps in its memory"};
    const Value ordered = emitter_.value(in_memory_order(index));
    const Value kept = as_row ? emit("reshape", {ordered}, {row_of(cell).sizes}) : ordered;
    result_.graph.output_ids.push_back(GraphEmitter::id_of(kept));
    result_.kept.push_back({index, cell.bytes});
  }

  const CallRecord& record_;
  CallGraph result_;
  GraphEmitter emitter_;
  std::vector<CellValue> cells_;
  std::set<int32_t> written_;
  std::map<int32_t, ValueId> memory_inputs_;
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

}  // namespace lucid::jit
