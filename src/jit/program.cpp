#include "jit/program.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/memory_reserve.h"
#include "tensor/autograd_meta.h"
#include "tensor/eager.h"
#include "tensor/grad_mode.h"
#include "tensor/random.h"

namespace lucid::jit {
namespace {

/// For each handle, the first that is on the same cell.
std::vector<size_t> sharing_of(std::span<TensorImpl* const> handles) {
  std::unordered_map<const Cell*, size_t> first;
  std::vector<size_t> sharing;
  for (size_t i = 0; i < handles.size(); ++i)
    sharing.push_back(first.try_emplace(handles[i]->cell().get(), i).first->second);
  return sharing;
}

bool is_leaf_of(const TracingContext::GradientUse& use, const TensorRef& handle) {
  const AutogradMeta* meta = handle->autograd();
  return use.leaf == handle || (use.slot && meta && meta->slot == use.slot);
}

/// Who sees the leaf's gradients.
std::vector<std::shared_ptr<GradientHook>> hooks_on(const TensorImpl& leaf) {
  std::vector<std::shared_ptr<GradientHook>> hooks;
  const AutogradMeta* meta = leaf.autograd();
  const auto add = [&](const std::shared_ptr<GradientHook>& hook) {
    if (*hook) hooks.push_back(hook);
  };
  if (meta && meta->accumulator)
    for (const GradNode::Hook& hook : std::as_const(*meta->accumulator).hooks()) add(hook.function);
  if (meta && meta->slot)
    for (const auto& hook : meta->slot->after_accumulate) add(hook);
  return hooks;
}

/// Whether the handle did when the recording began.
bool required_grad(const TracingContext& context, const TensorRef& handle) {
  for (const TracingContext::Rebased& rebased : context.rebased())
    if (rebased.root == handle) return static_cast<bool>(rebased.before);
  return requires_grad(*handle);
}

/// Whether nobody but its leaf, and the caller, holds a gradient or its memory.
bool is_only_the_leafs(const TensorRef& gradient) {
  const Cell& cell = *gradient->cell();
  return gradient->use_count() == 2 && cell.use_count() == 1 && !cell.has_snapshots() &&
         cell.storage()->use_count() == 1 && !cell.storage()->borrowed();
}

/// State that the recording met, of all that it might have.
std::vector<TensorRef> used_state(const TracingContext& context, std::span<const TensorRef> arguments,
                                  std::span<const TensorRef> results, std::span<const TensorRef> state) {
  std::vector<TensorRef> used;
  const auto touches = [&](const TensorRef& handle) {
    const auto& uses = context.gradient_uses();
    return context.find(*handle->cell()) >= 0 ||
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
  obstacle = context.trace().obstacle;
  if (!obstacle.empty()) return nullptr;
  auto program = make_ref<Program>();
  std::vector<TensorRef> known(state.begin(), state.end());
  known.push_back(default_generator().state_cell());
  for (const TensorRef& handle : known) program->known_.insert(handle.get());
  for (const TensorRef& argument : arguments)
    program->known_arguments_.push_back(program->known_.contains(argument.get()) ? argument.get() : nullptr);
  program->state_ = used_state(context, arguments, results, known);
  const auto& used = program->state_;
  program->draws_ = std::find(used.begin(), used.end(), default_generator().state_cell()) != used.end();
  std::vector<TensorRef> handles(arguments.begin(), arguments.end());
  handles.insert(handles.end(), program->state_.begin(), program->state_.end());
  const auto effects = program->find_gradients(context, handles, obstacle);
  if (!obstacle.empty()) return nullptr;
  program->outcome_.emplace(context, results, handles, effects, obstacle);
  // Looking at results may have met one.
  if (obstacle.empty()) obstacle = context.trace().obstacle;
  if (!obstacle.empty()) return nullptr;
  program->outcome_->gradients().plan_backward(name);
  program->describe_handles(context, handles, arguments.size());
  const Trace& trace = context.trace();
  CallRecord& record = program->job_->record;
  record.name = name;
  record.events = trace.events;
  record.arguments = arguments.size();
  record.wanted = program->outcome_->cells();
  for (const TracedCell& cell : trace.cells)
    record.cells.push_back({static_cast<bool>(cell.outside), cell.constant, cell.dtype, cell.bytes});
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
  sharing_ = sharing_of(pointers);
  for (size_t i = 0; i < sharing_.size(); ++i)
    if (sharing_[i] != i) shared_.push_back({sharing_[i], i, handles[i]->offset() - handles[sharing_[i]]->offset()});
  for (const TensorRef& handle : handles.subspan(arguments))
    state_kinds_.push_back({handle->dtype(), handle->sizes(), handle->strides(), required_grad(context, handle)});
  for (const TensorRef& handle : handles) {
    job_->record.handles.push_back({context.find(*handle->cell()), handle->geometry(), handle->is_parameter()});
    // The generator's memory always has one size, and may be looked at only under its lock.
    const bool is_generator = handle == default_generator().state_cell();
    bytes_.push_back(is_generator ? 0 : handle->cell()->storage()->bytes());
  }
}

Program::~Program() {
  if (task_ && job_) task_->cancel();
}

std::string Program::compile_now(const PassList* passes) {
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
      offsets.emplace_back(i, handles[i].geometry.offset);
  offsets_ = std::move(offsets);
  call_ = std::move(call);
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
        obstacle =
            "uses the gradient of a tensor that is neither an argument nor found among what the function refers to";
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
    if (now && requires_grad(*now)) obstacle = "leaves a gradient that has a gradient";
    effects.push_back({.handle = handle, .is_none = !now});
  }
  for (const std::shared_ptr<GradientHook>& hook : context.hooks_that_ran())
    if (!*hook) obstacle = "removes a gradient hook";
  return effects;
}

SmallVector<TensorImpl*, 16> Program::all_handles(std::span<TensorImpl* const> arguments) const {
  SmallVector<TensorImpl*, 16> handles;
  for (TensorImpl* argument : arguments) handles.push_back(argument);
  for (const TensorRef& handle : state_) handles.push_back(handle.get());
  for (size_t leaf : gradient_handles_) {
    // Its slot holds it.
    handles.push_back(gradient(*handles[leaf]).get());
  }
  return handles;
}

bool Program::gradients_fit(std::span<TensorImpl* const> handles) const {
  return std::none_of(without_gradient_.begin(), without_gradient_.end(),
                      [&](size_t leaf) { return static_cast<bool>(gradient(*handles[leaf])); }) &&
         std::all_of(watched_.begin(), watched_.end(),
                     [&](const Watched& watched) { return hooks_on(*handles[watched.handle]) == watched.hooks; });
}

bool Program::is_known_as_recorded(std::span<TensorImpl* const> arguments) const {
  for (size_t i = 0; i < arguments.size(); ++i)
    if ((known_.contains(arguments[i]) ? arguments[i] : nullptr) != known_arguments_[i]) return false;
  return true;
}

bool Program::fits(std::span<TensorImpl* const> arguments) const {
  if (!is_known_as_recorded(arguments)) return false;
  const auto handles = all_handles(arguments);
  for (size_t i = 0; i < state_kinds_.size(); ++i) {
    const TensorImpl* handle = handles[arguments.size() + i];
    const Kind& kind = state_kinds_[i];
    if (!handle || handle->dtype() != kind.dtype || handle->sizes() != kind.sizes ||
        handle->strides() != kind.strides || requires_grad(*handle) != kind.requires_grad)
      return false;
  }
  const std::span<TensorImpl* const> all(handles.data(), handles.size());
  if (!gradients_fit(all) || !outcome_->fits(all)) return false;
  if (!shares_as_recorded(all)) return false;
  if (call_.written.empty()) return true;
  for (size_t written : call_.written) {
    const TensorImpl* handle = handles[written];
    if (handle == default_generator().state_cell().get()) continue;
    if (handle->cell()->storage()->bytes() != bytes_[written]) return false;
  }
  for (const auto& [handle, offset] : offsets_)
    if (handles[handle]->offset() != offset) return false;
  return sharing_of(all) == sharing_;
}

bool Program::shares_as_recorded(std::span<TensorImpl* const> handles) const {
  return std::all_of(shared_.begin(), shared_.end(), [&](const Shared& shared) {
    const TensorImpl& first = *handles[shared.first];
    const TensorImpl& other = *handles[shared.other];
    return first.cell() == other.cell() && other.offset() - first.offset() == shared.distance;
  });
}

Ref<Storage> Program::memory_for(size_t kept, std::span<TensorImpl* const> handles) const {
  const size_t own = call_.kept.size() - call_.written.size();
  if (call_.plan->overwrites[kept] >= 0 && !handles[call_.written[kept - own]]->cell()->has_snapshots()) return nullptr;
  const int64_t leaf = kept < own ? replaces_gradient_of_[kept] : -1;
  if (leaf >= 0 && call_.plan->is_safe[kept]) {
    // The gradient before goes in any case; if nobody else sees it, its memory is free.
    const TensorRef old = gradient(*handles[static_cast<size_t>(leaf)]);
    if (old && is_only_the_leafs(old) && old->cell()->storage()->bytes() == call_.kept[kept].bytes)
      return old->cell()->storage();
  }
  return Storage::allocate(call_.kept[kept].bytes);
}

std::optional<std::vector<TensorRef>> Program::run(std::span<TensorImpl* const> arguments) const {
  std::unique_lock<std::mutex> drawing;
  if (draws_) drawing = default_generator().lock();
  const auto handles = all_handles(arguments);
  const bool packs = !call_.plan->packed_bytes.empty();
  SmallVector<void*, 16> inputs;
  SmallVector<PackedForms*, 16> forms;
  for (const GraphInput& input : call_.inputs) {
    Cell* cell = nullptr;
    if (input.kind == GraphInput::Kind::kConstant) {
      inputs.push_back(input.constant->data());
    } else {
      TensorImpl& handle = *handles[input.handle];
      cell = handle.cell().get();
      inputs.push_back(input.kind == GraphInput::Kind::kHandle ? handle.data() : cell->storage()->data());
    }
    if (packs) forms.push_back(cell && !cell->storage()->borrowed() ? &cell->packed_forms() : nullptr);
  }
  SmallVector<void*, 16> outputs;
  std::vector<Ref<Storage>> storages;
  storages.reserve(call_.kept.size());
  const size_t own = call_.kept.size() - call_.written.size();
  for (size_t i = 0; i < call_.kept.size(); ++i) {
    storages.push_back(memory_for(i, {handles.data(), handles.size()}));
    outputs.push_back(storages[i] ? storages[i]->data() : inputs[static_cast<size_t>(call_.plan->overwrites[i])]);
  }
  // What copies of borrowed memory there must be are made now: a commit has memory for small objects only.
  for (size_t i = 0; i < call_.written.size(); ++i) {
    TensorImpl& handle = *handles[call_.written[i]];
    if (storages[own + i] && handle.cell()->storage()->borrowed()) handle.before_write();
  }
  // Covers the plan too, which may write in place.
  const CommitScope commit;
  if (call_.plan->run({inputs.data(), inputs.size()}, {outputs.data(), outputs.size()}, {forms.data(), forms.size()}))
    return std::nullopt;

  // Nothing fails from here on. What the call wrote is committed, then its results are made.
  for (size_t i = 0; i < call_.written.size(); ++i) {
    Cell& cell = *handles[call_.written[i]]->cell();
    if (!storages[own + i]) {
      handles[call_.written[i]]->before_write();
      continue;
    }
    if (!cell.storage()->borrowed()) {
      cell.replace_storage(std::move(storages[own + i]));
      continue;
    }
    std::memcpy(cell.storage()->data(), storages[own + i]->data(), call_.kept[own + i].bytes);
  }
  std::vector<Ref<Cell>> cells;
  cells.reserve(own);
  for (size_t i = 0; i < own; ++i) cells.push_back(make_ref<Cell>(std::move(storages[i])));
  return outcome_->make({handles.data(), handles.size()}, cells);
}

}  // namespace lucid::jit
