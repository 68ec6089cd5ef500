// einsum, tensordot and other sums of products over labelled dimensions.

#include <algorithm>
#include <map>

#include "ops/linalg_rules.h"
#include "ops/rules.h"

namespace lucid {
namespace {

/// A tensor with a label for each dimension: a letter, or a negative number for a dimension that an ellipsis stands
/// for, -1 being the last.
struct Labelled {
  Value value;
  std::vector<int> labels;

  int64_t axis(int label) const { return std::ranges::find(labels, label) - labels.begin(); }
  bool has(int label) const { return std::ranges::find(labels, label) != labels.end(); }
};

/// The labels of one term of an equation, for a tensor of rank `rank`. Rank -1 means the result, whose ellipsis stands
/// for `ellipsis` dimensions.
std::vector<int> parse_term(const std::string& equation, const std::string& term, int64_t rank, int64_t ellipsis) {
  const size_t dots = term.find("...");
  int64_t letters = 0;
  for (size_t i = 0; i < term.size(); ++i) {
    if (dots != std::string::npos && i >= dots && i < dots + 3) continue;
    if (!std::isalpha(static_cast<unsigned char>(term[i])))
      throw ValueError("einsum: \"{}\" in \"{}\" is neither a letter nor an ellipsis", term[i], equation);
    ++letters;
  }
  if (rank >= 0) {
    if (dots == std::string::npos ? letters != rank : letters > rank)
      throw ValueError("einsum: term \"{}\" of \"{}\" names {} dimensions, but its tensor has {}", term, equation,
                       letters, rank);
    ellipsis = rank - letters;
  }
  std::vector<int> labels;
  for (size_t i = 0; i < term.size(); ++i) {
    if (i == dots) {
      for (int64_t d = ellipsis; d > 0; --d) labels.push_back(static_cast<int>(-d));
      i += 2;
    } else {
      labels.push_back(term[i]);
    }
  }
  return labels;
}

/// Makes labels unique: a repeated label selects a diagonal.
Labelled without_repeats(Emitter& e, const std::string& equation, Labelled tensor) {
  for (size_t i = 0; i < tensor.labels.size();) {
    const auto again =
        std::find(tensor.labels.begin() + static_cast<ptrdiff_t>(i) + 1, tensor.labels.end(), tensor.labels[i]);
    if (again == tensor.labels.end()) {
      ++i;
      continue;
    }
    const int label = tensor.labels[i];
    const auto first = static_cast<int64_t>(i);
    const int64_t second = again - tensor.labels.begin();
    if (tensor.value.size(first) != tensor.value.size(second))
      throw ValueError("einsum: \"{}\" repeats {} for dimensions of different sizes {} and {} of {}", equation,
                       static_cast<char>(label), tensor.value.size(first), tensor.value.size(second),
                       to_string(tensor.value.type()));
    tensor.value = e.diagonal(tensor.value, 0, first, second);
    tensor.labels.erase(again);
    tensor.labels.erase(tensor.labels.begin() + first);
    tensor.labels.push_back(label);
  }
  return tensor;
}

/// Sums over the labels for which `drops` returns true.
template <typename F>
Labelled summed(Emitter& e, Labelled tensor, F drops) {
  Dims axes;
  std::vector<int> remaining;
  for (size_t i = 0; i < tensor.labels.size(); ++i) {
    if (drops(tensor.labels[i]))
      axes.push_back(static_cast<int64_t>(i));
    else
      remaining.push_back(tensor.labels[i]);
  }
  if (axes.empty()) return tensor;
  return {e.sum(tensor.value, axes, false, tensor.value.dtype()), std::move(remaining)};
}

/// The tensor reshaped to 3-d: each group of labels becomes one dimension, in the order of the group.
Value grouped(Emitter& e, const Labelled& tensor, std::initializer_list<const std::vector<int>*> groups) {
  Dims order;
  Dims shape;
  for (const std::vector<int>* group : groups) {
    SymInt size = 1;
    for (const int label : *group) {
      order.push_back(tensor.axis(label));
      size *= tensor.value.size(tensor.axis(label));
    }
    shape.push_back(size);
  }
  return e.reshape(e.permute(tensor.value, order), shape);
}

/// The product of two tensors, summed over the labels that are not `needed` later.
template <typename F>
Labelled contracted(Emitter& e, Labelled left, Labelled right, F needed) {
  left = summed(e, std::move(left), [&](int label) { return !needed(label) && !right.has(label); });
  right = summed(e, std::move(right), [&](int label) { return !needed(label) && !left.has(label); });
  std::vector<int> batch;
  std::vector<int> inner;
  std::vector<int> rows;
  std::vector<int> columns;
  for (const int label : left.labels) {
    if (!right.has(label))
      rows.push_back(label);
    else
      (needed(label) ? batch : inner).push_back(label);
  }
  for (const int label : right.labels)
    if (!left.has(label)) columns.push_back(label);
  Labelled result;
  Dims shape;
  for (const std::vector<int>* group : {&batch, &rows, &columns}) {
    for (const int label : *group) {
      const Labelled& source = left.has(label) ? left : right;
      result.labels.push_back(label);
      shape.push_back(source.value.size(source.axis(label)));
    }
  }
  const Value x = grouped(e, left, {&batch, &rows, &inner});
  const Value y = grouped(e, right, {&batch, &inner, &columns});
  // Without inner labels, an elementwise product is cheaper than a matrix product over one element.
  result.value = e.reshape(inner.empty() ? e.mul(x, y) : e.bmm(x, y), shape);
  return result;
}

/// The result of an equation without an arrow: the ellipsis, then the letters that occur once, in alphabetical order.
std::vector<int> implicit_result(const std::map<int, int>& occurrences, int64_t ellipsis) {
  std::vector<int> labels;
  for (int64_t d = ellipsis; d > 0; --d) labels.push_back(static_cast<int>(-d));
  for (const auto& [label, times] : occurrences)
    if (label > 0 && times == 1) labels.push_back(label);
  return labels;
}

/// Makes all dimensions of one label equal in size: removes those of size 1 where another tensor has a larger one.
void agree_on_sizes(Emitter& e, const std::string& equation, std::vector<Labelled>& tensors) {
  std::map<int, SymInt> sizes;
  for (const Labelled& tensor : tensors) {
    for (const int label : tensor.labels) {
      SymInt& size = sizes.try_emplace(label, 1).first->second;
      const SymInt own = tensor.value.size(tensor.axis(label));
      if (own != 1 && size != 1 && own != size)
        throw ValueError("einsum: {} in \"{}\" labels dimensions of different sizes {} and {}",
                         label < 0 ? std::string("the ellipsis") : std::string(1, static_cast<char>(label)), equation,
                         size, own);
      if (own != 1) size = own;
    }
  }
  for (Labelled& tensor : tensors) {
    Dims axes;
    std::vector<int> remaining;
    for (const int label : tensor.labels) {
      if (sizes[label] != 1 && tensor.value.size(tensor.axis(label)) == 1)
        axes.push_back(tensor.axis(label));
      else
        remaining.push_back(label);
    }
    if (axes.empty()) continue;
    tensor.value = e.squeeze(tensor.value, axes);
    tensor.labels = std::move(remaining);
  }
}

Values einsum_parts(Emitter& e, const Call& call, std::span<const Value> in) {
  std::string equation;
  for (const char c : call.text("equation"))
    if (c != ' ') equation.push_back(c);
  const size_t arrow = equation.find("->");
  const std::string terms = equation.substr(0, arrow);
  std::vector<Labelled> tensors;
  std::map<int, int> occurrences;
  int64_t ellipsis = 0;
  size_t start = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    if (start > terms.size()) throw ValueError("einsum: \"{}\" has {} terms for {} tensors", equation, i, in.size());
    if (i > 0) check_product_dtypes(call, 0, i);
    const size_t end = std::min(terms.find(',', start), terms.size());
    const std::string term = terms.substr(start, end - start);
    start = end + 1;
    Labelled tensor{in[i], parse_term(equation, term, in[i].rank(), 0)};
    for (const int label : tensor.labels) {
      ellipsis = std::max<int64_t>(ellipsis, -label);
      ++occurrences[label];
    }
    tensors.push_back(without_repeats(e, equation, std::move(tensor)));
  }
  if (start <= terms.size())
    throw ValueError("einsum: \"{}\" has more terms than the {} tensors given", equation, in.size());
  const std::vector<int> result = arrow == std::string::npos
                                      ? implicit_result(occurrences, ellipsis)
                                      : parse_term(equation, equation.substr(arrow + 2), -1, ellipsis);
  for (auto label = result.begin(); label != result.end(); ++label) {
    if (std::none_of(tensors.begin(), tensors.end(), [&](const Labelled& tensor) { return tensor.has(*label); }))
      throw ValueError("einsum: the result of \"{}\" names {}, which is in no other term", equation,
                       static_cast<char>(*label));
    if (std::find(label + 1, result.end(), *label) != result.end())
      throw ValueError("einsum: the result of \"{}\" names {} twice", equation, static_cast<char>(*label));
  }
  agree_on_sizes(e, equation, tensors);
  const auto in_result = [&](int label) { return std::ranges::find(result, label) != result.end(); };
  Labelled product = tensors[0];
  for (size_t i = 1; i < tensors.size(); ++i)
    product = contracted(e, std::move(product), tensors[i], [&](int label) {
      return in_result(label) || std::any_of(tensors.begin() + static_cast<ptrdiff_t>(i) + 1, tensors.end(),
                                             [&](const Labelled& later) { return later.has(label); });
    });
  product = summed(e, std::move(product), [&](int label) { return !in_result(label); });
  Dims order;
  for (const int label : result) order.push_back(product.axis(label));
  return {e.permute(product.value, order)};
}

Op einsum() {
  return {
      .signature = "einsum(equation: str, tensors: tensors)",
      .doc =
          R"(Computes sums of products over labelled dimensions, in Einstein notation. `equation` has a term for
each tensor, separated by commas, with a letter for each dimension; "..." stands for the remaining dimensions, which
broadcast. The term after "->" names the dimensions of the result, and letters missing there are summed over.
Without an arrow, the result has the dimensions of the ellipsis, then the letters that occur once, in alphabetical
order. A letter repeated within a term selects the diagonal. All tensors must have the same dtype.

>>> lucid.einsum("ij,jk->ik", [lucid.tensor([[1, 2]]), lucid.tensor([[3], [4]])])
tensor([[11]]))",
      .dtypes = kNumbers,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        if (in.empty()) throw ValueError("einsum: expected at least one tensor");
        return einsum_parts(e, call, in);
      },
      .samples =
          with({{{normal({3, 4}), normal({4, 5})}}}, {{"equation", std::string("ij,jk->ik")}}) +
          with({{{normal({3, 4}), normal({4, 5})}}}, {{"equation", std::string("ab, bc")}}) +
          with({{{normal({2, 3, 4}), normal({2, 5, 4})}}}, {{"equation", std::string("bik,bjk->bij")}}) +
          with({{{normal({2, 3, 4}), normal({4, 5})}}}, {{"equation", std::string("...ij,jk->...ik")}}) +
          with({{{normal({3, 3})}}}, {{"equation", std::string("ii")}}) +
          with({{{normal({3, 3, 2})}}}, {{"equation", std::string("iij->ji")}}) +
          with({{{normal({3}), normal({4})}}}, {{"equation", std::string("i,j->ji")}}) +
          with({{{normal({3, 4}), normal({3, 4})}}}, {{"equation", std::string("ij,ij->")}}) +
          with({{{normal({3, 1}), normal({3, 4})}}}, {{"equation", std::string("ij,ij->i")}}) +
          with({{{normal({2, 3}), normal({3, 4}), normal({4, 2})}}}, {{"equation", std::string("ij,jk,kl->il")}}) +
          with({{{normal({5, 2, 3}), normal({2, 4})}}}, {{"equation", std::string("...ij,ik->kj...")}}),
  };
}

