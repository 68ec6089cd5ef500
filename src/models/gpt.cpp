#include <lucid/nn/functional.h>
#include <lucid/ops.h>

#include <cmath>

#include "base/error.h"
#include "models/parts.h"
#include "nn/sizes.h"

namespace lucid::models {

GPTBlock::GPTBlock(int64_t dim, int64_t heads, double dropout) : dim(dim), heads(heads), dropout(dropout) {
  build(std::nullopt);
}

void GPTBlock::fields(nn::Fields& visit) {
  visit("dim", dim);
  visit("heads", heads);
  visit("dropout", dropout);
}

void GPTBlock::build(std::optional<Dtype> dtype) {
  if (heads < 1 || dim % heads != 0)
    throw ValueError("GPTBlock: dim must be a multiple of heads, got {} and {}", dim, heads);
  register_module("ln1", nn::make<nn::LayerNorm>(dim));
  register_module("ln2", nn::make<nn::LayerNorm>(dim));
  register_module("qkv", nn::make<nn::Linear>(dim, 3 * dim));
  register_module("proj", nn::make<nn::Linear>(dim, dim));
  register_module("up", nn::make<nn::Linear>(dim, 4 * dim));
  register_module("down", nn::make<nn::Linear>(4 * dim, dim));
  if (dtype) to(*dtype);
}

Tensor GPTBlock::forward(const Tensor& input) {
  const auto drop = [&](const Tensor& x) { return nn::functional::dropout(x, dropout, training()); };
  const Tensor qkv = unflatten(child("qkv")(child("ln1")(input)), -1, {3, heads, dim / heads});
  const std::vector<Tensor> parts = unbind(permute(qkv, {2, 0, 3, 1, 4}));
  const Tensor mixed = scaled_dot_product_attention(parts[0], parts[1], parts[2], {}, /*is_causal=*/true);
  const Tensor x = input + drop(child("proj")(flatten(transpose(mixed, 1, 2), 2, 3)));
  return x + drop(child("down")(gelu(child("up")(child("ln2")(x)), "tanh")));
}

GPT::GPT(const GPTOptions& options) : options(options) { build(std::nullopt); }

void GPT::fields(nn::Fields& visit) {
  visit("vocab_size", options.vocab_size);
  visit("context", options.context);
  visit("dim", options.dim);
  visit("heads", options.heads);
  visit("layers", options.layers);
  visit("dropout", options.dropout);
}

void GPT::build(std::optional<Dtype> dtype) {
  register_module("tok", nn::make<nn::Embedding>(options.vocab_size, options.dim));
  register_module("pos", nn::make<nn::Embedding>(options.context, options.dim));
  auto blocks = nn::make<nn::ModuleList>();
  for (int64_t i = 0; i < options.layers; ++i)
    blocks->append(nn::make<GPTBlock>(options.dim, options.heads, options.dropout));
  register_module("blocks", blocks);
  register_module("ln", nn::make<nn::LayerNorm>(options.dim));
  register_module("head", nn::make<nn::Linear>(options.dim, options.vocab_size, /*bias=*/false));
  reset_parameters();
  if (dtype) to(*dtype);
}

void GPT::reset_parameters() {
  constexpr double kDeviation = 0.02;
  initialize_normal(*this, kDeviation);
  // The layers that add to the residual stream start with smaller weights, so that the variance of the sum is
  // independent of the number of blocks.
  const double smaller = kDeviation / std::sqrt(2.0 * static_cast<double>(std::max<int64_t>(options.layers, 1)));
  for (const auto& [name, block] : child("blocks").named_children())
    for (const char* part : {"proj", "down"}) nn::init::normal_(block->child(part).parameter("weight"), 0, smaller);
}

Tensor GPT::forward(const Tensor& input) {
  if (input.dim() != 2) throw ValueError("GPT: expected tokens of shape (batch, time), got {} dimensions", input.dim());
  const Dim time = nn::dim_of(input, 1);
  if (time > options.context)
    throw ValueError("GPT: {} tokens exceed the context of {}; pass only the last ones", time, options.context);
  Tensor x = child("tok")(input) + child("pos")(nn::positions_along(input, 1));
  for (const auto& [name, block] : child("blocks").named_children()) x = (*block)(x);
  return child("head")(child("ln")(x));
}

nn::Ptr<GPT> gpt(const GPTOptions& options) { return nn::make<GPT>(options); }

nn::Ptr<GPT> gpt2_small() { return gpt({.vocab_size = 50257, .context = 1024, .dim = 768, .heads = 12, .layers = 12}); }

}  // namespace lucid::models
