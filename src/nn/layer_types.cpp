#include <lucid/nn.h>

namespace lucid::nn {
namespace {

template <typename... Types>
void add(std::vector<LayerType>& types) {
  (types.push_back({Types::kName, [] { return Ptr<Module>(make<Types>()); }}), ...);
}

}  // namespace

const std::vector<LayerType>& layer_types() {
  static const std::vector<LayerType> all = [] {
    std::vector<LayerType> types;
    add<Sequential, ModuleList, ModuleDict, ParameterList, ParameterDict>(types);
    add<Linear, LazyLinear, Bilinear, Identity, Flatten, Unflatten>(types);
    add<ReLU, ReLU6, SiLU, Mish, SELU, Hardswish, Hardsigmoid, Sigmoid, Tanh, LogSigmoid, Softsign, Tanhshrink>(types);
    add<LeakyReLU, ELU, CELU, Hardshrink, Softshrink, GELU, Hardtanh, Softplus, Threshold, PReLU, RReLU>(types);
    add<GLU, Softmax, LogSoftmax, Softmin, Softmax2d>(types);
    add<MSELoss, L1Loss, SmoothL1Loss, HuberLoss, SoftMarginLoss, KLDivLoss, PoissonNLLLoss, GaussianNLLLoss>(types);
    add<BCELoss, BCEWithLogitsLoss, CrossEntropyLoss, NLLLoss, MultiMarginLoss, MultiLabelMarginLoss>(types);
    add<MultiLabelSoftMarginLoss, HingeEmbeddingLoss, MarginRankingLoss, CosineEmbeddingLoss>(types);
    add<TripletMarginLoss, CTCLoss, CosineSimilarity, PairwiseDistance>(types);
    add<Dropout, Dropout1d, Dropout2d, Dropout3d, AlphaDropout, FeatureAlphaDropout, Embedding, EmbeddingBag>(types);
    add<LayerNorm, RMSNorm, GroupNorm, LocalResponseNorm, BatchNorm1d, BatchNorm2d, BatchNorm3d>(types);
    add<InstanceNorm1d, InstanceNorm2d, InstanceNorm3d>(types);
    add<Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d>(types);
    add<MaxPool1d, MaxPool2d, MaxPool3d, AvgPool1d, AvgPool2d, AvgPool3d, LPPool1d, LPPool2d, LPPool3d>(types);
    add<AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d>(types);
    add<AdaptiveMaxPool1d, AdaptiveMaxPool2d, AdaptiveMaxPool3d, MaxUnpool1d, MaxUnpool2d, MaxUnpool3d>(types);
    add<ZeroPad1d, ZeroPad2d, ZeroPad3d, ConstantPad1d, ConstantPad2d, ConstantPad3d>(types);
    add<ReflectionPad1d, ReflectionPad2d, ReflectionPad3d, ReplicationPad1d, ReplicationPad2d>(types);
    add<ReplicationPad3d, CircularPad1d, CircularPad2d, CircularPad3d>(types);
    add<Upsample, PixelShuffle, PixelUnshuffle, ChannelShuffle, Unfold, Fold>(types);
    add<RNN, LSTM, GRU, RNNCell, LSTMCell, GRUCell, MultiheadAttention>(types);
    add<TransformerEncoderLayer, TransformerDecoderLayer, TransformerEncoder, TransformerDecoder, Transformer>(types);
    return types;
  }();
  return all;
}

}  // namespace lucid::nn
