#include "tensor/function.h"

#include "support.h"

namespace lucid::testing {
namespace {

/// x^3 with a custom gradient; `calls` counts its uses.
struct Cube : Function {
  explicit Cube(int* calls) : calls(calls) {}
  std::string name() const override { return "cube"; }
  std::vector<Tensor> forward(const std::vector<Tensor>& inputs) override {
    EXPECT_FALSE(grad_enabled());
    save_for_backward({inputs[0]});
    return {inputs[0] * inputs[0] * inputs[0]};
  }
  std::vector<Tensor> backward(const std::vector<Tensor>& gradients) override {
    ++*calls;
    const Tensor x = saved_tensors()[0];
    return {gradients[0] * x * x * 3.0};
  }
  int* calls;
};

TEST(Function, UsesItsOwnGradient) {
  int calls = 0;
  Tensor x = leaf({2});
  Tensor y = Function::apply(std::make_shared<Cube>(&calls), {x})[0];
  EXPECT_EQ(read(y), (Numbers{1, 8}));
  sum(y).backward();
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(read(x.grad()), (Numbers{3, 12}));
  expect_error(ErrorClass::kRuntime, "second time", [&] { sum(y).backward(); });
}

TEST(Function, CanBeDifferentiatedTwice) {
  int calls = 0;
  Tensor x = leaf({2});
  Tensor y = sum(Function::apply(std::make_shared<Cube>(&calls), {x})[0]);
  const Tensor g = grad({y}, {x}, {}, {.create_graph = true})[0];
  EXPECT_EQ(read(grad({sum(g)}, {x})[0]), (Numbers{6, 12}));
}

TEST(Function, IsNotRecordedWithoutNeed) {
  int calls = 0;
  EXPECT_FALSE(Function::apply(std::make_shared<Cube>(&calls), {counting({2})})[0].requires_grad());
  const NoGrad no_grad;
  EXPECT_FALSE(Function::apply(std::make_shared<Cube>(&calls), {leaf({2})})[0].requires_grad());
}

TEST(Function, ReturningAnInputCreatesANewHandle) {
  CustomFunction identity;
  identity.name = "identity";
  identity.forward = [](FunctionContext&, std::span<const TensorRef> inputs) {
    return std::vector(inputs.begin(), inputs.end());
  };
  identity.backward = [](FunctionContext&, std::span<const TensorRef> gradients) {
    return std::vector<TensorRef>{ref_of(wrap(gradients[0]) * 7.0)};
  };
  Tensor x = leaf({2});
  const TensorRef inputs[] = {ref_of(x)};
  Tensor y = wrap(apply_function(identity, inputs)[0]);
  EXPECT_FALSE(y.is_same(x));
  EXPECT_FALSE(y.is_leaf());
  sum(y).backward();
  EXPECT_EQ(read(x.grad()), (Numbers{7, 7}));
}

TEST(Function, ContextTellsWhatIsNeededAndFillsMissingGradients) {
  CustomFunction two;
  two.name = "two";
  two.forward = [](FunctionContext& context, std::span<const TensorRef> inputs) {
    EXPECT_TRUE(context.needs_input_grad(0));
    EXPECT_FALSE(context.needs_input_grad(1));
    const Tensor x = wrap(inputs[0]), y = wrap(inputs[1]);
    std::vector<TensorRef> results = {ref_of(x * y), ref_of(x + y), ref_of(x - y)};
    context.mark_non_differentiable({results[2]});
    return results;
  };
  two.backward = [](FunctionContext&, std::span<const TensorRef> gradients) {
    EXPECT_EQ(read(wrap(gradients[1])), (Numbers{0, 0}));
    return std::vector<TensorRef>{gradients[0], TensorRef()};
  };
  Tensor x = leaf({2});
  const TensorRef inputs[] = {ref_of(x), ref_of(counting({2}))};
  const std::vector<TensorRef> results = apply_function(two, inputs);
  EXPECT_FALSE(wrap(results[2]).requires_grad());
  sum(wrap(results[0])).backward();
  EXPECT_EQ(read(x.grad()), (Numbers{1, 1}));
}

TEST(Function, WrongGradientsAreNamed) {
  CustomFunction wrong;
  wrong.name = "wrong";
  wrong.forward = [](FunctionContext&, std::span<const TensorRef> inputs) {
    return std::vector<TensorRef>{ref_of(wrap(inputs[0]) * 2.0)};
  };
  wrong.backward = [](FunctionContext&, std::span<const TensorRef>) {
    return std::vector<TensorRef>{ref_of(counting({3}))};
  };
  Tensor x = leaf({2});
  const TensorRef inputs[] = {ref_of(x)};
  const Tensor y = wrap(apply_function(wrong, inputs)[0]);
  expect_error(ErrorClass::kRuntime, "wrong: backward returned a gradient f64[3]", [&] { sum(y).backward(); });
}

}  // namespace
}  // namespace lucid::testing
