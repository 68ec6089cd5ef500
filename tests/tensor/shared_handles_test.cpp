// Handles that another thread gives another shape and other memory while an op gives up the caller's lock. Here the
// lock is a hook, which does at once what another thread might do meanwhile.

#include "base/blocking.h"
#include "support.h"
#include "tensor/plan_cache.h"

namespace lucid::testing {
namespace {

std::function<void()> g_meanwhile;

void set_data_of(const Tensor& tensor, const Tensor& source) { set_data(unwrap(tensor), unwrap(source)); }

class SharedHandles : public ::testing::Test {
 protected:
  SharedHandles() {
    set_blocking_hooks({.begin = []() -> void* {
                          if (const auto act = std::exchange(g_meanwhile, nullptr)) act();
                          return nullptr;
                        },
                        .end = [](void*) {}});
    clear_eager_plans();
  }
  ~SharedHandles() override {
    g_meanwhile = nullptr;
    set_blocking_hooks({});
  }

  /// Runs `work`; the tensor is bound to `other` as soon as the work gives up the lock.
  template <typename Work>
  static auto run_while_rebinding(const Tensor& tensor, const Tensor& other, const Work& work) {
    g_meanwhile = [&] { set_data_of(tensor, other); };
    const auto result = work();
    EXPECT_EQ(g_meanwhile, nullptr) << "the work did not give up the lock";
    EXPECT_EQ(tensor.shape(), other.shape());
    return result;
  }
};

TEST_F(SharedHandles, AnOpThatCompilesComputesWithTheOperandThatItGot) {
  const Tensor x = counting({3}), large = full({5000}, 7.0, kFloat64);
  const Tensor y = run_while_rebinding(x, large, [&] { return x * 2.0; });
  EXPECT_EQ(read(y), (Numbers{2, 4, 6}));
  // The plan is that of three elements, not of 5000.
  EXPECT_EQ(read(counting({3}) * 2.0), (Numbers{2, 4, 6}));
  EXPECT_EQ((large * 2.0).shape(), (Shape{5000}));
}

TEST_F(SharedHandles, AnOpThatCompilesIsRecordedWithTheOperandThatItGot) {
  const Tensor x = leaf({3}), large = full({50}, 7.0, kFloat64);
  const Tensor y = run_while_rebinding(x, large, [&] { return square(x); });
  EXPECT_EQ(y.shape(), (Shape{3}));
}

TEST_F(SharedHandles, AnInPlaceOpWritesToTheMemoryThatItGot) {
  const Tensor memory = counting({3}), large = full({5000}, 7.0, kFloat64);
  Tensor x = memory.detach();
  run_while_rebinding(x, large, [&] { return apply_("add", x, {1.0}); });
  EXPECT_EQ(read(memory), (Numbers{2, 3, 4}));
  EXPECT_EQ(read(large), Numbers(5000, 7));
}

TEST_F(SharedHandles, AnInPlaceOpOnLessMemoryDoesNotWritePastIt) {
  const Tensor memory = counting({5000}), small = counting({3});
  Tensor x = memory.detach();
  run_while_rebinding(x, small, [&] { return apply_("add", x, {1.0}); });
  EXPECT_EQ(read(memory)[4999], 5001);
  EXPECT_EQ(read(small), (Numbers{1, 2, 3}));
}

TEST_F(SharedHandles, AnOperandThatOverlapsTheDestinationIsCopiedAsItWas) {
  const Tensor memory = counting({2, 2}), small = counting({1, 1});
  Tensor x = memory.detach();
  const Tensor turned = transpose(x);
  run_while_rebinding(x, small, [&] { return apply_("add", x, {turned}); });
  EXPECT_EQ(read(small), (Numbers{1}));
  EXPECT_EQ(read(memory), (Numbers{2, 5, 5, 8}));
}

TEST_F(SharedHandles, ASnapshotThatIsTakenWhileAnInPlaceOpCompilesIsNotWritten) {
  Tensor x = counting({3});
  const Tensor y = leaf({3});
  Tensor loss;
  g_meanwhile = [&] { loss = sum(y * x); };  // saves x
  apply_("sub", x, {1.0});
  ASSERT_TRUE(loss.defined());
  EXPECT_EQ(read(x), (Numbers{0, 1, 2}));
  loss.backward();
  EXPECT_EQ(read(y.grad()), (Numbers{1, 2, 3}));
}

TEST_F(SharedHandles, ACompositeWhosePartsRunOneByOneWritesToTheTensorThatItGot) {
  const Tensor memory = counting({4}), small = counting({2});
  Tensor x = memory.detach();
  const Op& op = op_table().at("cumsum");
  run_while_rebinding(x, small, [&] {
    in_place(op, unwrap(x), {}, {int64_t{0}, Attribute()});
    return 0;
  });
  EXPECT_EQ(read(memory), (Numbers{1, 3, 6, 10}));
  EXPECT_EQ(read(small), (Numbers{1, 2}));
}

TEST_F(SharedHandles, ACopyThatIsConvertedAndBroadcast) {
  const Tensor memory = counting({2, 3}), small = counting({2});
  Tensor x = memory.detach();
  const Tensor row = make({7, 8, 9}).to(kFloat32);
  clear_eager_plans();
  run_while_rebinding(x, small, [&] { return x.copy_(row); });
  EXPECT_EQ(read(memory), (Numbers{7, 8, 9, 7, 8, 9}));
  EXPECT_EQ(read(small), (Numbers{1, 2}));
}

TEST_F(SharedHandles, AHostOpSortsTheTensorThatItGot) {
  constexpr int64_t kCount = 1 << 14;  // enough for the op to give up the lock
  const Tensor x = flip(counting({kCount}), {0}), small = counting({2});
  const Tensor sorted = run_while_rebinding(x, small, [&] { return sort(x).values; });
  ASSERT_EQ(sorted.shape(), (Shape{kCount}));
  EXPECT_EQ(read(sorted)[0], 1);
  EXPECT_EQ(read(sorted)[kCount - 1], kCount);
}

TEST_F(SharedHandles, AGradientThatTheCallerGives) {
  const Tensor x = leaf({3}), gradient = counting({3}), large = full({5000}, 7.0, kFloat64);
  const Tensor y = x * 2.0;
  run_while_rebinding(gradient, large, [&] {
    y.backward(gradient);
    return 0;
  });
  EXPECT_EQ(read(x.grad()), (Numbers{2, 4, 6}));
}

TEST_F(SharedHandles, AGradientThatIsAddedTo) {
  Tensor x = leaf({3});
  const Tensor small = counting({1});
  Tensor first = counting({3});
  const Tensor held = first.detach();
  x.set_grad(first);
  const Tensor y = x * 2.0;
  y.backward(counting({3}), /*retain_graph=*/true);
  EXPECT_EQ(read(held), (Numbers{3, 6, 9}));
  clear_eager_plans();
  // The pass itself gives up the lock before it looks at the gradient; then the addition does.
  g_meanwhile = [&] { g_meanwhile = [&] { g_meanwhile = [&] { set_data_of(first, small); }; }; };
  y.backward(counting({3}));
  EXPECT_EQ(g_meanwhile, nullptr);
  EXPECT_EQ(read(small), (Numbers{1}));
}

TEST_F(SharedHandles, AGradientThatAHookKeeps) {
  const Tensor x = leaf({3}), large = full({5000}, 7.0, kFloat64);
  const Tensor y = x * 2.0;
  Tensor kept;
  const auto remove = register_hook(y, [&](const Tensor& gradient) {
    kept = gradient;
    clear_eager_plans();
    g_meanwhile = [&] { set_data_of(kept, large); };
    return gradient;
  });
  y.backward(counting({3}));
  remove();
  EXPECT_EQ(g_meanwhile, nullptr);
  EXPECT_EQ(read(x.grad()), (Numbers{2, 4, 6}));
}

TEST_F(SharedHandles, TheDefaultDtypeThatChangesWhileAnOpCompiles) {
  const Tensor x = make({4, 9}, {2}).to(kInt64);
  g_meanwhile = [] { set_default_dtype(kFloat64); };
  const Tensor first = sqrt(x);
  set_default_dtype(kFloat32);
  EXPECT_EQ(first.dtype(), kFloat64);
  EXPECT_EQ(sqrt(x).dtype(), kFloat32);
  EXPECT_EQ(read(sqrt(x)), (Numbers{2, 3}));
}

TEST_F(SharedHandles, ResultsThatDoNotFitTheDestinationAreRefused) {
  const Tensor x = counting({3});
  const Operand operands[] = {Operand(x.impl())};
  Tensor narrow = counting({2});
  expect_error(ErrorClass::kRuntime, "does not fit the written tensor",
               [&] { compute_into(Call(op_table().at("exp"), operands, {}), unwrap(narrow)); });
}

}  // namespace
}  // namespace lucid::testing
