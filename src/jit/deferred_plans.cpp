#include "jit/deferred_plans.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/blocking.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/options.h"
#include "base/ref_list.h"
#include "base/small_vector.h"
#include "jit/first_divergent_node.h"

namespace lucid::jit {
namespace {

using Form = EagerPlan::Form;

/// What is compiled: a batch without its tensors. Any thread may use it.
struct Description {
  explicit Description(const DeferredBatch& batch);

  CallRecord record;
  /// For each handle of the record, a use of the batch that has its cell and offset.
  std::vector<size_t> handle_uses;
  /// For each traced number, the use.
  std::vector<size_t> number_uses;
  /// For each wanted cell, its index in the batch.
  std::vector<size_t> wanted;
};

/// Writes the record of a batch.
class Describer {
 public:
  Describer(const DeferredBatch& batch, Description& description)
      : batch_(batch), description_(description), record_(description.record) {}

  void describe() {
    record_.name = "deferred ops";
    for (const DeferredBatch::UsedCell& used : batch_.cells) {
      CellRecord& cell = record_.cells.emplace_back();
      cell.is_outside = !used.is_new;
      if (used.is_new) continue;
      cell.bytes = static_cast<int64_t>(DeferredOps::memory_of(*used.cell)->bytes());
    }
    for (const DeferredBatch::Entry& entry : batch_.ops) add(entry);
    for (size_t i = 0; i < batch_.cells.size(); ++i) {
      if (!batch_.cells[i].is_wanted) continue;
      description_.wanted.push_back(i);
      record_.wanted.push_back(static_cast<int32_t>(i));
    }
    record_.arguments = record_.handles.size();
    record_.events = events_;
  }

 private:
  CellRecord& cell(size_t index) { return record_.cells[index]; }

  TracedView view_of(size_t use, Dtype dtype, Geometry geometry) {
    const DeferredBatch::Use& used = batch_.uses[use];
    geometry.offset = used.offset;
    TracedView view{.cell = used.cell, .dtype = dtype, .geometry = std::move(geometry)};
    if (!batch_.cells[static_cast<size_t>(used.cell)].is_new) add_handle(use, view);
    return view;
  }

  void add_handle(size_t use, const TracedView& view) {
    CellRecord& used = cell(static_cast<size_t>(view.cell));
    if (handles_of_[view.cell].empty()) used.dtype = view.dtype;
    for (const size_t handle : handles_of_[view.cell])
      if (record_.handles[handle].dtype == view.dtype && record_.handles[handle].geometry == view.geometry) return;
    handles_of_[view.cell].push_back(record_.handles.size());
    record_.handles.push_back({.dtype = view.dtype, .cell = view.cell, .geometry = view.geometry});
    description_.handle_uses.push_back(use);
  }

  void add(const DeferredBatch::Entry& entry) {
    const EagerPlan& plan = *entry.plan;
    Event event{.op = plan.op, .attributes = plan.attributes};
    size_t use = entry.first_use;
    for (const Form& form : plan.operands) {
      TracedOperand operand;
      if (form.kind == Form::Kind::kTensor) {
        operand.view = view_of(use++, form.dtype, form.geometry);
      } else if (form.kind == Form::Kind::kNumber && passes_numbers(*plan.op)) {
        description_.number_uses.push_back(use++);
        operand.number = form.number.with_trace(static_cast<uint32_t>(description_.number_uses.size()));
      } else if (form.kind == Form::Kind::kNumber) {
        operand.number = form.number;
      }
      event.operands.push_back(std::move(operand));
    }
    for (size_t i = 0; i < plan.plan->outputs.size(); ++i) {
      const Plan::Output& output = plan.plan->outputs[i];
      if (entry.writes > 0) {
        event.kind = Event::Kind::kWritten;
        event.results.push_back(view_of(use++, output.type.dtype, plan.destinations[i]));
      } else {
        CellRecord& result = cell(entry.first_result + i);
        const Geometry geometry{output.type.shape, output.strides, 0};
        result.dtype = output.type.dtype;
        result.bytes = element_range(geometry).second * static_cast<int64_t>(size_of(result.dtype));
        event.results.push_back(
            {.cell = static_cast<int32_t>(entry.first_result + i), .dtype = result.dtype, .geometry = geometry});
      }
    }
    events_->push_back(std::move(event));
  }

