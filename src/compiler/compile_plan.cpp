#include "compiler/compile_plan.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "base/cancellation.h"
#include "base/error.h"
#include "base/out_of_memory.h"
#include "base/stack.h"
#include "compiler/host_step.h"
#include "compiler/memory.h"
#include "passes/common_subexpression.h"
#include "passes/plan_parts.h"
#include "runtime/kernel_cache.h"
#include "runtime/thread_pool.h"
#include "schedule/overwrite.h"
#include "schedule/schedule.h"

namespace lucid {
namespace {

// A plan's outputs own their memory: one that would be a part of something else, or the same as another, is copied; so
// is one whose elements are in another order than asked for.
void own_outputs(IRGraph& graph, std::map<ValueId, Layout>& layouts, OutputOrder order) {
  std::set<ValueId> taken(graph.input_ids.begin(), graph.input_ids.end());
  taken.insert(graph.param_ids.begin(), graph.param_ids.end());
  taken.insert(graph.state_ids.begin(), graph.state_ids.end());
  taken.insert(graph.constant_ids.begin(), graph.constant_ids.end());
  for (ValueId& id : graph.output_ids) {
    const Layout& layout = layouts.at(id);
    const Geometry& geometry = layout.geometry;
    const bool in_order = order == OutputOrder::kAny ? is_dense(geometry.sizes, geometry.strides)
                                                     : is_contiguous(geometry.sizes, geometry.strides);
    const bool whole =
        in_order && geometry.offset == 0 && numel(geometry.sizes) == numel(graph.type(layout.storage).shape);
    if (whole && taken.insert(layout.storage).second) continue;
    const TensorType type = graph.type(id);
    const Op& copy = op_table().at("contiguous");
    const ValueId copied = graph.add_value(type);
    graph.nodes.push_back({&copy, {{id, std::nullopt}}, copy.schema.default_attributes(), {copied}, false, ""});
    layouts[copied] = {copied, {type.shape, contiguous_strides(type.shape), 0}};
    taken.insert(copied);
    id = copied;
  }
}

/// Turns a schedule's buffers into places of the plan.
class SlotMap {
 public:
  /// `free_outputs` are those whose memory nobody reads before they are written.
  SlotMap(const IRGraph& graph, const Schedule& schedule, const std::vector<size_t>& free_outputs) {
    auto place = [&](const std::vector<ValueId>& ids, Slot::Area area, bool through_layout) {
      for (size_t i = 0; i < ids.size(); ++i) {
        const ValueId id = through_layout ? schedule.layouts.at(ids[i]).storage : ids[i];
        slots_[{BufferUse::Kind::kValue, id}] = {area, static_cast<int32_t>(i), 0};
      }
    };
    place(graph.output_ids, Slot::Area::kOutput, true);
    place(graph.input_ids, Slot::Area::kInput, false);
    slots_[{BufferUse::Kind::kError, 0}] = {Slot::Area::kError, 0, 0};
    for (const KernelStep& step : schedule.steps) {
      if (packed_input(step) < 0) continue;
      const BufferUse& form = step.buffers.back();
      slots_[{form.kind, form.index}] = {Slot::Area::kPacked, static_cast<int32_t>(packed_bytes_.size()), 0};
      packed_bytes_.push_back(static_cast<size_t>(schedule.scratch_bytes[static_cast<size_t>(form.index)]));
    }

    std::map<Key, ArenaBlock> blocks;
    const auto lives = [&](const BufferUse& use, size_t step) {
      const Key key{use.kind, use.index};
      if (slots_.contains(key)) return;
      const auto [block, fresh] = blocks.try_emplace(key);
      if (fresh) {
        block->second.first_step = step;
        block->second.bytes = use.kind == BufferUse::Kind::kScratch
                                  ? schedule.scratch_bytes[static_cast<size_t>(use.index)]
                                  : bytes_of(graph.type(use.index));
      }
      block->second.last_step = step;
    };
    for (size_t step = 0; step < schedule.steps.size(); ++step)
      for_each_use(schedule.steps[step], [&](const BufferUse& use) { lives(use, step); });
    std::vector<ArenaBlock> placed;
    for (auto& [_, block] : blocks) placed.push_back(block);
    arena_bytes_ = place_blocks(placed, reuses_of(schedule, blocks), rooms_of(graph, schedule, free_outputs));
    size_t next = 0;
    for (auto& [key, _] : blocks) {
      const ArenaBlock& place = placed[next++];
      slots_[key] = place.room < 0
                        ? Slot{Slot::Area::kArena, 0, place.offset}
                        : Slot{Slot::Area::kOutput, static_cast<int32_t>(free_outputs[static_cast<size_t>(place.room)]),
                               place.offset};
    }
  }

