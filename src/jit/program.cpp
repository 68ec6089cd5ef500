#include "jit/program.h"

#include <algorithm>
#include <cstring>

#include "base/blocking.h"
#include "base/error.h"
#include "base/memory_reserve.h"
#include "jit/program_frame.h"
#include "tensor/autograd_meta.h"
#include "tensor/compute.h"
#include "tensor/deferred_ops.h"
#include "tensor/grad_mode.h"
#include "tensor/random.h"

namespace lucid::jit {
namespace {

/// Whether only the leaf and the caller's reference hold the gradient, and nothing else holds its memory or will read
/// it.
bool is_exclusive_to_leaf(const TensorRef& gradient) {
  const Cell& cell = *gradient->cell();
  return gradient->use_count() == 2 && cell.deferred_use() == DeferredUse::kNone && cell.is_exclusive();
}

}  // namespace

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

bool Program::find_handles(std::span<TensorImpl* const> arguments, Handles& handles) const {
  handles.all.clear();
  handles.gradients.clear();
  for (TensorImpl* argument : arguments) handles.all.push_back(argument);
  for (TensorImpl* argument : handles.found.pointers()) handles.all.push_back(argument);
  return recorded_.find_handles(handles.all, handles.gradients);
}

void Program::run_deferred(std::span<TensorImpl* const> arguments, Handles& found) const {
  if (!find_handles(arguments, found)) return;
  for (const TensorImpl* handle : found.all)
    if (!call_.written.empty() || handle->cell()->deferred_use() == DeferredUse::kWrites)
      handle->cell()->run_deferred();
}

bool Program::fits(std::span<TensorImpl* const> arguments, Handles& found) const {
  if (found.numbers.size() < numbers_) return false;
  if (arguments.size() + found.found.size() != recorded_.argument_count()) return false;
  if (!find_handles(arguments, found)) return false;
  const std::span<TensorImpl* const> handles(found.all.data(), found.all.size());
  if (!recorded_.fits(handles)) return false;
  for (size_t written : call_.written) {
    const Ref<Storage> storage = handles[written]->cell()->storage_now();
    if (!storage || storage->bytes() != recorded_.bytes[written]) return false;
  }
  for (const auto& [handle, offset] : offsets_)
    if (handles[handle]->offset() != offset) return false;
  if (!recorded_.shares(handles, !call_.written.empty())) return false;
  // A call that writes is never recorded with traced sizes (may_run_twice), so its key fixes all sizes.
  if (!family_ || !call_.written.empty()) return true;
  PlanFamily::Answer answer = family_->plan_for(handles, found.sizes, waits_);
  found.sized = std::move(answer.plan);
  found.is_pending = answer.is_pending;
  return static_cast<bool>(found.sized);
}

bool Program::fits(std::span<TensorImpl* const> arguments) const {
  Handles handles;
  return fits(arguments, handles);
}

Ref<Storage> Program::memory_for(const CallPlan& call, size_t output, std::span<TensorImpl* const> handles) const {
  const size_t own = call.outputs.size() - call.written.size();
  if (call.plan->donors[output] >= 0 && !handles[call.written[output - own]]->cell()->has_snapshots()) return nullptr;
  const auto bytes = static_cast<size_t>(call.outputs[output].bytes);
  const int64_t leaf = output < recorded_.replaces_gradient_of.size() ? recorded_.replaces_gradient_of[output] : -1;
  if (leaf >= 0 && call.plan->is_safe[output]) {
    // The call drops the old gradient. If nothing else refers to it, its memory is reused for the new one.
    const TensorRef old = gradient(*handles[static_cast<size_t>(leaf)]);
    if (old && is_exclusive_to_leaf(old) && old->device() == call.outputs[output].device &&
        old->cell()->storage()->bytes() == bytes)
      return old->cell()->storage();
  }
  return Storage::allocate(bytes, call.outputs[output].device);
}

bool Program::run(const Handles& handles, CallResults& results, Branch& branch) const {
  // fits() has looked at the handles; the frame holds their memory.
  BorrowScope borrowed;
  Frame frame(*this, handles, Frame::Purpose::kCommit);
  borrowed.end();
  // The scope includes the plan, which may write in place.
  const CommitScope commit;
  if (const int64_t error = frame.run()) {
    if (error == Plan::kOtherOutput) branch = frame.branch(recorded_.outcome->cells().size(), recorded_.branch);
    return false;
  }
  // Nothing fails from here on: the writes are committed, then the results are created.
  frame.commit(*this);
  recorded_.outcome->make({handles.all.data(), handles.all.size()}, frame.handle_memory(), frame.make_own_cells(),
                          handles.sized ? &handles.sized->sizes : nullptr, results);
  return true;
}

bool Program::run(std::span<TensorImpl* const> arguments, CallResults& results) const {
  Handles handles;
  Branch branch;
  if (DeferredOps::any()) [[unlikely]]
    run_deferred(arguments, handles);
  return numbers_ == 0 && find_handles(arguments, handles) && run(handles, results, branch);
}

}  // namespace lucid::jit
