#include "tensor/deferred_ops.h"

#include <algorithm>

#include "base/blocking.h"
#include "base/error.h"
#include "base/ref_list.h"
#include "tensor/execute.h"

namespace lucid {
namespace {

using Use = DeferredBatch::Use;
using Entry = DeferredBatch::Entry;
using UsedCell = DeferredBatch::UsedCell;

bool may_wait(const TensorImpl& tensor) { return !tensor.device().is_gpu() && !tensor.cell()->is_borrowed(); }

bool may_wait(const Call& call) {
  if (call.op().host || current_device().is_gpu()) return false;
  return std::ranges::all_of(
      call.operands(), [](const Operand& operand) { return !operand.is_value() || may_wait(*tensor_of(operand)); });
}

/// Whether an operand is on memory that the call writes, unless it is read before it is written.
bool overwrites_operand(const Call& call, const EagerPlan& plan, std::span<TensorImpl* const> destinations) {
  const bool numbers = passes_numbers(call.op());
  size_t input = 0;
  for (const Operand& operand : call.operands()) {
    if (operand.is_value()) {
      const TensorImpl& tensor = *tensor_of(operand);
      for (size_t i = 0; i < destinations.size(); ++i) {
        const TensorImpl& written = *destinations[i];
        if (tensor.cell() != written.cell()) continue;
        const bool same = tensor.dtype() == written.dtype() && tensor.geometry() == written.geometry();
        if (!same || !plan.plan->may_share(input, i)) return true;
      }
    }
    input += operand.is_value() || (operand.is_scalar() && numbers);
  }
  return false;
}

size_t bytes_of(const Plan::Output& output) {
  return static_cast<size_t>(element_range({output.type.shape, output.strides, 0}).second) * size_of(output.type.dtype);
}

}  // namespace

void DeferredBatch::clear() {
  ops.clear();
  uses.clear();
  cells.clear();
  offsets.clear();
  held.clear();
  key.clear();
  first = 0;
}

void Cell::run_deferred() const {
  if (deferred_use() != DeferredUse::kNone) DeferredOps::get().run();
}

void Cell::run_deferred_of_others() const {
  if (!DeferredOps::is_deferring()) DeferredOps::get().run();
}

DeferredOps& DeferredOps::get() {
  static DeferredOps& ops = *new DeferredOps;  // outlives threads that still run at exit
  return ops;
}

// ---- Adding ops.

class DeferredOps::Addition {
 public:
  explicit Addition(DeferredBatch& batch)
      : batch_(batch),
        ops_(batch.ops.size()),
        uses_(batch.uses.size()),
        cells_(batch.cells.size()),
        offsets_(batch.offsets.size()),
        key_(batch.key.size()) {}
  Addition(const Addition&) = delete;
  Addition& operator=(const Addition&) = delete;
  ~Addition() {
    if (is_complete_) return;
    batch_.ops.resize(ops_);
    batch_.uses.resize(uses_);
    batch_.offsets.resize(offsets_);
    batch_.key.resize(key_);
    for (size_t i = cells_; i < batch_.cells.size(); ++i)
      batch_.cells[i].cell->deferred_use_.store(DeferredUse::kNone, std::memory_order_release);
    batch_.cells.resize(cells_);
  }
  void complete() { is_complete_ = true; }

