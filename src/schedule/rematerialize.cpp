#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "schedule/group.h"
#include "schedule/schedule.h"

// Rematerialization. Most of the memory of a training step holds values for the backward pass, and many of them are a
// few cheap ops away from other live values: an activation from the result of a product or a convolution, a normalised
// value from its input. At the memory peak, such values are freed after their early uses and computed again for the
// late ones, by the same ops on the same values.
namespace lucid {
namespace {

// The cost model. A value must be at least 1/256 of the peak, or rematerializing it is not worth a kernel.
constexpr int64_t kMinPeakShare = 256;
// Operations per lane that saving a byte may cost: about as many as run while a byte is read from memory.
constexpr double kMaxFlopsPerByte = 16;
constexpr double kSimpleFlops = 1;
constexpr double kFunctionFlops = 24;
constexpr double kIndexedFlops = 16;
// Maximum number of nodes that rematerialize a value.
constexpr size_t kMaxChainNodes = 24;
// The inputs kept alive for it may total at most 1/8 of its size.
constexpr int64_t kMaxExtendedShare = 8;
// Larger than any machine's memory, but small enough that sums and multiples do not overflow. Such plans can be
// compiled and fail only when they run out of memory.
constexpr int64_t kMaxElements = int64_t{1} << 42;
// Maximum number of values to rematerialize.
constexpr size_t kMaxRounds = 512;

bool is_view(const IRNode& node) { return static_cast<bool>(node.op->view); }

double flops_of(const IRNode& node) {
  if (!node.op->is_pointwise()) return kIndexedFlops;
  return node.op->is_costly() ? kFunctionFlops : kSimpleFlops;
}

bool is_rematerializable(const IRNode& node) {
  return (node.op->is_pointwise() || std::holds_alternative<IndexedLowering>(node.op->lowering)) &&
         node.op->errors.empty() && node.outputs.size() == 1;
}

/// A node and its time, the index of a node of the original graph. Clones run just before the original node with their
/// time.
struct Item {
  IRNode node;
  size_t time = 0;
};

struct Use {
  size_t time = 0;  // when the buffer is read: the root of the reader's kernel
  size_t item = 0;  // the reader
};

/// The live range of a stored value.
struct Buffer {
  int64_t bytes = 0;
  size_t first = 0;
  std::vector<Use> uses;
  bool is_planned = true;  // in the plan's memory, not the caller's

  size_t last() const {
    size_t last = first;
    for (const Use& use : uses) last = std::max(last, use.time);
    return last;
  }
};

/// A value that is live across the peak, and the nodes that rematerialize it.
struct Recomputation {
  ValueId value = -1;
  size_t time = 0;                 // when it is rematerialized
  std::vector<size_t> chain = {};  // the items to clone, operands first
  int64_t extended_bytes = 0;      // bytes of their inputs whose live ranges must be extended
  int64_t intermediate_bytes = 0;  // bytes of the intermediate values that they store
  double flops = 0;
};

class Rematerializer {
 public:
  Rematerializer(IRGraph& graph, std::map<ValueId, Layout>& layouts, const std::set<ValueId>& changing)
      : graph_(graph), layouts_(layouts), count_(graph.nodes.size()), live_bytes_(count_) {
    for (ValueId id : graph.input_ids)
      if (!changing.contains(id)) persistent_.insert(id);
    for (ValueId id : graph.output_ids) persistent_.insert(storage(id));
    const std::vector<std::set<size_t>> groups = consumer_groups_of(graph);
    for (size_t i = 0; i < count_; ++i) items_.push_back({graph.nodes[i], i});
    for (size_t i = 0; i < count_; ++i) add_node(i, groups[i]);
    for (const auto& [_, buffer] : buffers_)
      if (buffer.is_planned) add_live_bytes(buffer.first, buffer.last() + 1, buffer.bytes);
  }

  bool run(int64_t threshold) {
    size_t rounds = 0;
    for (; rounds < kMaxRounds; ++rounds) {
      const auto peak = std::max_element(live_bytes_.begin(), live_bytes_.end());
      if (peak == live_bytes_.end() || *peak <= threshold) break;
      const std::optional<Recomputation> best = best_at(static_cast<size_t>(peak - live_bytes_.begin()), *peak);
      if (!best) break;
      apply(*best);
    }
    if (rounds > 0) rewrite();
    return rounds > 0;
  }

 private:
  ValueId storage(ValueId id) const { return layouts_.at(id).storage; }

  int64_t elements_of(ValueId id) const { return std::min(numel(graph_.type(id).shape).unguarded(), kMaxElements); }
  int64_t bytes_of(ValueId id) const { return elements_of(id) * static_cast<int64_t>(size_of(graph_.type(id).dtype)); }

  void add_live_bytes(size_t begin, size_t end, int64_t bytes) {
    for (size_t time = begin; time < end; ++time) live_bytes_[time] += bytes;
  }

