#include "jit/program.h"

#include <algorithm>
#include <cstring>

#include "base/blocking.h"
#include "base/error.h"
#include "base/memory_reserve.h"
#include "jit/overlapping_cells.h"
#include "jit/program_frame.h"
#include "runtime/imported_memory.h"
#include "tensor/autograd_meta.h"
#include "tensor/eager.h"
#include "tensor/grad_mode.h"
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

/// Whether only the leaf and the caller's reference hold the gradient, and nothing else holds its memory.
bool is_exclusive_to_leaf(const TensorRef& gradient) {
  return gradient->use_count() == 2 && gradient->cell()->is_exclusive();
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

}  // namespace

Ref<Program> Program::record(TracingContext& context, std::span<const TensorRef> arguments,
                             std::span<const TensorRef> results, std::span<const TensorRef> state,
                             const std::string& name, std::string& obstacle) {
  context.join_overlapping_cells();
  obstacle = context.trace().obstacle;
  if (!obstacle.empty()) return nullptr;
  auto program = make_ref<Program>();
  std::vector<TensorRef> known(state.begin(), state.end());
  known.push_back(current_generator().state_cell());
  for (const TensorRef& handle : known) program->known_.insert(handle.get());
  for (const TensorRef& argument : arguments)
    program->known_arguments_.push_back(program->known_.contains(argument.get()) ? argument.get() : nullptr);
  // Guards compare which tensors the state consists of; another call may pass others.
  for (const TensorRef& tensor : context.hashed())
    if (!program->known_.contains(tensor.get())) obstacle = "reads the hash of an argument";
  if (!obstacle.empty()) return nullptr;
  program->state_ = used_state(context, arguments, results, known);
  std::vector<TensorRef> handles(arguments.begin(), arguments.end());
  handles.insert(handles.end(), program->state_.begin(), program->state_.end());
  const auto effects = program->find_gradients(context, handles, obstacle);
  if (!obstacle.empty()) return nullptr;
  program->outcome_.emplace(context, results, handles, effects, obstacle);
  // Finding the origin of a result may have added an obstacle to the trace.
  if (obstacle.empty()) obstacle = context.trace().obstacle;
  if (!obstacle.empty()) return nullptr;
  program->outcome_->gradients().plan_backward(name);
  program->describe_handles(context, handles, arguments.size());
  program->find_generators(context, handles);
  const Trace& trace = context.trace();
  CallRecord& record = program->job_->record;
  record.name = name;
  record.events = trace.events;
  record.arguments = arguments.size();
  record.wanted = program->outcome_->cells();
  for (const ValueGuard& guard : trace.guards) {
    record.wanted.push_back(guard.cell);
    program->branch_.push_back(guard.expected);
    const auto reads = [&](const Event& event) { return event.results.front().cell == guard.cell; };
    const auto event = std::ranges::find_if(*trace.events, reads);
    program->branch_sources_.push_back(event == trace.events->end() ? "" : event->source);
  }
  record.expected = program->branch_;
  record.sizes = context.sizes();
  for (const TracedCell& cell : trace.cells)
    record.cells.push_back({static_cast<bool>(cell.outside), cell.constant, cell.dtype, cell.bytes, cell.device});
  return program;
}

void Program::describe_handles(TracingContext& context, std::span<const TensorRef> handles, size_t arguments) {
  job_ = std::make_shared<Job>();
  replaces_gradient_of_.assign(outcome_->cells().size(), -1);
  for (const auto& [cell, handle] : outcome_->new_gradients())
    if (std::find(gradient_handles_.begin(), gradient_handles_.end(), handle) == gradient_handles_.end())
      replaces_gradient_of_[cell] = static_cast<int64_t>(handle);
  std::vector<TensorImpl*> pointers;
  for (const TensorRef& handle : handles) pointers.push_back(handle.get());
  for (const TensorRef& handle : handles) {
    const int32_t cell = context.find(*handle->cell());
    const bool is_written = cell >= 0 && context.trace().cells[static_cast<size_t>(cell)].version > 0;
    uses_.push_back(is_written ? MemoryUse::kWritten : cell >= 0 ? MemoryUse::kRead : MemoryUse::kNone);
  }
  sharing_ = sharing_of(pointers);
  if (imports_may_overlap()) add_overlaps(pointers, sharing_);
  for (const TensorRef& handle : handles.subspan(arguments))
    state_kinds_.push_back({handle->type(), handle->strides(), required_grad(context, handle)});
  for (const TensorRef& handle : handles) {
    HandleRecord& record = job_->record.handles.emplace_back();
    record.cell = context.find(*handle->cell());
    record.shift = context.shift_of(*handle->cell());
    record.geometry = handle->geometry();
    record.geometry.offset += record.shift;
    record.is_parameter = handle->is_parameter();
    bytes_.push_back(handle->cell()->storage()->bytes());
  }
}