  Slot slot(const BufferUse& use) const {
    Slot slot = slots_.at({use.kind, use.index});
    slot.byte_offset += use.byte_offset;
    return slot;
  }
  /// The plan's input that the step packs; -1 if there is none, also when what is packed was computed by the plan.
  int32_t packed_input(const KernelStep& step) const {
    if (step.packs < 0) return -1;
    const auto found = slots_.find({BufferUse::Kind::kValue, step.packs});
    return found != slots_.end() && found->second.area == Slot::Area::kInput ? found->second.index : -1;
  }
  int64_t arena_bytes() const { return arena_bytes_; }
  const std::vector<size_t>& packed_bytes() const { return packed_bytes_; }

 private:
  using Key = MemoryKey;

  /// The memory of outputs before they are written, once no check can fail: until then it may hold what must be there
  /// if one does.
  static std::vector<ArenaRoom> rooms_of(const IRGraph& graph, const Schedule& schedule,
                                         const std::vector<size_t>& free_outputs) {
    size_t safe = 0;
    std::map<Key, size_t> first_uses;
    for (size_t step = 0; step < schedule.steps.size(); ++step) {
      if (may_fail(schedule.steps[step])) safe = step + 1;
      for_each_use(schedule.steps[step], [&](const BufferUse& use) { first_uses.try_emplace(key_of(use), step); });
    }
    std::vector<ArenaRoom> rooms;
    for (size_t output : free_outputs) {
      const ValueId id = graph.output_ids[output];
      const auto first = first_uses.find({BufferUse::Kind::kValue, schedule.layouts.at(id).storage});
      const bool is_free = first != first_uses.end() && first->second > safe;
      rooms.push_back(is_free ? ArenaRoom{bytes_of(graph.type(id)), safe, first->second - 1} : ArenaRoom{});
    }
    return rooms;
  }

  /// The blocks that end in a step where others begin which may take their place; in the order of the steps. One that
  /// begins there too is written in it, and does not count.
  static std::vector<BlockReuse> reuses_of(const Schedule& schedule, const std::map<Key, ArenaBlock>& blocks) {
    struct Ends {
      std::vector<std::pair<Key, size_t>> last;
      std::vector<std::pair<Key, size_t>> first;
    };
    std::vector<Ends> ends(schedule.steps.size());
    size_t number = 0;
    for (const auto& [key, block] : blocks) {
      if (block.first_step < block.last_step) ends[block.last_step].last.emplace_back(key, number);
      ends[block.first_step].first.emplace_back(key, number++);
    }
    std::vector<BlockReuse> reuses;
    if (is_disabled(kReuseMemory)) return reuses;
    for (size_t step = 0; step < ends.size(); ++step)
      for (const auto& [written, to] : ends[step].first)
        for (const auto& [read, from] : ends[step].last)
          if (may_take_place(schedule.steps[step], read, written)) reuses.push_back({from, to});
    return reuses;
  }

