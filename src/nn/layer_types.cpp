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
    return types;
  }();
  return all;
}

}  // namespace lucid::nn
