#include <lucid/autograd.h>
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

namespace {

/// A block, with attention as `attend` computes it from queries, keys and values of shape (batch, heads, time, width).
template <typename Attend>
Tensor run_block(GPTBlock& block, const Tensor& input, const Attend& attend) {
  const auto drop = [&](const Tensor& x) { return nn::functional::dropout(x, block.dropout, block.training()); };
  const Tensor qkv =
      unflatten(block.child("qkv")(block.child("ln1")(input)), -1, {3, block.heads, block.dim / block.heads});
  const std::vector<Tensor> parts = unbind(permute(qkv, {2, 0, 3, 1, 4}));
  const Tensor mixed = attend(parts[0], parts[1], parts[2]);
  const Tensor x = input + drop(block.child("proj")(flatten(transpose(mixed, 1, 2), 2, 3)));
  return x + drop(block.child("down")(gelu(block.child("up")(block.child("ln2")(x)), "tanh")));
}

}  // namespace

Tensor GPTBlock::forward(const Tensor& input) {
  return run_block(*this, input, [](const Tensor& queries, const Tensor& keys, const Tensor& values) {
    return scaled_dot_product_attention(queries, keys, values, {}, /*is_causal=*/true);
  });
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
  const SymInt time = nn::dim_of(input, 1);
  if (time > options.context)
    throw ValueError("GPT: {} tokens exceed the context of {}; pass only the last ones", time, options.context);
  Tensor x = child("tok")(input) + child("pos")(nn::positions_along(input, 1));
  for (const auto& [name, block] : child("blocks").named_children()) x = (*block)(x);
  return child("head")(child("ln")(x));
}

GPTDecoder::GPTDecoder(const nn::Ptr<GPT>& model, int64_t batch_size)
    : batch_size(batch_size),
      layers(model->options.layers),
      heads(model->options.heads),
      context(model->options.context),
      width(model->options.dim / model->options.heads) {
  build(model->child("head").parameter("weight").dtype());
  register_module("model", model);
}

void GPTDecoder::fields(nn::Fields& visit) {
  visit("batch_size", batch_size);
  visit("layers", layers);
  visit("heads", heads);
  visit("context", context);
  visit("width", width);
}

void GPTDecoder::build(std::optional<Dtype> dtype) {
  if (batch_size < 1) throw ValueError("GPTDecoder: batch_size must be at least 1, got {}", batch_size);
  for (int64_t i = 0; i < layers; ++i)
    for (const char* part : {"keys", "values"})
      register_buffer(fmt::format("{}{}", part, i), zeros({context, batch_size, heads, width}, dtype));
  register_buffer("position", zeros({}, kInt64));
}

void GPTDecoder::reset() { buffer("position").zero_(); }

Tensor GPTDecoder::forward(const Tensor& tokens) {
  const NoGrad no_grad;
  nn::Module& model = child("model");
  if (tokens.dim() != 2 || tokens.size(0) != batch_size)
    throw ValueError("GPTDecoder: expected tokens of shape ({}, count), got {} dimensions", batch_size, tokens.dim());
  Tensor position = buffer("position");
  const Tensor positions = position + arange(tokens.size(1));
  Tensor x = model.child("tok")(tokens) + model.child("pos")(positions);
  // Each token sees those before it and itself.
  const Tensor mask = arange(context) <= positions.unsqueeze(-1);
  int64_t layer = 0;
  for (const auto& [name, block] : model.child("blocks").named_children()) {
    // Of shape (context, batch, heads, width), so that a token is a row.
    Tensor all_keys = buffer(fmt::format("keys{}", layer)), all_values = buffer(fmt::format("values{}", layer));
    ++layer;
    x = run_block(static_cast<GPTBlock&>(*block), x,
                  [&](const Tensor& queries, const Tensor& keys, const Tensor& values) {
                    all_keys.index_put_({positions}, keys.permute({2, 0, 1, 3}));
                    all_values.index_put_({positions}, values.permute({2, 0, 1, 3}));
                    return scaled_dot_product_attention(queries, all_keys.permute({1, 2, 0, 3}),
                                                        all_values.permute({1, 2, 0, 3}), mask);
                  });
  }
  position += tokens.size(1);
  return model.child("head")(model.child("ln")(x.select(1, -1)));
}

nn::Ptr<GPT> gpt(const GPTOptions& options) { return nn::make<GPT>(options); }

nn::Ptr<GPT> gpt2_small() { return gpt({.vocab_size = 50257, .context = 1024, .dim = 768, .heads = 12, .layers = 12}); }

}  // namespace lucid::models
