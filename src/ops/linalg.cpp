// Products of matrices and vectors. All of them are implemented by bmm.

#include "ops/linalg_rules.h"
#include "ops/reference.h"
#include "ops/reference_reduce.h"
#include "ops/rules.h"

namespace lucid {
namespace {

/// One element of a product of floats, in the canonical order of docs/decisions/0002-canonical-orders.md.
template <typename T>
T canonical_dot(const T* a, const T* b, int64_t k, int64_t b_stride, bool is_column) {
  constexpr int64_t kChain = 512;
  if (is_column) {
    // The 256-block rule of sums, with the products fused into the chains of the lanes.
    std::vector<std::pair<T, T>> terms;
    for (int64_t i = 0; i < k; ++i) terms.emplace_back(a[i], b[i * b_stride]);
    while (terms.size() % 16 != 0) terms.emplace_back(T(0), T(0));
    const auto take = [](T sum, const std::pair<T, T>& term) { return std::fma(term.first, term.second, sum); };
    return canonical_reduce(terms, T(0), take, [](T x, T y) { return x + y; });
  }
  T total = 0;
  for (int64_t start = 0; start < k; start += kChain) {
    T sum = 0;
    for (int64_t i = start; i < std::min(k, start + kChain); ++i) sum = std::fma(a[i], b[i * b_stride], sum);
    total = start == 0 ? sum : total + sum;
  }
  return total;
}

void reference_bmm(HostCall& call) {
  const TensorType type = infer_types(call).front();
  const HostArray out = call.make_output(type);
  const SymInt k = call.shape(0)[2];
  const SymInt rows = type.shape[1];
  const SymInt columns = type.shape[2];
  dispatch<Domain::kNumbers>(type.dtype, [&]<typename T>() {
    const auto a = read_operand<T>(call, 0, type.dtype, call.shape(0));
    const auto b = read_operand<T>(call, 1, type.dtype, call.shape(1));
    for (int64_t i = 0; i < out.size(); ++i) {
      const int64_t row = i / columns;
      const T* left = a.data() + row * k;
      const T* right = b.data() + row / rows * k * columns + i % columns;
      if constexpr (std::is_floating_point_v<T>) {
        write_element(out, i, canonical_dot(left, right, k, columns, columns == 1));
      } else {
        uint64_t sum = 0;
        for (int64_t j = 0; j < k; ++j) sum += bits_of(left[j]) * bits_of(right[j * columns]);
        write_element(out, i, wrapped<T>(sum));
      }
    }
  });
}

Op bmm() {
  return {
      .signature = "bmm(x, y)",
      .doc = R"(Computes the matrix products of two batches of matrices of the same dtype: `x` [b, n, k] and `y`
[b, k, m] give [b, n, m].

>>> lucid.bmm(lucid.ones(5, 2, 3), lucid.ones(5, 3, 4)).shape
(5, 2, 4))",
      .dtypes = kNumbers,
      .infer = [](const Call& call) -> std::vector<TensorType> {
        check_product_dtypes(call, 0, 1);
        const Dims& x = call.shape(0);
        const Dims& y = call.shape(1);
        if (x.rank() != 3 || y.rank() != 3 || x[0] != y[0])
          throw ValueError("bmm: expected two batches of the same number of matrices, got {} and {}",
                           to_string(call.operand(0).type()), to_string(call.operand(1).type()));
        check_inner(call, 0, 1);
        const Dims shape{x[0], x[1], y[2]};
        checked_numel(call.name(), shape, size_of(call.dtype(0)));
        return {{call.dtype(0), shape}};
      },
      .lowering = ContractionLowering{},
      .reference = reference_bmm,
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     Values result(2);
                     if (call.needs(0)) result[0] = e.bmm(g[0], e.transpose(call.in(1), 1, 2));
                     if (call.needs(1)) result[1] = e.bmm(e.transpose(call.in(0), 1, 2), g[0]);
                     return result;
                   },
                   .saved_inputs = {{0, {1}}, {1, {0}}}},
      .samples = {{{normal({2, 3, 5}), normal({2, 5, 4})}},
                  {{normal({1, 19, 37}), strided({1, 37, 20}, {0, 1, 37})}},
                  {{normal({3, 2, 4}), strided({3, 4, 2}, {0, 2, 1})}},
                  {{normal({1, 2, 600}), normal({1, 600, 3})}},
                  {{normal({2, 3, 300}), normal({2, 300, 1})}},
                  {{normal({2, 3, 0}), normal({2, 0, 2})}},
                  {{normal({0, 3, 2}), normal({0, 2, 2})}}},
  };
}

