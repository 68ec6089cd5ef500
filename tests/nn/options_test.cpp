// Every module takes its options by name and in order.

#include <gtest/gtest.h>
#include <lucid/nn.h>
#include <lucid/ops.h>

#include <set>

#include "base/error.h"
#include "nn/repr.h"

namespace lucid::nn {
namespace {

std::set<std::string> g_checked;

/// The settings, which the repr of some modules does not show.
std::string settings_text(Module& module) {
  std::string text;
  for (const auto& [name, item] : Fields::list(module)) text += name + "=" + item_text(item) + " ";
  return text;
}

template <typename T>
void check(const Ptr<T>& by_name, const Ptr<T>& in_order, const std::string& repr) {
  EXPECT_EQ(by_name->repr(), repr);
  EXPECT_EQ(in_order->repr(), repr);
  EXPECT_EQ(settings_text(*by_name), settings_text(*in_order)) << repr;
  T defaults;
  EXPECT_NE(settings_text(*by_name), settings_text(defaults)) << repr << ": these are the defaults";
  g_checked.insert(by_name->type_name());
}

void check_linear() {
  check(make<Linear>({.in_features = 4, .out_features = 2, .bias = false}), make<Linear>(4, 2, false),
        "Linear(in_features=4, out_features=2, bias=False)");
  check(make<LazyLinear>({.out_features = 2, .bias = false}), make<LazyLinear>(2, false),
        "LazyLinear(in_features=0, out_features=2, bias=False)");
  check(make<Bilinear>({.in1_features = 2, .in2_features = 3, .out_features = 4}), make<Bilinear>(2, 3, 4),
        "Bilinear(in1_features=2, in2_features=3, out_features=4, bias=True)");
  check(make<Flatten>({.start_dim = 2, .end_dim = 3}), make<Flatten>(2, 3), "Flatten(start_dim=2, end_dim=3)");
  check(make<Unflatten>({.dim = 1, .unflattened_size = {2, 3}}), make<Unflatten>(1, Shape{2, 3}),
        "Unflatten(dim=1, unflattened_size=(2, 3))");
  check(make<Embedding>({.num_embeddings = 5, .embedding_dim = 2, .padding_idx = 1}), make<Embedding>(5, 2, 1),
        "Embedding(5, 2, padding_idx=1)");
  check(make<EmbeddingBag>({.num_embeddings = 5, .embedding_dim = 2, .mode = "sum"}),
        make<EmbeddingBag>(5, 2, kNone, 2, false, "sum"), "EmbeddingBag(5, 2, mode='sum')");
}

template <typename T>
void check_inplace(const std::string& name) {
  check(make<T>({.inplace = true}), make<T>(true), name + "(inplace=True)");
}

void check_activations() {
  check_inplace<ReLU>("ReLU");
  check_inplace<ReLU6>("ReLU6");
  check_inplace<SiLU>("SiLU");
  check_inplace<Mish>("Mish");
  check_inplace<SELU>("SELU");
  check_inplace<Hardswish>("Hardswish");
  check_inplace<Hardsigmoid>("Hardsigmoid");
  check_inplace<Sigmoid>("Sigmoid");
  check_inplace<Tanh>("Tanh");
  check_inplace<LogSigmoid>("LogSigmoid");
  check_inplace<Softsign>("Softsign");
  check_inplace<Tanhshrink>("Tanhshrink");
  check(make<LeakyReLU>({.negative_slope = 0.5, .inplace = true}), make<LeakyReLU>(0.5, true),
        "LeakyReLU(negative_slope=0.5, inplace=True)");
  check(make<ELU>({.alpha = 2}), make<ELU>(2), "ELU(alpha=2.0)");
  check(make<CELU>({.alpha = 2}), make<CELU>(2), "CELU(alpha=2.0)");
  check(make<Hardshrink>({.lambd = 0.25}), make<Hardshrink>(0.25), "Hardshrink(0.25)");
  check(make<Softshrink>({.lambd = 0.25}), make<Softshrink>(0.25), "Softshrink(0.25)");
  check(make<GELU>({.approximate = "tanh"}), make<GELU>("tanh"), "GELU(approximate='tanh')");
  check(make<Hardtanh>({.min_val = 0, .max_val = 2}), make<Hardtanh>(0, 2), "Hardtanh(min_val=0.0, max_val=2.0)");
  check(make<Softplus>({.beta = 2, .threshold = 10}), make<Softplus>(2, 10), "Softplus(beta=2.0, threshold=10.0)");
  check(make<Threshold>({.threshold = 1, .value = 2}), make<Threshold>(1, 2), "Threshold(threshold=1.0, value=2.0)");
  check(make<PReLU>({.num_parameters = 3, .init = 0.5}), make<PReLU>(3, 0.5), "PReLU(num_parameters=3)");
  check(make<RReLU>({.lower = 0.25, .upper = 0.5}), make<RReLU>(0.25, 0.5), "RReLU(lower=0.25, upper=0.5)");
  check(make<GLU>({.dim = 1}), make<GLU>(1), "GLU(dim=1)");
  check(make<Softmax>({.dim = 1}), make<Softmax>(1), "Softmax(dim=1)");
  check(make<LogSoftmax>({.dim = 1}), make<LogSoftmax>(1), "LogSoftmax(dim=1)");
  check(make<Softmin>({.dim = 1}), make<Softmin>(1), "Softmin(dim=1)");
}

template <typename T>
void check_dropout(const std::string& name) {
  check(make<T>({.p = 0.25, .inplace = true}), make<T>(0.25, true), name + "(p=0.25, inplace=True)");
}

template <typename T>
void check_loss(const std::string& name) {
  check(make<T>({.reduction = "sum"}), make<T>("sum"), name + "()");
}

void check_losses() {
  check_dropout<Dropout>("Dropout");
  check_dropout<Dropout1d>("Dropout1d");
  check_dropout<Dropout2d>("Dropout2d");
  check_dropout<Dropout3d>("Dropout3d");
  check_dropout<AlphaDropout>("AlphaDropout");
  check_dropout<FeatureAlphaDropout>("FeatureAlphaDropout");
  check_loss<MSELoss>("MSELoss");
  check_loss<L1Loss>("L1Loss");
  check_loss<SoftMarginLoss>("SoftMarginLoss");
  check_loss<MultiLabelMarginLoss>("MultiLabelMarginLoss");
  check(make<SmoothL1Loss>({.reduction = "sum", .beta = 2}), make<SmoothL1Loss>("sum", 2), "SmoothL1Loss()");
  check(make<HuberLoss>({.reduction = "sum", .delta = 2}), make<HuberLoss>("sum", 2), "HuberLoss()");
  check(make<KLDivLoss>({.reduction = "sum", .log_target = true}), make<KLDivLoss>("sum", true), "KLDivLoss()");
  check(make<PoissonNLLLoss>({.log_input = false, .full = true}), make<PoissonNLLLoss>(false, true),
        "PoissonNLLLoss()");
  check(make<GaussianNLLLoss>({.full = true, .eps = 0.5}), make<GaussianNLLLoss>(true, 0.5), "GaussianNLLLoss()");
  const Tensor weight = ones({3});
  check(make<BCELoss>({.weight = weight, .reduction = "sum"}), make<BCELoss>(weight, "sum"), "BCELoss()");
  check(make<BCEWithLogitsLoss>({.weight = weight, .reduction = "sum"}), make<BCEWithLogitsLoss>(weight, "sum"),
        "BCEWithLogitsLoss()");
  check(make<CrossEntropyLoss>({.weight = weight, .ignore_index = 1}), make<CrossEntropyLoss>(weight, 1),
        "CrossEntropyLoss()");
  check(make<NLLLoss>({.weight = weight, .ignore_index = 1}), make<NLLLoss>(weight, 1), "NLLLoss()");
  check(make<MultiMarginLoss>({.p = 2, .margin = 2}), make<MultiMarginLoss>(2, 2), "MultiMarginLoss()");
  check(make<MultiLabelSoftMarginLoss>({.reduction = "sum"}), make<MultiLabelSoftMarginLoss>(Tensor(), "sum"),
        "MultiLabelSoftMarginLoss()");
  check(make<HingeEmbeddingLoss>({.margin = 2}), make<HingeEmbeddingLoss>(2), "HingeEmbeddingLoss()");
  check(make<MarginRankingLoss>({.margin = 2}), make<MarginRankingLoss>(2), "MarginRankingLoss()");
  check(make<CosineEmbeddingLoss>({.margin = 0.5}), make<CosineEmbeddingLoss>(0.5), "CosineEmbeddingLoss()");
  check(make<TripletMarginLoss>({.margin = 2, .swap = true}), make<TripletMarginLoss>(2, 2, 1e-6, true),
        "TripletMarginLoss()");
  check(make<CTCLoss>({.blank = 1, .zero_infinity = true}), make<CTCLoss>(1, "mean", true), "CTCLoss()");
  check(make<CosineSimilarity>({.dim = 2}), make<CosineSimilarity>(2), "CosineSimilarity()");
  check(make<PairwiseDistance>({.p = 1, .keepdim = true}), make<PairwiseDistance>(1, 1e-6, true), "PairwiseDistance()");
}

template <typename T>
void check_batch_norm(const std::string& name, const std::string& rest) {
  check(make<T>({.num_features = 3, .eps = 0.5, .momentum = kNone}), make<T>(3, 0.5, kNone),
        name + "(3, eps=0.5, momentum=None, " + rest + ")");
}

void check_norms() {
  check(make<LayerNorm>({.normalized_shape = 4, .eps = 0.5, .bias = false}), make<LayerNorm>(4, 0.5, true, false),
        "LayerNorm((4,), eps=0.5, elementwise_affine=True, bias=False)");
  check(make<RMSNorm>({.normalized_shape = {2, 3}}), make<RMSNorm>(Shape{2, 3}),
        "RMSNorm((2, 3), eps=None, elementwise_affine=True)");
  check(make<GroupNorm>({.num_groups = 2, .num_channels = 4}), make<GroupNorm>(2, 4),
        "GroupNorm(2, 4, eps=1e-05, affine=True, bias=True)");
  check(make<LocalResponseNorm>({.size = 3, .k = 2}), make<LocalResponseNorm>(3, 1e-4, 0.75, 2),
        "LocalResponseNorm(3, alpha=0.0001, beta=0.75, k=2.0)");
  const std::string learned = "affine=True, bias=True, track_running_stats=True";
  check_batch_norm<BatchNorm1d>("BatchNorm1d", learned);
  check_batch_norm<BatchNorm2d>("BatchNorm2d", learned);
  check_batch_norm<BatchNorm3d>("BatchNorm3d", learned);
  const std::string plain = "affine=False, bias=False, track_running_stats=False";
  check_batch_norm<InstanceNorm1d>("InstanceNorm1d", plain);
  check_batch_norm<InstanceNorm2d>("InstanceNorm2d", plain);
  check_batch_norm<InstanceNorm3d>("InstanceNorm3d", plain);
}

template <typename T>
void check_conv(const std::string& name, const std::string& fives, const std::string& ones) {
  check(make<T>({.in_channels = 2, .out_channels = 4, .kernel_size = 5, .groups = 2}), make<T>(2, 4, 5, 1, 0, 1, 2),
        name + "(2, 4, kernel_size=" + fives + ", stride=" + ones + ", groups=2)");
}

template <typename T>
void check_conv_transpose(const std::string& name, const std::string& fives, const std::string& ones) {
  check(make<T>({.in_channels = 2, .out_channels = 4, .kernel_size = 5, .groups = 2}), make<T>(2, 4, 5, 1, 0, 0, 2),
        name + "(2, 4, kernel_size=" + fives + ", stride=" + ones + ", groups=2)");
}

template <typename T>
void check_pool(const std::string& name, const std::string& rest) {
  check(make<T>({.kernel_size = 3, .stride = 2, .padding = 1}), make<T>(3, 2, 1),
        name + "(kernel_size=3, stride=2, padding=1" + rest + ")");
}

template <typename T>
void check_adaptive(const std::string& name) {
  check(make<T>({.output_size = 7}), make<T>(7), name + "(output_size=7)");
}

template <typename T>
void check_lp_pool(const std::string& name) {
  check(make<T>({.norm_type = 1, .kernel_size = 3}), make<T>(1, 3),
        name + "(norm_type=1.0, kernel_size=3, stride=None, ceil_mode=False)");
}

void check_convolutions_and_pools() {
  check_conv<Conv1d>("Conv1d", "(5,)", "(1,)");
  check_conv<Conv2d>("Conv2d", "(5, 5)", "(1, 1)");
  check_conv<Conv3d>("Conv3d", "(5, 5, 5)", "(1, 1, 1)");
  check_conv_transpose<ConvTranspose1d>("ConvTranspose1d", "(5,)", "(1,)");
  check_conv_transpose<ConvTranspose2d>("ConvTranspose2d", "(5, 5)", "(1, 1)");
  check_conv_transpose<ConvTranspose3d>("ConvTranspose3d", "(5, 5, 5)", "(1, 1, 1)");
  const std::string max_rest = ", dilation=1, ceil_mode=False";
  check_pool<MaxPool1d>("MaxPool1d", max_rest);
  check_pool<MaxPool2d>("MaxPool2d", max_rest);
  check_pool<MaxPool3d>("MaxPool3d", max_rest);
  check_pool<AvgPool1d>("AvgPool1d", "");
  check_pool<AvgPool2d>("AvgPool2d", "");
  check_pool<AvgPool3d>("AvgPool3d", "");
  check_pool<MaxUnpool1d>("MaxUnpool1d", "");
  check_pool<MaxUnpool2d>("MaxUnpool2d", "");
  check_pool<MaxUnpool3d>("MaxUnpool3d", "");
  check_lp_pool<LPPool1d>("LPPool1d");
  check_lp_pool<LPPool2d>("LPPool2d");
  check_lp_pool<LPPool3d>("LPPool3d");
  check_adaptive<AdaptiveAvgPool1d>("AdaptiveAvgPool1d");
  check_adaptive<AdaptiveAvgPool2d>("AdaptiveAvgPool2d");
  check_adaptive<AdaptiveAvgPool3d>("AdaptiveAvgPool3d");
  check_adaptive<AdaptiveMaxPool1d>("AdaptiveMaxPool1d");
  check_adaptive<AdaptiveMaxPool2d>("AdaptiveMaxPool2d");
  check_adaptive<AdaptiveMaxPool3d>("AdaptiveMaxPool3d");
}

template <typename... Pads>
void check_pads(const std::string& shown) {
  (check(make<Pads>({.padding = 1}), make<Pads>(1), Pads::kName + shown), ...);
}

void check_image_modules() {
  check_pads<ZeroPad1d, ReflectionPad1d, ReplicationPad1d, CircularPad1d>("((1, 1))");
  check_pads<ZeroPad2d, ReflectionPad2d, ReplicationPad2d, CircularPad2d>("((1, 1, 1, 1))");
  check_pads<ZeroPad3d, ReflectionPad3d, ReplicationPad3d, CircularPad3d>("((1, 1, 1, 1, 1, 1))");
  check(make<ConstantPad1d>({.padding = {1, 2}, .value = 3}), make<ConstantPad1d>(Shape{1, 2}, 3),
        "ConstantPad1d(padding=(1, 2), value=3.0)");
  check(make<ConstantPad2d>({.padding = 1, .value = 3}), make<ConstantPad2d>(1, 3),
        "ConstantPad2d(padding=(1, 1, 1, 1), value=3.0)");
  check(make<ConstantPad3d>({.padding = 1, .value = 3}), make<ConstantPad3d>(1, 3),
        "ConstantPad3d(padding=(1, 1, 1, 1, 1, 1), value=3.0)");
  check(make<Upsample>({.scale_factor = 2, .mode = "bilinear"}), make<Upsample>(kNone, 2, "bilinear"),
        "Upsample(scale_factor=2.0, mode='bilinear')");
  check(make<PixelShuffle>({.upscale_factor = 2}), make<PixelShuffle>(2), "PixelShuffle(upscale_factor=2)");
  check(make<PixelUnshuffle>({.downscale_factor = 2}), make<PixelUnshuffle>(2), "PixelUnshuffle(downscale_factor=2)");
  check(make<ChannelShuffle>({.groups = 2}), make<ChannelShuffle>(2), "ChannelShuffle(groups=2)");
  check(make<Unfold>({.kernel_size = {2, 3}}), make<Unfold>(Shape{2, 3}),
        "Unfold(kernel_size=(2, 3), dilation=1, padding=0, stride=1)");
  check(make<Fold>({.output_size = 4, .kernel_size = 2}), make<Fold>(4, 2),
        "Fold(output_size=4, kernel_size=2, dilation=1, padding=0, stride=1)");
}

void check_sequence_modules() {
  check(make<RNN>({.input_size = 3, .hidden_size = 4, .nonlinearity = "relu"}), make<RNN>(3, 4, 1, "relu"),
        "RNN(3, 4)");
  check(make<LSTM>({.input_size = 3, .hidden_size = 4, .proj_size = 2}), make<LSTM>(3, 4, 1, true, false, 0, false, 2),
        "LSTM(3, 4, proj_size=2)");
  check(make<GRU>({.input_size = 3, .hidden_size = 4}), make<GRU>(3, 4), "GRU(3, 4)");
  check(make<RNNCell>({.input_size = 3, .hidden_size = 4, .nonlinearity = "relu"}), make<RNNCell>(3, 4, true, "relu"),
        "RNNCell(3, 4, nonlinearity=relu)");
  check(make<LSTMCell>({.input_size = 3, .hidden_size = 4}), make<LSTMCell>(3, 4), "LSTMCell(3, 4)");
  check(make<GRUCell>({.input_size = 3, .hidden_size = 4, .bias = false}), make<GRUCell>(3, 4, false),
        "GRUCell(3, 4, bias=False)");
  const std::string attention =
      "MultiheadAttention(\n  (out_proj): Linear(in_features=4, out_features=4, bias=True)\n)";
  check(make<MultiheadAttention>({.embed_dim = 4, .num_heads = 2}), make<MultiheadAttention>(4, 2), attention);
  const Ptr<TransformerEncoderLayer> encoder = make<TransformerEncoderLayer>(4, 2);
  const Ptr<TransformerDecoderLayer> decoder = make<TransformerDecoderLayer>(4, 2);
  check(make<TransformerEncoderLayer>({.d_model = 4, .nhead = 2}), encoder, encoder->repr());
  check(make<TransformerDecoderLayer>({.d_model = 4, .nhead = 2}), decoder, decoder->repr());
  const auto encoders = make<TransformerEncoder>(encoder, 2);
  check(make<TransformerEncoder>({.layer = encoder, .num_layers = 2}), encoders, encoders->repr());
  const auto decoders = make<TransformerDecoder>(decoder, 2);
  check(make<TransformerDecoder>({.layer = decoder, .num_layers = 2}), decoders, decoders->repr());
  const auto both = make<Transformer>(4, 2, 1, 1);
  check(make<Transformer>({.d_model = 4, .nhead = 2, .num_encoder_layers = 1, .num_decoder_layers = 1}), both,
        both->repr());
}

TEST(Options, EveryModuleTakesThemByNameAndInOrder) {
  check_linear();
  check_activations();
  check_losses();
  check_norms();
  check_convolutions_and_pools();
  check_image_modules();
  check_sequence_modules();
  for (const char* name :
       {"Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict", "Identity", "Softmax2d"})
    EXPECT_TRUE(g_checked.insert(name).second) << name << " has options";
  for (const LayerType& type : layer_types()) EXPECT_TRUE(g_checked.contains(type.name)) << type.name;
}

TEST(Options, ModulesAreValuesToo) {
  Conv2d conv({.in_channels = 1, .out_channels = 6, .kernel_size = 5, .padding = "same"});
  EXPECT_EQ(conv(zeros({2, 1, 8, 8})).shape(), (Shape{2, 6, 8, 8}));
  AdaptiveAvgPool2d pool({.output_size = {kNone, 3}});
  EXPECT_EQ(pool(zeros({1, 2, 5, 6})).shape(), (Shape{1, 2, 5, 3}));
}

TEST(Options, InvalidOnesAreErrors) {
  EXPECT_THROW(Conv2d({.in_channels = 1, .out_channels = 6, .kernel_size = {5, 5, 5}}), ValueError);
  EXPECT_THROW(Conv2d({.in_channels = 1, .out_channels = 6}), ValueError);
  EXPECT_THROW(MaxPool2d({.kernel_size = "large"}), TypeError);
  EXPECT_THROW(TransformerEncoder({.num_layers = 2}), ValueError);
}

}  // namespace
}  // namespace lucid::nn
