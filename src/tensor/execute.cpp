#include "tensor/execute.h"

#include <algorithm>
#include <optional>

#include "base/blocking.h"
#include "base/ref_list.h"
#include "base/size_trace.h"
#include "runtime/imported_memory.h"
#include "tensor/deferred_ops.h"
#include "tensor/eager.h"
#include "tensor/grad_mode.h"
#include "tensor/observer.h"
#include "tensor/own_call.h"
#include "tensor/plan_cache.h"
#include "tensor/refused_values.h"

namespace lucid {
namespace {

/// The addresses that a plan reads from, and the references that keep them valid. The frame itself stores numbers. It
/// is incomplete if deferred ops write to an operand: the caller runs them (run_deferred), and makes another frame.
class Frame {
 public:
  [[gnu::always_inline]] Frame(const Call& call, const EagerPlan& plan) {  // part of every eager op
    const bool numbers = passes_numbers(call.op());
    const bool packs = !plan.plan->packed_bytes.empty();
    int64_t* number = numbers_.extend(call.count());
    for (size_t i = 0; i < call.count(); ++i) {
      const Operand& operand = call.operand(i);
      if (operand.is_value()) {
        const TensorImpl& tensor = *tensor_of(operand);
        PinnedMemory memory = tensor.memory_now();
        if (!memory.storage) [[unlikely]]
          return;
        inputs_.push_back(memory.data);
        if (packs) forms_.push_back(forms_of(tensor.cell(), *memory.storage));
        held_.push_back(std::move(memory.storage));
      } else if (operand.is_scalar() && numbers) {
        // Not a read: the value reaches the kernel only, like that of a tensor.
        operand.scalar().with_trace(0).store(plan.number_dtypes[i], number);
        inputs_.push_back(number++);
        if (packs) forms_.push_back(nullptr);
      }
    }
    is_complete_ = true;
  }
  bool is_complete() const { return is_complete_; }
  std::span<void* const> inputs() const { return {inputs_.data(), inputs_.size()}; }
  /// The packed forms of each input, if the plan packs any.
  std::span<PackedForms* const> forms() const { return {forms_.data(), forms_.size()}; }

 private:
  PackedForms* forms_of(const Ref<Cell>& cell, const Storage& storage) {
    if (storage.borrowed()) return nullptr;
    cells_.push_back(cell);
    return &cell->packed_forms();
  }

