// Attention as a primitive op with its own order of additions (docs/decisions/0005-attention.md). It is never built
// from, nor recognized from, a softmax between two matrix products.

#include <algorithm>
#include <cmath>
#include <limits>

#include "loop/interpret.h"
#include "loop/math.h"
#include "ops/attention_rules.h"
#include "ops/reference.h"
#include "ops/rules.h"

namespace lucid {
namespace {

using Types = std::vector<TensorType>;

constexpr int64_t kKeysPerBlock = 64;
constexpr int64_t kChain = 512;

/// A math function with the same bits as in kernels, so that the reference needs no tolerance.
template <typename T>
class Interpreted {
 public:
  explicit Interpreted(loop::Value (*f)(loop::Value)) : kernel_(make(f)) {}
  T operator()(T x) const {
    T y = 0;
    void* buffers[] = {&x, &y};
    loop::interpret(kernel_, buffers, nullptr, 0, 1);
    return y;
  }

 private:
  static loop::Kernel make(loop::Value (*f)(loop::Value)) {
    constexpr Dtype kDtype = std::is_same_v<T, double> ? Dtype::kF64 : Dtype::kF32;
    loop::Builder b("function");
    const loop::BufferRef in = b.argument(kDtype);
    const loop::BufferRef out = b.argument(kDtype);
    b.for_loop(b.begin(), b.end(), 1, [&](loop::Value i) { b.store(out, i, f(b.load(in, i))); });
    return b.finish();
  }
  loop::Kernel kernel_;
};

/// The attention of one query, accumulated key by key.
template <typename T>
class ReferenceRow {
 public:
  ReferenceRow(const T* keys, const T* values, int64_t width, int64_t value_width)
      : keys_(keys),
        values_(values),
        width_(width),
        value_width_(value_width),
        sums_(static_cast<size_t>(value_width), T(0)) {}

  T score(const T* query, int64_t key, T scale) const {
    T total = 0;
    for (int64_t start = 0; start < width_; start += kChain) {
      T sum = 0;
      for (int64_t i = start; i < std::min(width_, start + kChain); ++i)
        sum = std::fma(query[i], keys_[key * width_ + i], sum);
      total = start == 0 ? sum : total + sum;
    }
    return total * scale;
  }

  /// Accumulates a block of keys that the query attends to, with their scores.
  void accumulate(const std::vector<std::pair<int64_t, T>>& block) {
    if (block.empty()) return;
    const T before = largest_;
    for (const auto& [key, score] : block)
      if (score > largest_ || score != score) largest_ = score;
    const T factor = exp_(before - base());
    T total = 0;
    std::vector<T> sums(sums_.size(), T(0));
    for (const auto& [key, score] : block) {
      const T weight = exp_(score - base());
      total = total + weight;
      for (int64_t d = 0; d < value_width_; ++d) {
        T& sum = sums[static_cast<size_t>(d)];
        sum = std::fma(weight, values_[key * value_width_ + d], sum);
      }
    }
    total_ = std::fma(total_, factor, total);
    for (size_t d = 0; d < sums.size(); ++d) sums_[d] = std::fma(sums_[d], factor, sums[d]);
  }

  T result(int64_t d) const { return total_ == 0 ? T(0) : sums_[static_cast<size_t>(d)] / total_; }
  T logsumexp() const { return base() + log_(total_); }

 private:
  T base() const { return largest_ == -std::numeric_limits<T>::infinity() ? T(0) : largest_; }

  // The functions are never destroyed: they are used until the process ends.
  static T exp_(T x) {
    static const Interpreted<T>& function = *new Interpreted<T>(loop::exp);
    return function(x);
  }
  static T log_(T x) {
    static const Interpreted<T>& function = *new Interpreted<T>(loop::log);
    return function(x);
  }

