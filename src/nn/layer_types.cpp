#include <lucid/nn.h>

namespace lucid::nn {

const std::vector<LayerType>& layer_types() {
  // Never destroyed: used until the process ends.
  static const std::vector<LayerType>& all = []() -> auto& {
    auto& types = *new std::vector<LayerType>;
    add_layer_types<Sequential, ModuleList, ModuleDict, ParameterList, ParameterDict>(types);
    add_layer_types<Linear, LazyLinear, Bilinear, Identity, Flatten, Unflatten>(types);
    add_layer_types<ReLU, ReLU6, SiLU, Mish, SELU, Hardswish, Hardsigmoid, Sigmoid, Tanh, LogSigmoid, Softsign,
                    Tanhshrink>(types);
    add_layer_types<LeakyReLU, ELU, CELU, Hardshrink, Softshrink, GELU, Hardtanh, Softplus, Threshold, PReLU, RReLU>(
        types);
    add_layer_types<GLU, Softmax, LogSoftmax, Softmin, Softmax2d>(types);
    add_layer_types<MSELoss, L1Loss, SmoothL1Loss, HuberLoss, SoftMarginLoss, KLDivLoss, PoissonNLLLoss,
                    GaussianNLLLoss>(types);
    add_layer_types<BCELoss, BCEWithLogitsLoss, CrossEntropyLoss, NLLLoss, MultiMarginLoss, MultiLabelMarginLoss>(
        types);
    add_layer_types<MultiLabelSoftMarginLoss, HingeEmbeddingLoss, MarginRankingLoss, CosineEmbeddingLoss>(types);
    add_layer_types<TripletMarginLoss, CTCLoss, CosineSimilarity, PairwiseDistance>(types);
    add_layer_types<Dropout, Dropout1d, Dropout2d, Dropout3d, AlphaDropout, FeatureAlphaDropout, Embedding,
                    EmbeddingBag>(types);
    add_layer_types<LayerNorm, RMSNorm, GroupNorm, LocalResponseNorm, BatchNorm1d, BatchNorm2d, BatchNorm3d>(types);
    add_layer_types<InstanceNorm1d, InstanceNorm2d, InstanceNorm3d>(types);
    add_layer_types<Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d>(types);
    add_layer_types<MaxPool1d, MaxPool2d, MaxPool3d, AvgPool1d, AvgPool2d, AvgPool3d, LPPool1d, LPPool2d, LPPool3d>(
        types);
    add_layer_types<AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d>(types);
    add_layer_types<AdaptiveMaxPool1d, AdaptiveMaxPool2d, AdaptiveMaxPool3d, MaxUnpool1d, MaxUnpool2d, MaxUnpool3d>(
        types);
    add_layer_types<ZeroPad1d, ZeroPad2d, ZeroPad3d, ConstantPad1d, ConstantPad2d, ConstantPad3d>(types);
    add_layer_types<ReflectionPad1d, ReflectionPad2d, ReflectionPad3d, ReplicationPad1d, ReplicationPad2d>(types);
    add_layer_types<ReplicationPad3d, CircularPad1d, CircularPad2d, CircularPad3d>(types);
    add_layer_types<Upsample, PixelShuffle, PixelUnshuffle, ChannelShuffle, Unfold, Fold>(types);
    add_layer_types<RNN, LSTM, GRU, RNNCell, LSTMCell, GRUCell, MultiheadAttention>(types);
    add_layer_types<TransformerEncoderLayer, TransformerDecoderLayer, TransformerEncoder, TransformerDecoder,
                    Transformer>(types);
    return types;
  }();
  return all;
}

}  // namespace lucid::nn