  /// Records the reads of a node, and its results if they are stored.
  void add_node(size_t index, const std::set<size_t>& groups) {
    const IRNode& node = items_[index].node;
    for (ValueId id : node.outputs) producers_[id] = index;
    if (is_view(node)) return;
    for (const IROperand& input : node.inputs) {
      if (input.id < 0) continue;
      const ValueId source = storage(input.id);
      const bool is_computed = producers_.contains(source);
      if (is_computed && !buffers_.contains(source)) continue;  // in registers
      Buffer& buffer = buffers_[source];
      if (!is_computed) buffer.is_planned = false;
      for (size_t group : groups) buffer.uses.push_back({group, index});
    }
    live_bytes_[index] += workspace_bytes(node);
    if (groups != std::set<size_t>{index}) return;
    for (ValueId id : node.outputs)
      if (storage(id) == id) buffers_[id] = {bytes_of(id), index, {}, !persistent_.contains(id)};
  }

  /// Estimated size of the packed operands of products and convolutions.
  int64_t workspace_bytes(const IRNode& node) const {
    const auto operand = [&](size_t i) { return bytes_of(node.inputs[i].id); };
    if (std::holds_alternative<ConvolutionLowering>(node.op->lowering)) return operand(0) + operand(1);
    if (std::holds_alternative<ContractionLowering>(node.op->lowering)) return std::min(operand(0), operand(1));
    return 0;
  }

  /// Whether a stored value can be read at `time`.
  bool is_alive(ValueId buffer, size_t time) const {
    const auto producer = producers_.find(buffer);
    if (producer != producers_.end() &&
        (producer->second < count_ ? producer->second >= time : items_[producer->second].time > time))
      return false;
    if (persistent_.contains(buffer)) return true;
    const auto found = buffers_.find(buffer);
    return found != buffers_.end() && found->second.last() >= time;
  }

  /// Adds the nodes that compute value `id` at the candidate's time. Returns whether this is possible.
  bool add_chain(Recomputation& candidate, ValueId id, std::set<ValueId>& reached) const {
    if (!reached.insert(id).second) return true;
    const ValueId buffer = storage(id);
    if (buffer != candidate.value && is_alive(buffer, candidate.time)) return true;
    const auto producer = producers_.find(id);
    if (producer == producers_.end()) return false;
    const IRNode& node = items_[producer->second].node;
    if (!is_view(node) && !is_rematerializable(node)) {
      const auto found = buffers_.find(buffer);
      if (found == buffers_.end()) return false;
      candidate.extended_bytes += found->second.bytes;
      return candidate.extended_bytes * kMaxExtendedShare <= bytes_of(candidate.value);
    }
    for (const IROperand& input : node.inputs)
      if (input.id >= 0 && !add_chain(candidate, input.id, reached)) return false;
    candidate.chain.push_back(producer->second);
    if (is_view(node)) {
      // The operand of a view is stored.
      const ValueId viewed = node.inputs[0].id;
      if (viewed != candidate.value && !is_view(items_[producers_.at(viewed)].node))
        candidate.intermediate_bytes += bytes_of(viewed);
      return true;
    }
    candidate.flops += flops_of(node) * static_cast<double>(elements_of(id));
    return candidate.chain.size() <= kMaxChainNodes;
  }

  /// The way to rematerialize a value that is live across the peak, if there is one.
  std::optional<Recomputation> candidate_of(ValueId value, const Buffer& buffer, size_t peak) const {
    Recomputation candidate{.value = value, .time = count_};
    std::set<size_t> early;
    for (const Use& use : buffer.uses) {
      if (use.time == peak) return std::nullopt;
      if (use.time < peak)
        early.insert(use.item);
      else
        candidate.time = std::min(candidate.time, items_[use.item].time);
    }
    // A node that several kernels compute may read it both before and after the peak.
    for (const Use& use : buffer.uses)
      if (use.time > peak && early.contains(use.item)) return std::nullopt;
    std::set<ValueId> reached;
    if (candidate.time <= peak || candidate.time == count_ || !add_chain(candidate, value, reached))
      return std::nullopt;
    if (candidate.flops > kMaxFlopsPerByte * static_cast<double>(buffer.bytes)) return std::nullopt;
    // Rematerializing must not create an equally high peak.
    if (live_bytes_[candidate.time] + candidate.extended_bytes + candidate.intermediate_bytes >= live_bytes_[peak])
      return std::nullopt;
    return candidate;
  }

  std::optional<Recomputation> best_at(size_t peak, int64_t peak_bytes) const {
    std::optional<Recomputation> best;
    std::pair<double, int64_t> best_saving;
    for (const auto& [value, buffer] : buffers_) {
      if (!buffer.is_planned || buffer.bytes * kMinPeakShare < peak_bytes) continue;
      if (buffer.first >= peak || buffer.last() <= peak) continue;
      if (!is_rematerializable(items_[producers_.at(value)].node)) continue;
      std::optional<Recomputation> candidate = candidate_of(value, buffer, peak);
      if (!candidate) continue;
      const std::pair saving(static_cast<double>(buffer.bytes) / std::max(candidate->flops, 1.0), buffer.bytes);
      if (best && saving <= best_saving) continue;
      best = std::move(candidate);
      best_saving = saving;
    }
    return best;
  }