  const T* keys_;
  const T* values_;
  int64_t width_;
  int64_t value_width_;
  T largest_ = -std::numeric_limits<T>::infinity();
  T total_ = 0;
  std::vector<T> sums_;
};

template <typename T>
void reference_attention_of(HostCall& call, const HostArray& out, const HostArray& logsumexp) {
  const Dtype dtype = call.dtype(0);
  const auto q = read_operand<T>(call, 0, dtype, call.shape(0));
  const auto k = read_operand<T>(call, 1, dtype, call.shape(1));
  const auto v = read_operand<T>(call, 2, dtype, call.shape(2));
  const bool has_numbers = call.has(3) && is_float(call.dtype(3));
  const bool has_bools = call.has(3) && !has_numbers;
  std::vector<T> added;
  if (has_numbers) added = read_operand<T>(call, 3, dtype, call.shape(3));
  const int64_t queries = call.shape(0)[2];
  const int64_t keys = call.shape(1)[2];
  const int64_t width = call.shape(0)[3];
  const int64_t value_width = call.shape(2)[3];
  const T scale = static_cast<T>(call.real("scale"));
  for (int64_t row = 0; row < logsumexp.size(); ++row) {
    const int64_t head = row / queries;
    ReferenceRow<T> attended(k.data() + head * keys * width, v.data() + head * keys * value_width, width, value_width);
    for (int64_t start = 0; start < keys; start += kKeysPerBlock) {
      std::vector<std::pair<int64_t, T>> block;
      for (int64_t j = start; j < std::min(keys, start + kKeysPerBlock); ++j) {
        if (call.flag("causal") && j > row % queries) continue;
        if (has_bools && !call.in(3).as<bool>()[row * keys + j]) continue;
        T score = attended.score(q.data() + row * width, j, scale);
        if (has_numbers) score = score + added[static_cast<size_t>(row * keys + j)];
        block.emplace_back(j, score);
      }
      attended.accumulate(block);
    }
    for (int64_t d = 0; d < value_width; ++d) write_element(out, row * value_width + d, attended.result(d));
    write_element(logsumexp, row, attended.logsumexp());
  }
}

void reference_attention(HostCall& call) {
  const Types types = infer_types(call);
  const HostArray out = call.make_output(types[0]);
  const HostArray logsumexp = call.make_output(types[1]);
  dispatch<Domain::kFloats>(call.dtype(0), [&]<typename T>() { reference_attention_of<T>(call, out, logsumexp); });
}

Types infer_attention(const Call& call) {
  const Dims& q = call.shape(0);
  const Dims& k = call.shape(1);
  const Dims& v = call.shape(2);
  const bool fits = q.rank() == 4 && k.rank() == 4 && v.rank() == 4 && q[0] == k[0] && q[0] == v[0] && q[1] == k[1] &&
                    q[1] == v[1] && q[3] == k[3] && k[2] == v[2];
  if (call.dtype(0) != call.dtype(1) || call.dtype(0) != call.dtype(2))
    throw TypeError("{}: q {}, k {} and v {} must have the same dtype", call.name(), to_string(call.operand(0).type()),
                    to_string(call.operand(1).type()), to_string(call.operand(2).type()));
  if (!fits)
    throw ValueError("{}: expected q [n, h, l, e], k [n, h, s, e] and v [n, h, s, d], got {}, {} and {}", call.name(),
                     to_string(call.operand(0).type()), to_string(call.operand(1).type()),
                     to_string(call.operand(2).type()));
  if (call.has(3) && call.dtype(3) != Dtype::kBool && call.dtype(3) != call.dtype(0))
    throw TypeError("{}: mask must be bool or {}, got {}", call.name(), name_of(call.dtype(0)),
                    to_string(call.operand(3).type()));
  if (call.has(3) && call.shape(3) != Dims{q[0], q[1], q[2], k[2]})
    throw ValueError("{}: mask must have shape {}, got {}", call.name(), to_string(Dims{q[0], q[1], q[2], k[2]}),
                     to_string(call.operand(3).type()));
  if (std::max(q[3], v[3]) > kMaxAttentionWidth)
    throw ValueError("{}: the last dimensions of q and v may be at most {}, got {} and {}", call.name(),
                     kMaxAttentionWidth, to_string(call.operand(0).type()), to_string(call.operand(2).type()));
  return {{call.dtype(0), {q[0], q[1], q[2], v[3]}}, {compute_dtype(call.dtype(0)), {q[0], q[1], q[2]}}};
}

std::vector<Sample> attention_samples() {
  const auto scale = std::pair<std::string, Attribute>("scale", 0.5);
  const auto plain = std::pair<std::string, Attribute>("causal", false);
  const auto causal = std::pair<std::string, Attribute>("causal", true);
  const auto of = [](Dims q, Dims k, Dims v, SampleTensor mask) {
    return Sample{{normal(std::move(q)), normal(std::move(k)), normal(std::move(v)), std::move(mask)}};
  };
  const Sample small = of({2, 2, 3, 5}, {2, 2, 4, 5}, {2, 2, 4, 3}, absent());
  // Several blocks of keys, several tiles of queries, and remainders of all of them.
  const Sample large = of({1, 2, 37, 19}, {1, 2, 133, 19}, {1, 2, 133, 11}, absent());
  const Sample square = of({1, 1, 133, 3}, {1, 1, 133, 3}, {1, 1, 133, 9}, absent());
  const Sample bools = of({1, 2, 5, 3}, {1, 2, 70, 3}, {1, 2, 70, 9}, mask({1, 2, 5, 70}));
  const Sample numbers = of({1, 2, 5, 3}, {1, 2, 6, 3}, {1, 2, 6, 2}, normal({1, 2, 5, 6}));
  // The layout of models: the heads are adjacent within a row, and one mask serves all heads and queries.
  const Sample strided_heads =
      Sample{{strided({1, 2, 5, 4}, {40, 4, 8, 1}),
              strided({1, 2, 6, 4}, {48, 4, 8, 1}),
              strided({1, 2, 6, 4}, {48, 4, 8, 1}),
              {.shape = {1, 2, 5, 6}, .fill = Fill::kMask, .strides = {0, 0, 0, 1}, .dtype = Dtype::kBool}}};
  const Sample wide = of({1, 1, 2, 600}, {1, 1, 3, 600}, {1, 1, 3, 2}, absent());
  const Sample no_queries = of({1, 1, 0, 3}, {1, 1, 2, 3}, {1, 1, 2, 2}, absent());
  return with({small, large, bools, numbers, strided_heads, wide, no_queries}, {plain, scale}) +
         with({small, square, numbers}, {causal, scale});
}

Op attention() {
  return {
      .signature = "attention(q, k, v, mask?, causal: bool, scale: float) -> output, logsumexp",
      .doc =
          R"(Computes softmax(q @ k.mT * scale + mask) @ v for each batch and head, with `q` [n, h, l, e], `k`
[n, h, s, e] and `v` [n, h, s, d] of the same dtype. A bool `mask` [n, h, l, s] selects the keys that each query
attends to; a `mask` of the dtype of `q` is added to the scores. With `causal`, query i attends only to keys 0 to i.
Returns the output [n, h, l, d] and `logsumexp` [n, h, l], the logarithm of the sums that the softmax divides by,
which is f32 for 16-bit inputs. The output is 0 for a query that attends to no key.

>>> x = lucid.ones(1, 1, 2, 3)
>>> lucid.attention(x, x, x, None, True, 1.0).logsumexp
tensor([[[3.0000, 3.6931]]]))",
      .names = {.audience = Audience::kOps},
      .dtypes = kFloats,
      .infer = infer_attention,
      .lowering = AttentionLowering{},
      .reference = reference_attention,
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     const bool for_mask = call.has(3) && is_float(call.dtype(3)) && call.needs(3);
                     Values found = e.attention_backward(g[0], g[1], call.in(0), call.in(1), call.in(2),
                                                         call.argument(3), call.out(0), call.out(1),
                                                         call.flag("causal"), call.real("scale"), for_mask);
                     if (found.size() < 4) found.resize(4);
                     return found;
                   },
                   .saved_inputs = {0, 1, 2, 3},
                   .saves_outputs = true},
      .samples = attention_samples(),
  };
}

