#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "base/error.h"
#include "compiler/plan_draft.h"
#include "schedule/buffer_reuse.h"
#include "schedule/stages.h"

namespace lucid {
namespace {

using Kind = BufferUse::Kind;
using Phase = PlanDraft::Phase;

constexpr size_t kForever = std::numeric_limits<size_t>::max();

/// The steps from the first to the last use of a buffer.
struct LiveRange {
  size_t first = 0;
  size_t last = 0;
};

/// A range of memory and when it is live.
struct LiveBytes {
  MemoryKey key;
  int64_t begin = 0;
  int64_t end = 0;
  LiveRange live;
};

class DraftVerifier {
 public:
  explicit DraftVerifier(const PlanDraft& draft) : draft_(draft), graph_(draft.graph), schedule_(draft.schedule) {}

  void run() {
    lucid::verify(graph_);
    if (draft_.has(Phase::kLayouts)) check_layouts();
    if (!draft_.has(Phase::kSteps)) return;
    for (at_ = 0; at_ < schedule_.steps.size(); ++at_) {
      check_launches(schedule_.steps[at_]);
      stages_.push_back(stages_of(graph_, schedule_.steps[at_]));
      check_step(schedule_.steps[at_]);
    }
    at_ = kForever;
    check_dataflow();
    find_live_ranges();
    check_comparisons();
    check_donations();
    if (draft_.has(Phase::kMemory)) check_memory();
  }

 private:
  template <typename... Args>
  void require(bool holds, fmt::format_string<Args...> format, Args&&... args) const {
    if (!holds) fail(fmt::format(format, std::forward<Args>(args)...));
  }

  [[noreturn]] void fail(const std::string& message) const {
    std::string where;
    if (at_ != kForever) {
      const KernelStep& step = schedule_.steps[at_];
      where = fmt::format("step {} ({}) ", at_, !step.host ? step.kernel->name : graph_.nodes[*step.host].op->name());
    }
    throw InternalError("schedule of {} is malformed: {}{}\n{}", graph_.name, where, message, schedule_text(draft_));
  }

  // Layouts.

  bool is_callers(ValueId id) const { return draft_.outside.contains(id); }

  void check_layouts() const {
    for (const auto& [id, value] : graph_.values) {
      const auto found = schedule_.layouts.find(id);
      require(found != schedule_.layouts.end(), "%{} has no layout", id);
      const auto& [storage, geometry] = found->second;
      const auto owner = schedule_.layouts.find(storage);
      require(owner != schedule_.layouts.end() && owner->second.storage == storage,
              "%{} is stored in %{}, which does not own memory", id, storage);
      require(geometry.sizes == value.type.shape, "%{} has a layout with a different shape", id);
      // Inputs may have gaps between their elements, and so may outputs in the caller's memory.
      if (is_given(storage) || numel(geometry.sizes) == 0) continue;
      const auto [low, high] = element_range(geometry);
      const TensorType& owned = graph_.type(storage);
      const auto bytes = numel(owned.shape) * static_cast<int64_t>(size_of(owned.dtype));
      require(low >= 0 && high * static_cast<int64_t>(size_of(value.type.dtype)) <= bytes,
              "%{} extends past the memory of %{}", id, storage);
    }
    check_shared_layouts();
  }

  bool is_input(ValueId id) const { return draft_.inputs.contains(id); }

  /// Whether the caller determines the layout of this memory.
  bool is_given(ValueId storage) const {
    return is_input(storage) || (!draft_.destinations.empty() && is_callers(storage));
  }