  static int64_t bytes_of(const TensorType& type) {
    return std::max<int64_t>(numel(type.shape), 1) * static_cast<int64_t>(size_of(type.dtype));
  }
  std::map<Key, Slot> slots_;
  int64_t arena_bytes_ = 0;
  std::vector<size_t> packed_bytes_;
};

/// Notes when inputs are read last and outputs written first.
void note_accesses(Plan& plan, const SlotMap& slots, const Schedule& schedule, size_t inputs) {
  plan.last_reads.assign(inputs, 0);
  plan.first_writes.assign(plan.outputs.size(), std::numeric_limits<size_t>::max());
  const auto note = [&](const BufferUse& use) {
    const Slot slot = slots.slot(use);
    const auto index = static_cast<size_t>(slot.index);
    if (slot.area == Slot::Area::kInput) plan.last_reads[index] = std::max(plan.last_reads[index], use.last_turn);
    if (slot.area == Slot::Area::kOutput) plan.first_writes[index] = std::min(plan.first_writes[index], use.first_turn);
  };
  for (const KernelStep& step : schedule.steps) for_each_use(step, note);
}

PlanStep::Part part_of(const SlotMap& slots, const std::vector<BufferUse>& buffers, const std::vector<int64_t>& params,
                       int64_t items) {
  PlanStep::Part part{{}, params, items};
  for (const BufferUse& use : buffers) part.slots.push_back(slots.slot(use));
  return part;
}

PlanStep::Turn turn_of(const std::string& name, const loop::Kernel& kernel, std::span<const uint32_t> buffers) {
  PlanStep::Turn turn{name, {}, {}};
  const std::vector<loop::BufferAccess> accesses = loop::accesses_of(kernel);
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (accesses[i].is_read) turn.reads.push_back(buffers[i]);
    if (accesses[i].is_written) turn.writes.push_back(buffers[i]);
  }
  return turn;
}

/// What the step's kernel does one after another.
std::vector<PlanStep::Turn> turns_of(const KernelStep& step) {
  std::vector<PlanStep::Turn> turns;
  for (const loop::Call& call : step.kernel.calls) {
    const loop::Kernel& part = step.kernel.parts[call.part];
    turns.push_back(turn_of(part.name, part, call.buffers));
  }
  if (!turns.empty()) return turns;
  std::vector<uint32_t> own(step.buffers.size());
  std::iota(own.begin(), own.end(), 0u);
  return {turn_of(step.kernel.name, step.kernel, own)};
}

/// The machine code of kernels: from the cache, or compiled on all threads.
std::vector<Ref<codegen::LoadedCode>> codes_of(std::span<const loop::Kernel* const> kernels) {
  std::vector<Ref<codegen::LoadedCode>> codes(kernels.size());
  const CpuLevel target = chosen_level();
  const std::atomic<bool>* cancelled = cancellation_flag();
  const auto get = [&](size_t i) {
    if (!kernels[i] || codes[i]) return;
    check_cancelled(cancelled);
    codes[i] = kernel_cache().get(*kernels[i], target);
  };
  parallel_for(static_cast<int64_t>(codes.size()), 1, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) has_memory_for([&] { get(i); });
  });
  // When memory is short, malloc may have a heap for this thread but none for those of the pool.
  for (size_t i = 0; i < codes.size(); ++i) get(i);
  return codes;
}

/// The machine code of each step that is a kernel.
std::vector<Ref<codegen::LoadedCode>> codes_of(const Schedule& schedule) {
  std::vector<const loop::Kernel*> parts, kernels;
  for (const KernelStep& step : schedule.steps) {
    kernels.push_back(step.host < 0 ? &step.kernel : nullptr);
    for (const loop::Kernel& part : step.kernel.parts) parts.push_back(&part);
  }
  codes_of(parts);
  return codes_of(kernels);
}

/// The values whose memory the caller passes or takes.
std::set<ValueId> values_outside(const IRGraph& graph, const std::map<ValueId, Layout>& layouts) {
  std::set<ValueId> outside(graph.input_ids.begin(), graph.input_ids.end());
  for (ValueId id : graph.output_ids) outside.insert(layouts.at(id).storage);
  return outside;
}

/// Some tens of microseconds, after which other threads should be let in.
bool takes_long(const Plan& plan) {
  constexpr size_t kManySteps = 16;
  return plan.steps.size() > kManySteps || std::any_of(plan.steps.begin(), plan.steps.end(), [](const PlanStep& step) {
           return step.host || step.items() > step.grain;
         });
}

