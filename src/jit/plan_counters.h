#pragma once

#include <cstdint>

namespace lucid::jit {

/// Counters of one table, or of all tables of the process.
struct PlanCounters {
  int64_t hits = 0;
  /// Calls for which no plan matched.
  int64_t misses = 0;
  int64_t compiles = 0;
  /// Compiles for a key that already had a plan.
  int64_t recompiles = 0;
  /// Calls that ran eagerly because they cannot be compiled.
  int64_t eager_calls = 0;
  /// Calls that no plan served, but whose ops all ran in plans: see DeferredPlans.
  int64_t piecewise_calls = 0;

  PlanCounters& operator+=(const PlanCounters& other);
};

}  // namespace lucid::jit