Values attention_backward_parts(Emitter& e, const Call& call, std::span<const Value> in) {
  // 16-bit floats compute in f32, the dtype of logsumexp, and round once.
  const auto wide = [&](const Value& x) { return x && is_float(x.dtype()) ? e.cast(x, in[7].dtype()) : x; };
  const Value g = wide(in[0]);
  const Value q = wide(in[2]);
  const Value k = wide(in[3]);
  const Value v = wide(in[4]);
  const Value mask = wide(in[5]);
  const double scale = call.real("scale");
  const auto transposed = [&](const Value& x) { return e.transpose(x, -1, -2); };
  // The weights are recovered from the saved logsumexp instead of a softmax.
  const Value saved = e.unsqueeze(in[7], -1);
  const Value base = e.where(e.isfinite(saved), saved, 0);
  Value scores = e.mul(e.matmul(q, transposed(k)), scale);
  if (mask && is_float(mask.dtype())) scores = e.add(scores, mask);
  Value weights = e.exp(e.sub(scores, base));
  if (mask && !is_float(mask.dtype())) weights = e.where(mask, weights, 0);
  if (call.flag("causal")) weights = e.where(causal_mask(e, q.size(2), k.size(2)), weights, 0);
  const Value row_term = e.sub(e.sum(e.mul(g, wide(in[6])), Dims{-1}, true), e.unsqueeze(in[1], -1));
  const Value score_gradient = e.mul(weights, e.sub(e.matmul(g, transposed(v)), row_term));
  Values results = {e.mul(e.matmul(score_gradient, k), scale), e.mul(e.matmul(transposed(score_gradient), q), scale),
                    e.matmul(transposed(weights), g)};
  if (call.flag("for_mask")) results.push_back(score_gradient);
  for (size_t i = 0; i < results.size(); ++i) results[i] = e.cast(results[i], in[i + 2].dtype());
  return results;
}

