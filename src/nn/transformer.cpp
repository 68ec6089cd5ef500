#include <lucid/nn/dropout.h>
#include <lucid/nn/init.h>
#include <lucid/nn/linear.h>
#include <lucid/nn/norm.h>
#include <lucid/nn/transformer.h>
#include <lucid/ops.h>

#include <limits>

#include "base/error.h"

namespace lucid::nn {
namespace {

/// Copies of a layer for an encoder or a decoder.
Ptr<ModuleList> copies(Module& layer, int64_t count) {
  Ptr<ModuleList> list = make<ModuleList>();
  for (int64_t i = 0; i < count; ++i) list->append(layer.clone());
  return list;
}

Tensor normed(Module& module, const Tensor& x) {
  const NamedChild* norm = module.find_child("norm");
  return norm && norm->module ? (*norm->module)(x) : x;
}

std::vector<Ptr<Module>> layers_of(Module& module) {
  std::vector<Ptr<Module>> layers;
  for (const NamedChild& child : module.child("layers").child_slots()) layers.push_back(child.module);
  return layers;
}

}  // namespace

void TransformerLayer::fields(Fields& visit) { options.fields(visit); }

void TransformerLayer::build(std::optional<Dtype> dtype) {
  if (options.activation.is_text() && options.activation.as_text() != "relu" && options.activation.as_text() != "gelu")
    throw ValueError("{}: activation must be 'relu', 'gelu' or a function, got '{}'", type_name(),
                     options.activation.as_text());
  for (const std::string& name : attentions()) {
    add_module(name, make<MultiheadAttention>({.embed_dim = options.d_model,
                                               .num_heads = options.nhead,
                                               .dropout = options.dropout,
                                               .bias = options.bias,
                                               .batch_first = options.batch_first,
                                               .dtype = dtype}));
  }
  add_module("linear1", make<Linear>(options.d_model, options.dim_feedforward, options.bias, dtype));
  add_module("dropout", make<Dropout>(options.dropout));
  add_module("linear2", make<Linear>(options.dim_feedforward, options.d_model, options.bias, dtype));
  for (int64_t i = 1; i <= parts(); ++i)
    add_module("norm" + std::to_string(i),
               make<LayerNorm>(options.d_model, options.layer_norm_eps, true, options.bias, dtype));
  for (int64_t i = 1; i <= parts(); ++i) add_module("dropout" + std::to_string(i), make<Dropout>(options.dropout));
}

Tensor TransformerLayer::norm(int64_t index, const Tensor& x) const { return child("norm" + std::to_string(index))(x); }

Tensor TransformerLayer::attended(const char* name, int64_t index, const Tensor& x, const Tensor& memory,
                                  const Tree& mask, const Tree& padding, const Tree& is_causal) const {
  Arguments arguments({x, memory, memory});
  arguments.named = {
      {"attn_mask", mask}, {"key_padding_mask", padding}, {"is_causal", is_causal}, {"need_weights", false}};
  const Tree result = child(name).call(arguments);
  return child("dropout" + std::to_string(index))(result.as_items().front().as_tensor());
}

Tensor TransformerLayer::fed_forward(int64_t index, const Tensor& x) const {
  Tensor hidden = child("linear1")(x);
  auto* self = const_cast<TransformerLayer*>(this);
  if (const NamedChild* module = self->find_child("activation"); module && module->module)
    hidden = (*module->module)(hidden);
  else if (!options.activation.is_text())
    hidden = options.activation.foreign()->call({hidden}).as_tensor();
  else
    hidden = options.activation.as_text() == "gelu" ? gelu(hidden) : relu(hidden);
  hidden = child("linear2")(child("dropout")(hidden));
  return child("dropout" + std::to_string(index))(hidden);
}

Tree TransformerEncoderLayer::forward_with(const Arguments& arguments) {
  const auto items =
      arguments.bind("TransformerEncoderLayer.forward", {"src", "src_mask", "src_key_padding_mask", "is_causal"}, 1);
  Tensor x = items[0].as_tensor("src");
  const Tree is_causal = items[3].is_none() ? Tree(false) : items[3];
  const auto self_attention = [&](const Tensor& y) {
    return attended("self_attn", 1, y, y, items[1], items[2], is_causal);
  };
  if (options.norm_first) {
    x = x + self_attention(norm(1, x));
    return x + fed_forward(2, norm(2, x));
  }
  x = norm(1, x + self_attention(x));
  return norm(2, x + fed_forward(2, x));
}

Tree TransformerDecoderLayer::forward_with(const Arguments& arguments) {
  const auto items = arguments.bind("TransformerDecoderLayer.forward",
                                    {"tgt", "memory", "tgt_mask", "memory_mask", "tgt_key_padding_mask",
                                     "memory_key_padding_mask", "tgt_is_causal", "memory_is_causal"},
                                    2);
  Tensor x = items[0].as_tensor("tgt");
  const Tensor memory = items[1].as_tensor("memory");
  const auto flag = [&](size_t i) { return items[i].is_none() ? Tree(false) : items[i]; };
  const auto self_attention = [&](const Tensor& y) {
    return attended("self_attn", 1, y, y, items[2], items[4], flag(6));
  };
  const auto memory_attention = [&](const Tensor& y) {
    return attended("multihead_attn", 2, y, memory, items[3], items[5], flag(7));
  };
  if (options.norm_first) {
    x = x + self_attention(norm(1, x));
    x = x + memory_attention(norm(2, x));
    return x + fed_forward(3, norm(3, x));
  }
  x = norm(1, x + self_attention(x));
  x = norm(2, x + memory_attention(x));
  return norm(3, x + fed_forward(3, x));
}

TransformerEncoder::TransformerEncoder(const Options& options) : num_layers(options.num_layers) {
  if (!options.layer) throw ValueError("TransformerEncoder: the layer is null");
  add_module("layers", copies(*options.layer, num_layers));
  add_module("norm", options.norm);
}

void TransformerEncoder::fields(Fields& visit) { visit("num_layers", num_layers); }

Tree TransformerEncoder::forward_with(const Arguments& arguments) {
  const auto items =
      arguments.bind("TransformerEncoder.forward", {"src", "mask", "src_key_padding_mask", "is_causal"}, 1);
  Tree x = items[0];
  for (const Ptr<Module>& layer : layers_of(*this)) {
    Arguments each({x});
    each.named = {{"src_mask", items[1]},
                  {"is_causal", items[3].is_none() ? Tree(false) : items[3]},
                  {"src_key_padding_mask", items[2]}};
    x = layer->call(each);
  }
  return normed(*this, x.as_tensor());
}

TransformerDecoder::TransformerDecoder(const Options& options) : num_layers(options.num_layers) {
  if (!options.layer) throw ValueError("TransformerDecoder: the layer is null");
  add_module("layers", copies(*options.layer, num_layers));
  add_module("norm", options.norm);
}

void TransformerDecoder::fields(Fields& visit) { visit("num_layers", num_layers); }

Tree TransformerDecoder::forward_with(const Arguments& arguments) {
  const std::vector<std::string> names = {
      "tgt",           "memory",          "tgt_mask", "memory_mask", "tgt_key_padding_mask", "memory_key_padding_mask",
      "tgt_is_causal", "memory_is_causal"};
  const auto items = arguments.bind("TransformerDecoder.forward", names, 2);
  Tree x = items[0];
  for (const Ptr<Module>& layer : layers_of(*this)) {
    Arguments each({x, items[1]});
    for (size_t i = 2; i < names.size(); ++i)
      each.named.emplace_back(names[i], i >= 6 && items[i].is_none() ? Tree(false) : items[i]);
    x = layer->call(each);
  }
  return normed(*this, x.as_tensor());
}

Transformer::Transformer(const Options& options) : options(options) {
  const TransformerLayerOptions of_layer = {.d_model = options.d_model,
                                            .nhead = options.nhead,
                                            .dim_feedforward = options.dim_feedforward,
                                            .dropout = options.dropout,
                                            .activation = options.activation,
                                            .layer_norm_eps = options.layer_norm_eps,
                                            .batch_first = options.batch_first,
                                            .norm_first = options.norm_first,
                                            .bias = options.bias,
                                            .dtype = options.dtype};
  const auto norm = [&] {
    return make<LayerNorm>(options.d_model, options.layer_norm_eps, true, options.bias, options.dtype);
  };
  add_module("encoder",
             make<TransformerEncoder>(make<TransformerEncoderLayer>(of_layer), options.num_encoder_layers, norm()));
  add_module("decoder",
             make<TransformerDecoder>(make<TransformerDecoderLayer>(of_layer), options.num_decoder_layers, norm()));
  reset_parameters();
}

void Transformer::fields(Fields& visit) {
  visit("d_model", options.d_model);
  visit("nhead", options.nhead);
  visit("batch_first", options.batch_first);
}

void Transformer::reset_parameters() {
  for (const Tensor& tensor : parameters())
    if (tensor.dim() > 1) init::xavier_uniform_(tensor);
}

Tree Transformer::forward_with(const Arguments& arguments) {
  const auto items = arguments.bind(
      "Transformer.forward",
      {"src", "tgt", "src_mask", "tgt_mask", "memory_mask", "src_key_padding_mask", "tgt_key_padding_mask",
       "memory_key_padding_mask", "src_is_causal", "tgt_is_causal", "memory_is_causal"},
      2);
  Arguments encoder({items[0]});
  encoder.named = {{"mask", items[2]}, {"src_key_padding_mask", items[5]}, {"is_causal", items[8]}};
  const Tree memory = child("encoder").call(encoder);
  Arguments decoder({items[1], memory});
  decoder.named = {{"tgt_mask", items[3]},
                   {"memory_mask", items[4]},
                   {"tgt_key_padding_mask", items[6]},
                   {"memory_key_padding_mask", items[7]},
                   {"tgt_is_causal", items[9]},
                   {"memory_is_causal", items[10]}};
  return child("decoder").call(decoder);
}

Tensor square_subsequent_mask(int64_t size, std::optional<Dtype> dtype) {
  return triu(full({size, size}, -std::numeric_limits<double>::infinity(), dtype), 1);
}

}  // namespace lucid::nn
