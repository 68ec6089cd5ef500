#include <gtest/gtest.h>

#include "samples.h"
#include "tape.h"

// Compares gradient rules and second derivatives with finite differences of the references.
namespace lucid {
namespace {

using test::describe;
using test::SampleCall;
using test::Tape;

constexpr double kStep = 1e-6;
constexpr double kTolerance = 2e-5;
/// The number of elements of each operand that are perturbed.
constexpr int64_t kPerturbed = 7;

bool is_f64(const Value& value) { return value && value.dtype() == Dtype::kF64; }

/// Fixed weights around 1, so that no symmetry of a sum hides an error.
Value weights(const Dims& shape) {
  const Value value = Interpreter::make({Dtype::kF64, shape});
  const HostArray array = Interpreter::array(value);
  for (int64_t i = 0; i < array.size(); ++i) array.as<double>()[i] = 1 + 0.3 * std::sin(static_cast<double>(3 * i + 1));
  return value;
}

double number(const Value& value) { return Interpreter::array(value).as<double>()[0]; }

Value weighted_sum(Emitter& e, const Value& x) { return e.sum(e.mul(x, weights(x.shape()))); }

/// The weighted sum of all floating-point results.
Value loss_of(Emitter& e, const SampleCall& sample) {
  Value loss;
  for (const Value& result : e.emit(sample.op, sample.operands, sample.attributes)) {
    if (!is_f64(result)) continue;
    const Value part = weighted_sum(e, result);
    loss = loss ? e.add(loss, part) : part;
  }
  return loss;
}

/// The weighted sum of the gradients of the loss. Its gradient contains second derivatives.
Value slope_of(Tape& tape, const SampleCall& sample) {
  const auto gradients = tape.backward(loss_of(tape, sample));
  Value slope;
  for (const Value& value : sample.values) {
    const auto found = gradients.find(value.get());
    if (!is_f64(value) || found == gradients.end()) continue;
    const Value part = weighted_sum(tape, found->second);
    slope = slope ? tape.add(slope, part) : part;
  }
  return slope;
}

/// Checks d f / d x for a few elements of each operand.
template <typename F>
void check(const SampleCall& sample, const std::map<const ValueBase*, Value>& gradients, F f) {
  for (size_t k = 0; k < sample.values.size(); ++k) {
    const Value& value = sample.values[k];
    if (!is_f64(value)) continue;
    const auto found = gradients.find(value.get());
    const HostArray x = Interpreter::array(value);
    const int64_t stride = std::max<int64_t>(1, x.size() / kPerturbed);
    for (int64_t i = 0; i < x.size(); i += stride) {
      double& element = x.as<double>()[i];
      const double original = element;
      element = original + kStep;
      const double above = f();
      element = original - kStep;
      const double below = f();
      element = original;
      const double expected = (above - below) / (2 * kStep);
      const double actual = found == gradients.end() ? 0 : Interpreter::array(found->second).as<double>()[i];
      ASSERT_NEAR(actual, expected, kTolerance * std::max(1.0, std::fabs(expected)))
          << "operand " << k << ", element " << i << " = " << original;
    }
  }
}

class EveryGradient : public testing::TestWithParam<const Op*> {};

std::vector<const Op*> differentiable_ops() {
  std::vector<const Op*> ops;
  for (const Op& op : op_table().ops())
    if (op.dtypes.contains(Dtype::kF64) && (op.gradient || op.decompose)) ops.push_back(&op);
  return ops;
}

INSTANTIATE_TEST_SUITE_P(Table, EveryGradient, testing::ValuesIn(differentiable_ops()),
                         [](const auto& info) { return info.param->name(); });

TEST_P(EveryGradient, AgreesWithDifferences) {
  for (const Sample& given : GetParam()->samples) {
    const SampleCall sample(*GetParam(), given, Dtype::kF64);
    SCOPED_TRACE(describe(sample));
    Tape tape;
    const Value loss = loss_of(tape, sample);
    if (!loss) continue;
    check(sample, tape.backward(loss), [&] {
      Interpreter plain;
      return number(loss_of(plain, sample));
    });
    if (HasFatalFailure()) return;
  }
}

TEST_P(EveryGradient, CanBeDifferentiatedAgain) {
  for (const Sample& given : GetParam()->samples) {
    const SampleCall sample(*GetParam(), given, Dtype::kF64);
    SCOPED_TRACE(describe(sample));
    if (!loss_of(*std::make_unique<Interpreter>(), sample)) continue;
    Tape tape;
    const Value slope = slope_of(tape, sample);
    if (!slope) continue;
    check(sample, tape.backward(slope), [&] {
      Tape again;
      return number(slope_of(again, sample));
    });
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace lucid