Op attention_backward() {
  return {
      .signature =
          "attention_backward(g, logsumexp_gradient, q, k, v, mask?, output, logsumexp, causal: bool, scale: "
          "float, for_mask: bool) -> tensors",
      .doc =
          R"(Computes the gradients of `attention` with respect to `q`, `k` and `v` and, with `for_mask`, with
respect to a floating-point `mask`. `g` and `logsumexp_gradient` are the gradients of its two results, `output` and
`logsumexp`.

>>> x = lucid.ones(1, 1, 1, 2)
>>> lucid.attention_backward(x, lucid.zeros(1, 1, 1), x, x, x, None, x, lucid.full((1, 1, 1), 2.0), False, 1.0, False)[2]
tensor([[[[1., 1.]]]]))",
      .names = {.audience = Audience::kOps},
      .dtypes = kFloats,
      .infer = [](const Call& call) -> Types {
        Types types{call.operand(2).type(), call.operand(3).type(), call.operand(4).type()};
        if (call.flag("for_mask")) types.push_back(requested_type(call, 5));
        return types;
      },
      .decompose = attention_backward_parts,
      .samples =
          [] {
            const auto sample = [](SampleTensor mask) {
              return Sample{{normal({1, 2, 3, 4}), normal({1, 2, 3}), normal({1, 2, 3, 5}), normal({1, 2, 6, 5}),
                             normal({1, 2, 6, 4}), std::move(mask), normal({1, 2, 3, 4}), positive({1, 2, 3})}};
            };
            return with({sample(absent()), sample(mask({1, 2, 3, 6}))},
                        {{"causal", false}, {"scale", 0.5}, {"for_mask", false}}) +
                   with({sample(normal({1, 2, 3, 6}))}, {{"causal", true}, {"scale", 0.5}, {"for_mask", true}});
          }(),
  };
}

}  // namespace

void add_attention_ops(std::vector<Op>& ops) {
  for (auto make : {attention, attention_backward}) ops.push_back(make());
}

}  // namespace lucid
