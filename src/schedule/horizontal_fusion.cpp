#include <algorithm>
#include <map>
#include <string_view>

#include "schedule/hazards.h"
#include "schedule/schedule.h"

namespace lucid {
namespace {

// How far ahead launches of the same kernel are searched, and the maximum number of launches in a step.
constexpr size_t kMaxDistance = 256;
constexpr size_t kMaxLaunches = 1024;

/// For each step, the first step with the same kernel; the step itself if it cannot be joined with others.
std::vector<size_t> kernel_classes(const std::vector<KernelStep>& steps) {
  std::map<std::pair<std::string_view, size_t>, std::vector<size_t>> firsts;
  std::vector<size_t> classes;
  for (size_t i = 0; i < steps.size(); ++i) {
    classes.push_back(i);
    if (steps[i].host || steps[i].packs) continue;
    const loop::Kernel& kernel = *steps[i].kernel;
    std::vector<size_t>& alike = firsts[{kernel.name, kernel.instructions.size()}];
    const auto same = std::ranges::find_if(
        alike, [&](size_t first) { return steps[first].kernel == steps[i].kernel || *steps[first].kernel == kernel; });
    if (same == alike.end())
      alike.push_back(i);
    else
      classes.back() = *same;
  }
  return classes;
}

}  // namespace

bool fuse_horizontally(Schedule& schedule, const std::set<ValueId>& outside) {
  std::vector<KernelStep> steps = std::move(schedule.steps);
  schedule.steps.clear();
  std::vector<std::vector<bool>> writes;
  for (const KernelStep& step : steps) writes.push_back(writes_of(step));
  const std::vector<size_t> classes = kernel_classes(steps);
  std::vector<size_t> last_of_class(steps.size());
  for (size_t i = 0; i < steps.size(); ++i) last_of_class[classes[i]] = i;
  Users users(steps);
  std::vector<bool> taken(steps.size());
  for (size_t first = 0; first < steps.size(); ++first) {
    if (taken[first]) continue;
    users.remove(steps[first]);
    KernelStep step = std::move(steps[first]);
    Accesses accesses;
    accesses.add(step, writes[first]);
    const size_t end = std::min(last_of_class[classes[first]] + 1, first + kMaxDistance);
    size_t skipped = 0;
    for (size_t next = first + 1; next < end && step.more_launches.size() + 1 < kMaxLaunches; ++next) {
      if (taken[next]) continue;
      const bool joins = classes[next] == classes[first] && accesses.allows(steps[next], writes[next]) &&
                         users.may_come_early(schedule, steps[next], writes[next], outside, skipped);
      // A step that joins counts too: later launches run at the same time and must not depend on it.
      accesses.add(steps[next], writes[next]);
      if (joins) {
        taken[next] = true;
        users.remove(steps[next]);
        step.more_launches.push_back(
            {std::move(steps[next].buffers), std::move(steps[next].params), steps[next].items});
        step.nanoseconds = std::max(step.nanoseconds, steps[next].nanoseconds);
      } else {
        ++skipped;
      }
    }
    schedule.steps.push_back(std::move(step));
  }
  return schedule.steps.size() < steps.size();
}

}  // namespace lucid