  const DeferredBatch& batch_;
  Description& description_;
  CallRecord& record_;
  std::map<int32_t, std::vector<size_t>> handles_of_;
  std::shared_ptr<std::vector<Event>> events_ = std::make_shared<std::vector<Event>>();
};

Description::Description(const DeferredBatch& batch) { Describer(batch, *this).describe(); }

/// Completes the key: everything that a plan for the batch depends on.
void add_conditions(DeferredBatch& batch) {
  int64_t wanted = 0;
  for (size_t i = 0; i < batch.cells.size(); ++i) {
    const DeferredBatch::UsedCell& used = batch.cells[i];
    wanted = wanted << 1 | static_cast<int64_t>(used.is_wanted);
    if (i % 63 == 62) batch.key.push_back(std::exchange(wanted, 0));
    if (used.is_new || !used.is_written) continue;
    batch.key.push_back(static_cast<int64_t>(DeferredOps::memory_of(*used.cell)->bytes()));
    batch.key.push_back(used.offset);
  }
  batch.key.push_back(wanted);
  for (const auto& [cell, offset] : batch.offsets)
    if (batch.cells[static_cast<size_t>(cell)].is_written) batch.key.push_back(offset);
}

/// The memory that a run of a plan reads and writes.
class Frame {
 public:
  /// A shadow run writes nothing in place, and its inputs stay as they are.
  Frame(const Description& description, const CallPlan& call, const DeferredBatch& batch, bool is_shadow)
      : description_(description), call_(call), batch_(batch), is_shadow_(is_shadow) {
    const bool packs = !call.plan->packed_bytes.empty();
    numbers_.reserve(call.inputs.size());
    for (const GraphInput& input : call.inputs) {
      PackedForms* forms = nullptr;
      if (input.kind == GraphInput::Kind::kConstant) {
        inputs_.push_back(input.constant->data());
      } else if (input.kind == GraphInput::Kind::kNumber) {
        numbers_.push_back(0);
        batch.uses[description.number_uses[input.number]].number.store(input.dtype, &numbers_.back());
        inputs_.push_back(&numbers_.back());
      } else {
        inputs_.push_back(address_of(input));
        const DeferredBatch::UsedCell& used = cell_of(input.handle);
        if (!used.is_written && !is_shadow) forms = &used.cell->packed_forms();
      }
      if (packs) forms_.push_back(forms);
    }
    for (size_t i = 0; i < call.outputs.size(); ++i) {
      const bool in_place = i >= own() && call.plan->donors[i] >= 0 && !is_shadow;
      storages_.push_back(in_place ? nullptr : Storage::allocate(static_cast<size_t>(call.outputs[i].bytes)));
      outputs_.push_back(in_place ? inputs_[static_cast<size_t>(call.plan->donors[i])]
                                  : storages_.pointers().back()->data());
    }
  }

  int64_t run() const {
    return call_.plan->run({inputs_.data(), inputs_.size()}, {outputs_.data(), outputs_.size()},
                           {forms_.data(), forms_.size()});
  }

  /// After a shadow run, and after the ops have run one by one: the index of an output that differs, if there is one.
  std::optional<size_t> difference() const {
    for (size_t i = 0; i < call_.outputs.size(); ++i) {
      const Cell& cell = *(i < own() ? batch_.cells[description_.wanted[i]] : cell_of(call_.written[i - own()])).cell;
      const Dtype dtype = description_.record.cells[static_cast<size_t>(call_.outputs[i].cell)].dtype;
      const Ref<Storage> found = DeferredOps::memory_of(cell);
      const auto count = static_cast<int64_t>(storages_[i]->bytes() / size_of(dtype));
      if (first_difference(dtype, kCpuDevice, found->data(), storages_[i]->data(), count) >= 0) return i;
    }
    return std::nullopt;
  }
  /// The inputs that are not constants.
  std::vector<void*> inputs() const {
    std::vector<void*> addresses;
    for (size_t i = 0; i < call_.inputs.size(); ++i)
      if (call_.inputs[i].kind != GraphInput::Kind::kConstant) addresses.push_back(inputs_[i]);
    return addresses;
  }

  /// Cannot fail.
  void commit() {
    for (size_t i = 0; i < own(); ++i)
      DeferredOps::set_memory(*batch_.cells[description_.wanted[i]].cell, storages_.take(i));
    for (size_t i = own(); i < call_.outputs.size(); ++i)
      if (storages_[i]) DeferredOps::set_memory(*cell_of(call_.written[i - own()]).cell, storages_.take(i));
  }

 private:
  size_t own() const { return call_.outputs.size() - call_.written.size(); }
  const DeferredBatch::Use& use_of(size_t handle) const { return batch_.uses[description_.handle_uses[handle]]; }
  const DeferredBatch::UsedCell& cell_of(size_t handle) const {
    return batch_.cells[static_cast<size_t>(use_of(handle).cell)];
  }

  void* address_of(const GraphInput& input) {
    const DeferredBatch::UsedCell& used = cell_of(input.handle);
    Ref<Storage> storage = DeferredOps::memory_of(*used.cell);
    held_.push_back(is_shadow_ && used.is_written ? storage->copy() : std::move(storage));
    auto* const memory = static_cast<char*>(held_.pointers().back()->data());
    if (input.kind == GraphInput::Kind::kMemory) return memory;
    const auto size = static_cast<int64_t>(size_of(description_.record.handles[input.handle].dtype));
    return memory + use_of(input.handle).offset * size;
  }

