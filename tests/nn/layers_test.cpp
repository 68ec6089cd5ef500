#include <gtest/gtest.h>
#include <lucid/autograd.h>
#include <lucid/nn.h>
#include <lucid/ops.h>
#include <lucid/random.h>

#include <cmath>
#include <limits>

#include "base/error.h"

namespace lucid::nn {
namespace {

TEST(Layers, NetworksAreBuiltInCpp) {
  const Ptr<Sequential> net = make<Sequential>(make<Linear>(4, 8), make<BatchNorm1d>(8), make<ReLU>(),
                                               make<Dropout>(0.5), make<Linear>(8, 3), make<LogSoftmax>(1));
  const Tensor result = (*net)(randn({5, 4}));
  EXPECT_EQ(result.shape(), (Shape{5, 3}));
  const Ptr<NLLLoss> loss = make<NLLLoss>();
  loss->forward(result, zeros({5}, kInt64)).backward();
  for (const auto& [name, tensor] : net->named_parameters()) EXPECT_TRUE(tensor.grad().defined()) << name;
  EXPECT_EQ(net->get_buffer("1.num_batches_tracked").item<int64_t>(), 1);
  net->eval();
  (*net)(randn({5, 4}));
  EXPECT_EQ(net->get_buffer("1.num_batches_tracked").item<int64_t>(), 1);
}

TEST(Layers, LossesTakeWeightsAsOptions) {
  const Tensor x = tensor({1.0, 2.0}), target = tensor({0.0, 1.0});
  EXPECT_EQ(make<MSELoss>({.reduction = "sum"})->forward(x, target).item<double>(), 2);
  const Tensor scores = tensor({0.0, 0.0}).reshape({1, 2});
  EXPECT_EQ(make<BCEWithLogitsLoss>({.weight = tensor({2.0, 0.0}), .reduction = "sum"})
                ->forward(scores, zeros({1, 2}, kFloat64))
                .item<double>(),
            2 * std::log(2.0));
  EXPECT_EQ(make<BCEWithLogitsLoss>({.reduction = "sum", .pos_weight = tensor({3.0, 0.0})})
                ->forward(scores, ones({1, 2}, kFloat64))
                .item<double>(),
            3 * std::log(2.0));
  EXPECT_THROW(make<MSELoss>({.reduction = "nothing"})->forward(x, target), ValueError);
}

TEST(Layers, RecurrentStatesHaveAllLayersAndDirections) {
  const Ptr<LSTM> lstm = make<LSTM>({.input_size = 3, .hidden_size = 4, .num_layers = 2, .bidirectional = true});
  const Recurrent::Result result = lstm->run(ones({5, 2, 3}));
  EXPECT_EQ(result.output.shape(), (Shape{5, 2, 8}));
  EXPECT_EQ(result.state[0].shape(), (Shape{4, 2, 4}));
  EXPECT_EQ(result.state[1].shape(), (Shape{4, 2, 4}));
  EXPECT_EQ(lstm->named_parameters().size(), 16u);
  EXPECT_THROW(lstm->run(ones({5, 2, 3}), {zeros({1, 2, 4}), zeros({1, 2, 4})}), ValueError);
}

TEST(Layers, RecurrentCellsEqualOneStepOfTheirNetwork) {
  const Ptr<GRU> gru = make<GRU>(3, 4);
  const Ptr<GRUCell> cell = make<GRUCell>(3, 4);
  for (const char* name : {"weight_ih", "weight_hh", "bias_ih", "bias_hh"})
    cell->parameter(name).detach().copy_(gru->parameter(std::string(name) + "_l0").detach());
  const Tensor x = randn({1, 2, 3});
  EXPECT_EQ(gru->run(x).output[0].to_vector<float>(), cell->run(x[0])[0].to_vector<float>());
}

TEST(Layers, TransformersCopyTheirLayer) {
  const Ptr<TransformerEncoderLayer> layer =
      make<TransformerEncoderLayer>({.d_model = 8, .nhead = 2, .dim_feedforward = 16});
  const Ptr<TransformerEncoder> encoder = make<TransformerEncoder>(layer, 3, make<LayerNorm>(8));
  EXPECT_EQ((*encoder)(randn({5, 2, 8})).shape(), (Shape{5, 2, 8}));
  EXPECT_EQ(encoder->named_parameters().size(), 3 * 12 + 2u);
  EXPECT_FALSE(
      encoder->get_parameter("layers.0.linear1.weight").is_same(encoder->get_parameter("layers.1.linear1.weight")));
  EXPECT_EQ(encoder->get_parameter("layers.0.linear1.weight").to_vector<float>(),
            encoder->get_parameter("layers.1.linear1.weight").to_vector<float>());
}

TEST(Layers, CausalMasksHideLaterElements) {
  const Ptr<MultiheadAttention> attention = make<MultiheadAttention>(8, 2);
  const Tensor x = randn({4, 1, 8});
  AttentionMasks masks;
  masks.attn_mask = square_subsequent_mask(4);
  const Tensor weights = attention->attend(x, x, x, masks).weights;
  EXPECT_EQ(triu(weights[0], 1).to_vector<float>(), std::vector<float>(16, 0));
  EXPECT_EQ(attention->attend(x, x, x, masks, false).output.shape(), (Shape{4, 1, 8}));
  masks.attn_mask = Tensor();
  masks.is_causal = true;
  EXPECT_THROW(attention->attend(x, x, x, masks), ValueError);
}

TEST(Layers, DropoutKeepsTheMean) {
  const Ptr<Dropout> dropout = make<Dropout>(0.25);
  const Tensor result = (*dropout)(ones({100000}));
  EXPECT_NEAR(mean(result).item<float>(), 1, 0.01);
  dropout->eval();
  const Tensor x = ones({3});
  EXPECT_TRUE((*dropout)(x).is_same(x));
  EXPECT_THROW(make<Dropout>(1.5), ValueError);
}

TEST(Layers, EmbeddingsSkipTheirPaddingRow) {
  const Ptr<Embedding> embedding = make<Embedding>(4, 2, -1);
  EXPECT_EQ(embedding->parameter("weight")[3].to_vector<float>(), (std::vector<float>{0, 0}));
  sum((*embedding)(tensor<int64_t>({0, 3, 3}))).backward();
  EXPECT_EQ(embedding->parameter("weight").grad().to_vector<float>(), (std::vector<float>{1, 1, 0, 0, 0, 0, 0, 0}));
  EXPECT_THROW(make<Embedding>({.num_embeddings = 4, .embedding_dim = 2, .padding_idx = 4}), ValueError);
}

TEST(Layers, InPlaceActivationsWriteTheirInput) {
  Tensor x = tensor<float>({-1, 2});
  const Tensor result = (*make<ReLU>(true))(x);
  EXPECT_TRUE(result.is_same(x));
  EXPECT_EQ(x.to_vector<float>(), (std::vector<float>{0, 2}));
}

TEST(Clip, ScalesOrClampsGradients) {
  Tensor a = zeros({1}).requires_grad_(), b = zeros({2}).requires_grad_(), unused = zeros({3}).requires_grad_();
  const auto set_gradients = [&] {
    a.set_grad(tensor({3.0f}));
    b.set_grad(tensor({-4.0f, 0.0f}));
  };
  set_gradients();
  EXPECT_EQ(clip_grad_norm_({a, b, unused}, 10).item<float>(), 5);
  EXPECT_EQ(a.grad().item<float>(), 3);
  EXPECT_EQ(clip_grad_norm_({a, b, unused}, 1).item<float>(), 5);
  EXPECT_NEAR(a.grad().item<float>(), 0.6, 1e-6);
  EXPECT_NEAR(b.grad()[0].item<float>(), -0.8, 1e-6);
  set_gradients();
  EXPECT_EQ(clip_grad_norm_({a, b}, 1, std::numeric_limits<double>::infinity()).item<float>(), 4);
  set_gradients();
  clip_grad_value_({a, b, unused}, 3.5);
  EXPECT_EQ(b.grad().to_vector<float>(), (std::vector<float>{-3.5, 0}));
  EXPECT_EQ(clip_grad_norm_({unused}, 1).item<float>(), 0);
}

}  // namespace
}  // namespace lucid::nn