Op tensordot() {
  return {
      .signature = "tensordot(x, y, dims: ints = [2], dims_y: ints? = None)",
      .doc =
          R"(Computes sums of products over several dimensions of two tensors of the same dtype: over the last
dims[0] dimensions of `x` and the first dims[0] dimensions of `y`, or, if `dims_y` is given, over the dimensions
`dims` of `x` paired with the dimensions `dims_y` of `y`. The result has the remaining dimensions of `x`, then those
of `y`.

>>> lucid.tensordot(lucid.ones(2, 3, 4), lucid.ones(3, 4, 5)).shape
(2, 5))",
      .dtypes = kNumbers,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        check_product_dtypes(call, 0, 1);
        Dims x_dims = call.ints("dims");
        Dims y_dims;
        if (!call.is_none("dims_y")) {
          y_dims = call.ints("dims_y");
        } else {
          const int64_t count = x_dims.size() == 1 ? x_dims[0] : SymInt(-1);
          if (count < 0 || count > call.rank(0) || count > call.rank(1))
            throw ValueError(
                "tensordot: without dims_y, dims must be the number of dimensions to sum over, got {} for {} and {}",
                to_string(x_dims), to_string(call.operand(0).type()), to_string(call.operand(1).type()));
          x_dims.clear();
          for (int64_t d = 0; d < count; ++d) {
            x_dims.push_back(call.rank(0) - count + d);
            y_dims.push_back(d);
          }
        }
        if (x_dims.size() != y_dims.size())
          throw ValueError("tensordot: dims {} and dims_y {} differ in length", to_string(x_dims), to_string(y_dims));
        normalize_axes(call.name(), x_dims, call.rank(0));  // throws for repeated dimensions
        normalize_axes(call.name(), y_dims, call.rank(1));
        Labelled left{in[0], {}};
        Labelled right{in[1], {}};
        for (int64_t d = 0; d < call.rank(0); ++d) left.labels.push_back(static_cast<int>(d));
        for (int64_t d = 0; d < call.rank(1); ++d) right.labels.push_back(static_cast<int>(kMaxRank + d));
        for (size_t i = 0; i < x_dims.size(); ++i) {
          const int64_t a = normalize_axis(call.name(), x_dims[i], call.rank(0));
          const int64_t b = normalize_axis(call.name(), y_dims[i], call.rank(1));
          if (in[0].size(a) != in[1].size(b))
            throw ValueError("tensordot: dimension {} of {} and dimension {} of {} differ in size", a,
                             to_string(call.operand(0).type()), b, to_string(call.operand(1).type()));
          right.labels[static_cast<size_t>(b)] = left.labels[static_cast<size_t>(a)];
        }
        const auto sums = [&](int label) { return left.has(label) && right.has(label); };
        return {contracted(e, left, right, [&](int label) { return !sums(label); }).value};
      },
      .samples = std::vector<Sample>{{{normal({2, 3, 4}), normal({3, 4, 5})}}} +
                 with({{{normal({2, 3}), normal({4})}}}, {{"dims", Dims{0}}}) +
                 with({{{normal({2, 3, 4}), normal({4, 5, 2})}}}, {{"dims", Dims{0, -1}}, {"dims_y", Dims{2, 0}}}),
  };
}