  /// Values that share memory: each must be dead when the next is computed.
  void check_shared_layouts() const {
    std::map<ValueId, ValueId> viewed;  // the value behind each view
    std::map<ValueId, LiveRange> live;
    std::map<ValueId, std::vector<ValueId>> owners;  // by storage, in the order of their nodes
    const auto source = [&](ValueId id) {
      const auto found = viewed.find(id);
      return found == viewed.end() ? id : found->second;
    };
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const IRNode& node = graph_.nodes[i];
      for (const IROperand& input : node.inputs)
        if (input.id >= 0)
          if (const auto found = live.find(source(input.id)); found != live.end()) found->second.last = i;
      for (ValueId id : node.outputs) {
        if (node.op->view) {
          viewed[id] = source(node.inputs[0].id);
          continue;
        }
        live[id] = {i, i};
        owners[schedule_.layouts.at(id).storage].push_back(id);
      }
    }
    for (ValueId id : graph_.output_ids)
      if (const auto found = live.find(source(id)); found != live.end()) found->second.last = kForever;
    for (const auto& [storage, ids] : owners)
      for (size_t i = 1; i < ids.size(); ++i)
        require(live.at(ids[i - 1]).last <= live.at(ids[i]).first,
                "%{} and %{} are both stored in %{} and are live at the same time", ids[i - 1], ids[i], storage);
  }

  // Steps.

  bool is_known(const BufferUse& use) const {
    switch (use.kind) {
      case Kind::kValue: {
        const auto found = schedule_.layouts.find(use.index);
        return found != schedule_.layouts.end() && found->second.storage == use.index;
      }
      case Kind::kScratch:
        return use.index >= 0 && static_cast<size_t>(use.index) < schedule_.scratch_bytes.size();
      case Kind::kError:
        return use.index == 0;
    }
    return false;
  }

  void check_launches(const KernelStep& step) const {
    check_launch(step, step.buffers, step.params, step.items);
    for (const Launch& launch : step.more_launches) check_launch(step, launch.buffers, launch.params, launch.items);
  }

  void check_step(const KernelStep& step) const {
    check_launches_are_independent(step);
    if (step.kernel && !step.kernel->calls.empty()) check_stages_use_their_tiles(step);
    if (step.packs) check_packing(step);
  }

  void check_launch(const KernelStep& step, const std::vector<BufferUse>& buffers, const std::vector<SymInt>& params,
                    SymInt items) const {
    for (const BufferUse& use : buffers) {
      require(is_known(use), "passes {}, which does not exist", name_of(use));
      require(use.first_stage <= use.last_stage, "has its last use of {} before the first", name_of(use));
      if (use.kind == Kind::kValue && is_given(use.index)) continue;
      const int64_t bytes = memory_bytes(graph_, schedule_, key_of(use));
      require(use.byte_offset >= 0 && use.byte_offset <= bytes, "passes {}, which starts past the end of its {} bytes",
              name_of(use), bytes);
    }
    if (step.host) {
      require(step.more_launches.empty(), "calls a host function more than once");
      return;
    }
    const auto arguments =
        std::count_if(step.kernel->buffers.begin(), step.kernel->buffers.end(),
                      [](const auto& buffer) { return buffer.kind == loop::Buffer::Kind::kArgument; });
    require(static_cast<size_t>(arguments) == buffers.size(), "passes {} buffers to a kernel with {}", buffers.size(),
            arguments);
    require(static_cast<size_t>(step.kernel->param_count) == params.size(), "passes {} params to a kernel with {}",
            params.size(), step.kernel->param_count);
    require(items >= 0, "has {} items", items);
  }

  void check_launches_are_independent(const KernelStep& step) const {
    if (step.more_launches.empty()) return;
    const std::vector<bool> writes = writes_of(step);
    std::map<MemoryKey, size_t> writers;  // the launch that writes each
    const auto each = [&](const auto& function) {
      function(step.buffers, size_t{0});
      for (size_t i = 0; i < step.more_launches.size(); ++i) function(step.more_launches[i].buffers, i + 1);
    };
    const auto depend = [&](const BufferUse& use) {
      fail(fmt::format("has launches that depend on each other: one writes {}, which another uses", name_of(use)));
    };
    each([&](const std::vector<BufferUse>& buffers, size_t launch) {
      for (size_t i = 0; i < buffers.size(); ++i)
        if (writes[i] && buffers[i].kind != Kind::kError &&
            writers.try_emplace(key_of(buffers[i]), launch).first->second != launch)
          depend(buffers[i]);
    });
    each([&](const std::vector<BufferUse>& buffers, size_t launch) {
      for (const BufferUse& use : buffers)
        if (const auto found = writers.find(key_of(use)); found != writers.end() && found->second != launch)
          depend(use);
    });
  }

