#include "tensor/deferred_ops.h"

#include <thread>

#include "support.h"
#include "tensor/borrowed.h"
#include "tensor/snapshot.h"

namespace lucid::testing {
namespace {

int batches = 0;
size_t last_ops = 0;

/// Has no plans: ops run one by one. Counts the batches that it is asked for.
bool count_batch(DeferredBatch& batch) {
  ++batches;
  last_ops = batch.ops.size();
  return false;
}

class Deferred : public ::testing::Test {
 protected:
  void SetUp() override {
    // Ops are deferred once they have plans.
    const Tensor x = counting({4});
    ((x + x) * x).sum();
    Tensor y = x.clone();
    y.add_(x);
    batches = 0;
  }
};

bool waits(const Tensor& x) { return unwrap(x).cell()->deferred_use() == DeferredUse::kWrites; }

TEST_F(Deferred, OpsWaitUntilTheirValuesAreRead) {
  const Tensor x = counting({4});
  DeferScope scope(&count_batch);
  const Tensor y = (x + x) * x;
  EXPECT_TRUE(waits(y));
  EXPECT_EQ(batches, 0);
  EXPECT_EQ(read(y), (Numbers{2, 8, 18, 32}));
  EXPECT_FALSE(waits(y));
  EXPECT_EQ(batches, 1);
  EXPECT_EQ(last_ops, 2U);
}

TEST_F(Deferred, OpsRunAtTheEndOfTheScope) {
  const Tensor x = counting({4});
  Tensor y;
  {
    DeferScope scope(&count_batch);
    y = (x + x) * x;
    const auto counts = scope.finish();
    ASSERT_TRUE(counts);
    EXPECT_EQ(counts->batches, 1);
    EXPECT_EQ(counts->planned, 0);
    EXPECT_EQ(counts->ops, 2);
  }
  EXPECT_FALSE(waits(y));
  EXPECT_EQ(read(y), (Numbers{2, 8, 18, 32}));
}

TEST_F(Deferred, AWriteComesAfterEarlierReadsAndBeforeLaterOnes) {
  Tensor x = counting({4});
  DeferScope scope(&count_batch);
  const Tensor before = x + x;
  x.add_(x);
  const Tensor after = x + x;
  EXPECT_TRUE(waits(x));
  EXPECT_EQ(read(before), (Numbers{2, 4, 6, 8}));
  EXPECT_EQ(read(after), (Numbers{4, 8, 12, 16}));
}

TEST_F(Deferred, ASnapshotKeepsTheValueThatItsHandleHad) {
  Tensor x = counting({4});
  DeferScope scope(&count_batch);
  x.add_(x);
  const Snapshot snapshot(unwrap(x));
  x.add_(x);
  EXPECT_EQ(read(wrap(snapshot.tensor())), (Numbers{2, 4, 6, 8}));
  EXPECT_EQ(read(x), (Numbers{4, 8, 12, 16}));
}

TEST_F(Deferred, AnotherThreadRunsWhatItNeeds) {
  const Tensor x = counting({4});
  DeferScope scope(&count_batch);
  const Tensor y = (x + x) * x;
  Numbers seen;
  std::thread([&] { seen = read(y); }).join();
  EXPECT_EQ(seen, (Numbers{2, 8, 18, 32}));
  EXPECT_FALSE(waits(y));
}

TEST_F(Deferred, OneThreadDefersAtATime) {
  const Tensor x = counting({4});
  DeferScope scope(&count_batch);
  std::thread([&] {
    DeferScope other(&count_batch);
    EXPECT_FALSE(DeferredOps::is_deferring());
    EXPECT_FALSE(waits(x + x));
    EXPECT_FALSE(other.finish());
  }).join();
  EXPECT_TRUE(waits(x + x));
}

TEST_F(Deferred, AThreadMayWriteWhatAnotherOnesOpsWillRead) {
  Tensor x = counting({4});
  DeferScope scope(&count_batch);
  const Tensor y = (x + x) * x;
  std::thread([&] { x.fill_(0.0); }).join();
  EXPECT_EQ(read(y), (Numbers{2, 8, 18, 32}));
  EXPECT_EQ(read(x), (Numbers{0, 0, 0, 0}));
}

TEST_F(Deferred, BorrowedMemoryIsUsedAtOnce) {
  float memory[4] = {1, 2, 3, 4};
  const Tensor x = wrap(borrow_tensor({memory, Dtype::kF32, {4}, {1}}, [] {}));
  static_cast<void>(x + x);
  DeferScope scope(&count_batch);
  const Tensor y = x + x;
  EXPECT_FALSE(waits(y));
  memory[0] = 9;
  EXPECT_EQ(read(y), (Numbers{2, 4, 6, 8}));
}

TEST_F(Deferred, AnOpThatMayFailRunsWithThoseBeforeIt) {
  const Tensor x = counting({4}), index = from_data(std::vector<int64_t>{3, 0}.data(), {2}, kInt64);
  x.index_select(0, index);
  const Tensor wrong = from_data(std::vector<int64_t>{3, 4}.data(), {2}, kInt64);
  DeferScope scope(&count_batch);
  const Tensor y = (x + x) * x;
  EXPECT_EQ(read(y.index_select(0, index)), (Numbers{32, 2}));
  EXPECT_EQ(last_ops, 3U);
  const Tensor z = y + y;
  EXPECT_THROW(z.index_select(0, wrong), IndexError);
  EXPECT_EQ(read(z), (Numbers{4, 16, 36, 64}));
}

TEST_F(Deferred, OpsThatKeepMuchMemoryAliveDoNotWait) {
  const auto sum = [](int count, int64_t size) {
    Tensor sum = zeros({size});
    for (int i = 0; i < count; ++i) sum = sum + from_vector(std::vector<double>(static_cast<size_t>(size), i), {size});
    return sum;
  };
  sum(2, 1 << 18);
  sum(2, 4);
  batches = 0;
  DeferScope scope(&count_batch);
  const Tensor small = sum(200, 4);
  EXPECT_EQ(batches, 0);
  EXPECT_EQ(read(small)[0], 199.0 * 100);
  batches = 0;
  const Tensor large = sum(130, 1 << 18);  // 2 MB each
  EXPECT_EQ(batches, 2);
  EXPECT_EQ(read(large)[0], 129.0 * 65);
}

TEST_F(Deferred, GradientsAreThoseOfEagerCalls) {
  const auto gradient = [] {
    Tensor w = counting({4}).requires_grad_();
    const Tensor loss = ((w * w).exp() * w).sum();
    {
      const NoGrad no_grad;
      w.mul_(0.5);
    }
    loss.backward();
    return w.grad();
  };
  const Tensor expected = gradient();
  DeferScope scope(&count_batch);
  const Tensor found = gradient();
  EXPECT_TRUE(waits(found));
  EXPECT_EQ(read(found), read(expected));
}

}  // namespace
}  // namespace lucid::testing
