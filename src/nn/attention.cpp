#include <lucid/nn/attention.h>
#include <lucid/nn/functional.h>
#include <lucid/nn/init.h>
#include <lucid/nn/linear.h>
#include <lucid/ops.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

#include "base/dtype.h"
#include "base/error.h"
#include "nn/parameters.h"
#include "tensor/api.h"

namespace lucid::nn {
namespace {

/// Converts a mask to numbers that are added to scores.
Tensor additive(const Tensor& mask, Dtype dtype) {
  if (!mask.defined()) return {};
  const DeviceScope device(unwrap(mask).device());
  if (mask.dtype() == kBool)
    return masked_fill(zeros_like(mask, dtype), mask, -std::numeric_limits<double>::infinity());
  if (!is_float(mask.dtype()))
    throw TypeError("MultiheadAttention: masks must be bool or floating point, got {}", to_string(unwrap(mask).type()));
  return to(mask, dtype);
}

Tensor padded_at_end(const Tensor& mask, int64_t count) {
  return mask.defined() && count > 0 ? pad(mask, {0, count}) : mask;
}

bool has_sizes(const Tensor& tensor, std::initializer_list<SymInt> sizes) {
  if (tensor.dim() != static_cast<int64_t>(sizes.size())) return false;
  int64_t axis = 0;
  return std::ranges::all_of(sizes, [&](SymInt size) { return tensor.size(axis++) == size; });
}

}  // namespace

bool MultiheadAttention::same_sizes() const {
  return options.kdim.value_or(options.embed_dim) == options.embed_dim &&
         options.vdim.value_or(options.embed_dim) == options.embed_dim;
}

void MultiheadAttention::build(std::optional<Dtype> dtype) {
  if (options.embed_dim <= 0 || options.num_heads <= 0 || options.embed_dim % options.num_heads != 0)
    throw ValueError("MultiheadAttention: embed_dim {} cannot be split into {} heads", options.embed_dim,
                     options.num_heads);
  options.kdim = options.kdim.value_or(options.embed_dim);
  options.vdim = options.vdim.value_or(options.embed_dim);
  const bool together = same_sizes();
  add_parameter(*this, "in_proj_weight", {3 * options.embed_dim, options.embed_dim}, dtype, together);
  add_parameter(*this, "q_proj_weight", {options.embed_dim, options.embed_dim}, dtype, !together);
  add_parameter(*this, "k_proj_weight", {options.embed_dim, *options.kdim}, dtype, !together);
  add_parameter(*this, "v_proj_weight", {options.embed_dim, *options.vdim}, dtype, !together);
  add_parameter(*this, "in_proj_bias", {3 * options.embed_dim}, dtype, options.bias);
  add_parameter(*this, "bias_k", {1, 1, options.embed_dim}, dtype, options.add_bias_kv);
  add_parameter(*this, "bias_v", {1, 1, options.embed_dim}, dtype, options.add_bias_kv);
  add_module("out_proj", make<Linear>(options.embed_dim, options.embed_dim, options.bias, dtype));
  reset_parameters();
}

void MultiheadAttention::reset_parameters() {
  for (const char* name : {"in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"})
    if (const Tensor weight = parameter(name); weight.defined()) init::xavier_uniform_(weight);
  if (options.bias) {
    init::zeros_(parameter("in_proj_bias"));
    init::zeros_(child("out_proj").parameter("bias"));
  }
  for (const char* name : {"bias_k", "bias_v"})
    if (const Tensor added = parameter(name); added.defined()) init::xavier_normal_(added);
}

Tensor MultiheadAttention::projected(int64_t part, const Tensor& input) const {
  static constexpr const char* kNames[] = {"q_proj_weight", "k_proj_weight", "v_proj_weight"};
  const Tensor weight = same_sizes()
                            ? narrow(parameter("in_proj_weight"), 0, part * options.embed_dim, options.embed_dim)
                            : parameter(kNames[part]);
  Tensor bias = parameter("in_proj_bias");
  if (bias.defined()) bias = narrow(bias, 0, part * options.embed_dim, options.embed_dim);
  return linear(input, weight, bias);
}

/// (time, batch, size) to (batch, heads, time, size of a head).
Tensor MultiheadAttention::split_heads(const Tensor& tensor) const {
  const Tensor heads = unflatten(tensor, 2, {options.num_heads, options.embed_dim / options.num_heads});
  return permute(heads, {1, 2, 0, 3});
}

Tensor MultiheadAttention::merged_mask(const AttentionMasks& masks, const Tensor& query, const Tensor& key,
                                       int64_t added) const {
  if (!masks.attn_mask.defined() && !masks.key_padding_mask.defined()) return {};
  const SymInt batch = query.size(1);
  const SymInt queries = query.size(0);
  const SymInt keys = key.size(0);
  Tensor mask = additive(masks.attn_mask, query.dtype());
  if (mask.defined()) {
    const SymInt matrices = batch * options.num_heads;
    if (has_sizes(mask, {matrices, queries, keys}))
      mask = reshape(mask, {batch, options.num_heads, queries, keys});
    else if (!has_sizes(mask, {queries, keys}))
      throw ValueError("MultiheadAttention: attn_mask must have the shape [{},{}] or [{},{},{}], got {}", queries, keys,
                       matrices, queries, keys, to_string(unwrap(mask).type()));
    mask = padded_at_end(mask, added);
  }
  Tensor padding = additive(masks.key_padding_mask, query.dtype());
  if (!padding.defined()) return mask;
  if (padding.dim() == 1) padding = unsqueeze(padding, 0);
  if (!has_sizes(padding, {batch, keys}))
    throw ValueError("MultiheadAttention: key_padding_mask must have the shape [{},{}], got {}", batch, keys,
                     to_string(unwrap(padding).type()));
  padding = reshape(padded_at_end(padding, added), {batch, 1, 1, keys + added});
  return mask.defined() ? mask + padding : padding;
}

MultiheadAttention::Result MultiheadAttention::attend(const Tensor& query, const Tensor& key, const Tensor& value,
                                                      const AttentionMasks& masks, bool need_weights,
                                                      bool average_weights) {
  if (masks.is_causal && !masks.attn_mask.defined())
    throw ValueError("MultiheadAttention: is_causal says that attn_mask is causal, so attn_mask must be given");
  const bool batched = query.dim() == 3;
  if (query.dim() != key.dim() || query.dim() != value.dim() || (!batched && query.dim() != 2))
    throw ValueError("MultiheadAttention: query, key and value must all have 2 or 3 dimensions, got {}, {} and {}",
                     to_string(unwrap(query).type()), to_string(unwrap(key).type()), to_string(unwrap(value).type()));
  const auto time_first = [&](const Tensor& tensor) {
    if (!batched) return unsqueeze(tensor, 1);
    return options.batch_first ? transpose(tensor, 0, 1) : tensor;
  };
  const Tensor from = time_first(query);
  const Tensor to_key = time_first(key);
  Tensor q = projected(0, from);
  Tensor k = projected(1, to_key);
  Tensor v = projected(2, time_first(value));
  int64_t added = 0;
  if (const Tensor bias_k = parameter("bias_k"); bias_k.defined()) {
    const SymInt batch = from.size(1);
    k = cat({k, expand(bias_k, {1, batch, options.embed_dim})}, 0);
    v = cat({v, expand(parameter("bias_v"), {1, batch, options.embed_dim})}, 0);
    ++added;
  }
  if (options.add_zero_attn) {
    const DeviceScope device(unwrap(k).device());
    const Tensor nothing = zeros({1, from.size(1), options.embed_dim}, k.dtype());
    k = cat({k, nothing}, 0);
    v = cat({v, nothing}, 0);
    ++added;
  }
  const Tensor mask = merged_mask(masks, from, to_key, added);
  q = split_heads(q);
  k = split_heads(k);
  v = split_heads(v);

  Result result;
  const bool drops = training() && options.dropout > 0;
  if (!need_weights && !drops) {
    result.output = scaled_dot_product_attention(q, k, v, mask);
  } else {
    const int64_t head_dim = options.embed_dim / options.num_heads;
    const double scale = 1 / std::sqrt(static_cast<double>(head_dim));
    Tensor scores = matmul(q * scale, transpose(k, -2, -1));
    if (mask.defined()) scores = scores + mask;
    const Tensor weights = functional::dropout(softmax(scores, -1), options.dropout, training());
    result.output = matmul(weights, v);
    if (need_weights) result.weights = average_weights ? mean(weights, Shape{1}) : weights;
  }
  result.output = flatten(permute(result.output, {2, 0, 1, 3}), 2, 3);
  result.output = child("out_proj")(result.output);
  if (!batched) {
    result.output = squeeze(result.output, Shape{1});
    if (need_weights) result.weights = squeeze(result.weights, Shape{0});
  } else if (options.batch_first) {
    result.output = transpose(result.output, 0, 1);
  }
  return result;
}

Tree MultiheadAttention::forward_with(const Arguments& arguments) {
  const auto items = arguments.bind(
      "MultiheadAttention.forward",
      {"query", "key", "value", "key_padding_mask", "need_weights", "attn_mask", "average_attn_weights", "is_causal"},
      3);
  AttentionMasks masks;
  masks.key_padding_mask = items[3].as_optional_tensor("key_padding_mask");
  masks.attn_mask = items[5].as_optional_tensor("attn_mask");
  masks.is_causal = !items[7].is_none() && items[7].as_bool("is_causal");
  const bool need_weights = items[4].is_none() || items[4].as_bool("need_weights");
  const bool average = items[6].is_none() || items[6].as_bool("average_attn_weights");
  const Result result = attend(items[0].as_tensor("query"), items[1].as_tensor("key"), items[2].as_tensor("value"),
                               masks, need_weights, average);
  return {result.output, result.weights};
}

}  // namespace lucid::nn
