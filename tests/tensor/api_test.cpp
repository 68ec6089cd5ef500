#include "support.h"
#include "tensor/random.h"

namespace lucid::testing {
namespace {

TEST(Tensor, KnowsItsShapeAndValues) {
  const Tensor x = tensor<float>({1, 2, 3});
  EXPECT_EQ(x.shape(), Shape{3});
  EXPECT_EQ(x.dtype(), kFloat32);
  EXPECT_EQ(x.size(-1), 3);
  EXPECT_EQ(x[1].item<double>(), 2.0);
  EXPECT_EQ(x.to_vector<int64_t>(), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_EQ(x.data<float>()[2], 3.0f);
  expect_error(ErrorClass::kType, "not stored as f64", [&] { x.data<double>(); });
  expect_error(ErrorClass::kRuntime, "3 elements", [&] { x.item<float>(); });
  expect_error(ErrorClass::kValue, "refers to no tensor", [] { Tensor().shape(); });
}

TEST(Tensor, IsOnePointerWideAndCopiesAreTheSameTensor) {
  static_assert(sizeof(Tensor) == sizeof(void*));
  Tensor x = counting({2});
  Tensor same = x;
  same += 1.0;
  EXPECT_EQ(read(x), (Numbers{2, 3}));
}

TEST(Tensor, Arithmetic) {
  const Tensor x = tensor<float>({2, 4});
  EXPECT_EQ(read(1.0 - x / 2), (Numbers{0, -1}));
  EXPECT_EQ(read(-x * x + 1), (Numbers{-3, -15}));
  EXPECT_EQ((x * 2.5).dtype(), kFloat32);
}

TEST(Tensor, MutableDataIsAWrite) {
  Tensor x = leaf({2});
  Tensor y = x * 3.0;
  Tensor z = y * y;
  y.mutable_data<double>()[0] = 100;
  sum(z).backward();
  EXPECT_EQ(read(x.grad()), (Numbers{18, 36}));
  EXPECT_EQ(read(y), (Numbers{100, 6}));
}

TEST(Generator, StateIsSeedAndOffset) {
  Generator generator(7);
  EXPECT_EQ(generator.initial_seed(), 7u);
  EXPECT_EQ(wrap(generator.state()).to_vector<int64_t>(), (std::vector<int64_t>{7, 0}));
  const TensorRef copy = generator.state();
  generator.manual_seed(9);
  EXPECT_EQ(wrap(copy).to_vector<int64_t>(), (std::vector<int64_t>{7, 0}));
  generator.set_state(*copy);
  EXPECT_EQ(generator.initial_seed(), 7u);
  expect_error(ErrorClass::kType, "i64[2]", [&] { generator.set_state(unwrap(counting({2}))); });
  EXPECT_NE(generator.seed(), generator.seed());
}

TEST(Generator, SamplingAdvancesTheOffsetByTheElementCount) {
  manual_seed(5);
  const Tensor first = rand({2, 3});
  EXPECT_EQ(get_rng_state().to_vector<int64_t>(), (std::vector<int64_t>{5, 6}));
  const Tensor second = rand({2, 3});
  EXPECT_NE(read(first), read(second));
  for (double number : read(first)) {
    EXPECT_GE(number, 0);
    EXPECT_LT(number, 1);
  }
  // Two samples one after the other equal one sample of both sizes.
  manual_seed(5);
  const Numbers both = read(rand({12}));
  EXPECT_EQ(Numbers(both.begin(), both.begin() + 6), read(first));
  EXPECT_EQ(Numbers(both.begin() + 6, both.end()), read(second));
}

TEST(Generator, SamplesFollowTheirDistributions) {
  manual_seed(1);
  constexpr int64_t kCount = 20000;
  double total = 0, squares = 0;
  for (double number : read(randn({kCount}, kFloat64))) total += number, squares += number * number;
  EXPECT_NEAR(total / kCount, 0, 0.03);
  EXPECT_NEAR(squares / kCount, 1, 0.05);
  std::vector<int> counts(3);
  for (int64_t number : randint(-1, 2, {kCount}).to_vector<int64_t>()) ++counts.at(static_cast<size_t>(number + 1));
  for (int count : counts) EXPECT_NEAR(count, kCount / 3.0, 400);
  const Numbers kept = read(bernoulli(make({0, 1})));
  EXPECT_EQ(kept, (Numbers{0, 1}));
}

TEST(Generator, TheDefaultOneIsSeeded) {
  manual_seed(3);
  const Tensor state = get_rng_state();
  EXPECT_EQ(state.to_vector<int64_t>(), (std::vector<int64_t>{3, 0}));
  manual_seed(4);
  set_rng_state(state);
  EXPECT_EQ(default_generator().initial_seed(), 3u);
}

}  // namespace
}  // namespace lucid::testing
