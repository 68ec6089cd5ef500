// Ops that create tensors from a shape.

#include "ops/reference.h"
#include "ops/rules.h"

namespace lucid {
namespace {

Dtype full_dtype(const Call& call) {
  if (!call.is_none("dtype")) return call.dtype_of("dtype");
  if (call.operand(0).is_scalar() && call.operand(0).scalar().is_float()) return default_float();
  return call.dtype(0);
}

void fill(const HostArray& out, const Scalar& value) {
  for (int64_t i = 0; i < out.size(); ++i)
    value.store(out.type.dtype, out.as<char>() + i * static_cast<int64_t>(size_of(out.type.dtype)));
}

// The value of all elements; see Algebra::fill.
std::optional<Scalar> zero(const Call&) { return 0; }
std::optional<Scalar> one(const Call&) { return 1; }
std::optional<Scalar> fill_value(const Call& call) {
  return call.operand(0).is_scalar() ? std::optional(call.operand(0).scalar()) : std::nullopt;
}

Op full() {
  return {
      .signature = "full(size: ints, fill_value, *, dtype: dtype? = None)",
      .doc =
          R"(Returns a tensor of shape `size` filled with `fill_value`, a number or a 0-d tensor. `dtype` defaults
to the default float dtype if `fill_value` is a floating-point number, and to the dtype of `fill_value` otherwise.

>>> lucid.full((2, 2), 1.5)
tensor([[1.5000, 1.5000],
        [1.5000, 1.5000]]))",
      .names = {.is_factory = true},
      .algebra = {.fill = fill_value},
      .infer = [](const Call& call) -> std::vector<TensorType> {
        if (call.rank(0) != 0)
          throw ValueError("full: fill_value must be a number or a 0-d tensor, got {}",
                           to_string(call.operand(0).type()));
        checked_numel(call.name(), call.ints("size"), size_of(full_dtype(call)));
        return {{full_dtype(call), call.ints("size")}};
      },
      .lowering = IndexedLowering{.body =
                                      [](ElementContext& element, const Call& call) {
                                        return element.builder().convert(element.load(0, {}, {}),
                                                                         compute_dtype(full_dtype(call)));
                                      }},
      .reference =
          [](HostCall& call) {
            fill(call.make_output({full_dtype(call), call.ints("size")}),
                 Scalar::load(call.in(0).type.dtype, call.in(0).data));
          },
      .gradient = {.rule = [](Emitter&, const GradientCall&, std::span<const Value> g) -> Values { return {g[0]}; }},
      .samples = with({{{normal({})}}}, {{"size", Dims{2, 19}}}) + with({{{number(3)}}}, {{"size", Dims{5}}}) +
                 with({{{number(2.5)}}}, {{"size", Dims{}}, {"dtype", Dtype::kI16}}) +
                 with({{{number(true)}}}, {{"size", Dims{0, 3}}}),
  };
}

int64_t iota_axis(const Call& call) { return call.axis("dim", call.ints("size").rank()); }

Op iota() {
  return {
      .signature = "iota(size: ints, dim: axis = 0)",
      .doc = R"(Returns an i64 tensor of shape `size` in which each element is its own index along `dim`.

>>> lucid.iota((2, 3), 1)
tensor([[0, 1, 2],
        [0, 1, 2]]))",
      .names = {.audience = Audience::kOps},
      .infer = [](const Call& call) -> std::vector<TensorType> {
        iota_axis(call);
        checked_numel(call.name(), call.ints("size"), sizeof(int64_t));
        return {{Dtype::kI64, call.ints("size")}};
      },
      .lowering = IndexedLowering{.body =
                                      [](ElementContext& element, const Call& call) {
                                        return call.ints("size").empty() ? element.number(0)
                                                                         : element.index(iota_axis(call));
                                      }},
      .reference =
          [](HostCall& call) {
            const Dims& size = call.ints("size");
            const HostArray out = call.make_output({Dtype::kI64, size});
            const auto axis = static_cast<size_t>(iota_axis(call));
            const int64_t stride = size.empty() ? SymInt(1) : contiguous_strides(size)[axis];
            for (int64_t i = 0; i < out.size(); ++i)
              out.as<int64_t>()[i] = size.empty() ? SymInt(0) : i / stride % size[axis];
          },
      .gradient = zero_gradient(),
      .samples = with({Sample{}}, {{"size", Dims{37}}}) +
                 with({Sample{}}, {{"size", Dims{2, 3, 4}}, {"dim", int64_t{1}}}) +
                 with({Sample{}}, {{"size", Dims{0, 3}}, {"dim", int64_t{-1}}}) + with({Sample{}}, {{"size", Dims{}}}),
  };
}

