#pragma once

#include <vector>

#include "compiler/plan_draft.h"

namespace lucid {

/// For each step of a finished draft, whether a gpu must finish the steps before it first: it uses memory that a step
/// since the last barrier writes, or writes memory that one uses. Host functions and comparisons of outputs wait for
/// all steps anyway.
std::vector<bool> barriers_of(const PlanDraft& draft);

}  // namespace lucid
