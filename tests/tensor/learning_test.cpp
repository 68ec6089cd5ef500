#include <cmath>
#include <limits>

#include "support.h"
#include "tensor/random.h"

// Properties of losses, embeddings, normalization and dropout that the generic tests of the op table cannot check.
namespace lucid::testing {
namespace {

Tensor classes(const std::vector<int64_t>& values) {
  return from_vector(values, {static_cast<int64_t>(values.size())});
}

TEST(CrossEntropy, TargetsOutOfRangeAreIndexErrors) {
  const Tensor x = counting({2, 3});
  for (const int64_t bad : {-1, 3, 1000})
    for (const bool recorded : {false, true}) {
      const Tensor scores = recorded ? leaf({2, 3}) : x;
      expect_error(ErrorClass::kIndex, "cross_entropy", [&] { cross_entropy(scores, classes({0, bad})); });
      expect_error(ErrorClass::kIndex, "nll_loss", [&] { nll_loss(scores, classes({bad, 1})); });
    }
}

TEST(CrossEntropy, IgnoredTargetsHaveNeitherLossNorGradient) {
  Tensor x = leaf({3, 2});
  const Tensor loss = cross_entropy(x, classes({0, -100, 0}));
  EXPECT_NEAR(loss.item<double>(), std::log(1 + std::exp(1.0)), 1e-12);
  loss.backward();
  const Numbers g = read(x.grad());
  EXPECT_EQ(g[2], 0);
  EXPECT_EQ(g[3], 0);
  EXPECT_NEAR(g[0], -0.5 / (1 + std::exp(-1.0)), 1e-12);
  EXPECT_TRUE(std::isnan(cross_entropy(x, classes({-100, -100, -100})).item<double>()));
  EXPECT_EQ(cross_entropy(x, classes({-100, -100, -100}), Argument(), -100, "sum").item<double>(), 0);
}

TEST(CrossEntropy, LargeScoresDoNotOverflow) {
  const Tensor x = make({1000, 0, -1000, 0}, {2, 2});
  EXPECT_EQ(read(cross_entropy(x, classes({0, 1}), Argument(), -100, "none")), (Numbers{0, 0}));
  EXPECT_EQ(read(cross_entropy(x, classes({1, 0}), Argument(), -100, "none")), (Numbers{1000, 1000}));
}

TEST(Embedding, ThePaddingRowHasNoGradient) {
  for (const int64_t padding : {1, -2}) {
    Tensor weight = leaf({3, 2});
    sum(embedding(weight, classes({1, 0, 1, 0}), padding)).backward();
    EXPECT_EQ(read(weight.grad()), (Numbers{2, 2, 0, 0, 0, 0}));
  }
  expect_error(ErrorClass::kValue, "padding_idx 3", [] { embedding(counting({3, 2}), classes({0}), 3); });
}

TEST(EmbeddingBag, EmptyBagsAndPaddingGiveZeros) {
  const Tensor weight = counting({3, 2});
  for (const char* mode : {"sum", "mean", "max"}) {
    const Tensor bags = embedding_bag(weight, classes({0, 2, 1}), classes({0, 2, 2}), Argument(), mode, false, 1);
    EXPECT_EQ(bags.shape(), (Shape{3, 2}));
    EXPECT_EQ(read(bags[1]), (Numbers{0, 0})) << mode;
    EXPECT_EQ(read(bags[2]), (Numbers{0, 0})) << mode;
  }
  EXPECT_EQ(read(embedding_bag(weight, classes({0, 2, 1}), classes({0, 2, 3}), Argument(), "sum", true)),
            (Numbers{6, 8, 3, 4}));
}

TEST(BatchNorm, ReturnsRunningStatisticsAndWritesNothing) {
  const Tensor x = make({1, 0, 3, 4}, {2, 2});
  const Tensor mean = zeros({2}, Dtype::kF64);
  const Tensor var = ones({2}, Dtype::kF64);
  const auto results = batch_norm(x, mean, var, Argument(), Argument(), true, 0.5);
  EXPECT_EQ(read(results.running_mean), (Numbers{1, 1}));
  EXPECT_EQ(read(results.running_var), (Numbers{1.5, 4.5}));
  EXPECT_EQ(read(mean), (Numbers{0, 0}));
  const auto evaluated = batch_norm(x, mean, var, Argument(), Argument(), false, 0.5, 0.0);
  EXPECT_EQ(read(evaluated.output), read(x));
  EXPECT_EQ(read(evaluated.running_var), (Numbers{1, 1}));
  expect_error(ErrorClass::kValue, "more than one value",
               [] { batch_norm(counting({1, 2}), Argument(), Argument(), Argument(), Argument(), true); });
}

TEST(LayerNorm, ItsResultIsNotSavedForTheGradient) {
  // The gradient does not read the tensor that is overwritten.
  Tensor x = leaf({2, 3}), other = leaf({2, 3});
  sum(layer_norm(x, {3}) * counting({2, 3})).backward();
  Tensor y = layer_norm(other, {3});
  Tensor z = sum(y * counting({2, 3}));
  y.zero_();
  z.backward();
  EXPECT_EQ(read(other.grad()), read(x.grad()));
}

Tensor dropped(const Tensor& x, double p) {
  const Operand operands[] = {Operand(&unwrap(x))};
  return wrap(current_generator().sample(op_table().at("random_dropout"), operands, {p}).front());
}

TEST(Dropout, TheGradientUsesTheMaskOfTheForwardPass) {
  manual_seed(3);
  Tensor x = ones({1000}, Dtype::kF64).requires_grad_();
  const Tensor y = dropped(x, 0.25);
  const Tensor after = rand({4});
  sum(y).backward();
  EXPECT_EQ(read(x.grad()), read(y));
  int64_t kept = 0;
  for (const double value : read(y)) {
    EXPECT_TRUE(value == 0 || value == 1 / 0.75);
    kept += value != 0;
  }
  EXPECT_NEAR(static_cast<double>(kept), 750, 50);
  // The backward pass sampled nothing from the generator.
  manual_seed(3);
  dropped(x, 0.25);
  EXPECT_EQ(read(rand({4})), read(after));
}

TEST(Dropout, AMaskDependsOnSeedOffsetAndIndexOnly) {
  manual_seed(5);
  const Tensor y = dropped(ones({4, 6}, Dtype::kF64), 0.5);
  manual_seed(5);
  const Tensor transposed = dropped(transpose(ones({6, 4}, Dtype::kF64)), 0.5);
  EXPECT_EQ(read(transposed), read(y));
  manual_seed(5);
  EXPECT_EQ(read(dropped(ones({24}, Dtype::kF32), 0.5)), read(y));
}

TEST(CtcLoss, ImpossibleTargetsCostInfinity) {
  Tensor x = leaf({2, 1, 3});
  const Tensor targets = from_vector(std::vector<int64_t>{1, 1}, {1, 2});
  // Two equal labels need a blank between them, and so three steps.
  EXPECT_EQ(ctc_loss(x, targets, classes({2}), classes({2})).item<double>(), std::numeric_limits<double>::infinity());
  const Tensor loss = ctc_loss(x, targets, classes({2}), classes({2}), 0, "mean", true);
  EXPECT_EQ(loss.item<double>(), 0);
  loss.backward();
  for (const double g : read(x.grad())) EXPECT_EQ(g, 0);
}

TEST(CtcLoss, AnEmptyTargetIsAllBlanks) {
  const Tensor x = log_softmax(counting({2, 1, 3}), 2);
  const double expected = -(x[0][0][0].item<double>() + x[1][0][0].item<double>());
  const Tensor targets = from_vector(std::vector<int64_t>{1, 1}, {1, 2});
  EXPECT_NEAR(ctc_loss(x, targets, classes({2}), classes({0})).item<double>(), expected, 1e-12);
}

}  // namespace
}  // namespace lucid::testing
