#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/size_formula.h"
#include "runtime/arena.h"
#include "runtime/plan.h"

namespace lucid {

/// A plan for the CPU as data: it can be written to a file. Its numbers are computed from sizes, so that it serves all
/// sizes for which its conditions hold. Buffers have no address yet.
struct PlanForm {
  struct Place {
    /// In the arena, the index is that of one of `blocks`.
    Slot::Area area = Slot::Area::kInput;
    uint32_t index = 0;
    SizeFormula byte_offset;
  };
  struct Launch {
    std::vector<Place> places;
    std::vector<SizeFormula> params;
    SizeFormula items;
  };
  struct Step {
    std::string name;
    /// Which of the kernels that belong to the form.
    uint32_t kernel = 0;
    /// At least one, with as many places each.
    std::vector<Launch> launches;
    /// See PlanStep.
    bool is_copy = false;
    int64_t grain = 1;
    /// Estimated time per item.
    double nanoseconds = 1;
    /// The input of which the step only computes a packed form.
    std::optional<uint32_t> packs = {};
    std::vector<PlanStep::Check> checks;
  };
  /// A buffer that shares the arena with others. It is live from one step to another, both included.
  struct Block {
    SizeFormula bytes;
    uint32_t first_step = 0;
    uint32_t last_step = 0;
  };
  /// The memory of an output that is free from one step to another, both included.
  struct Region {
    uint32_t output = 0;
    SizeFormula bytes;
    uint32_t first_step = 0;
    uint32_t last_step = 0;
  };
  struct Output {
    int32_t donor = -1;
    bool is_safe = false;
  };

  std::vector<SizeCondition> conditions;
  std::vector<Output> outputs;
  std::vector<Block> blocks;
  std::vector<BlockReuse> reuses;
  std::vector<Region> regions;
  std::vector<SizeFormula> packed_bytes;
  std::vector<Step> steps;

  bool serves(std::span<const int64_t> sizes) const;
};

/// The plan for sizes that the form serves, with the code of each kernel. Throws ValueError if a number is negative or
/// too large.
Ref<Plan> make_plan(const PlanForm& form, std::span<const int64_t> sizes, std::span<const Ref<LoadedCode>> codes);

}  // namespace lucid
