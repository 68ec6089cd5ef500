#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "schedule/group.h"
#include "schedule/schedule.h"

// What to keep and what to compute again. Values that wait for the backward pass are most of what a training step
// holds, and many of them are a few cheap operations away from others that wait as well: an activation from what a
// product or a convolution gave, a normalised value from what was normalised. Where the plan would hold most, such
// values are given up after their early uses and computed again, by the same operations on the same values, for the
// late ones.
namespace lucid {
namespace {

// The cost model. A value must be such a part of the most that is held, or computing it again is not worth a kernel.
constexpr int64_t kLeastShare = 256;
// What a byte may cost, in operations of a lane: about as many as are done while it is read from memory.
constexpr double kMostFlopsPerByte = 16;
constexpr double kSimpleFlops = 1;
constexpr double kFunctionFlops = 24;
constexpr double kIndexedFlops = 16;
// Of how many nodes a value may be computed.
constexpr size_t kMostNodes = 24;
// All that must be kept longer for it may be such a part of it.
constexpr int64_t kLongerShare = 8;
// More than any machine has, and so little that sums and multiples of it are numbers still: such plans may be made, and
// fail only for want of memory.
constexpr int64_t kMostElements = int64_t{1} << 42;
// A bound on how much is changed.
constexpr size_t kMostChoices = 512;

bool is_view(const IRNode& node) { return static_cast<bool>(node.op->view); }

double flops_of(const IRNode& node) {
  if (!node.op->is_pointwise()) return kIndexedFlops;
  return node.op->is_costly() ? kFunctionFlops : kSimpleFlops;
}

bool is_recomputable(const IRNode& node) {
  return (node.op->is_pointwise() || std::holds_alternative<IndexedLowering>(node.op->lowering)) &&
         node.op->errors.empty() && node.outputs.size() == 1;
}

/// One node, at a time: its place in the graph. A node that computes something again comes just before the one whose
/// time it has.
struct Item {
  IRNode node;
  size_t time = 0;
};

struct Use {
  size_t time = 0;  // when the memory is read: the root of the reader's kernel
  size_t item = 0;  // the reader
};

/// When a value's memory is needed.
struct Memory {
  int64_t bytes = 0;
  size_t first = 0;
  std::vector<Use> uses;
  bool is_ours = true;  // in the plan's memory, not the caller's

  size_t last() const {
    size_t last = first;
    for (const Use& use : uses) last = std::max(last, use.time);
    return last;
  }
};

/// A value that waits from before a time until after it, and what computes it again.
struct Choice {
  ValueId value = -1;
  size_t time = 0;                 // when it is computed again
  std::vector<size_t> chain = {};  // the items to repeat, operands first
  int64_t longer = 0;              // what they need that would not be there any more
  int64_t between = 0;             // what they store besides the value
  double flops = 0;
};

class Recomputing {
 public:
  Recomputing(IRGraph& graph, std::map<ValueId, Layout>& layouts, const std::set<ValueId>& changing)
      : graph_(graph), layouts_(layouts), count_(graph.nodes.size()), held_(count_) {
    for (ValueId id : graph.input_ids)
      if (!changing.contains(id)) lasting_.insert(id);
    for (ValueId id : graph.output_ids) lasting_.insert(storage(id));
    const std::vector<std::set<size_t>> homes = homes_of(graph);
    for (size_t i = 0; i < count_; ++i) items_.push_back({graph.nodes[i], i});
    for (size_t i = 0; i < count_; ++i) note(i, homes[i]);
    for (const auto& [_, memory] : memories_)
      if (memory.is_ours) hold(memory.first, memory.last() + 1, memory.bytes);
  }

  bool run(int64_t enough) {
    size_t rounds = 0;
    for (; rounds < kMostChoices; ++rounds) {
      const auto peak = std::max_element(held_.begin(), held_.end());
      if (peak == held_.end() || *peak <= enough) break;
      const std::optional<Choice> best = best_at(static_cast<size_t>(peak - held_.begin()), *peak);
      if (!best) break;
      apply(*best);
    }
    if (rounds > 0) rewrite();
    return rounds > 0;
  }

 private:
  ValueId storage(ValueId id) const { return layouts_.at(id).storage; }

  int64_t elements_of(ValueId id) const { return std::min(numel(graph_.type(id).shape), kMostElements); }
  int64_t bytes_of(ValueId id) const { return elements_of(id) * static_cast<int64_t>(size_of(graph_.type(id).dtype)); }

  void hold(size_t begin, size_t end, int64_t bytes) {
    for (size_t time = begin; time < end; ++time) held_[time] += bytes;
  }

