#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/small_vector.h"
#include "ir/op.h"
#include "runtime/plan.h"
#include "tensor/tensor_impl.h"

namespace lucid {

/// Everything that a one-op plan depends on, as numbers: the op, its attributes, the operands' dtypes, sizes and
/// strides, and the destinations' geometries for in-place calls.
using PlanKey = SmallVector<int64_t, 48>;

/// A compiled one-op plan and how its operands are passed.
struct EagerPlan : RefCounted {
  uint64_t hash = 0;
  std::vector<int64_t> key;
  Ref<Plan> plan;
  /// For each operand, the dtype that a number is stored as; plan inputs are the operands that are present, in order.
  std::vector<Dtype> number_dtypes;
};

/// True when the op's numbers are passed at run time, so that their values are not part of the key. A decomposition may
/// depend on them: there each value has a plan of its own, but shares the kernels.
bool passes_numbers(const Op& op);

/// The plan for a call, compiled at its first use. With `destinations`, the plan writes its results there.
const EagerPlan& eager_plan(const Call& call, std::span<TensorImpl* const> destinations);

/// Forgets all plans; for tests that change options.
void clear_eager_plans();

/// How many plans are kept beside those that threads have used last. The oldest leave first.
inline constexpr size_t kMostEagerPlans = 4096;
/// Applies from now on; for tests.
void set_most_eager_plans(size_t most);

}  // namespace lucid