  SmallVector<int64_t, 6> numbers_;  // extended only once, so that addresses stay valid
  SmallVector<void*, 8> inputs_;
  SmallVector<PackedForms*, 8> forms_;
  RefList<Cell, 2> cells_;  // the owners of forms_
  RefList<Storage, 8> held_;
  bool is_complete_ = false;
};

/// Runs deferred ops, of this or another thread, that write to operands or use the memory of destinations.
[[gnu::noinline]] void run_deferred(const Call& call, std::span<TensorImpl* const> destinations = {}) {
  for (const Operand& operand : call.operands())
    if (operand.is_value() && tensor_of(operand)->cell()->deferred_use() == DeferredUse::kWrites)
      tensor_of(operand)->cell()->run_deferred();
  for (const TensorImpl* destination : destinations) destination->cell()->run_deferred();
}

[[noreturn]] void raise_kernel_error(const Call& call, int64_t code) {
  // The program may catch the error, and then go on in a way that depends on the values.
  for (const Operand& operand : call.operands())
    if (operand.is_value()) on_escape(*tensor_of(operand), "catches an error that depends on the values of a tensor");
  throw_if_out_of_bounds(call);
  const auto& errors = call.op().errors;
  if (call.op().decompose && errors.empty()) {
    // The check belongs to one of its parts, which fails again when the parts run one by one.
    const GradModeScope no_grad(false);
    eager().decompose(call);
    throw RuntimeError("{}: a check failed, but not when it was repeated: another thread changes the operands",
                       call.name());
  }
  const auto index = static_cast<size_t>(code - 1);
  LUCID_CHECK(index < errors.size(), "{} reported unknown error {}", call.name(), code);
  throw_refused(call.op().error_class, call.name() + ": " + errors[index]);
}

void run(const Call& call, const EagerPlan& plan, const Frame& frame, std::span<void* const> outputs) {
  // Usually the thread's list of recent plans keeps the plan: only another call on this thread can remove it. Waiting
  // for a gpu may run a signal handler, which may make such calls.
  const Ref<Plan> held = plan.plan->device.is_gpu() ? plan.plan : nullptr;
  if (const int64_t code = plan.plan->run(frame.inputs(), outputs, frame.forms())) raise_kernel_error(call, code);
}

/// The bytes from one tensor's memory to another's: zero if they share a storage, nullopt if their storages do not
/// overlap.
std::optional<int64_t> distance_between(const TensorImpl& a, const TensorImpl& b) {
  if (a.cell() == b.cell()) return 0;
  const Storage* const storage = a.cell()->storage_address();
  if (storage && storage == b.cell()->storage_address()) return 0;
  if (!imports_may_overlap()) return std::nullopt;
  const Ref<Storage> from = a.cell()->storage_now(), to = b.cell()->storage_now();
  if (!from || !to) return std::nullopt;  // borrowed memory is never deferred
  const auto distance = static_cast<int64_t>(identity_of(to->data()) - identity_of(from->data()));
  const bool overlaps = distance < static_cast<int64_t>(from->bytes()) && -distance < static_cast<int64_t>(to->bytes());
  return overlaps ? std::optional<int64_t>(distance) : std::nullopt;
}

bool ranges_overlap(const TensorImpl& a, const TensorImpl& b, int64_t distance) {
  const auto bytes = [](const TensorImpl& t) {
    const auto [low, high] = element_range(t.geometry());
    const auto size = static_cast<int64_t>(size_of(t.dtype()));
    return std::pair(low * size, high * size);
  };
  const auto [a_low, a_high] = bytes(a);
  const auto [b_low, b_high] = bytes(b);
  return a_low < b_high + distance && b_low + distance < a_high;
}

bool same_memory(const TensorImpl& a, const TensorImpl& b, int64_t distance) {
  return a.dtype() == b.dtype() && a.sizes() == b.sizes() && a.strides() == b.strides() &&
         (a.offset() - b.offset()) * static_cast<int64_t>(size_of(a.dtype())) == distance;
}

/// Whether an operand, which is input `input` of the plan, would be overwritten before it was read.
bool must_copy(const Plan& plan, size_t input, const TensorImpl& operand, std::span<TensorImpl* const> destinations) {
  for (size_t i = 0; i < destinations.size(); ++i) {
    const std::optional<int64_t> distance = distance_between(operand, *destinations[i]);
    if (!distance || !ranges_overlap(operand, *destinations[i], *distance)) continue;
    if (!same_memory(operand, *destinations[i], *distance) || !plan.may_share(input, i)) return true;
  }
  return false;
}

Value contiguous_copy(const Operand& operand) {
  static const Op& copy = op_table().at("contiguous");
  const Operand operands[] = {operand};
  const Attributes attributes = copy.schema.default_attributes();
  return std::move(execute(Call(copy, operands, attributes)).front());
}

/// The first operand from `first` on that would be overwritten before it was read; call.count() if there is none.
size_t first_overwritten(const Call& call, const Plan& plan, std::span<TensorImpl* const> destinations,
                         size_t first = 0) {
  const bool numbers = passes_numbers(call.op());
  size_t input = 0;
  for (size_t i = 0; i < call.count(); ++i) {
    const Operand& operand = call.operand(i);
    if (i >= first && operand.is_value() && must_copy(plan, input, *tensor_of(operand), destinations)) return i;
    input += operand.is_value() || (operand.is_scalar() && numbers);
  }
  return call.count();
}

Values run_to_results(const Call& call, const EagerPlan& plan, const Frame& frame) {
  Values results;
  results.reserve(plan.plan->outputs.size());
  SmallVector<void*, 4> outputs;
  for (const Plan::Output& output : plan.plan->outputs) {
    TensorRef tensor = make_tensor(output.type.dtype, output.type.shape, output.strides, output.type.device);
    outputs.push_back(tensor->data());
    results.emplace_back(std::move(tensor));
  }
  run(call, plan, frame, {outputs.data(), outputs.size()});
  return results;
}

/// The memory of destinations, and the cells to notify of the write.
class Targets {
 public:
  explicit Targets(std::span<TensorImpl* const> destinations) {
    for (const TensorImpl* destination : destinations) {
      PinnedMemory memory = destination->memory_now();
      if (!memory.storage) [[unlikely]]
        return;
      addresses_.push_back(memory.data);
      held_.push_back(std::move(memory.storage));
      cells_.push_back(destination->cell());
    }
    is_complete_ = true;
  }
  bool is_complete() const { return is_complete_; }
  std::span<void* const> addresses() const { return {addresses_.data(), addresses_.size()}; }
  void after_write() const {
    for (Cell* cell : cells_.pointers()) cell->after_write();
  }

