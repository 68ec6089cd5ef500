#include "jit/recorded_call.h"

#include <algorithm>

#include "jit/overlapping_cells.h"
#include "runtime/imported_memory.h"
#include "tensor/autograd_meta.h"
#include "tensor/random.h"

namespace lucid::jit {

namespace {

bool is_leaf_of(const TracingContext::GradientUse& use, const TensorRef& handle) {
  const AutogradMeta* meta = handle->autograd();
  return use.leaf == handle || (use.slot && meta && meta->slot == use.slot);
}

/// The hooks that see the leaf's gradients.
std::vector<HookRef> hooks_on(const TensorImpl& leaf) {
  std::vector<HookRef> hooks;
  const AutogradMeta* meta = leaf.autograd();
  const auto add = [&](const std::vector<HookList::Entry>& entries) {
    for (const HookList::Entry& entry : entries) hooks.push_back(entry.hook);
  };
  if (meta && meta->accumulator) add(meta->accumulator->hooks());
  if (meta && meta->slot) add(meta->slot->after_accumulate.entries());
  return hooks;
}

/// Whether the handle required grad when the recording began.
bool required_grad(const TracingContext& context, const TensorRef& handle) {
  for (const TracingContext::Rebased& rebased : context.rebased())
    if (rebased.root == handle) return static_cast<bool>(rebased.before);
  return requires_grad(*handle);
}

/// The tensors of `state` that the recording used, without arguments and duplicates.
std::vector<TensorRef> used_state(const TracingContext& context, std::span<const TensorRef> arguments,
                                  std::span<const TensorRef> results, std::span<const TensorRef> state) {
  std::vector<TensorRef> used;
  const auto touches = [&](const TensorRef& handle) {
    const auto& uses = context.gradient_uses();
    return context.find(*handle->cell()) >= 0 || context.is_used(*handle) ||
           std::any_of(results.begin(), results.end(),
                       [&](const TensorRef& result) { return result->cell() == handle->cell(); }) ||
           std::any_of(uses.begin(), uses.end(), [&](const auto& use) { return is_leaf_of(use, handle); });
  };
  for (const TensorRef& handle : state)
    if (std::find(arguments.begin(), arguments.end(), handle) == arguments.end() &&
        std::find(used.begin(), used.end(), handle) == used.end() && touches(handle))
      used.push_back(handle);
  return used;
}

std::vector<RecordedCall::Sharing> sharing_of(std::span<TensorImpl* const> handles) {
  std::unordered_map<const Cell*, size_t> firsts;
  std::vector<RecordedCall::Sharing> sharing;
  for (size_t i = 0; i < handles.size(); ++i) {
    const size_t first = firsts.try_emplace(handles[i]->cell().get(), i).first->second;
    sharing.push_back({first, handles[i]->offset() - handles[first]->offset()});
  }
  return sharing;
}

}  // namespace

std::optional<RecordedCall> RecordedCall::finish(TracingContext& context, std::span<const TensorRef> arguments,
                                                 std::span<const TensorRef> results, std::span<const TensorRef> state,
                                                 const std::string& name, std::string& obstacle) {
  context.join_overlapping_cells();
  obstacle = context.trace().obstacle;
  if (!obstacle.empty()) return std::nullopt;
  RecordedCall call;
  std::vector<TensorRef> known(state.begin(), state.end());
  known.push_back(current_generator().state_cell());
  for (const TensorRef& handle : known) call.known.insert(handle.get());
  for (const TensorRef& argument : arguments)
    call.known_arguments.push_back(call.known.contains(argument.get()) ? argument.get() : nullptr);
  // Guards compare which tensors the state consists of; another call may pass others.
  for (const TensorRef& tensor : context.hashed())
    if (!call.known.contains(tensor.get())) obstacle = "reads the hash of an argument";
  if (!obstacle.empty()) return std::nullopt;
  call.captured = used_state(context, arguments, results, known);
  std::vector<TensorRef> handles(arguments.begin(), arguments.end());
  handles.insert(handles.end(), call.captured.begin(), call.captured.end());
  const auto effects = call.find_gradients(context, handles, obstacle);
  if (!obstacle.empty()) return std::nullopt;
  call.outcome.emplace(context, results, handles, effects, obstacle);
  // Finding the origin of a result may have added an obstacle to the trace.
  if (obstacle.empty()) obstacle = context.trace().obstacle;
  if (!obstacle.empty()) return std::nullopt;
  call.outcome->gradients().plan_backward(name);
  call.record.name = name;
  call.describe_handles(context, handles);
  call.describe_values(context);
  call.find_generators(handles);
  call.describe_results(context, results, handles);
  return call;
}

CallGraph RecordedCall::graph() const {
  const SizeTrace::Scope scope(record.sizes ? &record.sizes->trace : nullptr);
  return build_graph(record);
}

FunctionGraph RecordedCall::function() const {
  const SizeTrace::Scope scope(record.sizes ? &record.sizes->trace : nullptr);
  return build_function(record);
}

void RecordedCall::describe_handles(TracingContext& context, std::span<const TensorRef> handles) {
  replaces_gradient_of.assign(outcome->cells().size(), -1);
  for (const auto& [cell, handle] : outcome->new_gradients())
    if (std::find(gradient_handles.begin(), gradient_handles.end(), handle) == gradient_handles.end())
      replaces_gradient_of[cell] = static_cast<int64_t>(handle);
  std::vector<TensorImpl*> pointers;
  for (const TensorRef& handle : handles) pointers.push_back(handle.get());
  for (const TensorRef& handle : handles) {
    const int32_t cell = context.find(*handle->cell());
    const bool is_written = cell >= 0 && context.trace().cells[static_cast<size_t>(cell)].version > 0;
    uses.push_back(is_written ? MemoryUse::kWritten : cell >= 0 ? MemoryUse::kRead : MemoryUse::kNone);
  }
  sharing = sharing_of(pointers);
  if (imports_may_overlap()) add_overlaps(pointers, sharing);
  for (const TensorRef& handle : handles.subspan(argument_count()))
    kinds.push_back({handle->type(), handle->strides(), required_grad(context, handle)});
  for (const TensorRef& handle : handles) {
    HandleRecord& described = record.handles.emplace_back();
    described.dtype = handle->dtype();
    described.device = handle->device();
    described.cell = context.find(*handle->cell());
    described.shift = context.shift_of(*handle->cell());
    described.geometry = handle->geometry();
    described.geometry.offset += described.shift;
    described.is_parameter = handle->is_parameter();
    bytes.push_back(handle->cell()->storage()->bytes());
  }
}

void RecordedCall::find_generators(std::span<const TensorRef> tensors) {
  static const Op& add = op_table().at("add");
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!dynamic_cast<const GeneratorState*>(tensors[i].get())) continue;
    GeneratorUse use{.handle = record.handles.size() - tensors.size() + i};
    HandleRecord& handle = record.handles[use.handle];
    for (const Event& event : *record.events) {
      if (event.kind != Event::Kind::kWritten || event.results.front().cell != handle.cell) continue;
      if (event.op == &add && !use.sets_state)
        use.count += event.operands[1].number->to_int();
      else
        use.sets_state = true;
    }
    handle.is_advanced = !use.sets_state;
    generators.push_back(use);
  }
}