Ref<Plan> make_plan(const IRGraph& source, const std::map<ValueId, Geometry>& inputs,
                    std::span<const Geometry> destinations, std::span<const PlanUpdate> updates, OutputOrder order,
                    std::span<const size_t> fresh) {
  IRGraph graph = expand_to_primitives(source);
  // Composites may be made of the same: a standard deviation of the mean that was asked for besides.
  CommonSubexpressionPass common;
  ConstantPool unknown;
  if (!is_disabled(common.name())) common.run(graph, unknown);
  std::map<ValueId, Geometry> geometries;
  for (size_t i = 0; i < source.input_ids.size(); ++i) geometries[graph.input_ids[i]] = inputs.at(source.input_ids[i]);
  std::map<ValueId, Geometry> imposed;
  for (size_t i = 0; i < destinations.size(); ++i) imposed[graph.output_ids.at(i)] = destinations[i];
  std::map<ValueId, Layout> layouts = assign_layouts(graph, geometries, imposed);
  std::set<ValueId> changing;
  for (const PlanUpdate& update : updates) changing.insert(graph.input_ids[update.input]);
  // A destination may be the memory of an operand.
  if (destinations.empty()) {
    own_outputs(graph, layouts, order);
    if (!is_disabled(kRecompute)) recompute_values(graph, layouts, changing);
    if (!is_disabled(kPlaceInResults)) place_in_results(graph, layouts);
  }
  Schedule schedule = schedule_graph(graph, std::move(layouts));
  // What is made of an input that will be another afterwards is not worth keeping.
  std::set<ValueId> passing = changing;
  for (size_t input : fresh) passing.insert(graph.input_ids[input]);
  for (KernelStep& step : schedule.steps)
    if (passing.contains(step.packs)) step.packs = -1;
  number_turns(schedule);
  const std::set<ValueId> outside = values_outside(graph, schedule.layouts);
  if (destinations.empty() && !is_disabled(kFuseSteps)) fuse_steps(schedule, outside);
  if (destinations.empty() && !is_disabled(kLaunchBeside)) launch_beside(schedule, outside);

  auto plan = make_ref<Plan>();
  plan->elementwise =
      std::all_of(graph.nodes.begin(), graph.nodes.end(), [](const IRNode& node) { return node.op->is_pointwise(); });
  for (ValueId id : graph.output_ids)
    plan->outputs.push_back({graph.type(id), schedule.layouts.at(id).geometry.strides});
  plan->overwrites.assign(plan->outputs.size(), -1);
  for (const PlanUpdate& update : updates)
    if (!is_disabled(kOverwriteState) &&
        may_overwrite(schedule, graph.input_ids[update.input], graph.output_ids[update.output]))
      plan->overwrites[update.output] = static_cast<int32_t>(update.input);
  std::vector<size_t> free_outputs;
  if (destinations.empty() && !is_disabled(kPlaceInResults))
    for (size_t i = 0; i < plan->outputs.size(); ++i)
      if (plan->overwrites[i] < 0) free_outputs.push_back(i);
  const SlotMap slots(graph, schedule, free_outputs);
  plan->arena_bytes = static_cast<size_t>(slots.arena_bytes());
  plan->packed_bytes = slots.packed_bytes();
  const std::vector<Ref<codegen::LoadedCode>> codes = codes_of(schedule);
  for (size_t i = 0; i < schedule.steps.size(); ++i) {
    const KernelStep& step = schedule.steps[i];
    PlanStep ready;
    if (step.host >= 0) {
      const IRNode& node = graph.nodes[static_cast<size_t>(step.host)];
      ready.name = node.op->name();
      ready.host = host_function(graph, node);
    } else {
      ready.name = step.kernel.name;
      ready.code = codes[i];
      plan->scratch_bytes = std::max(plan->scratch_bytes, ready.code->scratch_bytes());
      ready.turns = turns_of(step);
    }
    ready.parts.push_back(part_of(slots, step.buffers, step.params, step.items));
    for (const Launch& launch : step.beside)
      ready.parts.push_back(part_of(slots, launch.buffers, launch.params, launch.items));
    ready.grain = grain_of(step);
    ready.packs = slots.packed_input(step);
    plan->steps.push_back(std::move(ready));
  }
  for (ValueId id : graph.output_ids) plan->is_safe.push_back(is_written_safely(schedule, id));
  plan->is_long = takes_long(*plan);
  note_accesses(*plan, slots, schedule, graph.input_ids.size());
  return plan;
}

}  // namespace

Ref<Plan> compile_plan(const IRGraph& source, const std::map<ValueId, Geometry>& inputs,
                       std::span<const Geometry> destinations, std::span<const PlanUpdate> updates, OutputOrder order,
                       std::span<const size_t> fresh) {
  Ref<Plan> plan;
  with_large_stack([&] { plan = make_plan(source, inputs, destinations, updates, order, fresh); });
  return plan;
}

}  // namespace lucid
