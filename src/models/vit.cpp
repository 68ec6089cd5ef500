#include <lucid/nn/functional.h>
#include <lucid/ops.h>

#include "base/error.h"
#include "models/parts.h"

namespace lucid::models {

VisionTransformer::VisionTransformer(const VitOptions& options) : options(options) { build(std::nullopt); }

void VisionTransformer::fields(nn::Fields& visit) {
  visit("image_size", options.image_size);
  visit("patch_size", options.patch_size);
  visit("dim", options.dim);
  visit("heads", options.heads);
  visit("layers", options.layers);
  visit("hidden", options.hidden);
  visit("num_classes", options.num_classes);
  visit("dropout", options.dropout);
}

void VisionTransformer::build(std::optional<Dtype> dtype) {
  if (options.patch_size < 1 || options.image_size % options.patch_size != 0)
    throw ValueError("VisionTransformer: image_size must be a multiple of patch_size, got {} and {}",
                     options.image_size, options.patch_size);
  const int64_t dim = options.dim;
  const int64_t side = options.image_size / options.patch_size;
  register_parameter("class_token", zeros({1, 1, dim}));
  register_module("conv_proj", nn::make<nn::Conv2d>(3, dim, options.patch_size, options.patch_size));
  auto layers = nn::make<nn::ModuleDict>();
  for (int64_t i = 0; i < options.layers; ++i) {
    auto layer = nn::make<nn::ModuleDict>();
    layer->add_module("ln_1", nn::make<nn::LayerNorm>(dim, 1e-6));
    layer->add_module("self_attention", nn::make<nn::MultiheadAttention>(
                                            {.embed_dim = dim, .num_heads = options.heads, .batch_first = true}));
    layer->add_module("ln_2", nn::make<nn::LayerNorm>(dim, 1e-6));
    layer->add_module("mlp", nn::make<nn::Sequential>(nn::make<nn::Linear>(dim, options.hidden), nn::make<nn::GELU>(),
                                                      nn::make<nn::Dropout>(options.dropout),
                                                      nn::make<nn::Linear>(options.hidden, dim),
                                                      nn::make<nn::Dropout>(options.dropout)));
    layers->add_module("encoder_layer_" + std::to_string(i), layer);
  }
  auto encoder = nn::make<nn::ModuleDict>();
  encoder->register_parameter("pos_embedding", zeros({1, side * side + 1, dim}));
  encoder->add_module("layers", layers);
  encoder->add_module("ln", nn::make<nn::LayerNorm>(dim, 1e-6));
  register_module("encoder", encoder);
  auto heads = nn::make<nn::ModuleDict>();
  heads->add_module("head", nn::make<nn::Linear>(dim, options.num_classes));
  register_module("heads", heads);
  reset_parameters();
  if (dtype) to(*dtype);
}

void VisionTransformer::reset_parameters() {
  nn::init::normal_(child("encoder").parameter("pos_embedding"), 0, 0.02);
  nn::Module& head = child("heads").child("head");
  nn::init::zeros_(head.parameter("weight"));
  nn::init::zeros_(head.parameter("bias"));
}

Tensor VisionTransformer::forward(const Tensor& input) {
  if (input.dim() != 4 || input.size(2) != options.image_size || input.size(3) != options.image_size)
    throw ValueError("VisionTransformer: expected images of shape (batch, 3, {0}, {0})", options.image_size);
  const auto drop = [&](const Tensor& x) { return nn::functional::dropout(x, options.dropout, training()); };
  nn::Module& encoder = child("encoder");
  const Tensor patches = transpose(flatten(child("conv_proj")(input), 2), 1, 2);
  const Tensor first = expand(parameter("class_token"), {input.size(0), 1, options.dim});
  Tensor x = drop(cat({first, patches}, 1) + encoder.parameter("pos_embedding"));
  for (const auto& [name, layer] : encoder.child("layers").named_children()) {
    auto& attention = dynamic_cast<nn::MultiheadAttention&>(layer->child("self_attention"));
    const Tensor normed = layer->child("ln_1")(x);
    x = x + drop(attention.attend(normed, normed, normed, {}, /*need_weights=*/false).output);
    x = x + layer->child("mlp")(layer->child("ln_2")(x));
  }
  return child("heads").child("head")(select(encoder.child("ln")(x), 1, 0));
}

nn::Ptr<VisionTransformer> vit(const VitOptions& options) { return nn::make<VisionTransformer>(options); }

}  // namespace lucid::models
