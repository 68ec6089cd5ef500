// The attention functions that models call.

#include <algorithm>
#include <cmath>
#include <limits>

#include "ops/attention_rules.h"

namespace lucid {
namespace {

/// Reshapes queries, keys or values to [n, h, rows, columns]: the dimensions before the last two are broadcast to
/// `batch` and merged into two.
Value as_heads(Emitter& e, const Value& x, const Dims& batch) {
  Dims shape = batch;
  shape.push_back(x.size(x.rank() - 2));
  shape.push_back(x.size(x.rank() - 1));
  Value result = x.shape() == shape ? x : e.expand(x, shape);
  if (batch.rank() == 2) return result;
  const SymInt heads = batch.empty() ? SymInt(1) : batch.back();
  const SymInt rest = batch.empty() ? SymInt(1) : numel(Dims(batch.begin(), batch.end() - 1));
  return e.reshape(result, Dims{rest, heads, shape[shape.size() - 2], shape.back()});
}

/// The checked queries, keys, values and mask of a call. With enable_gqa, the heads of keys and values are repeated to
/// match those of the queries.
struct Inputs {
  Value q;
  Value k;
  Value v;  // empty for attention_weights
  Value mask;
  Dims batch;
  double scale = 1;

  Inputs(Emitter& e, const Call& call, std::span<const Value> in, bool has_values) : q(in[0]), k(in[1]) {
    if (has_values) v = in[2];
    mask = in[has_values ? 3 : 2];
    for (const Value& x : {q, k, v}) {
      if (x && x.dtype() != q.dtype())
        throw TypeError("{}: query, key and value must have the same dtype, got {} and {}", call.name(),
                        to_string(q.type()), to_string(x.type()));
      if (x && x.rank() < 2)
        throw ValueError("{}: query, key and value must have at least two dimensions, got {}", call.name(),
                         to_string(x.type()));
    }
    if (has_values && call.flag("enable_gqa")) repeat_heads(e, call);
    if (q.shape().back() != k.shape().back() || (v && v.size(v.rank() - 2) != k.size(k.rank() - 2)))
      throw ValueError("{}: expected query [..., l, e], key [..., s, e] and value [..., s, d], got {}, {}{}",
                       call.name(), to_string(q.type()), to_string(k.type()), v ? " and " + to_string(v.type()) : "");
    const auto lead = [](const Value& x) { return Dims(x.shape().begin(), x.shape().end() - 2); };
    batch = broadcast(call.name(), lead(q), lead(k));
    if (v) batch = broadcast(call.name(), batch, lead(v));
    scale = call.is_none("scale") ? 1 / std::sqrt(static_cast<double>(q.shape().back())) : call.real("scale");
    if (!mask) return;
    if (call.flag("is_causal"))
      throw ValueError("{}: attn_mask and is_causal cannot be combined; pass only one of them", call.name());
    if (mask.dtype() != Dtype::kBool && mask.dtype() != q.dtype())
      throw TypeError("{}: attn_mask must be bool or {}, got {}", call.name(), name_of(q.dtype()),
                      to_string(mask.type()));
    Dims shape = batch;
    shape.push_back(q.size(q.rank() - 2));
    shape.push_back(k.size(k.rank() - 2));
    mask = e.expand(mask, shape);
  }