Op matmul() {
  return {
      .signature = "matmul(x, y)",
      .doc =
          R"(Computes the matrix product of `x` and `y`, which must have the same dtype and at least one dimension.
A 1-d `x` is a row and a 1-d `y` a column, and their added dimension is removed from the result. The dimensions
before the last two are batches, which broadcast.

>>> lucid.matmul(lucid.tensor([[1., 2.], [3., 4.]]), lucid.tensor([1., 1.]))
tensor([3., 7.]))",
      .names = {.python_operator = Operator::kMatrixMultiply},
      .dtypes = kNumbers,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        check_product_dtypes(call, 0, 1);
        if (call.rank(0) == 0 || call.rank(1) == 0)
          throw ValueError("matmul: x and y must have at least one dimension, got {} and {}; use mul for 0-d tensors",
                           to_string(call.operand(0).type()), to_string(call.operand(1).type()));
        check_inner(call, 0, 1);
        return {product(e, call.name(), in[0], in[1])};
      },
      .samples = {{{normal({5}), normal({5})}},
                  {{normal({3, 5}), normal({5})}},
                  {{normal({5}), normal({5, 4})}},
                  {{normal({3, 5}), normal({5, 4})}},
                  {{strided({3, 5}, {1, 3}), strided({5, 4}, {1, 5})}},
                  {{normal({2, 3, 5}), normal({5, 4})}},
                  {{normal({2, 3, 5}), normal({5})}},
                  {{normal({3, 5}), normal({2, 5, 4})}},
                  {{normal({5}), normal({2, 5, 4})}},
                  {{normal({2, 1, 3, 5}), normal({4, 5, 2})}},
                  {{normal({3, 0}), normal({0, 4})}}},
  };
}

Op mm() {
  return {
      .signature = "mm(x, y)",
      .doc = R"(Computes the matrix product of `x` [n, k] and `y` [k, m], which must have the same dtype.

>>> lucid.mm(lucid.ones(2, 3), lucid.ones(3, 4)).shape
(2, 4))",
      .dtypes = kNumbers,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        check_ranks(call, {{0, 2}, {1, 2}});
        return {e.matmul(in[0], in[1])};
      },
      .samples = {{{normal({3, 5}), normal({5, 4})}}, {{strided({2, 3}, {1, 2}), normal({3, 1})}}},
  };
}

Op mv() {
  return {
      .signature = "mv(x, vector)",
      .doc = R"(Computes the product of the matrix `x` [n, k] and the vector `vector` [k], which must have the same
dtype.

>>> lucid.mv(lucid.ones(2, 3), lucid.ones(3))
tensor([3., 3.]))",
      .dtypes = kNumbers,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        check_ranks(call, {{0, 2}, {1, 1}});
        return {e.matmul(in[0], in[1])};
      },
      .samples = {{{normal({3, 5}), normal({5})}}},
  };
}

Op dot_of(Op op) {
  op.dtypes = kNumbers;
  op.decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
    check_ranks(call, {{0, 1}, {1, 1}});
    return {e.matmul(in[0], in[1])};
  };
  op.samples = {{{normal({300}), normal({300})}}, {{normal({3}), strided({3}, {2})}}, {{normal({0}), normal({0})}}};
  return op;
}

Op dot() {
  return dot_of(
      {.signature = "dot(x, y)",
       .doc = R"(Computes the dot product of two vectors of the same dtype and length: the sum of the products of their
elements.

>>> lucid.dot(lucid.tensor([1, 2]), lucid.tensor([3, 4]))
tensor(11))"});
}

Op vdot() {
  return dot_of(
      {.signature = "vdot(x, y)",
       .doc = R"(Computes the dot product of two vectors of the same dtype and length. For real numbers, the only ones
that Lucid has, it is the same as `dot`.

>>> lucid.vdot(lucid.tensor([1, 2]), lucid.tensor([3, 4]))
tensor(11))"});
}

Op outer() {
  return {
      .signature = "outer(x, y)",
      .doc = R"(Computes the outer product of the vectors `x` and `y`: a matrix of the products of each element of `x`
with each element of `y`. Dtypes are promoted.

>>> lucid.outer(lucid.tensor([1, 2]), lucid.tensor([3, 4]))
tensor([[3, 4],
        [6, 8]]))",
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        check_ranks(call, {{0, 1}, {1, 1}});
        return {e.mul(e.unsqueeze(in[0], 1), in[1])};
      },
      .samples = {{{normal({3}), normal({19})}}},
  };
}

Op inner() {
  return {
      .signature = "inner(x, y)",
      .doc = R"(Computes the sums of products over the last dimensions of `x` and `y`, which must have the same dtype
and size there. The result has the other dimensions of `x`, then those of `y`. If one of the tensors is 0-d, the
result is their product.

>>> lucid.inner(lucid.tensor([1, 2]), lucid.tensor([[3, 4], [5, 6]]))
tensor([11, 17]))",
      .dtypes = kNumbers,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        if (call.rank(0) == 0 || call.rank(1) == 0) return {e.mul(in[0], in[1])};
        return {e.tensordot(in[0], in[1], Dims{-1}, Dims{-1})};
      },
      .samples = {{{normal({3}), normal({2, 3})}}, {{normal({4, 3}), normal({2, 3})}}, {{normal({}), normal({2})}}},
  };
}