Op kron() {
  return {
      .signature = "kron(x, y)",
      .doc = R"(Computes the Kronecker product: each element of `x` is replaced by its product with `y`. The tensor
with fewer dimensions gets leading dimensions of size 1.

>>> lucid.kron(lucid.tensor([1, 10]), lucid.tensor([1, 2]))
tensor([ 1,  2, 10, 20]))",
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const int64_t rank = std::max(call.rank(0), call.rank(1));
        Dims x;
        Dims y;
        Dims result;
        for (int64_t d = 0; d < rank; ++d) {
          const auto size = [&](size_t i) {
            const int64_t at = d - rank + call.rank(i);
            return at < 0 ? SymInt(1) : call.shape(i)[static_cast<size_t>(at)];
          };
          x.push_back(size(0));
          x.push_back(1);
          y.push_back(1);
          y.push_back(size(1));
          result.push_back(size(0) * size(1));
        }
        return {e.reshape(e.mul(e.reshape(in[0], x), e.reshape(in[1], y)), result)};
      },
      .samples = {{{normal({2, 3}), normal({3, 2})}}, {{normal({3}), normal({2, 2})}}, {{normal({}), normal({2})}}},
  };
}

Op trace() {
  return {
      .signature = "trace(x)",
      .doc = R"(Returns the sum of the diagonal elements of the matrix `x`.

>>> lucid.trace(lucid.tensor([[1, 2], [3, 4]]))
tensor(5))",
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        check_ranks(call, {{0, 2}});
        return {e.sum(e.diagonal(in[0]))};
      },
      .samples = {{{normal({3, 4})}}, {{normal({0, 3})}}},
  };
}