void RecordedCall::describe_results(TracingContext& context, std::span<const TensorRef> results,
                                    std::span<const TensorRef> handles) {
  for (const TensorRef& result : results) {
    ResultRecord& described = record.results.emplace_back();
    if (context.find(*result->cell()) >= 0) {
      described.view = context.current_view(*result);
      continue;
    }
    const auto is_same = [&](const TensorRef& handle) {
      return handle->cell() == result->cell() && handle->geometry() == result->geometry();
    };
    described.handle = static_cast<size_t>(std::ranges::find_if(handles, is_same) - handles.begin());
  }
}

void RecordedCall::describe_values(const TracingContext& context) {
  const Trace& trace = context.trace();
  record.events = trace.events;
  record.arguments = argument_count();
  record.wanted = outcome->cells();
  for (const ValueGuard& guard : trace.guards) {
    record.wanted.push_back(guard.cell);
    branch.push_back(guard.expected);
    const auto reads = [&](const Event& event) { return event.results.front().cell == guard.cell; };
    const auto event = std::ranges::find_if(*trace.events, reads);
    branch_sources.push_back(event == trace.events->end() ? "" : event->source);
  }
  record.expected = branch;
  record.sizes = context.sizes();
  for (const TracedCell& cell : trace.cells)
    record.cells.push_back({static_cast<bool>(cell.outside), cell.constant, cell.dtype, cell.bytes, cell.device});
}