/// beta * added + alpha * (x @ y). With beta = 0, `added` is ignored, even if it is NaN.
Values add_product(Emitter& e, const Call& call, std::span<const Value> in) {
  check_product_dtypes(call, 0, 1);
  check_product_dtypes(call, 1, 2);
  check_inner(call, 1, 2);
  Value result = product(e, call.name(), in[1], in[2]);
  result = scaled(e, call, result, "alpha");
  const Value added = e.expand(in[0], result.shape());
  return {call.real("beta") == 0 ? result : e.add(scaled(e, call, added, "beta"), result)};
}

Op addmm() {
  return {
      .signature = "addmm(x, mat1, mat2, *, beta: float = 1.0, alpha: float = 1.0)",
      .doc = R"(Computes beta * x + alpha * (mat1 @ mat2), where `x` broadcasts to the shape of the product. All
tensors must have the same dtype. With beta = 0, `x` is ignored, even if it contains NaN.

>>> lucid.addmm(lucid.tensor([1., 2.]), lucid.eye(2), lucid.ones(2, 2))
tensor([[2., 3.],
        [2., 3.]]))",
      .names = {.in_place = true},
      .dtypes = kNumbers,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        check_ranks(call, {{1, 2}, {2, 2}});
        return add_product(e, call, in);
      },
      .samples = std::vector<Sample>{{{normal({4}), normal({3, 5}), normal({5, 4})}}} +
                 with({{{normal({3, 4}), normal({3, 5}), normal({5, 4})}}}, {{"beta", 2.0}, {"alpha", -1.0}}) +
                 with({{{normal({}), normal({3, 5}), normal({5, 4})}}}, {{"beta", 0.0}}),
  };
}

Op addmv() {
  return {
      .signature = "addmv(x, mat, vector, *, beta: float = 1.0, alpha: float = 1.0)",
      .doc = R"(Computes beta * x + alpha * (mat @ vector), where `x` broadcasts to the shape of the product. All
tensors must have the same dtype. With beta = 0, `x` is ignored, even if it contains NaN.

>>> lucid.addmv(lucid.tensor([1., 2.]), lucid.eye(2), lucid.ones(2))
tensor([2., 3.]))",
      .dtypes = kNumbers,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        check_ranks(call, {{1, 2}, {2, 1}});
        return add_product(e, call, in);
      },
      .samples = with({{{normal({3}), normal({3, 5}), normal({5})}}}, {{"beta", 2.0}, {"alpha", -1.0}}),
  };
}

Op baddbmm() {
  return {
      .signature = "baddbmm(x, batch1, batch2, *, beta: float = 1.0, alpha: float = 1.0)",
      .doc = R"(Computes beta * x + alpha * (batch1 @ batch2) for batches of matrices, where `x` broadcasts to the
shape of the product. All tensors must have the same dtype. With beta = 0, `x` is ignored, even if it contains NaN.

>>> lucid.baddbmm(lucid.zeros(1), lucid.ones(5, 2, 3), lucid.ones(5, 3, 4)).shape
(5, 2, 4))",
      .names = {.in_place = true},
      .dtypes = kNumbers,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        check_ranks(call, {{1, 3}, {2, 3}});
        return add_product(e, call, in);
      },
      .samples = std::vector<Sample>{{{normal({4}), normal({2, 3, 5}), normal({2, 5, 4})}}} +
                 with({{{normal({2, 3, 4}), normal({2, 3, 5}), normal({2, 5, 4})}}}, {{"beta", 0.0}, {"alpha", 3.0}}),
  };
}

std::vector<TensorType> linear_type(const Call& call) {
  check_product_dtypes(call, 0, 1);
  if (call.rank(1) != 1 && call.rank(1) != 2)
    throw ValueError("linear: weight must be a matrix or a vector, got {}", to_string(call.operand(1).type()));
  if (call.rank(0) == 0 || call.shape(0).back() != call.shape(1).back())
    throw ValueError("linear: x {} and weight {} must have the same last dimension", to_string(call.operand(0).type()),
                     to_string(call.operand(1).type()));
  Dims shape = call.shape(0);
  shape.pop_back();
  if (call.rank(1) == 2) shape.push_back(call.shape(1)[0]);
  checked_numel(call.name(), shape, size_of(call.dtype(0)));
  if (call.has(2)) {
    check_product_dtypes(call, 0, 2);
    if (broadcast(call.name(), call.shape(2), shape) != shape)
      throw ValueError("linear: bias {} does not broadcast to the shape of the result, {}",
                       to_string(call.operand(2).type()), to_string(DimsView(shape)));
  }
  return {{call.dtype(0), shape}};
}