/// zeros, ones and empty.
Op filled_with(Op op, Scalar value) {
  op.decompose = [value](Emitter& e, const Call& call, std::span<const Value>) -> Values {
    const Dtype dtype = call.is_none("dtype") ? default_float() : call.dtype_of("dtype");
    checked_numel(call.name(), call.ints("size"), size_of(dtype));
    return {e.full(call.ints("size"), value, dtype)};
  };
  op.samples = with({Sample{}}, {{"size", Dims{2, 3}}}) + with({Sample{}}, {{"size", Dims{}}, {"dtype", Dtype::kI32}}) +
               with({Sample{}}, {{"size", Dims{0, 2}}});
  return op;
}

Op zeros() {
  return filled_with(
      {.signature = "zeros(size: ints*, *, dtype: dtype? = None)",
       .doc = R"(Returns a tensor of shape `size` filled with zeros. `dtype` defaults to the default float dtype.

>>> lucid.zeros(2, 3)
tensor([[0., 0., 0.],
        [0., 0., 0.]]))",
       .names = {.is_factory = true},
       .algebra = {.fill = zero}},
      0);
}

Op ones() {
  return filled_with(
      {.signature = "ones(size: ints*, *, dtype: dtype? = None)",
       .doc = R"(Returns a tensor of shape `size` filled with ones. `dtype` defaults to the default float dtype.

>>> lucid.ones(3, dtype=lucid.int64)
tensor([1, 1, 1]))",
       .names = {.is_factory = true},
       .algebra = {.fill = one}},
      1);
}

Op empty() {
  return filled_with(
      {.signature = "empty(size: ints*, *, dtype: dtype? = None)",
       .doc =
           R"(Returns a tensor of shape `size` with unspecified values, to be written later. The values are
currently zeros, but do not rely on it. `dtype` defaults to the default float dtype.

>>> lucid.empty(2, 3).shape
(2, 3))",
       .names = {.is_factory = true}},
      0);
}

Dtype like_dtype(const Call& call) { return call.is_none("dtype") ? call.dtype(0) : call.dtype_of("dtype"); }

/// zeros_like, ones_like and empty_like. They are pointwise, so that their results have the memory layout of x.
Op filled_like(Op op, int value) {
  op.infer = [](const Call& call) -> std::vector<TensorType> { return {{like_dtype(call), call.shape(0)}}; };
  op.lowering = PointwiseLowering{.body = [value](loop::Builder& b, std::span<const loop::Value>, const Call& call) {
    return b.constant(compute_dtype(like_dtype(call)), value);
  }};
  op.reference = [value](HostCall& call) { fill(call.make_output({like_dtype(call), call.shape(0)}), value); };
  op.ignores_values = true;
  op.samples = std::vector<Sample>{{{normal({2, 3})}}, {{normal({})}}, {{strided({2, 3}, {1, 2})}}} +
               with({{{normal({0, 2})}}}, {{"dtype", Dtype::kI32}});
  return op;
}

