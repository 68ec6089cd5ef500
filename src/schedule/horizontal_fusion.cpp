#include <algorithm>

#include "schedule/hazards.h"
#include "schedule/schedule.h"

namespace lucid {
namespace {

// How far ahead launches of the same kernel are searched, and the maximum number of launches in a step.
constexpr size_t kLookAhead = 256;
constexpr size_t kMaxLaunches = 1024;

bool has_same_kernel(const KernelStep& a, const KernelStep& b) {
  return a.host < 0 && b.host < 0 && a.packs < 0 && b.packs < 0 &&
         a.kernel.instructions.size() == b.kernel.instructions.size() && a.kernel.name == b.kernel.name &&
         a.kernel == b.kernel;
}

}  // namespace

bool fuse_horizontally(Schedule& schedule, const std::set<ValueId>& outside) {
  std::vector<KernelStep> steps = std::move(schedule.steps);
  schedule.steps.clear();
  std::vector<std::vector<bool>> writes;
  for (const KernelStep& step : steps) writes.push_back(writes_of(step));
  Users users(steps);
  std::vector<bool> taken(steps.size());
  for (size_t first = 0; first < steps.size(); ++first) {
    if (taken[first]) continue;
    users.remove(steps[first]);
    KernelStep step = std::move(steps[first]);
    Accesses accesses;
    accesses.add(step, writes[first]);
    const size_t end = std::min(steps.size(), first + kLookAhead);
    size_t skipped = 0;
    for (size_t next = first + 1; next < end && step.more_launches.size() + 1 < kMaxLaunches; ++next) {
      if (taken[next]) continue;
      const bool joins = has_same_kernel(step, steps[next]) && accesses.allows(steps[next], writes[next]) &&
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
