// Random permutations and weighted sampling. See random.cpp for how random ops use the state of a generator.

#include <cmath>

#include "ops/philox.h"
#include "ops/rules.h"

namespace lucid {
namespace {

using Types = std::vector<TensorType>;

Op random_permutation() {
  return {
      .signature = "random_permutation(state, n: int)",
      .doc = R"(Returns a random permutation of the integers from 0 to n - 1 as an i64 vector. It is the order that
sorts the numbers of random_bits for the same `state`.

>>> lucid.random_permutation(lucid.tensor([1, 0]), 5).sort()[0]
tensor([0, 1, 2, 3, 4]))",
      .dtypes = Dtype::kI64,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        philox::check_state(call);
        return {e.argsort(e.random_bits(in[0], Dims{call.integer("n")}), 0)};
      },
      .samples = with({{{offsets({2}, 1 << 20)}}}, {{"n", int64_t{19}}}) +
                 with({{{offsets({2}, 1 << 20)}}}, {{"n", int64_t{0}}}),
  };
}

/// Weights for sampling indices, with removal for sampling without replacement. They are the leaves of a tree of sums,
/// so that an index without weight is never found, regardless of rounding.
class WeightTree {
 public:
  explicit WeightTree(std::vector<double> weights) {
    while (leaves_ < weights.size()) leaves_ *= 2;
    sums_.resize(2 * leaves_);
    std::copy(weights.begin(), weights.end(), sums_.begin() + static_cast<ptrdiff_t>(leaves_));
    for (size_t i = leaves_ - 1; i > 0; --i) sums_[i] = sums_[2 * i] + sums_[2 * i + 1];
  }
  double total() const { return sums_[1]; }
  /// The index at which the cumulative sum of the weights exceeds `at`.
  size_t find(double at) const {
    size_t i = 1;
    while (i < leaves_) {
      const double left = sums_[2 * i];
      const bool right = at >= left ? sums_[2 * i + 1] > 0 : left <= 0;
      if (right) at -= left;
      i = 2 * i + right;
    }
    return i - leaves_;
  }
  void remove(size_t index) {
    size_t i = leaves_ + index;
    sums_[i] = 0;
    while (i /= 2) sums_[i] = sums_[2 * i] + sums_[2 * i + 1];
  }

 private:
  size_t leaves_ = 1;
  std::vector<double> sums_;
};

Types infer_multinomial(const Call& call) {
  philox::check_state(call);
  const Dims& p = call.shape(1);
  if (!call.operand(1).is_value() || !is_float(call.dtype(1)))
    throw TypeError("{}: p must be a floating-point tensor, got {}", call.name(), to_string(call.operand(1).type()));
  if (p.rank() != 1 && p.rank() != 2)
    throw ValueError("{}: p must be a vector or a matrix, got {}", call.name(), to_string(call.operand(1).type()));
  const int64_t count = call.integer("num_samples");
  if (count <= 0 || p.back() == 0)
    throw ValueError("{}: cannot take {} samples from {}", call.name(), count, to_string(call.operand(1).type()));
  if (!call.flag("replacement") && count > p.back())
    throw ValueError("{}: cannot take {} samples without replacement from {} categories", call.name(), count, p.back());
  Dims shape = p;
  shape.back() = count;
  return {{Dtype::kI64, shape}};
}

Op random_multinomial() {
  return {
      .signature = "random_multinomial(state, p, num_samples: int, replacement: bool = False)",
      .doc = R"(Samples `num_samples` i64 category indices from each row of `p`, with probabilities proportional to its
elements. `p` is a floating-point vector or matrix of finite, nonnegative weights, which need not sum to
1. Without `replacement`, an index is sampled at most once in a row. Each sample multiplies the f64
number of random_uniform for its element by the sum of the remaining weights. Raises ValueError if a
weight is invalid or a row has too few positive weights.

>>> lucid.random_multinomial(lucid.tensor([1, 0]), lucid.tensor([0., 1., 0.]), 1)
tensor([1]))",
      .dtypes = Dtype::kI64,
      .infer = infer_multinomial,
      .host =
          [](HostCall& call) {
            const HostArray out = call.make_output(infer_multinomial(call).front());
            const HostArray& p = call.in(1);
            const int64_t categories = p.type.shape.back();
            const int64_t count = out.type.shape.back();
            const int64_t rows = p.size() / categories;
            for (int64_t row = 0; row < rows; ++row) {
              std::vector<double> weights;
              for (int64_t i = 0; i < categories; ++i) {
                const char* element =
                    p.as<const char>() + (row * categories + i) * static_cast<int64_t>(size_of(p.type.dtype));
                weights.push_back(Scalar::load(p.type.dtype, element).to_double());
                if (!(weights.back() >= 0 && std::isfinite(weights.back())))
                  throw ValueError("{}: p contains {}; weights must be finite and not negative", call.name(),
                                   weights.back());
              }
              WeightTree tree(std::move(weights));
              for (int64_t i = row * count; i < (row + 1) * count; ++i) {
                if (!(tree.total() > 0))
                  throw ValueError("{}: row {} of p has fewer than {} positive weights", call.name(), row, count);
                const double u = philox::unit(philox::reference_words(call, i));
                const size_t found = tree.find(u * tree.total());
                out.as<int64_t>()[i] = static_cast<int64_t>(found);
                if (!call.flag("replacement")) tree.remove(found);
              }
            }
          },
      .gradient = zero_gradient(),
      .samples = with({{{offsets({2}, 1 << 20), {.shape = {7}, .fill = Fill::kPositive, .dtype = Dtype::kF32}}}},
                      {{"num_samples", int64_t{7}}}) +
                 with({{{offsets({2}, 1 << 20), {.shape = {3, 5}, .fill = Fill::kPositive, .dtype = Dtype::kF64}}}},
                      {{"num_samples", int64_t{9}}, {"replacement", true}}),
  };
}

}  // namespace

void add_sample_ops(std::vector<Op>& ops) {
  for (auto make : {random_permutation, random_multinomial}) ops.push_back(make());
}

}  // namespace lucid