/// The p-th root of `power`. Its gradient at 0 is 0.
Value safe_root(Emitter& e, const Value& power, double p) {
  const Value is_zero = e.eq(power, 0);
  const Value positive = e.where(is_zero, 1, power);
  return e.where(is_zero, 0, p == 2 ? e.sqrt(positive) : e.pow(positive, 1 / p));
}

Op cdist() {
  return {
      .signature = "cdist(x, y, p: float = 2.0)",
      .doc = R"(Computes the p-norm distance between each row of `x` [..., n, d] and each row of `y` [..., m, d].
Leading dimensions broadcast, and the result is [..., n, m]. `p` must not be negative; p = 0 counts the elements
that differ, and p = inf returns the largest difference. The gradient at distance 0 is 0.

>>> lucid.cdist(lucid.tensor([[0., 0.]]), lucid.tensor([[3., 4.], [0., 0.]]))
tensor([[5., 0.]]))",
      .dtypes = kFloats,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        check_product_dtypes(call, 0, 1);
        const double p = call.real("p");
        if (call.rank(0) < 2 || call.rank(1) < 2 || call.shape(0).back() != call.shape(1).back())
          throw ValueError(
              "cdist: x and y must have at least two dimensions and rows of the same length, got {} and {}",
              to_string(call.operand(0).type()), to_string(call.operand(1).type()));
        if (!(p >= 0)) throw ValueError("cdist: p must not be negative, got {}", p);
        const Value differences = e.abs(e.sub(e.unsqueeze(in[0], -2), e.unsqueeze(in[1], -3)));
        const Dims last{-1};
        if (p == 0) return {e.sum(e.cast(e.ne(differences, 0), in[0].dtype()), last)};
        if (p == 1) return {e.sum(differences, last)};
        if (p == 2) return {safe_root(e, e.sum(e.mul(differences, differences), last), p)};
        if (p > 1e300) {
          if (call.shape(0).back() == 0) return {e.sum(differences, last)};
          return {e.amax(differences, last)};
        }
        return {safe_root(e, e.sum(e.pow(differences, p), last), p)};
      },
      .samples = std::vector<Sample>{{{normal({3, 5}), normal({4, 5})}}, {{normal({2, 3, 5}), normal({4, 5})}}} +
                 with({{{normal({3, 5}), normal({4, 5})}}}, {{"p", 1.0}}) +
                 with({{{normal({3, 5}), normal({4, 5})}}}, {{"p", 3.0}}) +
                 with({{{normal({3, 5}), normal({4, 5})}}}, {{"p", HUGE_VAL}}),
  };
}

}  // namespace

void add_einsum_ops(std::vector<Op>& ops) {
  for (auto make : {einsum, tensordot, kron, trace, cdist}) ops.push_back(make());
}

}  // namespace lucid
