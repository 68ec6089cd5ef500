// Random programs of views, in-place writes and arithmetic. Their gradients are compared with finite differences.

#include <random>

#include "support.h"
#include "tensor/engine.h"

namespace lucid::testing {
namespace {

constexpr int kInputs = 2;
constexpr int64_t kSide = 3;

/// The program of a seed. Its steps depend on the seed and on shapes, never on values, so it is the same function for
/// all inputs.
class Program {
 public:
  explicit Program(uint32_t seed) : random_(seed) {}

  /// Runs the program and returns the loss.
  Tensor run(const std::vector<Tensor>& inputs, int steps) {
    pool_ = inputs;
    for (const Tensor& input : inputs) pool_.push_back(input * 1.0);
    for (int i = 0; i < steps; ++i) {
      try {
        step();
      } catch (const Error& error) {
        // Writes to leaves and expanded tensors fail, in every run alike.
        if (error.error_class() == ErrorClass::kInternal) throw;
      }
    }
    Tensor loss = scalar(0.0);
    for (size_t i = 0; i < pool_.size(); ++i) loss = loss + sum(tanh(pool_[i]) * (0.3 + 0.1 * static_cast<double>(i)));
    return loss;
  }

 private:
  int64_t number(int64_t below) { return static_cast<int64_t>(random_() % static_cast<uint32_t>(below)); }
  const Tensor& pick() { return pool_[static_cast<size_t>(number(static_cast<int64_t>(pool_.size())))]; }

  /// Another tensor that broadcasts to the shape of `x`, or a number.
  Argument source_for(const Tensor& x) {
    for (int tries = 0; tries < 8; ++tries) {
      const Tensor& y = pick();
      if (y.shape() == x.shape() || y.dim() == 0) return y;
    }
    return 0.7;
  }

  void step() {
    const Tensor x = pick();
    switch (number(12)) {
      case 0:
        return pool_.push_back(tanh(x * source_for(x)));
      case 1:
        return pool_.push_back(x + source_for(x));
      case 2:
        return pool_.push_back(x - source_for(x) * 0.5);
      case 3:
      case 4:
      case 5:
        return pool_.push_back(view(x));
      default:
        return write(x);
    }
  }

  Tensor view(const Tensor& x) {
    switch (number(6)) {
      case 0:
        return x[number(x.size(0))];
      case 1:
        return x[{Slice(number(2), x.size(0), 1 + number(2))}];
      case 2:
        return x.dim() == 2 ? transpose(x) : reshape(x, {-1, 1});
      case 3:
        return reshape(x, {-1});
      case 4:
        return x[{kEllipsis, number(x.size(-1))}];
      default:
        return x.dim() == 1 ? expand(x, {2, x.size(0)}) : expand(x, {x.size(0), -1});
    }
  }

  void write(Tensor x) {
    switch (number(8)) {
      case 0:
        x += source_for(x);
        return;
      case 1:
        x *= source_for(x);
        return;
      case 2:
        x.copy_(source_for(x));
        return;
      case 3:
        x.fill_(0.25);
        return;
      case 4:
        apply_("tanh", x);
        return;
      case 5:
        x[{number(x.size(0))}] = 0.5;
        return;
      case 6: {
        const Tensor part = view(x);
        const Argument source = source_for(part);
        Tensor target = part;
        target.copy_(source);
        return;
      }
      default: {
        const std::vector<int64_t> rows = {number(x.size(0))};
        x[{from_vector(rows, {1})}] = 0.125;
        return;
      }
    }
  }

  std::mt19937 random_;
  std::vector<Tensor> pool_;
};

std::vector<Tensor> inputs_for(uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Tensor> inputs;
  for (int i = 0; i < kInputs; ++i) {
    Numbers values(kSide * kSide);
    for (double& value : values) value = static_cast<double>(random() % 2000) / 1000.0 - 1.0;
    inputs.push_back(make(values, {kSide, kSide}));
  }
  return inputs;
}

class RandomPrograms : public ::testing::TestWithParam<uint32_t> {};

TEST_P(RandomPrograms, HaveGradientsEqualToFiniteDifferences) {
  constexpr int kSteps = 14;
  constexpr double kStep = 1e-6;
  const uint32_t seed = GetParam();
  std::vector<Tensor> inputs = inputs_for(seed);
  for (Tensor& input : inputs) input.requires_grad_();
  Program(seed).run(inputs, kSteps).backward();

  const auto value_at = [&](int which, int64_t element, double change) {
    std::vector<Tensor> moved = inputs_for(seed);
    for (Tensor& input : moved) input.requires_grad_();
    moved[static_cast<size_t>(which)].mutable_data<double>()[element] += change;
    return Program(seed).run(moved, kSteps).item<double>();
  };
  for (int which = 0; which < kInputs; ++which) {
    const Tensor gradient = inputs[static_cast<size_t>(which)].grad();
    ASSERT_TRUE(gradient.defined());
    const Numbers found = read(gradient);
    for (int64_t element = 0; element < kSide * kSide; ++element) {
      const double slope = (value_at(which, element, kStep) - value_at(which, element, -kStep)) / (2 * kStep);
      ASSERT_NEAR(found[static_cast<size_t>(element)], slope, 1e-6 * (1 + std::fabs(slope)))
          << "input " << which << " element " << element;
    }
  }
}

TEST_P(RandomPrograms, HaveTheSameGradientsWhenAGraphIsCreated) {
  constexpr int kSteps = 14;
  const uint32_t seed = GetParam();
  std::vector<Tensor> plain = inputs_for(seed), recorded = inputs_for(seed);
  for (Tensor& input : plain) input.requires_grad_();
  for (Tensor& input : recorded) input.requires_grad_();
  const Numbers expected = read(grad({Program(seed).run(plain, kSteps)}, plain)[0]);
  EXPECT_EQ(read(grad({Program(seed).run(recorded, kSteps)}, recorded, {}, {.create_graph = true})[0]), expected);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPrograms, ::testing::Range(1u, 31u));

}  // namespace
}  // namespace lucid::testing
