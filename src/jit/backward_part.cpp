#include "jit/backward_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/blocking.h"
#include "jit/program.h"

namespace lucid::jit {
namespace {

/// Maximum number of keys per part that get a plan, or a reason for having none.
constexpr size_t kMaxEntries = 8;
/// Maximum number of nodes in a part. The tensors that they saved are freed once its plan has run; a single plan for a
/// large graph would keep all of them alive until the end.
constexpr size_t kMaxMembers = 32;

std::atomic<int64_t> g_plans = 0;
std::atomic<int64_t> g_runs = 0;

using ViewKey = std::tuple<int32_t, Dtype, std::vector<int64_t>>;

ViewKey key_of(const TracedView& view) {
  const Geometry& geometry = view.geometry;
  std::vector<int64_t> numbers(geometry.sizes.begin(), geometry.sizes.end());
  numbers.insert(numbers.end(), geometry.strides.begin(), geometry.strides.end());
  numbers.push_back(geometry.offset);
  return {view.cell, view.dtype, std::move(numbers)};
}

/// A segment under construction.
class Segment {
 public:
  explicit Segment(size_t first_saved) : first_saved_(first_saved) {}

  /// Returns the node's index in the segment.
  uint32_t add(const GradNode& node, const std::function<size_t(const GradNode&)>& end_of) {
    const auto index = static_cast<uint32_t>(structure_.members.size());
    BackwardPart::Member member;
    for (const Edge& edge : node.edges()) {
      BackwardPart::Target& target = member.edges.emplace_back();
      if (!edge) continue;
      if (const auto inside = members_.find(edge.node.get()); inside != members_.end()) {
        target.member = inside->second;
        continue;
      }
      target.border =
          borders_.try_emplace({end_of(*edge.node), edge.output}, static_cast<int32_t>(borders_.size())).first->second;
      structure_.borders = borders_.size();
    }
    member.first_slot = static_cast<uint32_t>(structure_.values.size());
    member.end_slot = member.first_slot;
    structure_.members.push_back(std::move(member));
    members_[&node] = static_cast<int32_t>(index);
    return index;
  }

  /// Adds a tensor saved by the node that was added last.
  void add_saved(const TracedView& view, bool is_computed) {
    structure_.values.push_back(values_.try_emplace(key_of(view), static_cast<uint32_t>(values_.size())).first->second);
    structure_.is_computed.push_back(is_computed);
    structure_.members.back().end_slot = static_cast<uint32_t>(structure_.values.size());
  }

  size_t size() const { return structure_.members.size(); }

  size_t first_saved() const { return first_saved_; }
  /// A single node that saves nothing passes on the gradient that arrives, or a view of it. A plan could fuse nothing,
  /// and looking it up would slow down tiny calls.
  bool is_worth_a_plan() const { return structure_.members.size() > 1 || !structure_.values.empty(); }
  BackwardPart::Structure structure() { return std::move(structure_); }

