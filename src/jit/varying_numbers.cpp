#include "jit/varying_numbers.h"

#include <algorithm>

#include "jit/plan_table.h"

namespace lucid::jit {
namespace {

/// For how many structures of keys the table knows what calls depend on.
constexpr size_t kMaxStructures = 64;

}  // namespace

std::vector<TracedSizes::Dimension> VaryingNumbers::dims(const TensorImpl& tensor, uint32_t position,
                                                         const std::map<size_t, SizeTrace::Range>& marked) const {
  std::vector<TracedSizes::Dimension> dims;
  for (size_t dim = 0; dim < tensor.sizes().size(); ++dim, ++position) {
    const auto mark = marked.find(dim);
    const bool is_wanted = dynamic_.value_or(positions_.contains(position) || mark != marked.end());
    if (!is_wanted || is_fixed(position) || !SizeTrace::is_traceable(tensor.sizes()[dim])) continue;
    dims.push_back({dim, mark == marked.end() ? SizeTrace::Range() : mark->second});
  }
  return dims;
}

VaryingNumbers PlanTable::varying(const CallKey& key, std::span<const uint32_t> positions) const {
  VaryingNumbers varying(dynamic_);
  for (const Ref<TablePlan>& plan : plans_now()) {
    const NumberPattern& pattern = plan->pattern;
    if (plan->structure != key.structure()) continue;
    // Only plans that agree with the key in everything else.
    std::vector<uint32_t> all(pattern.varying);
    all.insert(all.end(), positions.begin(), positions.end());
    std::ranges::sort(all);
    const auto repeated = std::ranges::unique(all);
    all.erase(repeated.begin(), repeated.end());
    if (NumberPattern(pattern.numbers, all) != NumberPattern(key.numbers(), all)) continue;
    for (const uint32_t position : positions)
      if (pattern.varies(position) || pattern.numbers[position] != key.numbers()[position])
        varying.positions_.insert(position);
  }
  const std::lock_guard lock(mutex());
  const auto fixed = fixed_.find(key.structure());
  if (fixed != fixed_.end()) varying.fixed_ = fixed->second;
  return varying;
}

void PlanTable::add_fixed(std::string_view structure, FixedNumbers fixed) {
  const std::lock_guard lock(mutex());
  if (fixed_.size() >= kMaxStructures) fixed_.clear();
  FixedNumbers& known = fixed_[std::string(structure)];
  known.positions.merge(fixed.positions);
  known.locations.merge(fixed.locations);
}

}  // namespace lucid::jit