std::vector<Outcome::GradientEffect> RecordedCall::find_gradients(const TracingContext& context,
                                                                  std::vector<TensorRef>& handles,
                                                                  std::string& obstacle) {
  std::vector<Outcome::GradientEffect> effects;
  const size_t count = handles.size();
  for (const TracingContext::GradientUse& use : context.gradient_uses()) {
    const auto end = handles.begin() + static_cast<std::ptrdiff_t>(count);
    const auto found = std::find_if(handles.begin(), end, [&](const TensorRef& h) { return is_leaf_of(use, h); });
    if (found == end) {
      if (!context.is_own_leaf(use))
        obstacle = "uses the gradient of a tensor that is neither an argument nor reachable from the function";
      continue;
    }
    const auto handle = static_cast<size_t>(found - handles.begin());
    watched.push_back({handle, hooks_on(*handles[handle])});
    const TensorRef now = gradient(*handles[handle]);
    if (use.reads_initial && !use.initial) without_gradient.push_back(handle);
    if (use.initial) {
      gradient_handles.push_back(handle);
      handles.push_back(use.initial);
    }
    if (use.reads_initial && now == use.initial) continue;
    if (now && requires_grad(*now)) obstacle = "leaves a gradient that requires grad";
    effects.push_back({.handle = handle, .is_none = !now});
  }
  for (const HookRef& hook : context.hooks_that_ran())
    if (hook->is_removed()) obstacle = "removes a gradient hook";
  return effects;
}

bool RecordedCall::fits(std::span<TensorImpl* const> handles) const {
  for (size_t i = 0; i < argument_count(); ++i)
    if ((known.contains(handles[i]) ? handles[i] : nullptr) != known_arguments[i]) return false;
  for (size_t i = 0; i < kinds.size(); ++i) {
    const TensorImpl* handle = handles[argument_count() + i];
    const Kind& kind = kinds[i];
    if (handle->dtype() != kind.type.dtype || handle->sizes() != kind.type.shape ||
        handle->device() != kind.type.device || handle->strides() != kind.strides ||
        requires_grad(*handle) != kind.requires_grad)
      return false;
  }
  return std::ranges::none_of(without_gradient,
                              [&](size_t leaf) { return static_cast<bool>(gradient(*handles[leaf])); }) &&
         std::ranges::all_of(watched, [&](const Watched& it) { return hooks_on(*handles[it.handle]) == it.hooks; }) &&
         outcome->fits(handles);
}

bool RecordedCall::shares_exactly(std::span<TensorImpl* const> handles) const {
  std::vector<Sharing> found = sharing_of(handles);
  if (imports_may_overlap()) [[unlikely]]
    add_overlaps(handles, found);
  return found == sharing;
}

void RecordedCall::add_overlaps(std::span<TensorImpl* const> handles, std::vector<Sharing>& found) const {
  std::vector<ImportedCell> cells;
  for (size_t i = 0; i < handles.size(); ++i)
    if (uses[i] != MemoryUse::kNone) add_if_imported(*handles[i]->cell(), i, cells);
  for (const std::span<const ImportedCell> group : overlapping_groups(cells)) {
    if (std::ranges::none_of(group, [&](const ImportedCell& m) { return uses[m.index] == MemoryUse::kWritten; }))
      continue;
    const ImportedCell& first = group.front();
    for (const ImportedCell& member : group) {
      found.push_back({first.index, static_cast<int64_t>(member.begin - first.begin)});
      found.push_back({first.index, static_cast<int64_t>(member.address - first.address)});
      found.push_back({member.index, static_cast<int64_t>(member.end - member.begin)});
    }
  }
}

}  // namespace lucid::jit
