#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "base/options.h"
#include "code/code_generator.h"
#include "compiler/compile_plan.h"
#include "cpu_levels.h"
#include "ir/graph_emitter.h"
#include "runtime/allocator.h"
#include "runtime/float_mode.h"
#include "runtime/thread_pool.h"
#include "tensor/eager.h"
#include "tensor/plan_cache.h"
#include "tensor_samples.h"

// Tests every op of the op table with every sample and dtype. A new entry needs no new test.
namespace lucid {
namespace {

using test::TensorSample;

class EveryOp : public ::testing::TestWithParam<const Op*> {
 protected:
  template <typename F>
  void for_each_sample(F f, DtypeSet among = kAllDtypes) {
    for (const Sample& sample : GetParam()->samples)
      for (Dtype dtype : test::dtypes_of(*GetParam(), among)) {
        const TensorSample made(*GetParam(), sample, dtype);
        SCOPED_TRACE(test::describe(made.reference));
        f(made);
      }
  }
};

std::vector<const Op*> all_ops() {
  std::vector<const Op*> ops;
  for (const Op& op : op_table().ops()) ops.push_back(&op);
  return ops;
}

INSTANTIATE_TEST_SUITE_P(Table, EveryOp, ::testing::ValuesIn(all_ops()),
                         [](const auto& info) { return info.param->name(); });

// The largest error in ULP that the parts of an op may have relative to their references; 0 if all are exact.
double error_bound(const Call& call) {
  if (call.op().is_lowered() || call.op().host) return call.op().ulp;
  if (call.op().view) return 0;
  IRGraph graph;
  GraphEmitter emitter(graph);
  Values held;
  std::vector<Operand> operands;
  held.reserve(call.count());
  for (const Operand& operand : call.operands()) {
    if (operand.is_value()) {
      held.push_back(emitter.value(graph.add_input(operand.type())));
      operands.emplace_back(held.back());
    } else {
      operands.push_back(operand);
    }
  }
  emitter.emit(call.op(), operands, call.attributes());
  double bound = 0;
  for (const IRNode& node : expand_to_primitives(graph).nodes) bound += 16 * node.op->ulp;
  return bound;
}

bool has_host_part(const Call& call) {
  try {
    error_bound(call);
    return false;
  } catch (const Error&) {
    return true;  // composites with a host part run part by part
  }
}

double ulp_of(Dtype dtype, double value) {
  const int digits = dtype == Dtype::kF64 ? 53 : dtype == Dtype::kF32 ? 24 : dtype == Dtype::kF16 ? 11 : 8;
  const int smallest = dtype == Dtype::kF64 ? -1022 : dtype == Dtype::kF16 ? -14 : -126;
  const int exponent = value == 0 ? smallest : std::max(std::ilogb(value), smallest);
  return std::ldexp(1.0, exponent - digits + 1);
}

// Uses the floating-point mode of kernels: subnormal results are flushed.
Values interpret(const TensorSample& sample) {
  const FloatModeScope float_mode;
  return Interpreter().emit(sample.reference.op, sample.reference.operands, sample.reference.attributes);
}

TEST_P(EveryOp, AgreesWithItsReference) {
  for_each_sample([&](const TensorSample& sample) {
    const Values results = eager().emit(GetParam()[0], sample.operands, sample.reference.attributes);
    const Values expected = interpret(sample);
    ASSERT_EQ(results.size(), expected.size());
    const double bound = has_host_part(sample.reference.call()) ? 0 : error_bound(sample.reference.call());
    for (size_t k = 0; k < results.size(); ++k) {
      ASSERT_EQ(to_string(results[k].type()), to_string(expected[k].type()));
      const TensorImpl& got = *tensor_of(results[k]);
      const HostArray want = Interpreter::array(expected[k]);
      double largest = 1;
      for (int64_t i = 0; i < got.numel(); ++i) {
        const double y = Scalar::load(got.dtype(), want.as<char>() + i * int64_t(size_of(got.dtype()))).to_double();
        if (std::isfinite(y)) largest = std::max(largest, std::fabs(y));
      }
      for (int64_t i = 0; i < got.numel(); ++i) {
        const double x = Scalar::load(got.dtype(), test::element_at(got, i)).to_double();
        const double y = Scalar::load(got.dtype(), want.as<char>() + i * int64_t(size_of(got.dtype()))).to_double();
        if ((x != x && y != y) || (x == y && std::signbit(x) == std::signbit(y))) continue;
        ASSERT_GT(bound, 0) << "element " << i << " is " << x << " instead of " << y;
        const double scale = GetParam()->decompose ? largest : y;
        ASSERT_LE(std::fabs(x - y), bound * ulp_of(got.dtype(), scale)) << "element " << i << ": " << x << " for " << y;
      }
    }
  });
}

std::vector<std::string> run_bits(const TensorSample& sample) {
  std::vector<std::string> bits;
  for (const Value& result : eager().emit(sample.reference.op, sample.operands, sample.reference.attributes))
    bits.push_back(test::bits_of(*tensor_of(result)));
  return bits;
}

// Generating code for the scalar target takes long, so by default only some dtypes are tested. LUCID_FULL_WALK=1 tests
// all of them.
DtypeSet dtypes_on_targets(const Op& op) {
  if (std::getenv("LUCID_FULL_WALK")) return kAllDtypes;
  if (op.dtypes.contains(Dtype::kF32)) return Dtype::kF32;
  return op.dtypes.contains(Dtype::kI32) ? DtypeSet(Dtype::kI32) : kAllDtypes;
}

TEST_P(EveryOp, HasTheSameBitsOnEveryTarget) {
  if (test::other_levels().empty()) GTEST_SKIP() << "this machine runs one CPU level only";
  for (CpuLevel level : test::other_levels()) {
    Options changed = options();
    changed.target = level;
    for_each_sample(
        [&](const TensorSample& sample) {
          clear_eager_plans();
          const std::vector<std::string> expected = run_bits(sample);
          const OptionsScope scope(changed);
          clear_eager_plans();
          ASSERT_EQ(run_bits(sample), expected) << name_of(level);
        },
        dtypes_on_targets(*GetParam()));
  }
  clear_eager_plans();
}

TEST_P(EveryOp, HasTheSameBitsOnAnyNumberOfThreads) {
  const int before = num_threads();
  for_each_sample([&](const TensorSample& sample) {
    const std::vector<std::string> expected = run_bits(sample);
    if (GetParam()->is_lowered()) {
      // Let every item run on another thread, even if there is little work.
      const EagerPlan& plan = eager_plan(sample.call(), {});
      for (PlanStep& step : plan.plan->steps) step.grain = 1;
    }
    for (int threads : {1, 2, 7}) {
      set_thread_count(threads);
      ASSERT_EQ(run_bits(sample), expected) << threads << " threads";
    }
    set_thread_count(before);
  });
  clear_eager_plans();
}

class GuardScope {
 public:
  explicit GuardScope(GuardMode mode) { set_guard_mode(mode); }
  ~GuardScope() { set_guard_mode(GuardMode::kOff); }
};

TEST_P(EveryOp, TouchesNoMemoryOutsideItsBuffers) {
  for (const Sample& sample : GetParam()->samples)
    for (Dtype dtype : test::dtypes_of(*GetParam())) {
      const TensorSample plain(*GetParam(), sample, dtype);
      const std::vector<std::string> expected = run_bits(plain);
      for (GuardMode mode : {GuardMode::kGuardAfter, GuardMode::kGuardBefore}) {
        const GuardScope guard(mode);
        const TensorSample guarded(*GetParam(), sample, dtype);
        SCOPED_TRACE(test::describe(guarded.reference));
        ASSERT_EQ(run_bits(guarded), expected);
      }
    }
}

}  // namespace
}  // namespace lucid