  /// Tiles of a fused kernel run in any order. A stage may use data that another stage writes only within its own tile.
  void check_stages_use_their_tiles(const KernelStep& step) const {
    struct Sharing {
      std::set<uint32_t> arguments;
      std::set<size_t> users;
      bool is_written = false;
    };
    std::map<MemoryKey, Sharing> shared;
    const std::vector<KernelStage>& stages = stages_[at_];
    for (size_t stage = 0; stage < stages.size(); ++stage)
      for (const auto* indices : {&stages[stage].reads, &stages[stage].writes})
        for (uint32_t index : *indices) {
          if (index >= step.buffers.size() || step.buffers[index].kind == Kind::kError) continue;
          Sharing& sharing = shared[key_of(step.buffers[index])];
          sharing.arguments.insert(index);
          sharing.users.insert(stage);
          sharing.is_written = sharing.is_written || indices == &stages[stage].writes;
        }
    for (const auto& [key, sharing] : shared) {
      if (!sharing.is_written || sharing.users.size() == 1) continue;
      require(sharing.arguments.size() == 1, "has stages that share {} under two names", name_of(key));
      const BufferUse& use = step.buffers[*sharing.arguments.begin()];
      require(step.items == 1 || use.tile.is_disjoint(), "has stages that share {} across tiles", name_of(key));
    }
  }

  void check_packing(const KernelStep& step) const {
    require(!draft_.transient.contains(*step.packs), "packs %{}, whose contents change before the next run",
            *step.packs);
    if (!is_given(*step.packs)) return;
    require(step.more_launches.empty() && !step.host && step.kernel->calls.empty(), "packs %{} and does other work",
            *step.packs);
    const std::vector<bool> writes = writes_of(step);
    for (size_t i = 0; i < step.buffers.size(); ++i) {
      const BufferUse& use = step.buffers[i];
      const bool is_form = i + 1 == step.buffers.size();
      require(writes[i] == is_form, "packs %{} but {} {}", *step.packs, is_form ? "does not write" : "writes",
              name_of(use));
      require(is_form ? use.kind == Kind::kScratch : key_of(use) == MemoryKey(Kind::kValue, *step.packs),
              "packs %{} but uses {}", *step.packs, name_of(use));
    }
  }

  // Dataflow.

  void check_dataflow() {
    std::set<MemoryKey> written;
    for (ValueId id : graph_.input_ids) written.insert({Kind::kValue, id});
    for (at_ = 0; at_ < schedule_.steps.size(); ++at_) {
      const KernelStep& step = schedule_.steps[at_];
      // A launch does not see what the other launches write.
      std::set<MemoryKey> added = check_reads(step.buffers, written);
      for (const Launch& launch : step.more_launches) added.merge(check_reads(launch.buffers, written));
      written.merge(added);
    }
    at_ = kForever;
    for (ValueId id : graph_.output_ids) {
      const MemoryKey key{Kind::kValue, schedule_.layouts.at(id).storage};
      require(written.contains(key) || is_empty(key), "output %{} is not written", id);
    }
  }

  /// Checks that a launch reads only memory that was written before or that it writes itself. Returns the latter.
  std::set<MemoryKey> check_reads(const std::vector<BufferUse>& buffers, const std::set<MemoryKey>& written) const {
    std::set<MemoryKey> own;
    std::set<uint32_t> locals;
    for (const KernelStage& stage : stages_[at_]) {
      // A stage may read what it writes: partial sums that it continues.
      for (uint32_t index : stage.writes) {
        if (index >= buffers.size()) {
          locals.insert(index);
          continue;
        }
        const BufferUse& use = buffers[index];
        require(use.kind != Kind::kValue || !is_input(use.index), "writes input {}", name_of(use));
        own.insert(key_of(use));
      }
      for (uint32_t index : stage.reads) {
        if (index >= buffers.size()) {
          require(locals.contains(index), "reads local{}, which nothing has written", index - buffers.size());
          continue;
        }
        const MemoryKey key = key_of(buffers[index]);
        require(key.first == Kind::kError || is_empty(key) || written.contains(key) || own.contains(key),
                "reads {}, which nothing has written", name_of(buffers[index]));
      }
    }
    return own;
  }

