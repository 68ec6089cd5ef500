#include "runtime/packed_forms.h"

#include <atomic>
#include <functional>
#include <optional>
#include <thread>

#include "support.h"

namespace lucid::testing {
namespace {

constexpr int64_t kRows = 20, kInner = 70, kColumns = 50;
using Floats = std::vector<float>;

Tensor weight(uint64_t seed = 1) {
  manual_seed(seed);
  return randn({kColumns, kInner});
}
Tensor inputs() {
  manual_seed(9);
  return randn({kRows, kInner});
}
/// A product as in a linear layer: the transposed operand is packed.
Tensor layer(const Tensor& x, const Tensor& w) { return matmul(x, transpose(w)); }
Floats floats(const Tensor& x) { return x.to_vector<float>(); }
/// The product with a new copy of the weight, which has no packed form.
Floats fresh(const Tensor& x, const Tensor& w) { return floats(layer(x, clone(w.detach()))); }

void warm_up(const Tensor& x, const Tensor& w) {
  for (int i = 0; i < 3; ++i) layer(x, w);
}

TEST(PackedForms, AreCachedOnTheSecondUseAndChangeNoBit) {
  const NoGrad no_grad;
  const Tensor x = inputs(), w = weight();
  const Floats first = floats(layer(x, w));
  EXPECT_EQ(packed_form_bytes(), 0u);
  const Floats second = floats(layer(x, w));
  EXPECT_GE(packed_form_bytes(), size_t{kInner * kColumns * 4});
  const Floats third = floats(layer(x, w));
  EXPECT_EQ(first, second);
  EXPECT_EQ(first, third);
  // The kernel that does not pack.
  EXPECT_EQ(first, floats(matmul(x, contiguous(transpose(w)))));
}

TEST(PackedForms, AreSharedByHeightsAndSeparateForPartsOfTheWeight) {
  const Tensor x = inputs(), w = weight();
  warm_up(x, w);
  const size_t one = packed_form_bytes();
  warm_up(x[{Slice(0, 14)}], w);
  EXPECT_EQ(packed_form_bytes(), one);
  const Tensor top = w[{Slice(0, 30)}], bottom = w[{Slice(20, 50)}];
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(floats(layer(x, top)), fresh(x, top));
    EXPECT_EQ(floats(layer(x, bottom)), fresh(x, bottom));
  }
  EXPECT_GT(packed_form_bytes(), one);
}

TEST(PackedForms, AreDroppedByEveryKindOfWrite) {
  const std::pair<const char*, std::function<void(Tensor&)>> writes[] = {
      {"fill_", [](Tensor& w) { w.fill_(0.5); }},
      {"copy_", [](Tensor& w) { w.copy_(weight(2)); }},
      {"in place", [](Tensor& w) { apply_("mul", w, {2.0}); }},
      {"a view", [](Tensor& w) { w[{Slice(1, 2)}].fill_(3.0); }},
      {"the transpose", [](Tensor& w) { transpose(w)[{Slice(0, 1)}].fill_(3.0); }},
      {"detach", [](Tensor& w) { w.detach().fill_(3.0); }},
      {"an index", [](Tensor& w) { w[{3}] = 1.5; }},
      {"mutable_data", [](Tensor& w) { w.mutable_data<float>()[5] = 8; }},
  };
  const Tensor x = inputs();
  for (const auto& [name, write] : writes) {
    for (bool leaf : {false, true}) {
      Tensor w = weight();
      w.requires_grad_(leaf);
      const NoGrad no_grad;
      warm_up(x, w);
      EXPECT_GT(packed_form_bytes(), 0u);
      const Floats before = floats(layer(x, w));
      write(w);
      EXPECT_EQ(packed_form_bytes(), 0u) << name;
      const Floats expected = fresh(x, w);
      EXPECT_NE(expected, before) << name;
      for (int i = 0; i < 3; ++i) EXPECT_EQ(floats(layer(x, w)), expected) << name;
    }
  }
}

TEST(PackedForms, AreDroppedByRecordedWritesAndGradientsUseTheSavedValue) {
  const Tensor x = inputs().requires_grad_();
  Tensor w = weight();
  warm_up(x, w);
  const Tensor y = layer(x, w);
  const Floats expected = floats(matmul(ones({kRows, kColumns}), w));
  w.fill_(0.0);
  sum(y).backward();
  EXPECT_EQ(floats(x.grad()), expected);
  EXPECT_EQ(floats(layer(x, w)), Floats(kRows * kColumns, 0.0f));
}

TEST(PackedForms, AreNeverCachedAfterMutableData) {
  const Tensor x = inputs();
  Tensor w = weight();
  float* const pointer = w.mutable_data<float>();
  for (int i = 0; i < 4; ++i) {
    pointer[i] += 1;
    EXPECT_EQ(floats(layer(x, w)), fresh(x, w)) << i;
  }
  EXPECT_EQ(packed_form_bytes(), 0u);
}

TEST(PackedForms, AreNeverCachedForBorrowedMemory) {
  Floats memory = floats(weight());
  Ref<Cell> cell = make_ref<Cell>(Storage::borrow(memory.data(), memory.size() * sizeof(float), nullptr));
  const Tensor w = wrap(make_ref<TensorImpl>(Dtype::kF32, Dims{kColumns, kInner}, Dims{kInner, 1}, 0, cell));
  const Tensor x = inputs();
  for (size_t i = 0; i < 4; ++i) {
    memory[i] += 1;
    EXPECT_EQ(floats(layer(x, w)), fresh(x, w)) << i;
  }
  EXPECT_EQ(packed_form_bytes(), 0u);
}

TEST(PackedForms, AreFreedWithTheWeight) {
  const Tensor x = inputs();
  {
    const Tensor w = weight();
    warm_up(x, w);
    EXPECT_GT(packed_form_bytes(), 0u);
  }
  EXPECT_EQ(packed_form_bytes(), 0u);
}

TEST(PackedForms, StayWithinTheLimitByDroppingTheLeastRecentlyUsed) {
  const Tensor x = inputs();
  const Tensor a = weight(1), b = weight(2), c = weight(3);
  warm_up(x, a);
  const size_t one = packed_form_bytes();
  const PackedFormLimitScope limit(2 * one);
  warm_up(x, b);
  EXPECT_EQ(packed_form_bytes(), 2 * one);
  layer(x, a);
  warm_up(x, c);
  EXPECT_EQ(packed_form_bytes(), 2 * one);
  for (const Tensor& w : {a, b, c}) EXPECT_EQ(floats(layer(x, w)), fresh(x, w));
  {
    // With a limit of 0, cached forms stay and none is added.
    const PackedFormLimitScope none(0);
    const Tensor d = weight(4);
    warm_up(x, d);
    EXPECT_EQ(packed_form_bytes(), 2 * one);
  }
}

TEST(PackedForms, OfTheLeastRecentlyUsedWeightAreEvictedFirst) {
  const Tensor x = inputs();
  std::optional<Tensor> a = weight(1), b = weight(2), c = weight(3);
  warm_up(x, *a);
  const size_t one = packed_form_bytes();
  const PackedFormLimitScope limit(2 * one);
  warm_up(x, *b);
  layer(x, *a);
  warm_up(x, *c);
  b.reset();
  EXPECT_EQ(packed_form_bytes(), 2 * one);
  a.reset();
  EXPECT_EQ(packed_form_bytes(), one);
  c.reset();
  EXPECT_EQ(packed_form_bytes(), 0u);
}

TEST(PackedForms, ServeManyThreadsAtOnce) {
  const Tensor x = inputs();
  Tensor w = weight();
  for (int round = 0; round < 20; ++round) {
    const Floats expected = fresh(x, w);
    std::vector<std::thread> threads;
    std::atomic<int> wrong = 0;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        const NoGrad no_grad;
        for (int i = 0; i < 20; ++i) {
          // Meanwhile each thread creates and destroys its own weights.
          const Tensor own = clone(w);
          wrong += floats(layer(x, w)) != expected;
          for (int j = 0; j < 3; ++j) wrong += floats(layer(x, own)) != expected;
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
    apply_("add", w, {0.25});
    EXPECT_EQ(packed_form_bytes(), 0u);
  }
}

}  // namespace
}  // namespace lucid::testing