  /// Makes the late users of a value read its clone.
  void apply(const Recomputation& candidate) {
    std::map<ValueId, ValueId> clones;
    for (size_t index : candidate.chain) clone(index, candidate.time, clones);
    const auto is_late = [&](const Use& use) { return use.time >= candidate.time; };
    std::vector<Use> late;
    Buffer& old = buffers_.at(candidate.value);
    std::copy_if(old.uses.begin(), old.uses.end(), std::back_inserter(late), is_late);
    std::erase_if(old.uses, is_late);
    add_live_bytes(old.last() + 1, candidate.time, -old.bytes);
    live_bytes_[candidate.time] += candidate.intermediate_bytes;
    for (const Use& use : late)
      for (size_t i = 0; i < items_[use.item].node.inputs.size(); ++i) {
        const ValueId id = items_[use.item].node.inputs[i].id;
        if (id < 0 || storage(id) != candidate.value) continue;
        const ValueId fresh = clone_of(id, candidate.time, clones);
        items_[use.item].node.inputs[i].id = fresh;
      }
    buffers_[clones.at(candidate.value)] = {old.bytes, candidate.time, std::move(late), true};
  }

  /// The clone of a value, or of a view of a cloned value.
  ValueId clone_of(ValueId id, size_t time, std::map<ValueId, ValueId>& clones) {
    if (const auto known = clones.find(id); known != clones.end()) return known->second;
    const size_t producer = producers_.at(id);
    clone_of(items_[producer].node.inputs[0].id, time, clones);
    clone(producer, time, clones);
    return clones.at(id);
  }

  /// Adds a clone of a node, which reads clones of its operands where they exist.
  void clone(size_t index, size_t time, std::map<ValueId, ValueId>& clones) {
    IRNode node = items_[index].node;
    for (IROperand& input : node.inputs) {
      if (input.id < 0) continue;
      if (const auto known = clones.find(input.id); known != clones.end())
        input.id = known->second;
      else if (!is_view(node))
        add_read(storage(input.id), time);
    }
    const ValueId old = node.outputs[0];
    const ValueId fresh = graph_.add_value(graph_.type(old));
    layouts_[fresh] = {is_view(node) ? storage(node.inputs[0].id) : fresh, layouts_.at(old).geometry};
    clones[old] = fresh;
    producers_[fresh] = items_.size();
    node.outputs = {fresh};
    items_.push_back({std::move(node), time});
  }

  /// Records that the next item reads this buffer.
  void add_read(ValueId source, size_t time) {
    const auto found = buffers_.find(source);
    if (found == buffers_.end()) return;  // an input that has no other reader
    Buffer& buffer = found->second;
    if (buffer.is_planned && buffer.last() < time) add_live_bytes(buffer.last() + 1, time + 1, buffer.bytes);
    buffer.uses.push_back({time, items_.size()});
  }

  /// Inserts the clones into the graph and removes the nodes that they replaced completely.
  void rewrite() {
    std::vector<std::vector<size_t>> at(count_);
    for (size_t i = count_; i < items_.size(); ++i) at[items_[i].time].push_back(i);
    std::vector<size_t> order;
    std::vector<bool> is_emitted(items_.size());
    const auto emit = [&](const auto& self, size_t index) -> void {
      if (is_emitted[index]) return;
      is_emitted[index] = true;
      for (const IROperand& input : items_[index].node.inputs) {
        const auto producer = input.id < 0 ? producers_.end() : producers_.find(input.id);
        if (producer != producers_.end()) self(self, producer->second);
      }
      order.push_back(index);
    };
    for (size_t i = 0; i < count_; ++i) {
      for (size_t index : at[i]) emit(emit, index);
      emit(emit, i);
    }
    std::set<ValueId> used(graph_.output_ids.begin(), graph_.output_ids.end());
    for (const auto& [_, value] : graph_.updates) used.insert(value);
    graph_.nodes.clear();
    for (size_t i = order.size(); i-- > 0;) {
      IRNode& node = items_[order[i]].node;
      const bool is_removable = is_view(node) || is_rematerializable(node);
      if (is_removable && !used.contains(node.outputs[0])) {
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
  const size_t count_;               // of the original nodes
  std::vector<int64_t> live_bytes_;  // for each time, the live bytes of the plan
  std::set<ValueId> persistent_;     // buffers that stay alive until the end
  std::vector<Item> items_;          // the original nodes, then the clones
  std::map<ValueId, size_t> producers_;
  std::map<ValueId, Buffer> buffers_;  // for stored values
};

}  // namespace

bool rematerialize(IRGraph& graph, std::map<ValueId, Layout>& layouts, const std::set<ValueId>& changing,
                   int64_t threshold) {
  return graph.nodes.size() > 1 && Rematerializer(graph, layouts, changing).run(threshold);
}

}  // namespace lucid
