#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "compiler/plan_draft.h"
#include "passes/pass_list.h"

namespace lucid {

/// A transformation of plans that affects only time and memory.
struct PlanPass {
  /// The name in reports, logs and LUCID_DISABLE_PASSES.
  std::string_view name;
  /// Returns whether anything changed.
  bool (*run)(PlanDraft& draft);
  /// Every plan needs the pass: it cannot be disabled and is not logged.
  bool is_required = false;
  /// The steps and their order are final. Such passes come last.
  bool assigns_memory = false;
};

using PlanPassList = std::vector<PlanPass>;

/// Where a plan's outputs are written.
enum class OutputMemory : uint8_t {
  kNew,      // new memory, or memory that the plan may choose
  kCallers,  // memory of the caller, which may alias an input
};

/// The passes over plans, in order. This is the only list.
PlanPassList plan_passes(OutputMemory memory, const TargetTraits& target = cpu_traits());

/// Runs passes over a draft, as run_passes() does over a graph. If Options::verify_passes is set, the draft is verified
/// after each pass that changed it. Throws InternalError naming a pass whose draft does not verify.
PassReport run_plan_passes(PlanDraft& draft, std::span<const PlanPass> passes);

}  // namespace lucid
