#include "jit/tracing_context.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/error.h"
#include "base/out_of_memory.h"
#include "ir/evaluate.h"
#include "runtime/imported_memory.h"
#include "tensor/autograd_meta.h"
#include "tensor/grad_mode.h"
#include "tensor/host_view.h"
#include "tensor/node.h"
#include "tensor/plan_cache.h"
#include "tensor/random.h"

namespace lucid::jit {
namespace {

constexpr int kSerialShift = 32;
/// How often a recorded call may read values of tensors, and how many at a time.
constexpr size_t kMaxGuards = 256;
constexpr int64_t kMaxGuarded = 64;

/// Serial number of a recording in this process. Cells that a recording creates are marked with it.
uint64_t next_serial() { return uint64_t{recordings_begun().fetch_add(1, std::memory_order_relaxed)} + 1; }

/// Appends the elements of a tensor, from `element` on, in row-major order.
void append_elements(const TensorImpl& tensor, size_t axis, const char* element, std::string& bytes) {
  const size_t size = size_of(tensor.dtype());
  if (axis == tensor.sizes().size()) {
    bytes.append(element, size);
    return;
  }
  const int64_t step = tensor.strides()[axis] * static_cast<int64_t>(size);
  for (int64_t i = 0; i < tensor.sizes()[axis]; ++i) append_elements(tensor, axis + 1, element + i * step, bytes);
}

}  // namespace

TracingContext::TracingContext(Source source)
    : source_(std::move(source)), first_node_(GradNode::next_number()), errors_before_(errors_made()) {
  default_generator();  // made before the call, which may be the first to use it
  serial_ = next_serial();
  before_ = set_eager_observer(this);
  is_installed_ = true;
}

bool TracingContext::is_active() { return dynamic_cast<TracingContext*>(eager_observer()) != nullptr; }

void TracingContext::stop() {
  if (!std::exchange(is_installed_, false)) return;
  set_eager_observer(before_);
  caught_error_ = errors_made() != errors_before_;
}

void TracingContext::pause() { set_eager_observer(nullptr); }

void TracingContext::resume() { set_eager_observer(this); }

template <typename Step>
void TracingContext::note(const Step& step) {
  if (is_out_of_memory_ || has_memory_for(step)) return;
  is_out_of_memory_ = true;
  // Fits in the string's inline buffer, so the assignment does not allocate.
  static_assert(kOutOfMemory.size() <= 15);
  trace_.obstacle = kOutOfMemory;
}

void TracingContext::give_up(std::string_view why) {
  if (!trace_.obstacle.empty()) return;
  const std::string source = source_ ? source_() : "";
  trace_.obstacle = source.empty() ? std::string(why) : source + ": " + std::string(why);
}

int32_t TracingContext::find(const Cell& cell) const {
  if (cell.trace_mark() >> kSerialShift == serial_) return static_cast<int32_t>(cell.trace_mark() & 0xffffffff);
  const auto found = outside_.find(&cell);
  return found == outside_.end() ? -1 : found->second;
}

bool TracingContext::uses_tensors_of_other_threads() const {
  return std::ranges::any_of(trace_.cells, [&](const TracedCell& cell) {
    if (!cell.outside) return false;
    const uint64_t mark = cell.outside->trace_mark(), recording = mark >> kSerialShift;
    return (recording != 0 ? recording : mark) >= serial_;
  });
}

std::vector<TensorRef> TracingContext::captured(std::span<const TensorRef> arguments,
                                                std::span<const TensorRef> results) {
  for (const TensorRef& result : results) note_handle(*result);
  std::vector<TensorRef> tensors;
  for (const TensorRef& handle : handles_)
    if (std::ranges::find(arguments, handle) == arguments.end()) tensors.push_back(handle);
  // Memory that the call has used only through handles of its own, such as that of older gradient graphs.
  for (const TracedCell& cell : trace_.cells) {
    const auto is_on_cell = [&](const TensorRef& handle) { return handle->cell() == cell.outside; };
    if (cell.handle && std::ranges::none_of(handles_, is_on_cell)) tensors.push_back(cell.handle);
  }
  return tensors;
}

void TracingContext::note_handle(const TensorImpl& tensor) {
  const int32_t cell = find(*tensor.cell());
  const bool is_from_outside = cell < 0 || trace_.cells[static_cast<size_t>(cell)].outside;
  if (!is_from_outside || own_handles_.contains(&tensor)) return;
  if (known_handles_.insert(&tensor).second) handles_.emplace_back(const_cast<TensorImpl*>(&tensor));
}

void TracingContext::made_handle(const TensorImpl& handle, const TensorImpl* source) {
  note([&] {
    if (source) note_handle(*source);
    own_handles_.insert(&handle);
  });
}

int32_t TracingContext::add_cell(const TensorImpl& tensor) {
  TracedCell& cell = trace_.cells.emplace_back();
  cell.dtype = tensor.dtype();
  cell.bytes = tensor.cell()->storage()->bytes();
  cell.device = tensor.device();
  return static_cast<int32_t>(trace_.cells.size() - 1);
}

int32_t TracingContext::cell_of(const TensorImpl& tensor) {
  int32_t index = find(*tensor.cell());
  if (index < 0) {
    index = add_cell(tensor);
    TracedCell& cell = trace_.cells.back();
    cell.outside = tensor.cell();
    cell.is_defined = true;
    outside_.emplace(tensor.cell().get(), index);
  }
  TracedCell& cell = trace_.cells[static_cast<size_t>(index)];
  if (cell.outside && !cell.handle) cell.handle = TensorRef(const_cast<TensorImpl*>(&tensor));
  if (cell.dtype != tensor.dtype()) give_up("views the memory of a tensor as another dtype");
  if (!cell.is_defined) {
    // Filled by the host: record the current contents as a constant.
    const Ref<Storage> storage = tensor.cell()->storage();
    cell.constant = storage->copy();
    cell.is_defined = true;
  }
  return index;
}

TracedView TracingContext::current_view(const TensorImpl& tensor) {
  const int32_t cell = cell_of(tensor);
  Geometry geometry = tensor.geometry();
  geometry.offset += shift_of(*tensor.cell());
  return {cell, trace_.cells[static_cast<size_t>(cell)].version, tensor.dtype(), std::move(geometry)};
}

TracedView TracingContext::current_view(const Snapshot& snapshot) { return current_view(*snapshot.tensor()); }

Event& TracingContext::add_event(Event::Kind kind, const Call* call) {
  Event event;
  event.kind = kind;
  if (call) {
    event.op = &call->op();
    event.attributes = call->attributes();
    for (const Operand& operand : call->operands()) {
      TracedOperand& traced = event.operands.emplace_back();
      if (operand.is_value()) {
        note_handle(*tensor_of(operand));
        traced.view = current_view(*tensor_of(operand));
      } else if (operand.is_scalar())
        traced.number = operand.scalar();
    }
  }
  if (source_) event.source = source_();
  return trace_.events->emplace_back(std::move(event));
}

void TracingContext::made(const TensorImpl& tensor) {
  note([&] { add_own_cell(tensor); });
}

void TracingContext::add_own_cell(const TensorImpl& tensor) {
  const int32_t index = add_cell(tensor);
  tensor.cell()->set_trace_mark(serial_ << kSerialShift | static_cast<uint64_t>(index));
}

/// Computes the traced sizes of results from those of the operands.
void TracingContext::trace_sizes(const Call& call, const Values& results) {
  if (!SizeTrace::current() || !is_traced(call) || call.op().host) return;
  const std::vector<Geometry> geometries = result_geometries(call);
  for (size_t i = 0; i < results.size(); ++i) {
    TensorImpl& tensor = *tensor_of(results[i]);
    tensor.trace_sizes(geometries[i]);
    trace_.cells[static_cast<size_t>(find(*tensor.cell()))].bytes = tensor.numel() * size_of(tensor.dtype());
  }
}

void TracingContext::computed(const Call& call, const Values& results) {
  note([&] {
    trace_sizes(call, results);
    if (call.op().has_effects) give_up(fmt::format("calls {}, which has effects", call.name()));
    Event& event = add_event(Event::Kind::kComputed, &call);
    for (const Value& result : results) {
      const TensorImpl& tensor = *tensor_of(result);
      const int32_t index = find(*tensor.cell());
      LUCID_CHECK(index >= 0, "{} returned a result whose memory was not created during the recording", call.name());
      trace_.cells[static_cast<size_t>(index)].is_defined = true;
      event.results.push_back(current_view(tensor));
    }
  });
}

void TracingContext::viewed(const Call& call, const TensorImpl& result) {
  note([&] {
    const Operand operands[] = {call.operand(0)};
    const Call first(call.op(), operands, call.attributes());
    Event& event = add_event(Event::Kind::kViewed, &first);
    event.results.push_back(current_view(result));
    add_view(result, handle_of(call.operand(0)), &call);
  });
}

void TracingContext::add_view(const TensorImpl& view, const TensorImpl& base, const Call* call) {
  const int32_t cell = find(*view.cell());
  if (cell >= 0 && !trace_.cells[static_cast<size_t>(cell)].outside) return;
  View& added = views_[&view];
  added = {.view = TensorRef(const_cast<TensorImpl*>(&view)),
           .base = TensorRef(const_cast<TensorImpl*>(&base)),
           .records_gradients = GradMode::enabled(),
           .geometry = view.geometry()};
  if (!call) return;
  added.op = &call->op();
  added.attributes = call->attributes();
}

void TracingContext::detached(const TensorImpl& source, const TensorImpl& result) {
  note([&] { add_view(result, source, nullptr); });
}

const TracingContext::View* TracingContext::view_of(const TensorImpl& tensor) const {
  const auto found = views_.find(&tensor);
  if (found == views_.end()) return nullptr;
  const View& view = found->second;
  const bool is_as_made = tensor.cell() == view.base->cell() && tensor.geometry() == view.geometry;
  return is_as_made ? &view : nullptr;
}

bool TracingContext::is_own(const TensorImpl& handle) const {
  if (views_.contains(&handle)) return true;
  const int32_t cell = find(*handle.cell());
  return cell >= 0 && !trace_.cells[static_cast<size_t>(cell)].outside;
}

bool TracingContext::is_own_leaf(const GradNode& end) const {
  return std::any_of(own_leaves_.begin(), own_leaves_.end(), [&](const TensorRef& leaf) {
    return leaf->autograd() && leaf->autograd()->accumulator.get() == &end;
  });
}

bool TracingContext::is_own_leaf(const GradientUse& use) const {
  return std::any_of(own_leaves_.begin(), own_leaves_.end(), [&](const TensorRef& leaf) {
    return leaf == use.leaf || (use.slot && leaf->autograd() && leaf->autograd()->slot == use.slot);
  });
}

bool TracingContext::is_end(const GradNode& node) const {
  return node.order().number < first_node_ || dynamic_cast<const AccumulateNode*>(&node);
}

void TracingContext::writes(const Call& call, std::span<TensorImpl* const> destinations) {
  note([&] {
    // Contents that the host wrote are recorded before the op overwrites them, unless it overwrites all of them.
    for (const Operand& operand : call.operands())
      if (operand.is_value()) cell_of(*tensor_of(operand));
    for (const TensorImpl* destination : destinations) {
      note_handle(*destination);
      const int32_t index = find(*destination->cell());
      if (index >= 0) {
        TracedCell& cell = trace_.cells[static_cast<size_t>(index)];
        cell.is_defined |= destination->numel() * size_of(destination->dtype()) == cell.bytes;
      }
      const TracedCell& cell = trace_.cells[static_cast<size_t>(cell_of(*destination))];
      if (keeps_contents_) keep_contents_of(*destination, cell);
    }
  });
}

void TracingContext::keep_contents_of(const TensorImpl& tensor, const TracedCell& cell) {
  const auto is_kept = [&](const auto& kept) { return kept.first->cell() == cell.outside; };
  if (cell.outside && std::ranges::none_of(kept_, is_kept))
    kept_.emplace_back(TensorRef(const_cast<TensorImpl*>(&tensor)), cell.outside->storage()->copy());
}

void TracingContext::restore_contents() {
  for (const auto& [tensor, contents] : kept_) {
    Cell& cell = *tensor->cell();
    tensor->before_write();
    const Ref<Storage> storage = cell.storage();
    copy_bytes(storage->device(), storage->data(), contents->data(), contents->bytes());
    cell.after_write();
  }
  kept_.clear();
}

void TracingContext::written(const Call& call, std::span<TensorImpl* const> destinations) {
  note([&] {
    Event& event = add_event(Event::Kind::kWritten, &call);
    for (const TensorImpl* destination : destinations) {
      TracedCell& cell = trace_.cells[static_cast<size_t>(cell_of(*destination))];
      ++cell.version;
      if (cell.outside) ++effects_;
      event.results.push_back(current_view(*destination));
    }
  });
}

void TracingContext::moved(const TensorImpl& source, const TensorImpl& copy) {
  note([&] {
    const TensorRef from =
        make_ref<TensorImpl>(source.dtype(), source.sizes(), source.strides(), source.offset(), source.cell());
    own_handles_.insert(from.get());
    const TracedView view = current_view(*from);
    // `from` is private to this function: the next handle that uses the cell represents it instead.
    TracedCell& cell = trace_.cells[static_cast<size_t>(view.cell)];
    if (cell.handle == from) cell.handle.reset();
    Event& event = add_event(Event::Kind::kMoved, nullptr);
    event.operands.push_back({view, std::nullopt});
    if (find(*copy.cell()) < 0) add_own_cell(copy);
    trace_.cells[static_cast<size_t>(find(*copy.cell()))].is_defined = true;
    event.results.push_back(current_view(copy));
  });
}

void TracingContext::use_gradient(const TensorImpl* leaf, const GradSlot* slot, bool reads) {
  ++effects_;
  if (leaf) note_handle(*leaf);
  for (GradientUse& use : gradient_uses_) {
    // A leaf gets its slot together with its first gradient.
    if (!use.slot && use.leaf && use.leaf->autograd()) use.slot = use.leaf->autograd()->slot;
    const bool is_same = (slot && use.slot.get() == slot) || (leaf && use.leaf.get() == leaf);
    if (!is_same) continue;
    if (leaf && !use.leaf) use.leaf = TensorRef(const_cast<TensorImpl*>(leaf));
    return;
  }
  GradientUse& use = gradient_uses_.emplace_back();
  use.leaf = TensorRef(const_cast<TensorImpl*>(leaf));
  use.slot = Ref<GradSlot>(const_cast<GradSlot*>(slot));
  use.reads_initial = reads;
  if (reads && slot) use.initial = slot->grad.load();
}

void TracingContext::gradient_read(const TensorImpl* leaf, const GradSlot* slot) {
  note([&] { use_gradient(leaf, slot, true); });
}

void TracingContext::gradient_replaced(const TensorImpl* leaf, const GradSlot* slot) {
  note([&] { use_gradient(leaf, slot, false); });
}

void TracingContext::rebases(TensorImpl& root) {
  note([&] {
    if (is_own(root)) return;
    ++effects_;
    for (const Rebased& rebased : rebased_)
      if (rebased.root.get() == &root) return;
    rebased_.push_back({TensorRef(&root), requires_grad(root) ? gradient_edge(root) : Edge()});
  });
}

void TracingContext::hooked(const GradNode* node) {
  note([&] {
    // A hook on a node that the call created is copied with the node.
    if (!node || is_end(*node)) give_up("registers a gradient hook on a leaf or a tensor from outside");
  });
}

void TracingContext::ran(const GradNode& node) {
  ran_backward_ = true;
  note([&] {
    if (!is_end(node)) return;
    const auto* end = dynamic_cast<const AccumulateNode*>(&node);
    if (!end) return give_up("runs backward through a graph from outside");
    for (const HookList::Entry& entry : node.hooks()) hooks_that_ran_.push_back(entry.hook);
    for (const HookList::Entry& entry : end->slot()->after_accumulate.entries()) hooks_that_ran_.push_back(entry.hook);
  });
}

void TracingContext::values_read(const TensorImpl& tensor, ValuesRead what) {
  note([&] {
    if (tensor.numel() == 0) return;
    static const Op& copy = op_table().at("clone");
    static const Op& differs = op_table().at("ne");
    if (trace_.guards.size() == kMaxGuards) return give_up(fmt::format("reads values more than {} times", kMaxGuards));
    const Operand operands[] = {Operand(const_cast<TensorImpl*>(&tensor)), Operand(Scalar(0))};
    if (what == ValuesRead::kTruth) {
      const bool is_true = Scalar::load(tensor.dtype(), HostView(tensor).data()).to_double() != 0;
      return add_guard(tensor, differs, operands, Dtype::kBool, std::string(1, static_cast<char>(is_true)));
    }
    if (is_float(tensor.dtype()))
      return give_up(tensor.numel() == 1 ? "reads a value of a tensor" : "reads values of a tensor");
    if (tensor.numel() > kMaxGuarded) return give_up(fmt::format("reads more than {} values of a tensor", kMaxGuarded));
    std::string expected;
    append_elements(tensor, 0, static_cast<const char*>(HostView(tensor).data()), expected);
    add_guard(tensor, copy, {operands, 1}, tensor.dtype(), std::move(expected));
  });
}

void TracingContext::add_guard(const TensorImpl& tensor, const Op& op, std::span<const Operand> operands, Dtype dtype,
                               std::string expected) {
  const Attributes attributes = op.schema.default_attributes();
  const Call call(op, operands, attributes);
  Event& event = add_event(Event::Kind::kComputed, &call);
  const auto cell = static_cast<int32_t>(trace_.cells.size());
  trace_.cells.push_back({.dtype = dtype, .bytes = expected.size(), .device = tensor.device(), .is_defined = true});
  event.results.push_back({cell, 0, dtype, {tensor.sizes(), contiguous_strides(tensor.sizes()), 0}});
  trace_.guards.push_back({cell, std::move(expected)});
}

void TracingContext::escaped(const TensorImpl&, std::string_view how) {
  note([&] { give_up(how); });
}

void TracingContext::changed(const TensorImpl& tensor, std::string_view how) {
  note([&] {
    if (!is_own(tensor)) return give_up(how);
    own_leaves_.emplace_back(const_cast<TensorImpl*>(&tensor));
  });
}

void TracingContext::inspected(const TensorImpl& tensor, std::string_view how) {
  note([&] {
    if (!is_own(tensor)) give_up(how);
  });
}

void TracingContext::used(const TensorImpl& tensor) {
  note([&] {
    // A gradient is found by its leaf, and is of the same type.
    if (std::ranges::any_of(gradient_uses_, [&](const auto& use) { return use.initial.get() == &tensor; })) return;
    note_handle(tensor);
    if (known_handles_.contains(&tensor)) used_.insert(&tensor);
  });
}

void TracingContext::hashed(const TensorImpl& tensor) {
  note([&] {
    if (!is_own(tensor)) hashed_.emplace_back(const_cast<TensorImpl*>(&tensor));
  });
}

// ---- Imported memory.

int64_t TracingContext::shift_of(const Cell& cell) const {
  if (shifts_.empty()) return 0;
  const auto found = shifts_.find(&cell);
  return found == shifts_.end() ? 0 : found->second;
}

void TracingContext::join_overlapping_cells() {
  if (!imports_may_overlap()) return;
  note([&] {
    std::vector<ImportedCell> cells;
    for (size_t i = 0; i < trace_.cells.size(); ++i)
      if (trace_.cells[i].outside) add_if_imported(*trace_.cells[i].outside, i, cells);
    for (const std::span<const ImportedCell> group : overlapping_groups(cells)) {
      const bool is_written = std::ranges::any_of(
          group, [&](const ImportedCell& member) { return trace_.cells[member.index].version > 0; });
      if (is_written) join(group);
    }
  });
}

void TracingContext::join(std::span<const ImportedCell> group) {
  const ImportedCell& first = group.front();
  TracedCell& joined = trace_.cells[first.index];
  const size_t element = size_of(joined.dtype);
  std::unordered_map<int32_t, int64_t> shifts;
  int32_t writes = 0;
  uintptr_t end = first.end;
  for (const ImportedCell& member : group) {
    const TracedCell& cell = trace_.cells[member.index];
    if (cell.dtype != joined.dtype || (member.begin - first.begin) % element != 0)
      return give_up("writes to imported memory that is also used as another dtype");
    if (member.begin - first.begin != member.address - first.address)
      return give_up("writes to a file that is mapped at several addresses");
    shifts[static_cast<int32_t>(member.index)] = static_cast<int64_t>((member.begin - first.begin) / element);
    writes += cell.version;
    end = std::max(end, member.end);
  }
  joined.bytes = end - first.begin;
  joined.version = writes;
  for (const ImportedCell& member : group) {
    outside_[member.cell] = static_cast<int32_t>(first.index);
    shifts_[member.cell] = shifts[static_cast<int32_t>(member.index)];
  }
  writes = 0;
  const auto move = [&](TracedView& view) {
    const auto shift = shifts.find(view.cell);
    if (shift == shifts.end()) return false;
    view.cell = static_cast<int32_t>(first.index);
    view.geometry.offset += shift->second;
    return true;
  };
  for (Event& event : *trace_.events) {
    for (TracedOperand& operand : event.operands)
      if (operand.view && move(*operand.view)) operand.view->version = writes;
    for (TracedView& result : event.results)
      if (move(result)) result.version = event.kind == Event::Kind::kWritten ? ++writes : writes;
  }
}

TracingContext::Dependencies TracingContext::finish_dependencies(std::string& obstacle) {
  Dependencies all;
  for (const auto& [_, dependency] : dependencies_) {
    // A variable of the function.
    if (dependency->is_gone()) continue;
    const std::string change = dependency->recorded();
    if (obstacle.empty()) obstacle = change;
    all.push_back(dependency);
  }
  return all;
}

}  // namespace lucid::jit