 private:
  SmallVector<void*, 6> addresses_;
  RefList<Storage, 6> held_;
  RefList<Cell, 6> cells_;
  bool is_complete_ = false;
};

void execute_into(OwnCall& own) {
  const Ref<EagerPlan> first(const_cast<EagerPlan*>(&eager_plan(own.call(), own.destinations())));
  bool copied = false;
  for (size_t i = 0; i < own.call().count(); ++i) {
    i = first_overwritten(own.call(), *first->plan, own.destinations(), i);
    if (i == own.call().count()) break;
    own.replace_operand(i, contiguous_copy(own.call().operand(i)));
    copied = true;
  }
  const EagerPlan& plan = copied ? eager_plan(own.call(), own.destinations()) : *first;
  // Other threads may have taken snapshots meanwhile.
  for (TensorImpl* destination : own.destinations()) destination->before_write();
  const Call call = own.call();
  for (;;) {
    run_deferred(call, own.destinations());
    const Targets targets(own.destinations());
    const Frame frame(call, plan);
    if (!targets.is_complete() || !frame.is_complete()) continue;
    run(call, plan, frame, targets.addresses());
    return targets.after_write();
  }
}

/// Makes the plan of a call.
[[gnu::noinline]] Values execute_first(const Call& call, BorrowScope& operands) {
  const OwnCall own(call);
  operands.end();
  const Call first = own.call();
  const EagerPlan& made = eager_plan(first, {});
  for (;;) {
    run_deferred(first);
    if (const Frame frame(first, made); frame.is_complete()) return run_to_results(first, made, frame);
  }
}

}  // namespace

// Between the search for a plan and the moment when the memory of all operands is held, the caller's lock is not given
// up, so that the plan is that of the operands. Where it is given up, the call gets handles of its own.

Values execute(const Call& call) {
  const SizeTrace::Pause pause;
  for (;;) {
    if (DeferredOps::any()) [[unlikely]]
      run_deferred(call);
    BorrowScope operands;
    const EagerPlan* const plan = find_eager_plan(call, {});
    if (!plan) [[unlikely]]
      return execute_first(call, operands);
    const Frame frame(call, *plan);
    operands.end();
    if (frame.is_complete()) [[likely]]
      return run_to_results(call, *plan, frame);
  }
}

void execute_into(const Call& call, std::span<TensorImpl* const> destinations) {
  const SizeTrace::Pause pause;
  for (;;) {
    if (DeferredOps::any()) [[unlikely]]
      run_deferred(call, destinations);
    BorrowScope operands;
    const EagerPlan* plan = find_eager_plan(call, destinations);
    if (!plan || first_overwritten(call, *plan->plan, destinations) < call.count()) [[unlikely]] {
      OwnCall own(call, destinations);
      operands.end();
      return execute_into(own);
    }
    const Frame frame(call, *plan);
    const Targets targets(destinations);
    operands.end();
    if (!frame.is_complete() || !targets.is_complete()) [[unlikely]]
      continue;
    run(call, *plan, frame, targets.addresses());
    return targets.after_write();
  }
}

}  // namespace lucid
