#include "codegen/order.h"

#include <algorithm>
#include <span>
#include <unordered_map>

#include "loop/codes.h"

namespace lucid::codegen {
namespace {

using loop::Code;
using loop::Id;

/// Vector instructions issued per cycle.
constexpr int kIssueWidth = 2;
/// Maximum number of live values: fewer than there are registers, because constants need some too.
constexpr int kMaxLive = 18;
/// Segments with fewer vector instructions are left alone: the processor's out-of-order window covers them.
constexpr size_t kMinVectorsToReorder = 24;

int latency_of(const loop::Instruction& x) {
  switch (x.code) {
    case Code::kDiv:
    case Code::kSqrt:
      return 24;
    case Code::kAdd:
    case Code::kSub:
    case Code::kMul:
    case Code::kFma:
    case Code::kConvert:
    case Code::kFloor:
    case Code::kCeil:
    case Code::kTrunc:
    case Code::kRound:
      return is_float(x.type.element) || x.code == Code::kConvert ? 4 : 1;
    case Code::kEq:
    case Code::kNe:
    case Code::kLt:
    case Code::kLe:
    case Code::kGt:
    case Code::kGe:
      return 3;
    case Code::kLoad:
    case Code::kLoadAlternate:
    case Code::kLoadTwice:
      return 7;
    case Code::kGather:
      return 20;
    case Code::kBitcast:
      return 0;
    default:
      return 1;
  }
}

bool is_pinned(Code code) {
  const loop::Family family = loop::info_of(code).family;
  return family == loop::Family::kControl || code == Code::kStore || code == Code::kScatter || code == Code::kPrefetch;
}

/// Orders the instructions between two that keep their position.
class Segment {
 public:
  Segment(const loop::Kernel& kernel, std::span<const Id> ids) : kernel_(kernel), ids_(ids), nodes_(ids.size()) {
    std::unordered_map<Id, size_t> positions;
    for (size_t i = 0; i < ids.size(); ++i) positions[ids[i]] = i;
    for (size_t i = 0; i < ids.size(); ++i) {
      for (Id operand : kernel.instructions[ids[i]].operands) {
        const auto found = positions.find(operand);
        if (found == positions.end() || std::ranges::count(nodes_[i].operands, found->second)) continue;
        nodes_[i].operands.push_back(found->second);
        nodes_[found->second].users.push_back(i);
      }
      nodes_[i].waits_for = nodes_[i].operands.size();
    }
    for (size_t i = ids.size(); i-- > 0;) {
      int longest = 0;
      for (size_t user : nodes_[i].users) longest = std::max(longest, nodes_[user].path);
      nodes_[i].path = longest + latency_of(instruction(i));
      nodes_[i].uses_left = nodes_[i].users.size();
    }
  }

  void append_to(std::vector<Id>& order) {
    std::vector<size_t> ready;
    for (size_t i = 0; i < nodes_.size(); ++i)
      if (nodes_[i].waits_for == 0) ready.push_back(i);
    int cycle = 0;
    int issued = 0;
    while (!ready.empty()) {
      auto best = ready.end();
      for (auto next = ready.begin(); next != ready.end(); ++next)
        if (nodes_[*next].start <= cycle && (best == ready.end() || is_better(*next, *best))) best = next;
      if (best == ready.end() || issued == kIssueWidth) {
        ++cycle;
        issued = 0;
        continue;
      }
      const size_t taken = *best;
      ready.erase(best);
      order.push_back(ids_[taken]);
      if (instruction(taken).type.vector && latency_of(instruction(taken)) > 0) ++issued;
      take(taken, cycle, ready);
    }
  }

 private:
  struct Node {
    std::vector<size_t> operands, users;
    size_t waits_for = 0;
    size_t uses_left = 0;
    int path = 0;   // length of the longest chain to the end of the segment, in cycles
    int start = 0;  // first cycle in which all operands are available
  };

  const loop::Instruction& instruction(size_t i) const { return kernel_.instructions[ids_[i]]; }

  /// Change in the number of live values when the instruction runs.
  int growth(size_t i) const {
    int grown = nodes_[i].users.empty() ? 0 : 1;
    for (size_t operand : nodes_[i].operands)
      if (nodes_[operand].uses_left == 1 && instruction(operand).type.vector) --grown;
    return grown;
  }

  bool is_better(size_t a, size_t b) const {
    if (live_ >= kMaxLive) {
      const int grown_a = growth(a), grown_b = growth(b);
      if (grown_a != grown_b) return grown_a < grown_b;
    }
    if (nodes_[a].path != nodes_[b].path) return nodes_[a].path > nodes_[b].path;
    return a < b;
  }

  void take(size_t i, int cycle, std::vector<size_t>& ready) {
    if (instruction(i).type.vector) live_ += growth(i);
    for (size_t operand : nodes_[i].operands) --nodes_[operand].uses_left;
    for (size_t user : nodes_[i].users) {
      nodes_[user].start = std::max(nodes_[user].start, cycle + latency_of(instruction(i)));
      if (--nodes_[user].waits_for == 0) ready.push_back(user);
    }
  }

  const loop::Kernel& kernel_;
  std::span<const Id> ids_;
  std::vector<Node> nodes_;
  int live_ = 0;
};

}  // namespace

std::vector<Id> latency_order(const loop::Kernel& kernel, const loop::Block& block) {
  std::vector<Id> order;
  order.reserve(block.instructions.size());
  const std::span<const Id> all(block.instructions);
  for (size_t begin = 0; begin < all.size();) {
    size_t end = begin;
    size_t vectors = 0;
    while (end < all.size() && !is_pinned(kernel.instructions[all[end]].code)) {
      vectors += kernel.instructions[all[end]].type.vector;
      ++end;
    }
    const std::span<const Id> segment = all.subspan(begin, end - begin);
    if (vectors < kMinVectorsToReorder) {
      order.insert(order.end(), segment.begin(), segment.end());
    } else {
      Segment(kernel, segment).append_to(order);
    }
    if (end < all.size()) order.push_back(all[end++]);
    begin = end;
  }
  return order;
}

}  // namespace lucid::codegen
