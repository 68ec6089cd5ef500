// RecordedCall: calls that no run was recorded for.

#include <map>
#include <set>

#include "base/error.h"
#include "jit/recorded_call.h"
#include "tensor/autograd_meta.h"

namespace lucid::jit {
namespace {

/// Writes the record of a call that computes the nodes of a function, one event for each.
class GraphCall {
 public:
  GraphCall(const FunctionGraph& function, std::span<const TensorRef> captured, CallRecord& record)
      : graph_(function.graph), record_(record) {
    LUCID_CHECK(captured.size() <= function.handles.size(), "{} handles are too few", function.handles.size());
    record_.name = graph_.name;
    record_.sizes = function.sizes;
    record_.arguments = function.handles.size() - captured.size();
    for (size_t i = 0; i < function.handles.size(); ++i) {
      if (i < record_.arguments)
        add_argument(function.handles[i]);
      else
        add_captured(function.handles[i], *captured[i - record_.arguments]);
    }
    for (const auto& [id, contents] : function.constants) add_cell(id, {.constant = contents});
  }

  void add_events() {
    for (const IRNode& node : graph_.nodes) {
      std::vector<TracedOperand> operands;
      for (const IROperand& input : node.inputs)
        operands.push_back(input.id >= 0 ? TracedOperand{.view = views_.at(input.id)}
                                         : TracedOperand{.number = input.number});
      std::vector<TracedView> results;
      for (const ValueId id : node.outputs) results.push_back(add_cell(id, {}));
      add_event(Event::Kind::kComputed, *node.op, std::move(operands), node.attributes, std::move(results));
      events_->back().source = node.source;
    }
    for (const ValueId id : graph_.output_ids) record_.results.push_back({.view = result_of(id)});
    // Last, because the nodes and results are of the old values.
    for (const auto& [id, value] : graph_.updates) {
      TracedView written = views_.at(id);
      written.version = 1;
      add_copy(Event::Kind::kWritten, value, written);
    }
    record_.events = events_;
  }

 private:
  const TracedView& add_view(ValueId id, int32_t cell, Geometry geometry) {
    return views_[id] = {.cell = cell, .dtype = graph_.type(id).dtype, .geometry = std::move(geometry)};
  }

  /// A cell for a value alone, in row-major order.
  const TracedView& add_cell(ValueId id, CellRecord cell) {
    const TensorType& type = graph_.type(id);
    cell.dtype = type.dtype;
    cell.bytes = numel(type.shape) * size_of(type.dtype);
    cell.device = type.device;
    record_.cells.push_back(std::move(cell));
    return add_view(id, static_cast<int32_t>(record_.cells.size()) - 1,
                    {type.shape, contiguous_strides(type.shape), 0});
  }

  void add_handle(const TracedView& view) {
    record_.handles.push_back({.dtype = view.dtype,
                               .device = record_.cells[static_cast<size_t>(view.cell)].device,
                               .cell = view.cell,
                               .geometry = view.geometry});
  }

  /// One value may be several arguments.
  void add_argument(ValueId id) {
    add_handle(views_.contains(id) ? views_.at(id) : add_cell(id, {.is_outside = true}));
  }

  void add_captured(ValueId id, const TensorImpl& tensor) {
    const auto [found, is_new] = cells_.try_emplace(tensor.cell().get(), record_.cells.size());
    if (is_new)
      record_.cells.push_back({.is_outside = true,
                               .dtype = tensor.dtype(),
                               .bytes = tensor.cell()->storage()->bytes(),
                               .device = tensor.device()});
    add_handle(add_view(id, static_cast<int32_t>(found->second), tensor.geometry()));
    record_.handles.back().is_parameter = tensor.is_parameter();
  }

  void add_event(Event::Kind kind, const Op& op, std::vector<TracedOperand> operands, Attributes attributes,
                 std::vector<TracedView> results) {
    events_->push_back({.kind = kind,
                        .op = &op,
                        .operands = std::move(operands),
                        .attributes = std::move(attributes),
                        .results = std::move(results)});
  }

  void add_copy(Event::Kind kind, ValueId from, const TracedView& to) {
    static const Op& clone = op_table().at("clone");
    add_event(kind, clone, {{.view = views_.at(from)}}, clone.schema.default_attributes(), {to});
  }

  /// A result is a new tensor, also if no node computes it.
  TracedView result_of(ValueId id) {
    TracedView view = views_.at(id);
    const CellRecord& cell = record_.cells[static_cast<size_t>(view.cell)];
    if (!cell.is_outside && !cell.constant) return view;
    TracedView copy = add_cell(id, {});
    views_[id] = view;
    add_copy(Event::Kind::kComputed, id, copy);
    return copy;
  }

  const IRGraph& graph_;
  CallRecord& record_;
  const std::shared_ptr<std::vector<Event>> events_ = std::make_shared<std::vector<Event>>();
  std::map<ValueId, TracedView> views_;
  std::map<const Cell*, size_t> cells_;  // of captured tensors
};

}  // namespace

RecordedCall RecordedCall::from_graph(const FunctionGraph& function, std::vector<TensorRef> captured) {
  verify(function.graph);
  const SizeTrace::Scope scope(function.sizes ? &function.sizes->trace : nullptr);
  RecordedCall call;
  GraphCall(function, captured, call.record).add_events();
  std::vector<TracedView> results;
  for (const ResultRecord& result : call.record.results) results.push_back(result.view);
  call.outcome.emplace(results);
  call.record.wanted = call.outcome->cells();
  call.replaces_gradient_of.assign(call.outcome->cells().size(), -1);
  call.known_arguments.assign(call.record.arguments, nullptr);
  std::set<int32_t> written;
  for (const Event& event : *call.record.events)
    if (event.kind == Event::Kind::kWritten) written.insert(event.results.front().cell);
  std::map<int32_t, size_t> firsts;
  for (const HandleRecord& handle : call.record.handles) {
    const size_t first = firsts.try_emplace(handle.cell, call.sharing.size()).first->second;
    const SymInt distance = handle.geometry.offset - call.record.handles[first].geometry.offset;
    call.sharing.push_back({first, distance.unguarded()});
    call.uses.push_back(written.contains(handle.cell) ? MemoryUse::kWritten : MemoryUse::kRead);
    call.bytes.push_back(static_cast<size_t>(call.record.cells[static_cast<size_t>(handle.cell)].bytes.unguarded()));
  }
  for (const TensorRef& tensor : captured) {
    call.known.insert(tensor.get());
    call.kinds.push_back({tensor->type(), tensor->strides(), requires_grad(*tensor)});
  }
  call.find_generators(captured);
  call.captured = std::move(captured);
  return call;
}

}  // namespace lucid::jit