 private:
  size_t first_saved_;
  BackwardPart::Structure structure_;
  std::unordered_map<const GradNode*, int32_t> members_;
  std::map<std::pair<size_t, uint32_t>, int32_t> borders_;
  std::map<ViewKey, uint32_t> values_;
};

}  // namespace

std::string to_text(const BackwardPlanInfo& plan) {
  if (!plan.reason.empty()) return fmt::format("backward: {} nodes one by one: {}", plan.nodes, plan.reason);
  return fmt::format("backward: {} nodes as {} kernels, {} bytes of memory while it runs, {} runs", plan.nodes,
                     plan.kernels, plan.arena_bytes, plan.runs);
}

BackwardCounters backward_counters() { return {g_plans.load(), g_runs.load()}; }
void count_backward_run() { g_runs.fetch_add(1, std::memory_order_relaxed); }

BackwardParts find_backward_parts(const std::string& name, const std::vector<Ref<GradNode>>& nodes,
                                  std::span<const TracedView> saved, const std::vector<bool>& is_computed,
                                  std::span<const size_t> saved_by,
                                  const std::function<size_t(const GradNode& end)>& end_of) {
  BackwardParts result;
  std::optional<Segment> segment;
  const auto finish = [&] {
    if (!segment) return;
    const auto part = static_cast<int32_t>(result.parts.size());
    if (segment->is_worth_a_plan()) {
      result.parts.push_back(make_ref<BackwardPart>(name, segment->structure()));
      result.first_saved.push_back(segment->first_saved());
    } else {
      for (BackwardParts::Member& member : result.members)
        if (member.part == part) member = {};
    }
    segment.reset();
  };
  for (size_t i = 0; i < nodes.size(); ++i) {
    const GradNode& node = *nodes[i];
    BackwardParts::Member& member = result.members.emplace_back();
    // The accumulator of a leaf that the call created adds to no other sum, so its position in the order is irrelevant.
    if (dynamic_cast<const AccumulateNode*>(&node)) continue;
    if (!node.is_made_of_ops() || !node.hooks().empty()) {
      finish();
      continue;
    }
    if (segment && segment->size() == kMaxMembers) finish();
    if (!segment) segment.emplace(saved_by[i]);
    member.part = static_cast<int32_t>(result.parts.size());
    member.index = segment->add(node, end_of);
    for (size_t k = saved_by[i]; k < saved_by[i + 1]; ++k) segment->add_saved(saved[k], is_computed[k]);
  }
  finish();
  return result;
}

std::shared_ptr<const BackwardPart::Reach> BackwardPart::reach_of(std::vector<Start> starts) {
  const std::lock_guard lock(mutex());
  for (const auto& known : reaches_)
    if (known->starts == starts) return known;
  if (reaches_.size() == kMaxEntries) return nullptr;
  auto reach = std::make_shared<Reach>();
  std::vector<bool> has_member(structure_.members.size());
  std::vector<bool> has_border(structure_.borders);
  std::vector<bool> has_value(structure_.values.size());
  for (const Start& start : starts) has_member[start.member] = true;
  // Edges lead to earlier members.
  for (size_t i = structure_.members.size(); i-- > 0;) {
    if (!has_member[i]) continue;
    const Member& member = structure_.members[i];
    reach->members.push_back(static_cast<uint32_t>(i));
    for (size_t edge = 0; edge < member.edges.size(); ++edge) {
      const Target& target = member.edges[edge];
      if (target.member >= 0) has_member[static_cast<size_t>(target.member)] = true;
      if (target.border < 0 || has_border[static_cast<size_t>(target.border)]) continue;
      has_border[static_cast<size_t>(target.border)] = true;
      reach->borders.push_back({static_cast<uint32_t>(i), static_cast<uint32_t>(edge)});
    }
    for (uint32_t slot = member.first_slot; slot < member.end_slot; ++slot) {
      const uint32_t value = structure_.values[slot];
      if (!has_value[value]) reach->slots.push_back(slot);
      has_value[value] = true;
    }
  }
  reach->starts = std::move(starts);
  reaches_.push_back(reach);
  return reach;
}

BackwardPart::Entry::Entry() = default;
BackwardPart::Entry::~Entry() = default;

void BackwardPart::Entry::try_to(const std::function<std::string()>& step) const {
  try {
    reason_ = step();
  } catch (const std::exception& error) {
    reason_ = reason_of(error);
  }
}

void BackwardPart::Entry::finalize() const {
  {
    const BlockingScope waiting;
    program->wait();
  }
  const std::lock_guard lock(mutex_of(LockRank::kBackwardPart, this));
  if (is_finalized()) return;
  try_to([&] { return program->finish(); });
  if (has_plan()) g_plans.fetch_add(1, std::memory_order_relaxed);
  is_finalized_.store(true, std::memory_order_release);
}

std::shared_ptr<const BackwardPart::Entry> BackwardPart::find(const Key& key,
                                                              std::span<TensorImpl* const> arguments) const {
  const auto fits = [&](const Entry& entry) {
    if (entry.key != key) return false;
    for (size_t i = 0; i < arguments.size(); ++i)
      if (arguments[i]->strides() != entry.strides[i]) return false;
    return !entry.is_finalized() || !entry.has_plan() || entry.program->fits(arguments);
  };
  // Entries are not reordered. The lock is held to fetch an entry, but not while it is compared.
  for (size_t i = 0;; ++i) {
    std::shared_ptr<const Entry> entry;
    {
      const std::lock_guard lock(mutex());
      if (i == entries_.size()) return nullptr;
      entry = entries_[i];
    }
    if (fits(*entry)) return entry;
  }
}

bool BackwardPart::can_add() const {
  const std::lock_guard lock(mutex());
  return entries_.size() < kMaxEntries;
}

void BackwardPart::add(std::shared_ptr<const Entry> entry) {
  const std::lock_guard lock(mutex());
  entries_.push_back(std::move(entry));
  const bool is_hopeless = entries_.size() == kMaxEntries &&
                           std::none_of(entries_.begin(), entries_.end(), [](const auto& e) { return e->program; });
  if (is_hopeless) give_up();
}

void BackwardPart::forget(const Entry& entry) {
  const std::lock_guard lock(mutex());
  std::erase_if(entries_, [&](const auto& other) { return other.get() == &entry; });
}

std::vector<BackwardPlanInfo> BackwardPart::plans() const {
  const std::lock_guard lock(mutex());
  std::vector<BackwardPlanInfo> plans;
  for (const auto& entry : entries_) {
    BackwardPlanInfo& info = plans.emplace_back();
    info.nodes = entry->runs.size();
    info.reason = entry->is_finalized() ? entry->reason() : "the plan is being compiled";
    if (!info.reason.empty()) continue;
    const Plan& plan = entry->program->plan();
    info.kernels = plan.kernel_count();
    info.arena_bytes = plan.arena_bytes;
    info.runs = entry->count.load(std::memory_order_relaxed);
  }
  return plans;
}

}  // namespace lucid::jit
