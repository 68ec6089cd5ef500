#include "jit/tracing_context.h"

#include <algorithm>
#include <atomic>

#include "base/error.h"
#include "ir/evaluate.h"
#include "tensor/autograd_meta.h"
#include "tensor/grad_mode.h"
#include "tensor/node.h"
#include "tensor/plan_cache.h"
#include "tensor/random.h"

namespace lucid::jit {
namespace {

constexpr int kSerialShift = 32;
/// Serial number of a recording in this process. Cells that a recording creates are marked with it.
uint64_t next_serial() { return uint64_t{recordings_begun().fetch_add(1, std::memory_order_relaxed)} + 1; }

}  // namespace

TracingContext::TracingContext(Source source)
    : source_(std::move(source)), first_node_(GradNode::next_number()), errors_before_(errors_made()) {
  current_generator();  // made before the call, which may be the first to use it
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

void TracingContext::outdate(const TensorImpl& tensor) {
  record([&] { outdated_.push_back(tensor.cell()); });
}

void TracingContext::run_out_of_memory() {
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
  for (const TensorRef& result : results) add_handle(*result);
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

bool TracingContext::keeps_tensors(std::span<const TensorImpl* const> results) const {
  // The references that do not keep a tensor.
  std::unordered_map<const TensorImpl*, uint32_t> references;
  const auto count = [&](const TensorRef& tensor) {
    if (tensor) ++references[tensor.get()];
  };
  for (const TensorImpl* result : results) ++references[result];
  for (const auto& [_, view] : views_) {
    count(view.view);
    count(view.base);
  }
  for (const TensorRef& leaf : own_leaves_) count(leaf);
  for (const TracedCell& cell : trace_.cells) count(cell.handle);
  std::unordered_set<const GradSlot*> slots;
  for (const GradientUse& use : gradient_uses_) {
    count(use.leaf);
    count(use.initial);
    const GradSlot* slot = use.slot.get();
    if (!slot && use.leaf && use.leaf->autograd()) slot = use.leaf->autograd()->slot.get();
    if (slot && slots.insert(slot).second) count(slot->grad.load());
  }
  std::vector<const TensorImpl*> roots;
  // They are only counted, so their order does not matter.
  // NOLINTNEXTLINE(bugprone-nondeterministic-pointer-iteration-order)
  for (const auto& [tensor, _] : references)
    if (tensor->root()) roots.push_back(tensor->root().get());
  for (const TensorImpl* root : roots) ++references[root];
  return std::ranges::any_of(own_handles_, [&](const TensorImpl* handle) {
    const auto found = references.find(handle);
    // Without a reference, the handle may be gone: another thread may have destroyed it.
    return found == references.end() || handle->use_count() > found->second;
  });
}

void TracingContext::add_handle(const TensorImpl& tensor) {
  const int32_t cell = find(*tensor.cell());
  const bool is_from_outside = cell < 0 || trace_.cells[static_cast<size_t>(cell)].outside;
  if (!is_from_outside || own_handles_.contains(&tensor)) return;
  if (known_handles_.insert(&tensor).second) handles_.emplace_back(const_cast<TensorImpl*>(&tensor));
}

void TracingContext::made_handle(const TensorImpl& handle, const TensorImpl* source) {
  record([&] {
    if (source) add_handle(*source);
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
  if (std::ranges::find(outdated_, tensor.cell()) != outdated_.end())
    give_up("uses an option of an optimizer after a step of its schedule");
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
        add_handle(*tensor_of(operand));
        traced.view = current_view(*tensor_of(operand));
      } else if (operand.is_scalar())
        traced.number = operand.scalar();
    }
  }
  if (source_) event.source = source_();
  return trace_.events->emplace_back(std::move(event));
}

void TracingContext::made(const TensorImpl& tensor) {
  record([&] {
    add_own_cell(tensor);
    own_handles_.insert(&tensor);
  });
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
  record([&] {
    trace_sizes(call, results);
    if (call.op().effects == Effects::kExternal) give_up(fmt::format("calls {}, which has effects", call.name()));
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
  record([&] {
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
  record([&] { add_view(result, source, nullptr); });
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
  record([&] {
    // Contents that the host wrote are recorded before the op overwrites them, unless it overwrites all of them.
    for (const Operand& operand : call.operands())
      if (operand.is_value()) cell_of(*tensor_of(operand));
    for (const TensorImpl* destination : destinations) {
      add_handle(*destination);
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
  record([&] {
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
  record([&] {
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
  if (leaf) add_handle(*leaf);
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
  record([&] { use_gradient(leaf, slot, true); });
}

void TracingContext::gradient_replaced(const TensorImpl* leaf, const GradSlot* slot) {
  record([&] { use_gradient(leaf, slot, false); });
}

void TracingContext::rebases(TensorImpl& root) {
  record([&] {
    if (is_own(root)) return;
    ++effects_;
    for (const Rebased& rebased : rebased_)
      if (rebased.root.get() == &root) return;
    rebased_.push_back({TensorRef(&root), requires_grad(root) ? gradient_edge(root) : Edge()});
  });
}

void TracingContext::hooked(const GradNode* node) {
  record([&] {
    // A hook on a node that the call created is copied with the node.
    if (!node || is_end(*node)) give_up("registers a gradient hook on a leaf or a tensor from outside");
  });
}

void TracingContext::ran(const GradNode& node) {
  ran_backward_ = true;
  record([&] {
    if (!is_end(node)) return;
    const auto* end = dynamic_cast<const AccumulateNode*>(&node);
    if (!end) return give_up("runs backward through a graph from outside");
    for (const HookList::Entry& entry : node.hooks()) hooks_that_ran_.push_back(entry.hook);
    for (const HookList::Entry& entry : end->slot()->after_accumulate.entries()) hooks_that_ran_.push_back(entry.hook);
  });
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
