#include "support.h"

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
  Generator generator;
  generator.manual_seed(7);
  EXPECT_EQ(generator.initial_seed(), 7u);
  const Tensor state = generator.get_state();
  EXPECT_EQ(state.to_vector<int64_t>(), (std::vector<int64_t>{7, 0}));
  const Generator same = generator;
  generator.manual_seed(9);
  EXPECT_EQ(same.initial_seed(), 9u);
  EXPECT_EQ(state.to_vector<int64_t>(), (std::vector<int64_t>{7, 0}));
  generator.set_state(state);
  EXPECT_EQ(generator.initial_seed(), 7u);
  expect_error(ErrorClass::kType, "i64[2]", [&] { generator.set_state(counting({2})); });
  EXPECT_NE(generator.seed(), generator.seed());
}

TEST(Generator, ItsSamplesAreThoseOfTheDefaultGenerator) {
  const Tensor p = full({2, 4}, 0.5);
  const auto samples = [&](const Generator& generator) {
    return std::vector<Tensor>{rand({3}, kNone, generator),
                               randn({3}, kFloat64, generator),
                               normal(2, 0.5, {3}, kNone, generator),
                               normal(p, p * 2, generator),
                               randint(0, 9, {3}, kInt32, generator),
                               randint(0, 9, {3}, kFloat32, generator),
                               randperm(5, generator),
                               bernoulli(p, generator),
                               multinomial(p, 3, false, generator)};
  };
  Generator generator;
  generator.manual_seed(11);
  const Tensor before = get_rng_state();
  const std::vector<Tensor> found = samples(generator);
  EXPECT_TRUE(equal(get_rng_state(), before));
  manual_seed(11);
  const std::vector<Tensor> expected = samples(default_generator());
  for (size_t i = 0; i < found.size(); ++i) EXPECT_TRUE(equal(found[i], expected[i])) << i;
  EXPECT_TRUE(equal(generator.get_state(), get_rng_state()));
  EXPECT_EQ(found[4].dtype(), kInt32);
  EXPECT_EQ(found[5].dtype(), kFloat32);
  EXPECT_EQ(found[8].shape(), (Shape{2, 3}));
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

TEST(Modes, AreRestored) {
  const Tensor x = leaf({2});
  {
    const InferenceMode inference;
    EXPECT_FALSE((x * 2.0).requires_grad());
    EXPECT_TRUE(inference_mode_enabled());
    {
      const EnableGrad gradients;
      EXPECT_FALSE(inference_mode_enabled());
      EXPECT_TRUE((x * 2.0).requires_grad());
      const InferenceMode off(false);
      EXPECT_TRUE(grad_enabled());
    }
    const NoGrad no_grad;
    EXPECT_TRUE(inference_mode_enabled());
  }
  EXPECT_FALSE(inference_mode_enabled());
  EXPECT_TRUE((x * 2.0).requires_grad());
}

TEST(Settings, AreThoseOfTheProcess) {
  EXPECT_EQ(get_default_dtype(), kFloat32);
  set_default_dtype(kFloat64);
  EXPECT_EQ(ones({2}).dtype(), kFloat64);
  set_default_dtype(kFloat32);
  expect_error(ErrorClass::kType, "float dtype", [] { set_default_dtype(kInt32); });
  EXPECT_EQ(get_default_device(), "cpu");
  set_default_device("cpu:0");
  EXPECT_EQ(ones({2}).device(), "cpu");
  expect_error(ErrorClass::kValue, "tpu", [] { set_default_device("tpu"); });
  expect_error(ErrorClass::kValue, "gpu:200", [] { set_default_device("gpu:200"); });
  const int threads = get_num_threads();
  set_num_threads(3);
  EXPECT_EQ(get_num_threads(), 3);
  set_num_threads(threads);
  expect_error(ErrorClass::kValue, "1 to 1024", [] { set_num_threads(0); });
}

TEST(Errors, OfKernelsHaveTheirClass) {
  const Tensor x = make({1, 2, 3});
  expect_error(ErrorClass::kIndex, "out of bounds", [&] { x[tensor<int64_t>({5})]; });
  expect_error(ErrorClass::kIndex, "out of bounds", [&] { x.gather(0, tensor<int64_t>({5})); });
  expect_error(ErrorClass::kValue, "probabilities", [&] { bernoulli(x); });
}

TEST(Comparisons, OfWholeTensors) {
  const Tensor x = make({1, 2}), nan = make({std::nan(""), 1});
  EXPECT_TRUE(equal(x, make({1, 2})));
  EXPECT_FALSE(equal(x, make({1, 3})));
  EXPECT_FALSE(equal(x, make({1, 2, 3})));
  EXPECT_FALSE(equal(nan, nan));
  EXPECT_TRUE(allclose(x, x + 1e-9));
  EXPECT_FALSE(allclose(x, x + 1e-3));
  EXPECT_TRUE(allclose(x, x + 1e-3, 0, 1e-2));
  EXPECT_FALSE(allclose(nan, nan));
  EXPECT_TRUE(allclose(nan, nan, 1e-5, 1e-8, true));
  expect_error(ErrorClass::kValue, "refers to no tensor", [&] { equal(x, Tensor()); });
}

TEST(UndefinedTensors, AreErrors) {
  Tensor x = zeros({2});
  EXPECT_THROW(x[0] = Tensor(), TypeError);
  EXPECT_THROW(x[x > 1] = Tensor(), TypeError);
  EXPECT_THROW(x.copy_(Tensor()), TypeError);
  EXPECT_THROW(x.fill_(Tensor()), TypeError);
  EXPECT_THROW(x.index_put({Tensor()}, x), TypeError);
}

TEST(FromVector, ChecksTheNumberOfElements) {
  const std::vector<float> two = {1, 2};
  EXPECT_THROW(from_vector(two, {5}), ValueError);
  EXPECT_THROW(from_vector(two, {1}), ValueError);
  EXPECT_THROW(from_vector(two, {int64_t{1} << 62, 4}), ValueError);
  EXPECT_THROW(from_vector(two, {-2}), ValueError);
  EXPECT_EQ(from_vector(two, {2, 1}).shape(), (Shape{2, 1}));
  EXPECT_THROW(from_data(nullptr, {2}, kFloat32), ValueError);
}

}  // namespace
}  // namespace lucid::testing
