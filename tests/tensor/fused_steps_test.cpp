#include <cstring>

#include "runtime/thread_pool.h"
#include "support.h"

// Fused plans, whose stages process a few rows at a time, return the same bits as separate ops.
namespace lucid::testing {
namespace {

Tensor waves(const Shape& shape) {
  int64_t count = 1;
  for (int64_t size : shape) count *= size;
  Numbers values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<double>((i * 7919) % 1013) / 100 - 5);
  return to(make(values, shape), Dtype::kF32);
}

void expect_same(const Tensor& a, const Tensor& b) {
  const auto left = a.to_vector<float>(), right = b.to_vector<float>();
  ASSERT_EQ(left.size(), right.size());
  EXPECT_EQ(std::memcmp(left.data(), right.data(), left.size() * sizeof(float)), 0);
}

class FusedSteps : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    before_ = num_threads();
    set_thread_count(GetParam());
  }
  void TearDown() override { set_thread_count(before_); }

  static void check(const Tensor& x, int64_t axis) {
    const Tensor shifted = x - amax(x, Shape{axis}, true);
    const Tensor weight = exp(shifted);
    expect_same(softmax(x, axis), weight * reciprocal(sum(weight, Shape{axis}, true)));
    expect_same(log_softmax(x, axis), shifted - log(sum(weight, Shape{axis}, true)));
  }

 private:
  int before_ = 1;
};
INSTANTIATE_TEST_SUITE_P(Threads, FusedSteps, ::testing::Values(1, 2, 3));

TEST_P(FusedSteps, ReturnTheBitsOfSingleOps) {
  check(waves({700, 1000}), 1);
  check(waves({3, 90, 513}), 2);
  check(waves({5, 40000}), 1);
  check(waves({2000, 3}), 1);
}

TEST_P(FusedSteps, AcrossOtherLayoutsToo) {
  check(waves({300, 400}), 0);
  check(transpose(waves({300, 400})), 1);
  check(transpose(waves({300, 400})), 0);
  check(waves({20, 30, 40}), 1);
}

}  // namespace
}  // namespace lucid::testing
