#include <algorithm>
#include <limits>
#include <map>

#include "loop/narrow_indices.h"
#include "schedule/schedule.h"

namespace lucid {
namespace {

bool is_small(SymInt number) { return number >= -loop::kMaxSmallInteger && number <= loop::kMaxSmallInteger; }

/// Whether all buffers are small enough that indices of their elements are i32.
bool has_small_indices(const Schedule& schedule) {
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  for (const auto& [id, layout] : schedule.layouts) {
    const auto [first, last] = element_range(layout.geometry);
    if (last - first > kMax) return false;
  }
  return std::ranges::all_of(schedule.scratch_bytes, [](SymInt bytes) { return bytes <= kMax; });
}

bool has_small_numbers(const KernelStep& step, const std::vector<bool>& integer_params) {
  const auto is_launch_small = [&](const std::vector<SymInt>& params, SymInt items) {
    for (size_t i = 0; i < params.size(); ++i)
      if (integer_params[i] && !is_small(params[i])) return false;
    return is_small(items);
  };
  return is_launch_small(step.params, step.items) && std::ranges::all_of(step.more_launches, [&](const Launch& launch) {
           return is_launch_small(launch.params, launch.items);
         });
}

}  // namespace

bool narrow_indices(Schedule& schedule) {
  if (!has_small_indices(schedule)) return false;
  bool changed = false;
  // Equal steps share a kernel.
  std::map<const loop::Kernel*, std::shared_ptr<const loop::Kernel>> narrow;
  for (KernelStep& step : schedule.steps) {
    if (!step.kernel || !step.kernel->parts.empty()) continue;
    if (!has_small_numbers(step, loop::integer_params(*step.kernel))) continue;
    std::shared_ptr<const loop::Kernel>& kernel = narrow[step.kernel.get()];
    if (!kernel) kernel = std::make_shared<const loop::Kernel>(loop::narrow_indices(*step.kernel));
    step.kernel = kernel;
    changed = true;
  }
  return changed;
}

}  // namespace lucid
