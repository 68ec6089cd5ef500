#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/small_vector.h"
#include "ir/op.h"
#include "runtime/plan.h"
#include "tensor/tensor_impl.h"

namespace lucid {

/// Everything that a one-op plan depends on, encoded as integers: the op, its attributes, the operands' dtypes, sizes,
/// strides and devices, the device for calls without operands, and for in-place calls the geometries of the
/// destinations.
using PlanKey = SmallVector<int64_t, 48>;

/// A compiled one-op plan, and how its operands are passed.
struct EagerPlan : RefCounted {
  /// An operand of the calls that the plan serves. A number that is passed at run time is given by its category.
  struct Form {
    enum class Kind : uint8_t { kAbsent, kTensor, kNumber } kind = Kind::kAbsent;
    Dtype dtype = Dtype::kF32;
    Geometry geometry;
    Scalar number;
  };

  uint64_t hash = 0;
  std::vector<int64_t> key;
  Ref<Plan> plan;
  /// For each operand, the dtype that a number is stored as. The plan's inputs are the present operands, in order.
  std::vector<Dtype> number_dtypes;

  // The calls that it serves.
  const Op* op = nullptr;
  Attributes attributes;
  std::vector<Form> operands;
  std::vector<Geometry> destinations;
  /// Whether a run may fail, because a kernel checks values.
  bool may_fail = false;
  /// Differs from that of any other plan of the process.
  uint64_t serial = 0;
  /// The last batch of deferred ops that uses the plan, and holds it.
  mutable uint64_t batch = 0;
};

/// True if the op's numbers are passed at run time, so that their values are not part of the key. Otherwise the op's
/// decomposition may depend on them: each value has its own plan, but the plans share kernels.
bool passes_numbers(const Op& op);
/// The dtype of the tensor without dimensions as which such an op gets its operand `i`, a number.
Dtype number_dtype(const Call& call, size_t i);

/// The plan for a call if it has been compiled, otherwise null. With `destinations`, the plan writes its results to
/// them. Valid until this thread looks for another one.
const EagerPlan* find_eager_plan(const Call& call, std::span<TensorImpl* const> destinations);
/// The same, compiled on first use. That gives up the caller's lock, so no other thread may be able to change the
/// operands and destinations. Throws RuntimeError if the results do not have the shapes of the destinations.
const EagerPlan& eager_plan(const Call& call, std::span<TensorImpl* const> destinations);

/// The geometries of a call's results, whose sizes may be traced.
std::vector<Geometry> result_geometries(const Call& call);

/// Drops all plans; for tests that change options.
void clear_eager_plans();

/// Maximum number of cached plans, not counting plans that threads used recently. The oldest plans are evicted first.
inline constexpr size_t kMaxEagerPlans = 4096;
/// Sets the maximum from now on; for tests.
void set_max_eager_plans(size_t max_plans);

}  // namespace lucid