Op zeros_like() {
  return filled_like(
      {.signature = "zeros_like(x, *, dtype: dtype? = None)",
       .doc =
           R"(Returns a tensor of zeros with the shape and memory layout of `x`. `dtype` defaults to the dtype of
`x`.

>>> lucid.zeros_like(lucid.tensor([1, 2]))
tensor([0, 0]))",
       .names = {.is_factory = true},
       .algebra = {.fill = zero}},
      0);
}

Op ones_like() {
  return filled_like(
      {.signature = "ones_like(x, *, dtype: dtype? = None)",
       .doc = R"(Returns a tensor of ones with the shape and memory layout of `x`. `dtype` defaults to the dtype of
`x`.

>>> lucid.ones_like(lucid.tensor([1, 2]))
tensor([1, 1]))",
       .names = {.is_factory = true},
       .algebra = {.fill = one}},
      1);
}

Op empty_like() {
  return filled_like(
      {.signature = "empty_like(x, *, dtype: dtype? = None)",
       .doc =
           R"(Returns a tensor of unspecified values with the shape and memory layout of `x`, to be written later.
The values are currently zeros, but do not rely on it. `dtype` defaults to the dtype of `x`.

>>> lucid.empty_like(lucid.tensor([1, 2])).shape
(2,))",
       .names = {.is_factory = true}},
      0);
}

Op full_like() {
  return {
      .signature = "full_like(x, fill_value, *, dtype: dtype? = None)",
      .doc =
          R"(Returns a tensor with the shape and memory layout of `x`, filled with `fill_value`, a number or a 0-d
tensor. `dtype` defaults to the dtype of `x`.

>>> lucid.full_like(lucid.tensor([1, 2]), 5)
tensor([5, 5]))",
      .names = {.is_factory = true},
      .infer = [](const Call& call) -> std::vector<TensorType> {
        if (call.rank(1) != 0)
          throw ValueError("full_like: fill_value must be a number or a 0-d tensor, got {}",
                           to_string(call.operand(1).type()));
        return {{like_dtype(call), call.shape(0)}};
      },
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> inputs) -> Values {
        const Value value = e.full(Dims{}, argument(call, inputs, 1), like_dtype(call));
        // Elementwise with x, so that the result has its layout. Both branches are the value.
        return {e.where(e.zeros_like(inputs[0], Dtype::kBool), value, value)};
      },
      .samples =
          std::vector<Sample>{
              {{normal({2, 3}), number(2)}}, {{strided({2, 3}, {1, 2}), number(-1)}}, {{normal({2}), normal({})}}} +
          with({{{normal({2}), number(1.5)}}}, {{"dtype", Dtype::kF64}}),
  };
}

Op eye() {
  return {
      .signature = "eye(n: int, m: int? = None, *, dtype: dtype? = None)",
      .doc =
          R"(Returns the matrix of `n` rows and `m` columns with ones on the main diagonal and zeros elsewhere. `m`
defaults to `n` and `dtype` to the default float dtype.

>>> lucid.eye(2)
tensor([[1., 0.],
        [0., 1.]]))",
      .names = {.is_factory = true},
      .decompose = [](Emitter& e, const Call& call, std::span<const Value>) -> Values {
        const Dtype dtype = call.is_none("dtype") ? default_float() : call.dtype_of("dtype");
        const Dims size{call.integer("n"), call.is_none("m") ? call.integer("n") : call.integer("m")};
        checked_numel(call.name(), size, size_of(dtype));
        return {e.cast(e.eq(e.iota(size, 0), e.iota(size, 1)), dtype)};
      },
      .samples = with({Sample{}}, {{"n", int64_t{3}}}) +
                 with({Sample{}}, {{"n", int64_t{2}}, {"m", int64_t{19}}, {"dtype", Dtype::kI64}}) +
                 with({Sample{}}, {{"n", int64_t{0}}}),
  };
}

}  // namespace

void add_create_ops(std::vector<Op>& ops) {
  for (auto make : {full, iota, zeros, ones, empty, zeros_like, ones_like, empty_like, full_like, eye})
    ops.push_back(make());
}

}  // namespace lucid
