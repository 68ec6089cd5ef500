#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "runtime/gpu_plan.h"
#include "runtime/plan.h"

namespace lucid {
namespace {

/// Names the slots of a plan. Arena slots are numbered in the order of their first use.
class SlotNames {
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

std::string to_text(const Plan& plan, std::span<const double> nanoseconds) {
  SlotNames name_of;
  std::string text = fmt::format("plan: {} {}, {} bytes of memory while it runs\n", plan.steps.size(),
                                 plan.steps.size() == 1 ? "step" : "steps", plan.arena_bytes);
  if (plan.gpu()) text += fmt::format("on {}: {}\n", to_string(plan.device), plan.gpu()->to_text());
  for (size_t index = 0; index < plan.steps.size(); ++index) {
    const PlanStep& step = plan.steps[index];
    if (plan.gpu() && step.needs_barrier && !step.packs) text += "barrier\n";
    text += fmt::format("step {}: {}", index, step.name);
    if (!step.host) text += fmt::format(", {} {}", step.items(), step.items() == 1 ? "tile" : "tiles");
    if (step.launches.size() > 1) text += fmt::format(", {} launches", step.launches.size());
    if (step.packs) text += ", kept until its input is written";
    if (!nanoseconds.empty()) text += fmt::format(", {:.1f} us", nanoseconds[index] / 1000);
    text += '\n';
    const std::vector<Slot>& slots = step.launches.front().slots;
    const auto names = [&](const std::vector<uint32_t>& buffers) {
      std::vector<std::string> listed;
      for (uint32_t buffer : buffers)
        listed.push_back(buffer < slots.size() ? name_of(slots[buffer])
                                               : fmt::format("local{}", buffer - slots.size()));
      return fmt::format("{}", fmt::join(listed, ", "));
    };
    for (const PlanStep::Stage& stage : step.stages)
      text += fmt::format("  {:<24} {} -> {}\n", stage.name, names(stage.reads), names(stage.writes));
  }
  return text;
}

}  // namespace lucid