// The products are arranged so that the gradient of the weight has the strides of a weight.
Values linear_gradient(Emitter& e, const GradientCall& call, std::span<const Value> g) {
  const Dims& x = call.shape(0);
  const Dims& weight = call.shape(1);
  const Dims matrix{weight.rank() == 2 ? weight[0] : SymInt(1), weight.back()};
  const SymInt rows = numel(DimsView(x).first(x.size() - 1));
  const Value g_matrix = e.reshape(g[0], {rows, matrix[0]});
  Values result(3);
  if (call.needs(0)) result[0] = e.reshape(product(e, "linear", g_matrix, e.reshape(call.in(1), matrix)), x);
  if (call.needs(1)) {
    const Value inputs = e.reshape(call.in(0), {rows, matrix[1]});
    result[1] = e.reshape(product(e, "linear", e.transpose(g_matrix, 0, 1), inputs), weight);
  }
  if (call.needs(2)) result[2] = g[0];
  return result;
}

Op linear() {
  return {
      .signature = "linear(x, weight, bias? = None)",
      .doc = R"(Computes x @ weight.T + bias, the function of a Linear layer. `x` is [..., in] and `weight` [out, in],
or [in] for a single output without a dimension; `bias` broadcasts to the result [..., out]. All operands must have
the same dtype.

>>> lucid.linear(lucid.tensor([1., 2.]), lucid.tensor([[3., 4.]]), lucid.tensor([10.]))
tensor([21.]))",
      .dtypes = kNumbers,
      .infer = linear_type,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const Value result = product(e, call.name(), in[0], call.rank(1) == 2 ? e.transpose(in[1], 0, 1) : in[1]);
        return {call.has(2) ? e.add(result, e.expand(in[2], result.shape())) : result};
      },
      .gradient = {.rule = linear_gradient, .saved_inputs = {{0, {1}}, {1, {0}}}},
      .samples = {{{normal({3, 5}), normal({4, 5}), normal({4})}},
                  {{normal({2, 3, 5}), normal({4, 5}), absent()}},
                  {{normal({5}), normal({4, 5}), normal({4})}},
                  {{normal({3, 5}), normal({5}), normal({})}}},
  };
}

Op bilinear() {
  return {
      .signature = "bilinear(x, y, weight, bias? = None)",
      .doc = R"(Computes x @ weight[o] @ y + bias[o] for each output o, over the last dimensions of `x` [..., i] and
`y` [..., j]. `weight` is [o, i, j] and the result [..., o]. All operands must have the same dtype.

>>> lucid.bilinear(lucid.ones(5, 2), lucid.ones(5, 3), lucid.ones(4, 2, 3)).shape
(5, 4))",
      .dtypes = kNumbers,
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        check_product_dtypes(call, 0, 1);
        check_product_dtypes(call, 0, 2);
        const Dims& x = call.shape(0);
        const Dims& y = call.shape(1);
        const Dims& w = call.shape(2);
        Dims batch = x;
        Dims other = y;
        if (!x.empty()) batch.pop_back();
        if (!y.empty()) other.pop_back();
        if (x.empty() || w.rank() != 3 || batch != other || x.back() != w[1] || y.back() != w[2])
          throw ValueError("bilinear: expected x [..., i], y [..., j] and weight [o, i, j], got {}, {} and {}",
                           to_string(call.operand(0).type()), to_string(call.operand(1).type()),
                           to_string(call.operand(2).type()));
        const SymInt rows = numel(batch);
        const Value spread = e.reshape(e.permute(in[2], {1, 0, 2}), {w[1], w[0] * w[2]});
        const Value partial = e.matmul(e.reshape(in[0], {rows, w[1]}), spread);
        const Value sums = e.bmm(e.reshape(partial, {rows, w[0], w[2]}), e.reshape(in[1], {rows, w[2], 1}));
        batch.push_back(w[0]);
        const Value result = e.reshape(sums, batch);
        if (!call.has(3)) return {result};
        check_product_dtypes(call, 0, 3);
        return {e.add(result, e.expand(in[3], batch))};
      },
      .samples = {{{normal({3, 2}), normal({3, 5}), normal({4, 2, 5}), normal({4})}},
                  {{normal({2, 3, 2}), normal({2, 3, 5}), normal({4, 2, 5}), absent()}}},
  };
}

}  // namespace

void add_linalg_ops(std::vector<Op>& ops) {
  for (auto make : {bmm, matmul, mm, mv, dot, vdot, outer, inner, addmm, addmv, baddbmm, linear, bilinear})
    ops.push_back(make());
}

}  // namespace lucid
