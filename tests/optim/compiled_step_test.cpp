#include <gtest/gtest.h>
#include <lucid/lucid.h>

#include <memory>
#include <string>
#include <vector>

namespace lucid {
namespace {

/// A network with its optimizer. All objects of one kind start with the same parameters.
struct Training {
  explicit Training(const std::string& kind) : model(make_model()) {
    optimizer = std::make_unique<optim::Optimizer>(kind, std::vector<optim::Optimizer::Group>{{model->parameters()}},
                                                   Tree::Dict{{"lr", 0.05}});
  }

  static nn::Ptr<nn::Sequential> make_model() {
    manual_seed(0);
    auto network = nn::make<nn::Sequential>();
    network->append(nn::make<nn::Linear>(6, 8));
    network->append(nn::make<nn::ReLU>());
    network->append(nn::make<nn::Linear>(8, 3));
    return network;
  }

  Tensor step(const Tensor& x, const Tensor& y) const {
    Tensor loss = cross_entropy((*model)(x), y);
    optimizer->zero_grad();
    loss.backward();
    optimizer->step();
    return loss.detach();
  }

  nn::Ptr<nn::Sequential> model;
  std::unique_ptr<optim::Optimizer> optimizer;
};

std::vector<double> values(const Tensor& tensor) { return tensor.detach().to_vector<double>(); }

class CompiledStep : public testing::TestWithParam<const char*> {};

// Only the first step creates the optimizer's state, so the second step is recorded too.
TEST_P(CompiledStep, EqualsEagerBitForBit) {
  const Training eager(GetParam()), compiled(GetParam());
  const auto step = compile([&](const Tensor& x, const Tensor& y) { return compiled.step(x, y); });
  manual_seed(1);
  for (int i = 0; i < 6; ++i) {
    const Tensor x = randn({5, 6}), y = randint(0, 3, {5});
    const Tensor expected = eager.step(x, y);
    const Tensor loss = step(x, y);
    EXPECT_EQ(loss.item<double>(), expected.item<double>()) << "step " << i;
  }
  for (size_t i = 0; i < eager.model->parameters().size(); ++i)
    EXPECT_EQ(values(compiled.model->parameters()[i]), values(eager.model->parameters()[i]));
  EXPECT_GE(step.cache_info().hits, 4) << step.explain();
  EXPECT_EQ(step.cache_info().eager_calls, 0) << step.explain();
}

INSTANTIATE_TEST_SUITE_P(Optimizers, CompiledStep, testing::Values("SGD", "Adam", "AdamW", "RMSprop"));

}  // namespace
}  // namespace lucid
