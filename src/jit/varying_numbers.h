#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "jit/traced_sizes.h"

namespace lucid::jit {

/// The numbers on whose values calls depend: positions in the key, and names of locations outside the arguments.
struct FixedNumbers {
  std::set<uint32_t> positions;
  std::set<std::string> locations;
};

/// The numbers and sizes that a recording traces: those in which calls differ, unless calls are known to depend on
/// them. PlanTable::varying() decides for all fronts.
class VaryingNumbers {
 public:
  /// Whether plans have other numbers at this position of the key, or let them vary.
  bool varies(uint32_t position) const { return positions_.contains(position) && !is_fixed(position); }
  bool is_fixed(uint32_t position) const { return fixed_.positions.contains(position); }
  const std::set<std::string>& fixed_locations() const { return fixed_.locations; }
  /// The dimensions of a tensor whose sizes are traced. `position` is that of its first size in the key. Of the
  /// dimensions in `marked`, the user has said that they vary.
  std::vector<TracedSizes::Dimension> dims(const TensorImpl& tensor, uint32_t position,
                                           const std::map<size_t, SizeTrace::Range>& marked = {}) const;

 private:
  friend class PlanTable;
  explicit VaryingNumbers(std::optional<bool> dynamic) : dynamic_(dynamic) {}

  std::optional<bool> dynamic_;
  FixedNumbers fixed_;
  std::set<uint32_t> positions_;
};

}  // namespace lucid::jit