  /// What a node uses, and what it makes if that is stored.
  void note(size_t index, const std::set<size_t>& homes) {
    const IRNode& node = items_[index].node;
    for (ValueId id : node.outputs) makers_[id] = index;
    if (is_view(node)) return;
    for (const IROperand& input : node.inputs) {
      if (input.id < 0) continue;
      const ValueId source = storage(input.id);
      const bool is_made = makers_.contains(source);
      if (is_made && !memories_.contains(source)) continue;  // it is in registers
      Memory& memory = memories_[source];
      if (!is_made) memory.is_ours = false;
      for (size_t home : homes) memory.uses.push_back({home, index});
    }
    held_[index] += work_space(node);
    if (homes != std::set<size_t>{index}) return;
    for (ValueId id : node.outputs)
      if (storage(id) == id) memories_[id] = {bytes_of(id), index, {}, !lasting_.contains(id)};
  }

  /// What products and convolutions take for copies of their operands, about.
  int64_t work_space(const IRNode& node) const {
    const auto operand = [&](size_t i) { return bytes_of(node.inputs[i].id); };
    if (std::holds_alternative<ConvolutionLowering>(node.op->lowering)) return operand(0) + operand(1);
    if (std::holds_alternative<ContractionLowering>(node.op->lowering)) return std::min(operand(0), operand(1));
    return 0;
  }

  /// Whether a value that is stored at all can be read at a time.
  bool is_alive(ValueId memory, size_t time) const {
    const auto maker = makers_.find(memory);
    if (maker != makers_.end() && (maker->second < count_ ? maker->second >= time : items_[maker->second].time > time))
      return false;
    if (lasting_.contains(memory)) return true;
    const auto found = memories_.find(memory);
    return found != memories_.end() && found->second.last() >= time;
  }

  /// Adds to the choice what it takes to have a value at its time. Says whether it can be had.
  bool reach(Choice& choice, ValueId id, std::set<ValueId>& reached) const {
    if (!reached.insert(id).second) return true;
    const ValueId memory = storage(id);
    if (memory != choice.value && is_alive(memory, choice.time)) return true;
    const auto maker = makers_.find(id);
    if (maker == makers_.end()) return false;
    const IRNode& node = items_[maker->second].node;
    if (!is_view(node) && !is_recomputable(node)) {
      const auto found = memories_.find(memory);
      if (found == memories_.end()) return false;
      choice.longer += found->second.bytes;
      return choice.longer * kLongerShare <= bytes_of(choice.value);
    }
    for (const IROperand& input : node.inputs)
      if (input.id >= 0 && !reach(choice, input.id, reached)) return false;
    choice.chain.push_back(maker->second);
    if (is_view(node)) {
      // What is looked at through a view is stored.
      const ValueId seen = node.inputs[0].id;
      if (seen != choice.value && !is_view(items_[makers_.at(seen)].node)) choice.between += bytes_of(seen);
      return true;
    }
    choice.flops += flops_of(node) * static_cast<double>(elements_of(id));
    return choice.chain.size() <= kMostNodes;
  }

  /// How to do without a value at the peak.
  std::optional<Choice> choice_of(ValueId value, const Memory& memory, size_t peak) const {
    Choice choice{.value = value, .time = count_};
    std::set<size_t> early;
    for (const Use& use : memory.uses) {
      if (use.time == peak) return std::nullopt;
      if (use.time < peak)
        early.insert(use.item);
      else
        choice.time = std::min(choice.time, items_[use.item].time);
    }
    // A node that several kernels compute may use it on both sides.
    for (const Use& use : memory.uses)
      if (use.time > peak && early.contains(use.item)) return std::nullopt;
    std::set<ValueId> reached;
    if (choice.time <= peak || choice.time == count_ || !reach(choice, value, reached)) return std::nullopt;
    if (choice.flops > kMostFlopsPerByte * static_cast<double>(memory.bytes)) return std::nullopt;
    // It must not become as bad when it is computed again.
    if (held_[choice.time] + choice.longer + choice.between >= held_[peak]) return std::nullopt;
    return choice;
  }

  std::optional<Choice> best_at(size_t peak, int64_t most) const {
    std::optional<Choice> best;
    std::pair<double, int64_t> best_worth;
    for (const auto& [value, memory] : memories_) {
      if (!memory.is_ours || memory.bytes * kLeastShare < most) continue;
      if (memory.first >= peak || memory.last() <= peak) continue;
      if (!is_recomputable(items_[makers_.at(value)].node)) continue;
      std::optional<Choice> choice = choice_of(value, memory, peak);
      if (!choice) continue;
      const std::pair worth(static_cast<double>(memory.bytes) / std::max(choice->flops, 1.0), memory.bytes);
      if (best && worth <= best_worth) continue;
      best = std::move(choice);
      best_worth = worth;
    }
    return best;
  }