  bool is_empty(const MemoryKey& key) const {
    return key.first == Kind::kScratch ? schedule_.scratch_bytes[static_cast<size_t>(key.second)] == 0
                                       : key.first == Kind::kValue && numel(graph_.type(key.second).shape) == 0;
  }

  // Memory.

  void find_live_ranges() {
    for (size_t step = 0; step < schedule_.steps.size(); ++step) {
      if (may_fail(schedule_.steps[step])) last_check_ = step;
      for_each_use(schedule_.steps[step], [&](const BufferUse& use) {
        live_.try_emplace(key_of(use), LiveRange{step, step}).first->second.last = step;
      });
    }
  }

  MemoryKey output_key(size_t output) const {
    return {Kind::kValue, schedule_.layouts.at(graph_.output_ids[output]).storage};
  }

  /// Whether `next` may be written to the memory of `before`.
  bool may_follow(const MemoryKey& before, const LiveRange& live, const MemoryKey& next, const LiveRange& then) const {
    return live.last < then.first ||
           (live.last == then.first && may_reuse_in_place(schedule_.steps[live.last], before, next));
  }

  void check_comparisons() const {
    size_t before = 0;
    for (size_t i = 0; i < draft_.checked_after.size(); ++i) {
      const size_t step = draft_.checked_after[i];
      const size_t output = draft_.expected[i].output;
      require(step >= before, "output {} is compared before an earlier one", output);
      before = step;
      require(step < schedule_.steps.size() && schedule_.steps[step].is_checked, "no check is expected after step {}",
              step);
      const auto live = live_.find(output_key(output));
      require(live != live_.end() && live->second.last <= step, "output {} is compared before it is complete", output);
    }
  }

  void check_donations() const {
    require(draft_.donations.size() == graph_.output_ids.size(), "has {} donations for {} outputs",
            draft_.donations.size(), graph_.output_ids.size());
    std::set<int32_t> donated;
    for (size_t output = 0; output < draft_.donations.size(); ++output) {
      const int32_t index = draft_.donations[output];
      if (index < 0) continue;
      require(static_cast<size_t>(index) < graph_.input_ids.size(), "input {} is donated, but does not exist", index);
      const ValueId input = graph_.input_ids[static_cast<size_t>(index)];
      require(donated.insert(index).second, "input %{} is donated twice", input);
      const MemoryKey key = output_key(output);
      const auto live = live_.find(key);
      require(live != live_.end(), "input %{} is donated to {}, which is not written", input, name_of(key));
      const MemoryKey source{Kind::kValue, input};
      const auto read = live_.find(source);
      require(read == live_.end() || may_follow(source, read->second, key, live->second),
              "input %{} is donated to {}, but is read after the first write", input, name_of(key));
      require(!last_check_ || *last_check_ < live->second.first,
              "input %{} is donated to {}, but a check may fail after the first write", input, name_of(key));
    }
  }

  void check_memory() {
    std::map<std::pair<Slot::Area, int32_t>, std::vector<LiveBytes>> areas;
    for (const auto& [key, live] : live_) {
      const auto found = draft_.slots.slots.find(key);
      require(found != draft_.slots.slots.end(), "{} has no slot", name_of(key));
      const Slot& slot = found->second;
      check_area(key, slot);
      const int64_t bytes = memory_bytes(graph_, schedule_, key);
      LiveRange range = live;
      // A result stays live until the plan ends.
      if (key.first == Kind::kValue && is_callers(key.second)) range.last = kForever;
      if (bytes > 0) areas[{slot.area, slot.index}].push_back({key, slot.byte_offset, slot.byte_offset + bytes, range});
    }
    for (auto& [area, ranges] : areas)
      if (area.first == Slot::Area::kArena || area.first == Slot::Area::kOutput) check_disjoint(ranges);
  }

