#pragma once

#include <string_view>
#include <vector>

#include "compiler/plan_draft.h"
#include "passes/pass_list.h"

namespace lucid {

/// A transformation of plans that users cannot notice, but by time and memory.
struct PlanPass {
  /// What reports, logs and LUCID_DISABLE_PASSES call it.
  std::string_view name;
  /// Returns whether anything changed.
  bool (*run)(PlanDraft& draft);
  /// Every plan needs it: it cannot be switched off, and is not logged.
  bool is_required = false;
};

using PlanPassList = std::vector<PlanPass>;

/// Whose memory a plan's outputs are written to.
enum class OutputMemory : uint8_t {
  kNew,      // memory that nobody else knows, or that the plan may choose
  kCallers,  // the caller's, which may be that of an input
};

/// The passes that a plan goes through, in order: the one list.
PlanPassList plan_passes(OutputMemory memory);

/// Runs passes over a draft as run_passes() does over a graph. The draft is verified after each pass that changed it,
/// if Options::verify is set. Throws InternalError naming the pass that left a draft which does not verify.
PassReport run_plan_passes(PlanDraft& draft, const PlanPassList& passes);

}  // namespace lucid