 private:
  void repeat_heads(Emitter& e, const Call& call) {
    const auto repeat = [&](const Value& x) {
      const SymInt heads = q.rank() >= 3 ? q.size(q.rank() - 3) : SymInt(1);
      const SymInt own = x.rank() >= 3 ? x.size(x.rank() - 3) : SymInt(1);
      if (own == 0 || heads % own != 0)
        throw ValueError("{}: the number of heads (dimension -3) of query {} must be a multiple of that of {}",
                         call.name(), to_string(q.type()), to_string(x.type()));
      return heads == own ? x : e.repeat_interleave(x, heads / own, x.rank() - 3);
    };
    k = repeat(k);
    v = repeat(v);
  }
};

/// The softmax of the scores; 0 for queries that attend to no key.
Value weights_of(Emitter& e, const Call& call, const Inputs& inputs) {
  constexpr double kMasked = -std::numeric_limits<double>::infinity();
  Value scores = e.mul(e.matmul(inputs.q, e.transpose(inputs.k, -1, -2)), inputs.scale);
  const SymInt keys = scores.shape().back();
  if (call.flag("is_causal")) scores = e.where(causal_mask(e, scores.size(scores.rank() - 2), keys), scores, kMasked);
  if (inputs.mask)
    scores = is_float(inputs.mask.dtype()) ? e.add(scores, inputs.mask) : e.where(inputs.mask, scores, kMasked);
  if (keys == 0 || !(inputs.mask || call.flag("is_causal"))) return e.softmax(scores, -1);
  const Value is_empty = e.eq(e.amax(scores, Dims{-1}, true), kMasked);
  return e.where(is_empty, 0, e.softmax(e.where(is_empty, 0, scores), -1));
}

Op scaled_dot_product_attention() {
  return {
      .signature =
          "scaled_dot_product_attention(query, key, value, attn_mask? = None, *, is_causal: bool = False, scale: "
          "float? = None, enable_gqa: bool = False)",
      .doc =
          R"(Computes softmax(query @ key.mT * scale + attn_mask) @ value, with `query` [..., l, e], `key`
[..., s, e] and `value` [..., s, d] of the same dtype. The leading dimensions broadcast, and the result is
[..., l, d]. `attn_mask` broadcasts to [..., l, s]: a bool mask selects the keys that each query attends to, a mask
of the dtype of `query` is added to the scores. With `is_causal`, query i attends only to keys 0 to i; it cannot be
combined with `attn_mask`. The result is 0 for a query that attends to no key. `scale` defaults to 1 / sqrt(e). With
`enable_gqa`, `key` and `value` may have fewer heads (dimension -3) than `query`: each of their heads serves a group
of consecutive query heads.

>>> x = lucid.tensor([[1., 0.], [0., 1.]])
>>> lucid.scaled_dot_product_attention(x, x, x, is_causal=True)
tensor([[1.0000, 0.0000],
        [0.3302, 0.6698]]))",
      .dtypes = kFloats,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const Inputs inputs(e, call, in, true);
        Dims shape = inputs.batch;
        shape.push_back(inputs.q.size(inputs.q.rank() - 2));
        shape.push_back(inputs.v.shape().back());
        if (std::max(inputs.q.shape().back(), inputs.v.shape().back()) > kMaxAttentionWidth)
          return {e.expand(e.matmul(weights_of(e, call, inputs), inputs.v), shape)};
        const Value mask = inputs.mask ? as_heads(e, inputs.mask, inputs.batch) : Value();
        const Value output = e.attention(as_heads(e, inputs.q, inputs.batch), as_heads(e, inputs.k, inputs.batch),
                                         as_heads(e, inputs.v, inputs.batch), mask ? Operand(mask) : Operand(),
                                         call.flag("is_causal"), inputs.scale)
                                 .front();
        return {output.shape() == shape ? output : e.reshape(output, shape)};
      },
      .samples =
          [] {
            const auto of = [](Dims q, Dims k, Dims v, SampleTensor mask) {
              return Sample{{normal(std::move(q)), normal(std::move(k)), normal(std::move(v)), std::move(mask)}};
            };
            return std::vector<Sample>{of({2, 3, 5, 4}, {2, 3, 6, 4}, {2, 3, 6, 2}, absent()),
                                       of({5, 4}, {6, 4}, {6, 2}, absent()),
                                       of({1, 1, 2, 3}, {1, 1, 0, 3}, {1, 1, 0, 2}, absent()),
                                       of({3, 5, 4}, {3, 6, 4}, {3, 6, 2}, mask({5, 6})),
                                       of({2, 1, 2, 5, 4}, {2, 1, 2, 6, 4}, {2, 1, 2, 6, 2}, normal({5, 6})),
                                       of({2, 3, 5, 4}, {2, 3, 6, 4}, {2, 3, 6, 2}, mask({2, 1, 1, 6}))} +
                   with({of({2, 3, 5, 4}, {2, 3, 5, 4}, {2, 3, 5, 4}, absent())},
                        {{"is_causal", true}, {"scale", 0.25}}) +
                   with({of({2, 4, 5, 4}, {2, 2, 5, 4}, {2, 2, 5, 4}, absent())}, {{"enable_gqa", true}});
          }(),
  };
}

Op attention_weights() {
  return {
      .signature = "attention_weights(query, key, attn_mask? = None, *, is_causal: bool = False, scale: float? = None)",
      .doc =
          R"(Computes softmax(query @ key.mT * scale + attn_mask), the weights [..., l, s] that
`scaled_dot_product_attention` gives to the values. Use it to inspect the weights or to apply dropout to them. The
arguments are those of `scaled_dot_product_attention`.

>>> x = lucid.tensor([[1., 0.], [0., 1.]])
>>> lucid.attention_weights(x, x, is_causal=True)
tensor([[1.0000, 0.0000],
        [0.3302, 0.6698]]))",
      .dtypes = kFloats,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        return {weights_of(e, call, Inputs(e, call, in, false))};
      },
      .samples = std::vector<Sample>{{{normal({2, 3, 5, 4}), normal({2, 3, 6, 4}), absent()}},
                                     {{normal({2, 3, 5, 4}), normal({2, 3, 6, 4}), mask({5, 6})}},
                                     {{normal({2, 5, 4}), normal({2, 6, 4}), normal({2, 5, 6})}}} +
                 with({{{normal({5, 4}), normal({5, 4}), absent()}}}, {{"is_causal", true}}),
  };
}

}  // namespace

void add_scaled_attention_ops(std::vector<Op>& ops) {
  for (auto make : {scaled_dot_product_attention, attention_weights}) ops.push_back(make());
}

}  // namespace lucid