  void check_area(const MemoryKey& key, const Slot& slot) const {
    const bool is_value = key.first == Kind::kValue;
    const int64_t end = slot.byte_offset + memory_bytes(graph_, schedule_, key);
    const auto index = static_cast<size_t>(slot.index);
    require(slot.byte_offset >= 0, "{} starts before its area", name_of(key));
    switch (slot.area) {
      case Slot::Area::kInput:
        return require(is_value && index < graph_.input_ids.size() && graph_.input_ids[index] == key.second,
                       "{} has the slot of input {}", name_of(key), slot.index);
      case Slot::Area::kError:
        return require(key.first == Kind::kError, "{} has the slot of the error word", name_of(key));
      case Slot::Area::kPacked:
        return require(key.first == Kind::kScratch && index < draft_.slots.packed_bytes.size() &&
                           end <= static_cast<int64_t>(draft_.slots.packed_bytes[index]),
                       "{} does not fit into packed form {}", name_of(key), slot.index);
      case Slot::Area::kArena:
        require(!(is_value && is_callers(key.second)), "{} belongs to the caller, but is in the arena", name_of(key));
        require(slot.byte_offset % kArenaAlignment == 0, "{} is not aligned", name_of(key));
        return require(end <= draft_.slots.arena_bytes, "{} extends past the arena", name_of(key));
      case Slot::Area::kOutput:
        break;
    }
    require(index < graph_.output_ids.size(), "{} has the slot of output {}, which does not exist", name_of(key),
            slot.index);
    const MemoryKey own = output_key(index);
    if (own == key) return;
    require(!(is_value && is_callers(key.second)), "{} belongs to the caller, but has the slot of {}", name_of(key),
            name_of(own));
    require(draft_.outputs_as_scratch && draft_.donations[index] < 0, "{} is stored in {}, whose memory is not free",
            name_of(key), name_of(own));
    require(slot.byte_offset % kArenaAlignment == 0, "{} is not aligned", name_of(key));
    require(end <= memory_bytes(graph_, schedule_, own), "{} extends past {}", name_of(key), name_of(own));
    require(!last_check_ || *last_check_ < live_.at(key).first,
            "{} is stored in {}, but a check may fail after the first write", name_of(key), name_of(own));
  }

  void check_disjoint(std::vector<LiveBytes>& ranges) const {
    std::sort(ranges.begin(), ranges.end(), [](const LiveBytes& a, const LiveBytes& b) {
      return std::pair(a.begin, a.key) < std::pair(b.begin, b.key);
    });
    for (size_t i = 0; i < ranges.size(); ++i)
      for (size_t j = i + 1; j < ranges.size() && ranges[j].begin < ranges[i].end; ++j) {
        const LiveBytes& a = ranges[i];
        const LiveBytes& b = ranges[j];
        const bool is_same_offset = a.begin == b.begin;
        const bool is_disjoint = a.live.last < b.live.first || b.live.last < a.live.first;
        require(is_disjoint || (is_same_offset &&
                                (may_follow(a.key, a.live, b.key, b.live) || may_follow(b.key, b.live, a.key, a.live))),
                "{} and {} overlap and are live at the same time", name_of(a.key), name_of(b.key));
      }
  }

  const PlanDraft& draft_;
  const IRGraph& graph_;
  const Schedule& schedule_;
  std::vector<std::vector<KernelStage>> stages_;  // for each step
  size_t at_ = kForever;                          // the current step
  std::map<MemoryKey, LiveRange> live_;
  std::optional<size_t> last_check_;  // the last step that may fail
};

}  // namespace

void verify(const PlanDraft& draft) { DraftVerifier(draft).run(); }

}  // namespace lucid
