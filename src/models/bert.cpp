#include <lucid/nn/functional.h>
#include <lucid/ops.h>

#include "base/error.h"
#include "models/parts.h"
#include "nn/sizes.h"

namespace lucid::models {
namespace {

/// A dict of modules, to match the longer parameter paths of the published weights.
template <typename... Modules>
nn::Ptr<nn::ModuleDict> group(const std::pair<const char*, nn::Ptr<Modules>>&... parts) {
  auto result = nn::make<nn::ModuleDict>();
  (result->add_module(parts.first, parts.second), ...);
  return result;
}

template <typename T, typename... Arguments>
std::pair<const char*, nn::Ptr<T>> named(const char* name, Arguments&&... arguments) {
  return {name, nn::make<T>(std::forward<Arguments>(arguments)...)};
}

Tensor split_heads(const Tensor& x, int64_t heads) { return transpose(unflatten(x, 2, {heads, -1}), 1, 2); }

}  // namespace

Bert::Bert(const BertOptions& options) : options(options) { build(std::nullopt); }

void Bert::fields(nn::Fields& visit) {
  visit("vocab_size", options.vocab_size);
  visit("context", options.context);
  visit("dim", options.dim);
  visit("heads", options.heads);
  visit("layers", options.layers);
  visit("hidden", options.hidden);
  visit("types", options.types);
  visit("dropout", options.dropout);
  visit("eps", options.eps);
  visit("pooler", options.pooler);
}

void Bert::build(std::optional<Dtype> dtype) {
  const int64_t dim = options.dim;
  if (options.heads < 1 || dim % options.heads != 0)
    throw ValueError("Bert: dim must be a multiple of heads, got {} and {}", dim, options.heads);
  const auto norm = [&] { return named<nn::LayerNorm>("LayerNorm", Shape{dim}, options.eps); };
  register_module("embeddings", group(named<nn::Embedding>("word_embeddings", options.vocab_size, dim),
                                      named<nn::Embedding>("position_embeddings", options.context, dim),
                                      named<nn::Embedding>("token_type_embeddings", options.types, dim), norm()));
  auto layers = nn::make<nn::ModuleList>();
  for (int64_t i = 0; i < options.layers; ++i) {
    const auto projections = group(named<nn::Linear>("query", dim, dim), named<nn::Linear>("key", dim, dim),
                                   named<nn::Linear>("value", dim, dim));
    const auto after = group(named<nn::Linear>("dense", dim, dim), norm());
    auto layer = nn::make<nn::ModuleDict>();
    layer->add_module("attention", group(std::pair{"self", projections}, std::pair{"output", after}));
    layer->add_module("intermediate", group(named<nn::Linear>("dense", dim, options.hidden)));
    layer->add_module("output", group(named<nn::Linear>("dense", options.hidden, dim), norm()));
    layers->append(layer);
  }
  register_module("encoder", group(std::pair{"layer", layers}));
  if (options.pooler) register_module("pooler", group(named<nn::Linear>("dense", dim, dim)));
  reset_parameters();
  if (dtype) to(*dtype);
}

void Bert::reset_parameters() { initialize_normal(*this, 0.02); }

Tensor Bert::encode_layer(nn::Module& layer, const Tensor& x, const Tensor& mask) {
  const auto drop = [&](const Tensor& y) { return nn::functional::dropout(y, options.dropout, training()); };
  nn::Module& attention = layer.child("attention");
  nn::Module& projections = attention.child("self");
  const auto heads = [&](const char* name) { return split_heads(projections.child(name)(x), options.heads); };
  const Tensor mixed = scaled_dot_product_attention(heads("query"), heads("key"), heads("value"), mask);
  const Tensor joined = flatten(transpose(mixed, 1, 2), 2, 3);
  const auto add_and_norm = [&](nn::Module& part, const Tensor& y, const Tensor& residual) {
    return part.child("LayerNorm")(drop(part.child("dense")(y)) + residual);
  };
  const Tensor attended = add_and_norm(attention.child("output"), joined, x);
  return add_and_norm(layer.child("output"), gelu(layer.child("intermediate").child("dense")(attended)), attended);
}

Tensor Bert::encode(const Tensor& tokens, const Tensor& attention_mask, const Tensor& token_types) {
  if (tokens.dim() != 2)
    throw ValueError("Bert: expected tokens of shape (batch, time), got {} dimensions", tokens.dim());
  const SymInt time = nn::dim_of(tokens, 1);
  if (time > options.context) throw ValueError("Bert: {} tokens exceed the context of {}", time, options.context);
  nn::Module& embeddings = child("embeddings");
  const Tensor types = token_types.defined() ? token_types : zeros_like(tokens);
  Tensor x = embeddings.child("word_embeddings")(tokens) + embeddings.child("token_type_embeddings")(types) +
             embeddings.child("position_embeddings")(nn::positions_along(tokens, 1));
  x = nn::functional::dropout(embeddings.child("LayerNorm")(x), options.dropout, training());
  Tensor mask;
  if (attention_mask.defined()) mask = unsqueeze(unsqueeze(ne(attention_mask, 0), 1), 1);
  for (const auto& [name, layer] : child("encoder").child("layer").named_children()) x = encode_layer(*layer, x, mask);
  return x;
}

Tree Bert::forward_with(const nn::Arguments& arguments) {
  const std::vector<Tree> items =
      arguments.bind("Bert", {"input_ids", "attention_mask", "token_type_ids"}, /*required=*/1);
  const Tensor x = encode(items[0].as_tensor("input_ids"), items[1].as_optional_tensor("attention_mask"),
                          items[2].as_optional_tensor("token_type_ids"));
  if (!options.pooler) return x;
  return {x, tanh(child("pooler").child("dense")(select(x, 1, 0)))};
}

nn::Ptr<Bert> bert(const BertOptions& options) { return nn::make<Bert>(options); }

}  // namespace lucid::models