  const Description& description_;
  const CallPlan& call_;
  const DeferredBatch& batch_;
  const bool is_shadow_;
  SmallVector<int64_t, 16> numbers_;  // reserved, so that addresses stay valid
  SmallVector<void*, 32> inputs_;
  SmallVector<void*, 32> outputs_;
  SmallVector<PackedForms*, 32> forms_;
  RefList<Storage, 32> held_;
  /// The memory of each output; null for those that are written in place.
  RefList<Storage, 32> storages_;
};

}  // namespace

namespace {

/// Counts as waiting until it is ended or destroyed.
class Waiting {
 public:
  explicit Waiting(std::shared_ptr<std::atomic<int>> count) : count_(std::move(count)) { ++*count_; }
  Waiting(Waiting&&) = default;
  Waiting& operator=(Waiting&&) = delete;
  ~Waiting() { end(); }
  void end() {
    if (const auto count = std::exchange(count_, nullptr)) --*count;
  }

 private:
  std::shared_ptr<std::atomic<int>> count_;
};

}  // namespace

struct DeferredPlans::Job {
  Description description;
  CallPlan call;
  Waiting waiting;
};

struct DeferredPlans::Entry {
  ~Entry() {
    if (task) task->cancel();
  }

  std::vector<int64_t> key;
  /// What followed it last.
  Entry* next = nullptr;
  int64_t seen = 0;
  /// Set once the entry is being compiled.
  std::shared_ptr<Job> job;
  std::shared_ptr<CompileTask> task;
  bool is_compiled = false;
  bool has_failed = false;
};

DeferredPlans& DeferredPlans::get() {
  static DeferredPlans& plans = *new DeferredPlans;  // outlives threads that still run at exit
  return plans;
}

DeferredPlans::Entry& DeferredPlans::add(uint64_t hash, const DeferredBatch& batch) {
  if (order_.size() == kMaxEntries) {
    const auto [oldest, entry] = order_.front();
    order_.pop_front();
    const auto [from, to] = entries_.equal_range(oldest);
    entries_.erase(std::find_if(from, to, [&](const auto& each) { return each.second.get() == entry; }));
    for (const auto& [_, each] : entries_) each->next = nullptr;
    last_ = nullptr;
  }
  Entry& entry = *entries_.emplace(hash, std::make_unique<Entry>())->second;
  entry.key = batch.key;
  order_.emplace_back(hash, &entry);
  return entry;
}

DeferredPlans::Entry& DeferredPlans::find(DeferredBatch& batch) {
  add_conditions(batch);
  Entry* found = last_ ? last_->next : nullptr;
  if (!found || found->key != batch.key) {
    const uint64_t hash = hash_span(std::span<const int64_t>(batch.key));
    const auto [first, last] = entries_.equal_range(hash);
    const auto known = std::find_if(first, last, [&](const auto& each) { return each.second->key == batch.key; });
    found = known == last ? &add(hash, batch) : known->second.get();
    if (last_) last_->next = found;
  }
  return *(last_ = found);
}

bool DeferredPlans::is_ready(Entry& entry, const DeferredBatch& batch) {
  if (entry.is_compiled) return true;
  if (entry.has_failed) return false;
  if (!entry.task) {
    const bool is_busy = *pending_ >= kMaxPending && !options().compile_wait;
    if (++entry.seen < 2 || is_busy) return false;
    entry.job = std::make_shared<Job>(Description(batch), CallPlan(), Waiting(pending_));
    entry.task = CompileTask::start([job = entry.job] {
      job->call = compile_call(job->description.record);
      job->waiting.end();
    });
  }
  if (options().compile_wait) {
    const BlockingScope waiting;
    entry.task->wait();
  } else if (!entry.task->is_done()) {
    return false;
  }
  try {
    entry.task->rethrow();
    entry.is_compiled = entry.job->call.obstacle.empty();
  } catch (const std::exception& error) {
    if (options().logs(kLogTopic)) log(kLogTopic, "deferred ops: " + reason_of(error));
  }
  if (!entry.is_compiled && options().logs(kLogTopic)) log(kLogTopic, "deferred ops: " + entry.job->call.obstacle);
  entry.has_failed = !entry.is_compiled;
  entry.task.reset();
  return entry.is_compiled;
}

bool DeferredPlans::run(DeferredBatch& batch) {
  Entry& entry = find(batch);
  if (!is_ready(entry, batch)) return false;
  Frame frame(entry.job->description, entry.job->call, batch, /*is_shadow=*/false);
  if (frame.run() != 0) return false;
  frame.commit();
  return true;
}

bool DeferredPlans::verify(DeferredBatch& batch) {
  Entry& entry = find(batch);
  if (!is_ready(entry, batch)) return false;
  Frame frame(entry.job->description, entry.job->call, batch, /*is_shadow=*/true);
  if (frame.run() != 0) return false;
  if (!DeferredOps::get().run_one_by_one() || frame.difference()) {
    std::string node;
    CallGraph call = build_graph(entry.job->description.record);
    if (const std::optional<size_t> wrong = find_first_divergent_node(call, nullptr, frame.inputs()))
      node = " The first node that is compiled wrong is " + to_text(call.graph, call.graph.nodes[*wrong]);
    throw RuntimeError("a batch of deferred ops differs from the ops one by one.{}", node);
  }
  return true;
}

}  // namespace lucid::jit