 private:
  DeferredBatch& batch_;
  const size_t ops_, uses_, cells_, offsets_, key_;
  bool is_complete_ = false;
};

int32_t DeferredOps::add_cell(Ref<Cell> cell, int64_t offset, bool is_new) {
  const auto index = static_cast<int32_t>(batch_.cells.size());
  Cell& added = *batch_.cells.emplace_back(UsedCell{.cell = std::move(cell), .offset = offset, .is_new = is_new}).cell;
  added.deferred_index_ = static_cast<uint32_t>(index);
  added.deferred_use_.store(is_new ? DeferredUse::kWrites : DeferredUse::kReads, std::memory_order_release);
  return index;
}

int64_t DeferredOps::key_of_offset(int32_t cell, int64_t offset) {
  const std::pair use(cell, offset);
  const auto found = std::ranges::find(batch_.offsets, use);
  const auto index = found - batch_.offsets.begin();
  if (found == batch_.offsets.end()) {
    batch_.offsets.push_back(use);
    if (batch_.cells[static_cast<size_t>(cell)].is_new) batch_.key.push_back(offset);
  }
  return -1 - index;
}

void DeferredOps::append_use(const TensorImpl& tensor, bool writes) {
  const Ref<Cell>& cell = tensor.cell();
  const int64_t offset = tensor.offset().unguarded();
  const int32_t index = cell->deferred_use_.load(std::memory_order_relaxed) == DeferredUse::kNone
                            ? add_cell(cell, offset, false)
                            : static_cast<int32_t>(cell->deferred_index_);
  UsedCell& used = batch_.cells[static_cast<size_t>(index)];
  batch_.key.push_back(index);
  if (offset != used.offset) [[unlikely]]
    batch_.key.push_back(key_of_offset(index, offset));
  batch_.uses.push_back({.cell = index, .offset = offset});
  if (!writes) return;
  used.is_written = true;
  cell->deferred_use_.store(DeferredUse::kWrites, std::memory_order_release);
}

void DeferredOps::append_inputs(const Call& call, const EagerPlan& plan) {
  batch_.key.push_back(static_cast<int64_t>(plan.serial));
  if (plan.batch != batches_) {
    batch_.held.emplace_back(const_cast<EagerPlan*>(&plan));
    plan.batch = batches_;
  }
  const auto first_use = static_cast<uint32_t>(batch_.uses.size());
  batch_.ops.push_back({.plan = &plan, .first_use = first_use});
  const bool numbers = passes_numbers(call.op());
  for (const Operand& operand : call.operands()) {
    if (operand.is_value())
      append_use(*tensor_of(operand), false);
    else if (operand.is_scalar() && numbers)
      batch_.uses.push_back({.number = operand.scalar().with_trace(0)});
  }
  batch_.ops.back().inputs = static_cast<uint32_t>(batch_.uses.size()) - first_use;
  has_any_.store(true, std::memory_order_relaxed);
}

Values DeferredOps::append(const Call& call, const EagerPlan& plan) {
  Addition addition(batch_);
  append_inputs(call, plan);
  batch_.ops.back().first_result = static_cast<uint32_t>(batch_.cells.size());
  Values results;
  results.reserve(plan.plan->outputs.size());
  for (const Plan::Output& output : plan.plan->outputs) {
    Ref<Cell> cell = make_ref<Cell>(output.type.device);
    results.emplace_back(make_ref<TensorImpl>(output.type.dtype, output.type.shape, output.strides, 0, cell));
    add_cell(std::move(cell), 0, true);
  }
  addition.complete();
  return results;
}

void DeferredOps::append_write(const Call& call, const EagerPlan& plan, std::span<TensorImpl* const> destinations) {
  Addition addition(batch_);
  append_inputs(call, plan);
  for (const TensorImpl* destination : destinations) append_use(*destination, true);
  batch_.ops.back().writes = static_cast<uint32_t>(destinations.size());
  addition.complete();
}

bool DeferredOps::must_run() const {
  if (batch_.ops.size() % kOpsPerCheck != 0) return false;
  size_t kept = 0;
  for (const UsedCell& used : batch_.cells)
    if (!used.is_new && used.cell->use_count() == 1) kept += memory_of(*used.cell)->bytes();
  return kept > kMaxKeptBytes || batch_.ops.size() >= kMaxOps;
}

Values DeferredOps::compute(const Call& call) {
  {
    const BusyScope busy(busy_);
    BorrowScope operands;
    const EagerPlan* const plan = batch_.first == 0 && may_wait(call) ? find_eager_plan(call, {}) : nullptr;
    if (plan && !(plan->may_fail && batch_.ops.empty())) {
      const bool may_fail = plan->may_fail;
      Values results = append(call, *plan);
      operands.end();
      if (!may_fail && !must_run()) return results;
      if (run_now()) return results;
    }
  }
  run();
  return execute(call);
}

void DeferredOps::compute_into(const Call& call, std::span<TensorImpl* const> destinations) {
  {
    const BusyScope busy(busy_);
    BorrowScope operands;
    const auto is_own = [](const TensorImpl* destination) { return may_wait(*destination); };
    const bool waits = batch_.first == 0 && may_wait(call) && std::ranges::all_of(destinations, is_own);
    const EagerPlan* const plan = waits ? find_eager_plan(call, destinations) : nullptr;
    if (plan && !plan->may_fail && !overwrites_operand(call, *plan, destinations)) {
      append_write(call, *plan, destinations);
      operands.end();
      if (must_run()) run_now();
      return;
    }
  }
  run();
  execute_into(call, destinations);
}

// ---- Running ops.

void DeferredOps::run() {
  if (!any()) return;
  const BusyScope busy(busy_);
  if (!batch_.ops.empty()) run_now();
}

bool DeferredOps::run_now() {
  bool is_done = false;
  if (batch_.first == 0 && batch_.ops.size() > 1) {
    ++counts_.batches;
    counts_.ops += static_cast<int64_t>(batch_.ops.size());
    // The batch holds one reference.
    for (UsedCell& used : batch_.cells) used.is_wanted = used.is_new && used.cell->use_count() > 1;
    is_done = runner_ && runner_(batch_);
    counts_.planned += is_done;
  }
  const bool succeeded = is_done || run_one_by_one();
  for (const UsedCell& used : batch_.cells) {
    if (used.is_written) used.cell->after_write();
    used.cell->deferred_use_.store(DeferredUse::kNone, std::memory_order_release);
  }
  batch_.clear();
  ++batches_;
  has_any_.store(false, std::memory_order_relaxed);
  return succeeded;
}

bool DeferredOps::run_one_by_one() {
  last_uses_.assign(batch_.cells.size(), 0);
  for (size_t i = 0; i < batch_.ops.size(); ++i) {
    const Entry& entry = batch_.ops[i];
    for (size_t use = 0; use < entry.inputs + entry.writes; ++use)
      if (const int32_t cell = batch_.uses[entry.first_use + use].cell; cell >= 0)
        last_uses_[static_cast<size_t>(cell)] = i;
  }
  for (; batch_.first < batch_.ops.size(); ++batch_.first) {
    const Entry& entry = batch_.ops[batch_.first];
    if (run_op(entry) != 0) {
      LUCID_CHECK(batch_.first + 1 == batch_.ops.size() && entry.plan->may_fail, "{} failed after it was deferred",
                  entry.plan->op->name());
      return false;
    }
    // Memory that nothing else holds is needed until the last use.
    for (size_t use = 0; use < entry.inputs + entry.writes; ++use) {
      const int32_t index = batch_.uses[entry.first_use + use].cell;
      if (index < 0) continue;
      const UsedCell& used = batch_.cells[static_cast<size_t>(index)];
      if (used.is_new && last_uses_[static_cast<size_t>(index)] == batch_.first && used.cell->use_count() == 1)
        set_memory(*used.cell, nullptr);
    }
  }
  return true;
}

int64_t DeferredOps::run_op(const Entry& entry) {
  const EagerPlan& plan = *entry.plan;
  const bool packs = !plan.plan->packed_bytes.empty();
  SmallVector<int64_t, 6> numbers(entry.inputs);
  SmallVector<void*, 8> inputs, outputs;
  SmallVector<PackedForms*, 8> forms;
  RefList<Storage, 8> held;
  const auto address = [&](const Use& use, Dtype dtype) -> void* {
    held.push_back(memory_of(*batch_.cells[static_cast<size_t>(use.cell)].cell));
    return static_cast<char*>(held.pointers().back()->data()) + use.offset * static_cast<int64_t>(size_of(dtype));
  };
  size_t operand = 0;
  for (size_t i = 0; i < entry.inputs; ++i, ++operand) {
    const Use& use = batch_.uses[entry.first_use + i];
    while (plan.operands[operand].kind == EagerPlan::Form::Kind::kAbsent ||
           (use.cell >= 0 && plan.operands[operand].kind == EagerPlan::Form::Kind::kNumber))
      ++operand;
    PackedForms* form = nullptr;
    if (use.cell < 0) {
      use.number.store(plan.number_dtypes[operand], &numbers[i]);
      inputs.push_back(&numbers[i]);
    } else {
      inputs.push_back(address(use, plan.operands[operand].dtype));
      const UsedCell& used = batch_.cells[static_cast<size_t>(use.cell)];
      if (!used.is_new && !used.is_written) form = &used.cell->packed_forms();
    }
    if (packs) forms.push_back(form);
  }
  RefList<Storage, 4> results;
  for (size_t i = 0; i < plan.plan->outputs.size(); ++i) {
    const Plan::Output& output = plan.plan->outputs[i];
    if (entry.writes > 0) {
      outputs.push_back(address(batch_.uses[entry.first_use + entry.inputs + i], output.type.dtype));
    } else {
      results.push_back(Storage::allocate(bytes_of(output), output.type.device));
      outputs.push_back(results.pointers().back()->data());
    }
  }
  if (const int64_t error = plan.plan->run({inputs.data(), inputs.size()}, {outputs.data(), outputs.size()},
                                           {forms.data(), forms.size()}))
    return error;
  for (size_t i = 0; i < results.size(); ++i) {
    const UsedCell& result = batch_.cells[entry.first_result + i];
    set_memory(*result.cell, results.take(i));
  }
  return 0;
}

// ---- Scopes.

DeferScope::DeferScope(DeferredRunner runner)
    : is_owner_(!DeferredOps::t_is_deferring && DeferredOps::get().owner_.try_acquire()) {
  if (!is_owner_) return;
  DeferredOps::t_is_deferring = true;
  DeferredOps::get().counts_ = {};
  DeferredOps::get().runner_ = runner;
}

void DeferScope::end() {
  is_owner_ = false;
  DeferredOps::t_is_deferring = false;
  DeferredOps::get().owner_.release();
}

std::optional<DeferredCounts> DeferScope::finish() {
  if (!is_owner_) return std::nullopt;
  DeferredOps& ops = DeferredOps::get();
  ops.run();
  const DeferredCounts counts = ops.counts_;
  end();
  return counts;
}

DeferScope::~DeferScope() {
  if (!is_owner_) return;
  try {
    DeferredOps::get().run();
  } catch (const std::exception&) {
    // The ops that did not run wait for the next use of their memory, which raises the error.
  }
  end();
}

}  // namespace lucid
