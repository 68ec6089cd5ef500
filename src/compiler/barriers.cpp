#include "compiler/barriers.h"

#include <algorithm>

namespace lucid {
namespace {

/// A use of a range of bytes.
struct Access {
  Slot::Area area = Slot::Area::kInput;
  int32_t index = 0;
  int64_t begin = 0;
  int64_t end = 0;
  bool writes = false;
};

class Barriers {
 public:
  explicit Barriers(const PlanDraft& draft) : draft_(draft) {}

  bool is_needed(const KernelStep& step) {
    std::vector<Access> accesses = accesses_of(step);
    const bool waits = std::ranges::any_of(accesses, [&](const Access& access) {
      return std::ranges::any_of(since_last_, [&](const Access& earlier) { return conflict(access, earlier); });
    });
    if (waits) since_last_.clear();
    since_last_.insert(since_last_.end(), accesses.begin(), accesses.end());
    return waits;
  }

 private:
  std::vector<Access> accesses_of(const KernelStep& step) const {
    const std::vector<bool> writes = writes_of(step);
    std::vector<Access> accesses;
    const auto add = [&](const std::vector<BufferUse>& buffers) {
      for (size_t i = 0; i < buffers.size(); ++i) {
        const Slot& slot = draft_.slots.slots.at(key_of(buffers[i]));
        const int64_t bytes = memory_bytes(draft_.graph, draft_.schedule, key_of(buffers[i]));
        accesses.push_back({slot.area, slot.index, slot.byte_offset, slot.byte_offset + bytes, writes[i]});
      }
    };
    add(step.buffers);
    for (const Launch& launch : step.more_launches) add(launch.buffers);
    return accesses;
  }

  bool conflict(const Access& a, const Access& b) const {
    if (!a.writes && !b.writes) return false;
    if (a.area == b.area && a.index == b.index) return a.begin < b.end && b.begin < a.end;
    return may_alias(a, b) || may_alias(b, a);
  }

  /// Whether an input may be in the same memory as an output.
  bool may_alias(const Access& input, const Access& output) const {
    if (input.area != Slot::Area::kInput || output.area != Slot::Area::kOutput) return false;
    return !draft_.destinations.empty() || draft_.donations[static_cast<size_t>(output.index)] == input.index;
  }

  const PlanDraft& draft_;
  std::vector<Access> since_last_;
};

}  // namespace

std::vector<bool> barriers_of(const PlanDraft& draft) {
  Barriers barriers(draft);
  std::vector<bool> needed;
  for (const KernelStep& step : draft.schedule.steps) needed.push_back(barriers.is_needed(step));
  return needed;
}

}  // namespace lucid
