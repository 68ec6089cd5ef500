#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "runtime/plan.h"

namespace lucid {
namespace {

/// Names what lies in a place of the plan, by when it was first met.
class PlaceNames {
 public:
  std::string operator()(const Slot& slot) {
    switch (slot.area) {
      case Slot::Area::kInput:
        return fmt::format("in{}", slot.index);
      case Slot::Area::kOutput:
        return fmt::format("out{}", slot.index);
      case Slot::Area::kPacked:
        return fmt::format("packed{}", slot.index);
      case Slot::Area::kError:
        return "checks";
      case Slot::Area::kArena:
        break;
    }
    return fmt::format("memory{}", arena_.try_emplace(slot.byte_offset, arena_.size()).first->second);
  }

 private:
  std::map<int64_t, size_t> arena_;
};

}  // namespace

std::string to_text(const Plan& plan) {
  PlaceNames name_of;
  std::string text = fmt::format("plan: {} {}, {} bytes of memory while it runs\n", plan.steps.size(),
                                 plan.steps.size() == 1 ? "step" : "steps", plan.arena_bytes);
  for (size_t number = 0; number < plan.steps.size(); ++number) {
    const PlanStep& step = plan.steps[number];
    text += fmt::format("step {}: {}", number, step.name);
    if (!step.host) text += fmt::format(", {} {}", step.items(), step.items() == 1 ? "unit" : "units");
    if (step.parts.size() > 1) text += fmt::format(", {} launches", step.parts.size());
    if (step.packs >= 0) text += ", kept until its input is written";
    text += '\n';
    const std::vector<Slot>& slots = step.parts.front().slots;
    const auto names = [&](const std::vector<uint32_t>& buffers) {
      std::vector<std::string> listed;
      for (uint32_t buffer : buffers)
        listed.push_back(buffer < slots.size() ? name_of(slots[buffer])
                                               : fmt::format("local{}", buffer - slots.size()));
      return fmt::format("{}", fmt::join(listed, ", "));
    };
    for (const PlanStep::Turn& turn : step.turns)
      text += fmt::format("  {:<24} {} -> {}\n", turn.name, names(turn.reads), names(turn.writes));
  }
  return text;
}

}  // namespace lucid
