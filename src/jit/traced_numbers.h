#pragma once

#include <functional>
#include <optional>

#include "jit/tracing_context.h"

namespace lucid::jit {

/// Whether the recorded call had no effect on tensors, so that it may run a second time.
bool may_run_twice(const TracingContext& context);

/// Renumbers the traced numbers among the operands of a recorded call: the k-th of the result, counted from 1, is
/// traced as k. Numbers for which `varies` is false keep their recorded value.
std::vector<uint32_t> renumber_operands(TracingContext& context, const std::function<bool(uint32_t)>& varies);

/// Finds the numbers among the operands of a recorded call whose values a plan can be given. `traced` is a second
/// recording of the call, in which the numbers and sizes that vary were traced. Returns nothing if the two differ in
/// anything else. Otherwise renumbers the operands of the second. Numbers in `read` keep their recorded value, because
/// the call depends on it.
std::optional<std::vector<uint32_t>> number_operands(TracingContext& context, std::span<const TensorRef> results,
                                                     TracingContext& traced, std::span<const TensorRef> traced_results,
                                                     std::span<const uint32_t> read);

}  // namespace lucid::jit