void Program::find_generators(const TracingContext& context, std::span<const TensorRef> handles) {
  static const Op& add = op_table().at("add");
  for (size_t i = 0; i < handles.size(); ++i) {
    if (!dynamic_cast<const GeneratorState*>(handles[i].get())) continue;
    GeneratorUse use{.handle = i};
    const int32_t cell = context.find(*handles[i]->cell());
    for (const Event& event : *context.trace().events) {
      if (event.kind != Event::Kind::kWritten || event.results.front().cell != cell) continue;
      if (event.op == &add && !use.sets_state)
        use.count += event.operands[1].number->to_int();
      else
        use.sets_state = true;
    }
    job_->record.handles[i].is_advanced = !use.sets_state;
    generators_.push_back(use);
  }
}

Program::~Program() {
  if (task_ && job_) task_->cancel();
}

std::string Program::compile_now(const PassList* passes) {
  if (!job_) return call_.obstacle;  // it is compiled
  CallPlan call = compile_call(job_->record, passes);
  return take(call);
}

void Program::compile_later() {
  task_ = CompileTask::start([job = job_] { job->result = compile_call(job->record); });
}

std::string Program::finish() {
  if (!job_) return call_.obstacle;
  task_->rethrow();
  return take(job_->result);
}

std::string Program::take(CallPlan& call) {
  const std::vector<HandleRecord>& handles = job_->record.handles;
  decltype(offsets_) offsets;
  for (size_t i = 0; i < handles.size(); ++i)
    if (std::any_of(call.written.begin(), call.written.end(),
                    [&](size_t written) { return handles[written].cell == handles[i].cell; }))
      offsets.emplace_back(i, handles[i].geometry.offset - handles[i].shift);
  offsets_ = std::move(offsets);
  call_ = std::move(call);
  if (call_.source) family_ = std::make_shared<PlanFamily>(call_.source);
  for (const GraphInput& input : call_.inputs)
    if (input.kind == GraphInput::Kind::kNumber) numbers_ = std::max(numbers_, input.number + 1);
  job_.reset();
  return call_.obstacle;
}