  /// Has the late users of a value read what is computed again.
  void apply(const Choice& choice) {
    std::map<ValueId, ValueId> again;
    for (size_t index : choice.chain) repeat(index, choice.time, again);
    const auto is_late = [&](const Use& use) { return use.time >= choice.time; };
    std::vector<Use> late;
    Memory& old = memories_.at(choice.value);
    std::copy_if(old.uses.begin(), old.uses.end(), std::back_inserter(late), is_late);
    std::erase_if(old.uses, is_late);
    hold(old.last() + 1, choice.time, -old.bytes);
    held_[choice.time] += choice.between;
    for (const Use& use : late)
      for (size_t i = 0; i < items_[use.item].node.inputs.size(); ++i) {
        const ValueId id = items_[use.item].node.inputs[i].id;
        if (id < 0 || storage(id) != choice.value) continue;
        const ValueId fresh = renamed(id, choice.time, again);
        items_[use.item].node.inputs[i].id = fresh;
      }
    memories_[again.at(choice.value)] = {old.bytes, choice.time, std::move(late), true};
  }

  /// The name that a value, or a view of one that is computed again, has from then on.
  ValueId renamed(ValueId id, size_t time, std::map<ValueId, ValueId>& again) {
    if (const auto known = again.find(id); known != again.end()) return known->second;
    const size_t maker = makers_.at(id);
    renamed(items_[maker].node.inputs[0].id, time, again);
    repeat(maker, time, again);
    return again.at(id);
  }

  /// Adds a node that computes what another does, from what was computed again where there is such.
  void repeat(size_t index, size_t time, std::map<ValueId, ValueId>& again) {
    IRNode node = items_[index].node;
    for (IROperand& input : node.inputs) {
      if (input.id < 0) continue;
      if (const auto known = again.find(input.id); known != again.end())
        input.id = known->second;
      else if (!is_view(node))
        read_at(storage(input.id), time);
    }
    const ValueId old = node.outputs[0];
    const ValueId fresh = graph_.add_value(graph_.type(old));
    layouts_[fresh] = {is_view(node) ? storage(node.inputs[0].id) : fresh, layouts_.at(old).geometry};
    again[old] = fresh;
    makers_[fresh] = items_.size();
    node.outputs = {fresh};
    items_.push_back({std::move(node), time});
  }

  /// The next item reads this memory.
  void read_at(ValueId source, size_t time) {
    const auto found = memories_.find(source);
    if (found == memories_.end()) return;  // an input that nobody else reads
    Memory& memory = found->second;
    if (memory.is_ours && memory.last() < time) hold(memory.last() + 1, time + 1, memory.bytes);
    memory.uses.push_back({time, items_.size()});
  }

  /// Puts the new nodes where they belong and leaves out what they replaced altogether.
  void rewrite() {
    std::vector<std::vector<size_t>> at(count_);
    for (size_t i = count_; i < items_.size(); ++i) at[items_[i].time].push_back(i);
    std::vector<size_t> order;
    std::vector<bool> is_placed(items_.size());
    const auto place = [&](const auto& self, size_t index) -> void {
      if (is_placed[index]) return;
      is_placed[index] = true;
      for (const IROperand& input : items_[index].node.inputs) {
        const auto maker = input.id < 0 ? makers_.end() : makers_.find(input.id);
        if (maker != makers_.end()) self(self, maker->second);
      }
      order.push_back(index);
    };
    for (size_t i = 0; i < count_; ++i) {
      for (size_t index : at[i]) place(place, index);
      place(place, i);
    }
    std::set<ValueId> used(graph_.output_ids.begin(), graph_.output_ids.end());
    for (const auto& [_, value] : graph_.updates) used.insert(value);
    graph_.nodes.clear();
    for (size_t i = order.size(); i-- > 0;) {
      IRNode& node = items_[order[i]].node;
      const bool may_go = is_view(node) || is_recomputable(node);
      if (may_go && !used.contains(node.outputs[0])) {
        graph_.values.erase(node.outputs[0]);
        layouts_.erase(node.outputs[0]);
        continue;
      }
      for (const IROperand& input : node.inputs)
        if (input.id >= 0) used.insert(input.id);
      graph_.nodes.push_back(std::move(node));
    }
    std::reverse(graph_.nodes.begin(), graph_.nodes.end());
  }

  IRGraph& graph_;
  std::map<ValueId, Layout>& layouts_;
  const size_t count_;         // of the nodes that there were
  std::vector<int64_t> held_;  // for each time, the bytes that the plan holds
  std::set<ValueId> lasting_;  // memory that is there from when it is made to the end
  std::vector<Item> items_;    // the nodes that there were, then those that compute something again
  std::map<ValueId, size_t> makers_;
  std::map<ValueId, Memory> memories_;  // of values that are stored
};

}  // namespace

bool recompute_values(IRGraph& graph, std::map<ValueId, Layout>& layouts, const std::set<ValueId>& changing,
                      int64_t enough) {
  return graph.nodes.size() > 1 && Recomputing(graph, layouts, changing).run(enough);
}

}  // namespace lucid