std::vector<Outcome::GradientEffect> Program::find_gradients(const TracingContext& context,
                                                             std::vector<TensorRef>& handles, std::string& obstacle) {
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
    watched_.push_back({handle, hooks_on(*handles[handle])});
    const TensorRef now = gradient(*handles[handle]);
    if (use.reads_initial && !use.initial) without_gradient_.push_back(handle);
    if (use.initial) {
      gradient_handles_.push_back(handle);
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

bool Program::find_handles(std::span<TensorImpl* const> arguments, Handles& handles) const {
  handles.all.clear();
  handles.gradients.clear();
  for (TensorImpl* argument : arguments) handles.all.push_back(argument);
  for (TensorImpl* argument : handles.found.pointers()) handles.all.push_back(argument);
  for (const TensorRef& handle : state_) handles.all.push_back(handle.get());
  for (size_t leaf : gradient_handles_) {
    TensorRef grad = gradient(*handles.all[leaf]);
    if (!grad) return false;
    handles.all.push_back(grad.get());
    handles.gradients.push_back(std::move(grad));
  }
  return true;
}

bool Program::gradients_fit(std::span<TensorImpl* const> handles) const {
  return std::none_of(without_gradient_.begin(), without_gradient_.end(),
                      [&](size_t leaf) { return static_cast<bool>(gradient(*handles[leaf])); }) &&
         std::all_of(watched_.begin(), watched_.end(),
                     [&](const Watched& watched) { return hooks_on(*handles[watched.handle]) == watched.hooks; });
}

bool Program::arguments_alias_as_recorded(std::span<TensorImpl* const> arguments) const {
  for (size_t i = 0; i < arguments.size(); ++i)
    if ((known_.contains(arguments[i]) ? arguments[i] : nullptr) != known_arguments_[i]) return false;
  return true;
}

bool Program::fits(std::span<TensorImpl* const> arguments, Handles& found) const {
  if (found.numbers.size() < numbers_) return false;
  if (arguments.size() + found.found.size() != known_arguments_.size()) return false;
  if (!find_handles(arguments, found)) return false;
  if (!arguments_alias_as_recorded({found.all.data(), known_arguments_.size()})) return false;
  const SmallVector<TensorImpl*, 16>& handles = found.all;
  for (size_t i = 0; i < state_kinds_.size(); ++i) {
    const TensorImpl* handle = handles[known_arguments_.size() + i];
    const Kind& kind = state_kinds_[i];
    if (handle->dtype() != kind.type.dtype || handle->sizes() != kind.type.shape ||
        handle->device() != kind.type.device || handle->strides() != kind.strides ||
        requires_grad(*handle) != kind.requires_grad)
      return false;
  }
  const std::span<TensorImpl* const> all(handles.data(), handles.size());
  if (uses_gradients() && !gradients_fit(all)) return false;
  if (!outcome_->fits(all)) return false;
  if (call_.written.empty()) {
    if (!shares_as_recorded(all)) return false;
    if (!family_) return true;
    PlanFamily::Answer answer = family_->plan_for(all, found.sizes, waits_);
    found.sized = std::move(answer.plan);
    found.is_pending = answer.is_pending;
    return static_cast<bool>(found.sized);
  }
  for (size_t written : call_.written) {
    if (handles[written]->cell()->storage()->bytes() != bytes_[written]) return false;
  }
  for (const auto& [handle, offset] : offsets_)
    if (handles[handle]->offset() != offset) return false;
  std::vector<Sharing> sharing = sharing_of(all);
  if (imports_may_overlap()) [[unlikely]]
    add_overlaps(all, sharing);
  return sharing == sharing_;
}

bool Program::fits(std::span<TensorImpl* const> arguments) const {
  Handles handles;
  return fits(arguments, handles);
}

std::vector<Program::Sharing> Program::sharing_of(std::span<TensorImpl* const> handles) {
  std::unordered_map<const Cell*, size_t> firsts;
  std::vector<Sharing> sharing;
  for (size_t i = 0; i < handles.size(); ++i) {
    const size_t first = firsts.try_emplace(handles[i]->cell().get(), i).first->second;
    sharing.push_back({first, handles[i]->offset() - handles[first]->offset()});
  }
  return sharing;
}

void Program::add_overlaps(std::span<TensorImpl* const> handles, std::vector<Sharing>& sharing) const {
  std::vector<ImportedCell> cells;
  for (size_t i = 0; i < handles.size(); ++i)
    if (uses_[i] != MemoryUse::kNone) add_if_imported(*handles[i]->cell(), i, cells);
  for (const std::span<const ImportedCell> group : overlapping_groups(cells)) {
    if (std::ranges::none_of(group, [&](const ImportedCell& m) { return uses_[m.index] == MemoryUse::kWritten; }))
      continue;
    const ImportedCell& first = group.front();
    for (const ImportedCell& member : group) {
      sharing.push_back({first.index, static_cast<int64_t>(member.begin - first.begin)});
      sharing.push_back({first.index, static_cast<int64_t>(member.address - first.address)});
      sharing.push_back({member.index, static_cast<int64_t>(member.end - member.begin)});
    }
  }
}

bool Program::shares_as_recorded(std::span<TensorImpl* const> handles) const {
  for (size_t i = 0; i < sharing_.size(); ++i) {
    const auto& [first, distance] = sharing_[i];
    if (first == i) continue;
    if (handles[i]->cell() != handles[first]->cell()) return false;
    if (handles[i]->offset() - handles[first]->offset() != distance) return false;
  }
  return true;
}

Ref<Storage> Program::memory_for(const CallPlan& call, size_t output, std::span<TensorImpl* const> handles) const {
  const size_t own = call.outputs.size() - call.written.size();
  if (call.plan->donors[output] >= 0 && !handles[call.written[output - own]]->cell()->has_snapshots()) return nullptr;
  const auto bytes = static_cast<size_t>(call.outputs[output].bytes);
  const int64_t leaf = output < replaces_gradient_of_.size() ? replaces_gradient_of_[output] : -1;
  if (leaf >= 0 && call.plan->is_safe[output]) {
    // The call drops the old gradient. If nothing else refers to it, its memory is reused for the new one.
    const TensorRef old = gradient(*handles[static_cast<size_t>(leaf)]);
    if (old && is_exclusive_to_leaf(old) && old->device() == call.outputs[output].device &&
        old->cell()->storage()->bytes() == bytes)
      return old->cell()->storage();
  }
  return Storage::allocate(bytes, call.outputs[output].device);
}

const Program::GeneratorUse* Program::generator_use_of(size_t handle) const {
  for (const GeneratorUse& use : generators_)
    if (sharing_[use.handle].first == sharing_[handle].first) return &use;
  return nullptr;
}

bool Program::is_on(const Branch& known) const {
  return known.size() <= branch_.size() && std::equal(known.begin(), known.end(), branch_.begin());
}

bool Program::run(const Handles& handles, CallResults& results, Branch& branch) const {
  // fits() has looked at the handles; the frame holds their memory.
  BorrowScope borrowed;
  Frame frame(*this, handles, Frame::Purpose::kCommit);
  borrowed.end();
  // The scope includes the plan, which may write in place.
  const CommitScope commit;
  if (const int64_t error = frame.run()) {
    if (error == Plan::kOtherOutput) branch = frame.branch(outcome_->cells().size(), branch_);
    return false;
  }
  // Nothing fails from here on: the writes are committed, then the results are created.
  frame.commit(*this);
  outcome_->make({handles.all.data(), handles.all.size()}, frame.cells(), frame.make_own_cells(),
                 handles.sized ? &handles.sized->sizes : nullptr, results);
  return true;
}

bool Program::run(std::span<TensorImpl* const> arguments, CallResults& results) const {
  Handles handles;
  Branch branch;
  return numbers_ == 0 && find_handles(arguments, handles) && run(handles, results, branch);
}

}  // namespace lucid::jit
