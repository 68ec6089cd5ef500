// Generated from the op table by tools/generate; do not edit.
// clang-format off

#include <limits>

#include "ir/emitter.h"
#include "ops/table.h"

namespace lucid {
namespace {

template <typename T>
Attribute attribute_of(const T& value) {
  return value;
}

template <typename T>
Attribute attribute_of(const std::optional<T>& value) {
  return value ? Attribute(*value) : Attribute();
}

constexpr std::string_view kSignatures[] = {
    R"(abs(x))",
    R"(acos(x))",
    R"(acosh(x))",
    R"(add(x, y))",
    R"(addcdiv(x, tensor1, tensor2, *, value: float = 1.0))",
    R"(addcmul(x, tensor1, tensor2, *, value: float = 1.0))",
    R"(all(x, dim: ints? = None, keepdim: bool = False))",
    R"(amax(x, dim: ints? = None, keepdim: bool = False))",
    R"(amin(x, dim: ints? = None, keepdim: bool = False))",
    R"(any(x, dim: ints? = None, keepdim: bool = False))",
    R"(argmax(x, dim: int? = None, keepdim: bool = False))",
    R"(argmin(x, dim: int? = None, keepdim: bool = False))",
    R"(asin(x))",
    R"(asinh(x))",
    R"(atan(x))",
    R"(atan2(y, x))",
    R"(atanh(x))",
    R"(bitwise_and(x, y))",
    R"(bitwise_left_shift(x, y))",
    R"(bitwise_not(x))",
    R"(bitwise_or(x, y))",
    R"(bitwise_right_shift(x, y))",
    R"(bitwise_xor(x, y))",
    R"(broadcast_to(x, size: ints*))",
    R"(cat(tensors: tensors, dim: int = 0))",
    R"(cat_same(tensors: tensors, dim: int = 0))",
    R"(ceil(x))",
    R"(celu(x, alpha: float = 1.0))",
    R"(chunk(x, chunks: int, dim: int = 0) -> tensors)",
    R"(clamp(x, min? = None, max? = None))",
    R"(clip(x, min? = None, max? = None))",
    R"(clone(x))",
    R"(constant_pad(x, pad: ints, value: float = 0.0))",
    R"(contiguous(x))",
    R"(cos(x))",
    R"(cosh(x))",
    R"(count_nonzero(x, dim: ints? = None))",
    R"(cumprod(x, dim: int, *, dtype: dtype? = None))",
    R"(cumsum(x, dim: int, *, dtype: dtype? = None))",
    R"(diag(x, diagonal: int = 0))",
    R"(diagonal(x, offset: int = 0, dim1: int = 0, dim2: int = 1))",
    R"(div(x, y))",
    R"(dstack(tensors: tensors))",
    R"(elu(x, alpha: float = 1.0))",
    R"(embedding(weight, indices))",
    R"(eq(x, y))",
    R"(erf(x))",
    R"(erfc(x))",
    R"(exp(x))",
    R"(exp2(x))",
    R"(expand(x, size: ints*))",
    R"(expm1(x))",
    R"(flatten(x, start_dim: int = 0, end_dim: int = -1))",
    R"(flip(x, dims: ints*))",
    R"(floor(x))",
    R"(floor_divide(x, y))",
    R"(fmod(x, y))",
    R"(full(size: ints, fill_value, *, dtype: dtype? = None))",
    R"(gather(x, dim: int, index))",
    R"(ge(x, y))",
    R"(gelu(x, *, approximate: str = 'none'))",
    R"(gt(x, y))",
    R"(hardshrink(x, lambd: float = 0.5))",
    R"(hardsigmoid(x))",
    R"(hardswish(x))",
    R"(hardtanh(x, min_val: float = -1.0, max_val: float = 1.0))",
    R"(hstack(tensors: tensors))",
    R"(index(x, indices: tensors))",
    R"(index_add(x, dim: int, index, source))",
    R"(index_put(x, values, indices: tensors, accumulate: bool = False))",
    R"(index_put_add(x, values, indices: tensors))",
    R"(index_put_set(x, values, indices: tensors))",
    R"(index_select(x, dim: int, index))",
    R"(iota(size: ints, dim: int = 0))",
    R"(isclose(x, y, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False))",
    R"(isfinite(x))",
    R"(isinf(x))",
    R"(isnan(x))",
    R"(le(x, y))",
    R"(leaky_relu(x, negative_slope: float = 0.01))",
    R"(lerp(x, end, weight))",
    R"(log(x))",
    R"(log10(x))",
    R"(log1p(x))",
    R"(log2(x))",
    R"(log_softmax(x, dim: int = -1, *, dtype: dtype? = None))",
    R"(logical_and(x, y))",
    R"(logical_not(x))",
    R"(logical_or(x, y))",
    R"(logical_xor(x, y))",
    R"(logsigmoid(x))",
    R"(logsumexp(x, dim: ints? = None, keepdim: bool = False))",
    R"(lt(x, y))",
    R"(masked_fill(x, mask, value))",
    R"(masked_select(x, mask))",
    R"(max_dim(x, dim: int, keepdim: bool = False) -> values, indices)",
    R"(maximum(x, y))",
    R"(mean(x, dim: ints? = None, keepdim: bool = False, *, dtype: dtype? = None))",
    R"(meshgrid(tensors: tensors, *, indexing: str = "ij") -> tensors)",
    R"(min_dim(x, dim: int, keepdim: bool = False) -> values, indices)",
    R"(minimum(x, y))",
    R"(mish(x))",
    R"(movedim(x, source: ints, destination: ints))",
    R"(mul(x, y))",
    R"(nan_to_num(x, nan: float = 0.0, posinf: float? = None, neginf: float? = None))",
    R"(nanmean(x, dim: ints? = None, keepdim: bool = False))",
    R"(nansum(x, dim: ints? = None, keepdim: bool = False, *, dtype: dtype? = None))",
    R"(narrow(x, dim: int, start: int, length: int))",
    R"(ne(x, y))",
    R"(neg(x))",
    R"(nonzero(x))",
    R"(norm(x, p: float = 2.0, dim: ints? = None, keepdim: bool = False))",
    R"(one_hot(x, num_classes: int))",
    R"(pad(x, pad: ints, mode: str = "constant", value: float = 0.0))",
    R"(permute(x, dims: ints*))",
    R"(pow(x, y))",
    R"(power(x, y))",
    R"(prod(x, dim: ints? = None, keepdim: bool = False, *, dtype: dtype? = None))",
    R"(reciprocal(x))",
    R"(relu(x))",
    R"(relu6(x))",
    R"(remainder(x, y))",
    R"(repeat(x, repeats: ints*))",
    R"(repeat_interleave(x, repeats: int, dim: int? = None))",
    R"(reshape(x, shape: ints*))",
    R"(roll(x, shifts: ints, dims: ints? = None))",
    R"(roll_one(x, shift: int, dim: int))",
    R"(round(x))",
    R"(rsqrt(x))",
    R"(scatter(x, dim: int, index, src, *, reduce: str? = None))",
    R"(scatter_add(x, dim: int, index, src))",
    R"(scatter_amax(x, dim: int, index, src))",
    R"(scatter_amin(x, dim: int, index, src))",
    R"(scatter_mul(x, dim: int, index, src))",
    R"(scatter_reduce(x, dim: int, index, src, reduce: str, *, include_self: bool = True))",
    R"(scatter_set(x, dim: int, index, src))",
    R"(select(x, dim: int, index: int))",
    R"(selu(x))",
    R"(sigmoid(x))",
    R"(sign(x))",
    R"(silu(x))",
    R"(sin(x))",
    R"(sinh(x))",
    R"(slice(x, dim: int = 0, start: int? = None, end: int? = None, step: int = 1))",
    R"(softmax(x, dim: int = -1, *, dtype: dtype? = None))",
    R"(softplus(x, beta: float = 1.0, threshold: float = 20.0))",
    R"(softshrink(x, lambd: float = 0.5))",
    R"(softsign(x))",
    R"(split(x, split_size: ints, dim: int = 0) -> tensors)",
    R"(sqrt(x))",
    R"(square(x))",
    R"(squeeze(x, dim: ints? = None))",
    R"(stack(tensors: tensors, dim: int = 0))",
    R"(std(x, dim: ints? = None, keepdim: bool = False, *, correction: float = 1.0))",
    R"(sub(x, y))",
    R"(sum(x, dim: ints? = None, keepdim: bool = False, *, dtype: dtype? = None))",
    R"(swapaxes(x, dim0: int, dim1: int))",
    R"(swapdims(x, dim0: int, dim1: int))",
    R"(take_along_dim(x, indices, dim: int? = None))",
    R"(tan(x))",
    R"(tanh(x))",
    R"(tanhshrink(x))",
    R"(threshold(x, threshold: float, value: float))",
    R"(tile(x, dims: ints*))",
    R"(to(x, dtype: dtype))",
    R"(transpose(x, dim0: int, dim1: int))",
    R"(tril(x, diagonal: int = 0))",
    R"(triu(x, diagonal: int = 0))",
    R"(trunc(x))",
    R"(unbind(x, dim: int = 0) -> tensors)",
    R"(unflatten(x, dim: int, sizes: ints))",
    R"(unsqueeze(x, dim: int))",
    R"(var(x, dim: ints? = None, keepdim: bool = False, *, correction: float = 1.0))",
    R"(var_mean(x, dim: ints? = None, keepdim: bool = False, *, correction: float = 1.0) -> var, mean)",
    R"(vstack(tensors: tensors))",
    R"(where(condition, x, y))",
};

}  // namespace

std::span<const std::string_view> generated_signatures() { return kSignatures; }

Value Emitter::abs(Operand x) {
  static const Op& this_op = op_table().at("abs");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::acos(Operand x) {
  static const Op& this_op = op_table().at("acos");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::acosh(Operand x) {
  static const Op& this_op = op_table().at("acosh");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::add(Operand x, Operand y) {
  static const Op& this_op = op_table().at("add");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Value Emitter::addcdiv(Operand x, Operand tensor1, Operand tensor2, double value) {
  static const Op& this_op = op_table().at("addcdiv");
  const Operand these[] = {x, tensor1, tensor2};
  return emit_one(this_op, these, {attribute_of(value)});
}

Value Emitter::addcmul(Operand x, Operand tensor1, Operand tensor2, double value) {
  static const Op& this_op = op_table().at("addcmul");
  const Operand these[] = {x, tensor1, tensor2};
  return emit_one(this_op, these, {attribute_of(value)});
}

Value Emitter::all(Operand x, const std::optional<Dims>& dim, bool keepdim) {
  static const Op& this_op = op_table().at("all");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dim), attribute_of(keepdim)});
}

Value Emitter::amax(Operand x, const std::optional<Dims>& dim, bool keepdim) {
  static const Op& this_op = op_table().at("amax");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dim), attribute_of(keepdim)});
}

Value Emitter::amin(Operand x, const std::optional<Dims>& dim, bool keepdim) {
  static const Op& this_op = op_table().at("amin");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dim), attribute_of(keepdim)});
}

Value Emitter::any(Operand x, const std::optional<Dims>& dim, bool keepdim) {
  static const Op& this_op = op_table().at("any");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dim), attribute_of(keepdim)});
}

Value Emitter::argmax(Operand x, std::optional<int64_t> dim, bool keepdim) {
  static const Op& this_op = op_table().at("argmax");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dim), attribute_of(keepdim)});
}

Value Emitter::argmin(Operand x, std::optional<int64_t> dim, bool keepdim) {
  static const Op& this_op = op_table().at("argmin");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dim), attribute_of(keepdim)});
}

Value Emitter::asin(Operand x) {
  static const Op& this_op = op_table().at("asin");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::asinh(Operand x) {
  static const Op& this_op = op_table().at("asinh");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::atan(Operand x) {
  static const Op& this_op = op_table().at("atan");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::atan2(Operand y, Operand x) {
  static const Op& this_op = op_table().at("atan2");
  const Operand these[] = {y, x};
  return emit_one(this_op, these, {});
}

Value Emitter::atanh(Operand x) {
  static const Op& this_op = op_table().at("atanh");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::bitwise_and(Operand x, Operand y) {
  static const Op& this_op = op_table().at("bitwise_and");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Value Emitter::bitwise_left_shift(Operand x, Operand y) {
  static const Op& this_op = op_table().at("bitwise_left_shift");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Value Emitter::bitwise_not(Operand x) {
  static const Op& this_op = op_table().at("bitwise_not");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::bitwise_or(Operand x, Operand y) {
  static const Op& this_op = op_table().at("bitwise_or");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Value Emitter::bitwise_right_shift(Operand x, Operand y) {
  static const Op& this_op = op_table().at("bitwise_right_shift");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Value Emitter::bitwise_xor(Operand x, Operand y) {
  static const Op& this_op = op_table().at("bitwise_xor");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Value Emitter::broadcast_to(Operand x, const Dims& size) {
  static const Op& this_op = op_table().at("broadcast_to");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(size)});
}

Value Emitter::cat(std::span<const Value> tensors, int64_t dim) {
  static const Op& this_op = op_table().at("cat");
  std::vector<Operand> these;
  these.insert(these.end(), tensors.begin(), tensors.end());
  return emit_one(this_op, these, {attribute_of(dim)});
}

Value Emitter::cat_same(std::span<const Value> tensors, int64_t dim) {
  static const Op& this_op = op_table().at("cat_same");
  std::vector<Operand> these;
  these.insert(these.end(), tensors.begin(), tensors.end());
  return emit_one(this_op, these, {attribute_of(dim)});
}

Value Emitter::ceil(Operand x) {
  static const Op& this_op = op_table().at("ceil");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::celu(Operand x, double alpha) {
  static const Op& this_op = op_table().at("celu");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(alpha)});
}

Values Emitter::chunk(Operand x, int64_t chunks, int64_t dim) {
  static const Op& this_op = op_table().at("chunk");
  const Operand these[] = {x};
  return emit(this_op, these, {attribute_of(chunks), attribute_of(dim)});
}

Value Emitter::clamp(Operand x, Operand min, Operand max) {
  static const Op& this_op = op_table().at("clamp");
  const Operand these[] = {x, min, max};
  return emit_one(this_op, these, {});
}

Value Emitter::clip(Operand x, Operand min, Operand max) {
  static const Op& this_op = op_table().at("clip");
  const Operand these[] = {x, min, max};
  return emit_one(this_op, these, {});
}

Value Emitter::clone(Operand x) {
  static const Op& this_op = op_table().at("clone");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::constant_pad(Operand x, const Dims& pad, double value) {
  static const Op& this_op = op_table().at("constant_pad");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(pad), attribute_of(value)});
}

Value Emitter::contiguous(Operand x) {
  static const Op& this_op = op_table().at("contiguous");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::cos(Operand x) {
  static const Op& this_op = op_table().at("cos");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::cosh(Operand x) {
  static const Op& this_op = op_table().at("cosh");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::count_nonzero(Operand x, const std::optional<Dims>& dim) {
  static const Op& this_op = op_table().at("count_nonzero");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dim)});
}

Value Emitter::cumprod(Operand x, int64_t dim, std::optional<Dtype> dtype) {
  static const Op& this_op = op_table().at("cumprod");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dim), attribute_of(dtype)});
}

Value Emitter::cumsum(Operand x, int64_t dim, std::optional<Dtype> dtype) {
  static const Op& this_op = op_table().at("cumsum");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dim), attribute_of(dtype)});
}

Value Emitter::diag(Operand x, int64_t diagonal) {
  static const Op& this_op = op_table().at("diag");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(diagonal)});
}

Value Emitter::diagonal(Operand x, int64_t offset, int64_t dim1, int64_t dim2) {
  static const Op& this_op = op_table().at("diagonal");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(offset), attribute_of(dim1), attribute_of(dim2)});
}

Value Emitter::div(Operand x, Operand y) {
  static const Op& this_op = op_table().at("div");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Value Emitter::dstack(std::span<const Value> tensors) {
  static const Op& this_op = op_table().at("dstack");
  std::vector<Operand> these;
  these.insert(these.end(), tensors.begin(), tensors.end());
  return emit_one(this_op, these, {});
}

Value Emitter::elu(Operand x, double alpha) {
  static const Op& this_op = op_table().at("elu");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(alpha)});
}

Value Emitter::embedding(Operand weight, Operand indices) {
  static const Op& this_op = op_table().at("embedding");
  const Operand these[] = {weight, indices};
  return emit_one(this_op, these, {});
}

Value Emitter::eq(Operand x, Operand y) {
  static const Op& this_op = op_table().at("eq");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Value Emitter::erf(Operand x) {
  static const Op& this_op = op_table().at("erf");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::erfc(Operand x) {
  static const Op& this_op = op_table().at("erfc");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::exp(Operand x) {
  static const Op& this_op = op_table().at("exp");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::exp2(Operand x) {
  static const Op& this_op = op_table().at("exp2");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::expand(Operand x, const Dims& size) {
  static const Op& this_op = op_table().at("expand");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(size)});
}

Value Emitter::expm1(Operand x) {
  static const Op& this_op = op_table().at("expm1");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::flatten(Operand x, int64_t start_dim, int64_t end_dim) {
  static const Op& this_op = op_table().at("flatten");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(start_dim), attribute_of(end_dim)});
}

Value Emitter::flip(Operand x, const Dims& dims) {
  static const Op& this_op = op_table().at("flip");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dims)});
}

Value Emitter::floor(Operand x) {
  static const Op& this_op = op_table().at("floor");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::floor_divide(Operand x, Operand y) {
  static const Op& this_op = op_table().at("floor_divide");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Value Emitter::fmod(Operand x, Operand y) {
  static const Op& this_op = op_table().at("fmod");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Value Emitter::full(const Dims& size, Operand fill_value, std::optional<Dtype> dtype) {
  static const Op& this_op = op_table().at("full");
  const Operand these[] = {fill_value};
  return emit_one(this_op, these, {attribute_of(size), attribute_of(dtype)});
}

Value Emitter::gather(Operand x, int64_t dim, Operand index) {
  static const Op& this_op = op_table().at("gather");
  const Operand these[] = {x, index};
  return emit_one(this_op, these, {attribute_of(dim)});
}

Value Emitter::ge(Operand x, Operand y) {
  static const Op& this_op = op_table().at("ge");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Value Emitter::gelu(Operand x, const std::string& approximate) {
  static const Op& this_op = op_table().at("gelu");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(approximate)});
}

Value Emitter::gt(Operand x, Operand y) {
  static const Op& this_op = op_table().at("gt");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Value Emitter::hardshrink(Operand x, double lambd) {
  static const Op& this_op = op_table().at("hardshrink");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(lambd)});
}

Value Emitter::hardsigmoid(Operand x) {
  static const Op& this_op = op_table().at("hardsigmoid");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::hardswish(Operand x) {
  static const Op& this_op = op_table().at("hardswish");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::hardtanh(Operand x, double min_val, double max_val) {
  static const Op& this_op = op_table().at("hardtanh");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(min_val), attribute_of(max_val)});
}

Value Emitter::hstack(std::span<const Value> tensors) {
  static const Op& this_op = op_table().at("hstack");
  std::vector<Operand> these;
  these.insert(these.end(), tensors.begin(), tensors.end());
  return emit_one(this_op, these, {});
}

Value Emitter::index(Operand x, std::span<const Value> indices) {
  static const Op& this_op = op_table().at("index");
  std::vector<Operand> these;
  these.push_back(x);
  these.insert(these.end(), indices.begin(), indices.end());
  return emit_one(this_op, these, {});
}

Value Emitter::index_add(Operand x, int64_t dim, Operand index, Operand source) {
  static const Op& this_op = op_table().at("index_add");
  const Operand these[] = {x, index, source};
  return emit_one(this_op, these, {attribute_of(dim)});
}

Value Emitter::index_put(Operand x, Operand values, std::span<const Value> indices, bool accumulate) {
  static const Op& this_op = op_table().at("index_put");
  std::vector<Operand> these;
  these.push_back(x);
  these.push_back(values);
  these.insert(these.end(), indices.begin(), indices.end());
  return emit_one(this_op, these, {attribute_of(accumulate)});
}

Value Emitter::index_put_add(Operand x, Operand values, std::span<const Value> indices) {
  static const Op& this_op = op_table().at("index_put_add");
  std::vector<Operand> these;
  these.push_back(x);
  these.push_back(values);
  these.insert(these.end(), indices.begin(), indices.end());
  return emit_one(this_op, these, {});
}

Value Emitter::index_put_set(Operand x, Operand values, std::span<const Value> indices) {
  static const Op& this_op = op_table().at("index_put_set");
  std::vector<Operand> these;
  these.push_back(x);
  these.push_back(values);
  these.insert(these.end(), indices.begin(), indices.end());
  return emit_one(this_op, these, {});
}

Value Emitter::index_select(Operand x, int64_t dim, Operand index) {
  static const Op& this_op = op_table().at("index_select");
  const Operand these[] = {x, index};
  return emit_one(this_op, these, {attribute_of(dim)});
}

Value Emitter::iota(const Dims& size, int64_t dim) {
  static const Op& this_op = op_table().at("iota");
  return emit_one(this_op, {}, {attribute_of(size), attribute_of(dim)});
}

Value Emitter::isclose(Operand x, Operand y, double rtol, double atol, bool equal_nan) {
  static const Op& this_op = op_table().at("isclose");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {attribute_of(rtol), attribute_of(atol), attribute_of(equal_nan)});
}

Value Emitter::isfinite(Operand x) {
  static const Op& this_op = op_table().at("isfinite");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::isinf(Operand x) {
  static const Op& this_op = op_table().at("isinf");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::isnan(Operand x) {
  static const Op& this_op = op_table().at("isnan");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::le(Operand x, Operand y) {
  static const Op& this_op = op_table().at("le");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Value Emitter::leaky_relu(Operand x, double negative_slope) {
  static const Op& this_op = op_table().at("leaky_relu");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(negative_slope)});
}

Value Emitter::lerp(Operand x, Operand end, Operand weight) {
  static const Op& this_op = op_table().at("lerp");
  const Operand these[] = {x, end, weight};
  return emit_one(this_op, these, {});
}

Value Emitter::log(Operand x) {
  static const Op& this_op = op_table().at("log");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::log10(Operand x) {
  static const Op& this_op = op_table().at("log10");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::log1p(Operand x) {
  static const Op& this_op = op_table().at("log1p");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::log2(Operand x) {
  static const Op& this_op = op_table().at("log2");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::log_softmax(Operand x, int64_t dim, std::optional<Dtype> dtype) {
  static const Op& this_op = op_table().at("log_softmax");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dim), attribute_of(dtype)});
}

Value Emitter::logical_and(Operand x, Operand y) {
  static const Op& this_op = op_table().at("logical_and");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Value Emitter::logical_not(Operand x) {
  static const Op& this_op = op_table().at("logical_not");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::logical_or(Operand x, Operand y) {
  static const Op& this_op = op_table().at("logical_or");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Value Emitter::logical_xor(Operand x, Operand y) {
  static const Op& this_op = op_table().at("logical_xor");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Value Emitter::logsigmoid(Operand x) {
  static const Op& this_op = op_table().at("logsigmoid");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::logsumexp(Operand x, const std::optional<Dims>& dim, bool keepdim) {
  static const Op& this_op = op_table().at("logsumexp");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dim), attribute_of(keepdim)});
}

Value Emitter::lt(Operand x, Operand y) {
  static const Op& this_op = op_table().at("lt");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Value Emitter::masked_fill(Operand x, Operand mask, Operand value) {
  static const Op& this_op = op_table().at("masked_fill");
  const Operand these[] = {x, mask, value};
  return emit_one(this_op, these, {});
}

Value Emitter::masked_select(Operand x, Operand mask) {
  static const Op& this_op = op_table().at("masked_select");
  const Operand these[] = {x, mask};
  return emit_one(this_op, these, {});
}

Values Emitter::max_dim(Operand x, int64_t dim, bool keepdim) {
  static const Op& this_op = op_table().at("max_dim");
  const Operand these[] = {x};
  return emit(this_op, these, {attribute_of(dim), attribute_of(keepdim)});
}

Value Emitter::maximum(Operand x, Operand y) {
  static const Op& this_op = op_table().at("maximum");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Value Emitter::mean(Operand x, const std::optional<Dims>& dim, bool keepdim, std::optional<Dtype> dtype) {
  static const Op& this_op = op_table().at("mean");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dim), attribute_of(keepdim), attribute_of(dtype)});
}

Values Emitter::meshgrid(std::span<const Value> tensors, const std::string& indexing) {
  static const Op& this_op = op_table().at("meshgrid");
  std::vector<Operand> these;
  these.insert(these.end(), tensors.begin(), tensors.end());
  return emit(this_op, these, {attribute_of(indexing)});
}

Values Emitter::min_dim(Operand x, int64_t dim, bool keepdim) {
  static const Op& this_op = op_table().at("min_dim");
  const Operand these[] = {x};
  return emit(this_op, these, {attribute_of(dim), attribute_of(keepdim)});
}

Value Emitter::minimum(Operand x, Operand y) {
  static const Op& this_op = op_table().at("minimum");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Value Emitter::mish(Operand x) {
  static const Op& this_op = op_table().at("mish");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::movedim(Operand x, const Dims& source, const Dims& destination) {
  static const Op& this_op = op_table().at("movedim");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(source), attribute_of(destination)});
}

Value Emitter::mul(Operand x, Operand y) {
  static const Op& this_op = op_table().at("mul");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Value Emitter::nan_to_num(Operand x, double nan, std::optional<double> posinf, std::optional<double> neginf) {
  static const Op& this_op = op_table().at("nan_to_num");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(nan), attribute_of(posinf), attribute_of(neginf)});
}

Value Emitter::nanmean(Operand x, const std::optional<Dims>& dim, bool keepdim) {
  static const Op& this_op = op_table().at("nanmean");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dim), attribute_of(keepdim)});
}

Value Emitter::nansum(Operand x, const std::optional<Dims>& dim, bool keepdim, std::optional<Dtype> dtype) {
  static const Op& this_op = op_table().at("nansum");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dim), attribute_of(keepdim), attribute_of(dtype)});
}

Value Emitter::narrow(Operand x, int64_t dim, int64_t start, int64_t length) {
  static const Op& this_op = op_table().at("narrow");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dim), attribute_of(start), attribute_of(length)});
}

Value Emitter::ne(Operand x, Operand y) {
  static const Op& this_op = op_table().at("ne");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Value Emitter::neg(Operand x) {
  static const Op& this_op = op_table().at("neg");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::nonzero(Operand x) {
  static const Op& this_op = op_table().at("nonzero");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::norm(Operand x, double p, const std::optional<Dims>& dim, bool keepdim) {
  static const Op& this_op = op_table().at("norm");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(p), attribute_of(dim), attribute_of(keepdim)});
}

Value Emitter::one_hot(Operand x, int64_t num_classes) {
  static const Op& this_op = op_table().at("one_hot");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(num_classes)});
}

Value Emitter::pad(Operand x, const Dims& pad, const std::string& mode, double value) {
  static const Op& this_op = op_table().at("pad");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(pad), attribute_of(mode), attribute_of(value)});
}

Value Emitter::permute(Operand x, const Dims& dims) {
  static const Op& this_op = op_table().at("permute");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dims)});
}

Value Emitter::pow(Operand x, Operand y) {
  static const Op& this_op = op_table().at("pow");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Value Emitter::power(Operand x, Operand y) {
  static const Op& this_op = op_table().at("power");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Value Emitter::prod(Operand x, const std::optional<Dims>& dim, bool keepdim, std::optional<Dtype> dtype) {
  static const Op& this_op = op_table().at("prod");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dim), attribute_of(keepdim), attribute_of(dtype)});
}

Value Emitter::reciprocal(Operand x) {
  static const Op& this_op = op_table().at("reciprocal");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::relu(Operand x) {
  static const Op& this_op = op_table().at("relu");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::relu6(Operand x) {
  static const Op& this_op = op_table().at("relu6");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::remainder(Operand x, Operand y) {
  static const Op& this_op = op_table().at("remainder");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Value Emitter::repeat(Operand x, const Dims& repeats) {
  static const Op& this_op = op_table().at("repeat");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(repeats)});
}

Value Emitter::repeat_interleave(Operand x, int64_t repeats, std::optional<int64_t> dim) {
  static const Op& this_op = op_table().at("repeat_interleave");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(repeats), attribute_of(dim)});
}

Value Emitter::reshape(Operand x, const Dims& shape) {
  static const Op& this_op = op_table().at("reshape");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(shape)});
}

Value Emitter::roll(Operand x, const Dims& shifts, const std::optional<Dims>& dims) {
  static const Op& this_op = op_table().at("roll");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(shifts), attribute_of(dims)});
}

Value Emitter::roll_one(Operand x, int64_t shift, int64_t dim) {
  static const Op& this_op = op_table().at("roll_one");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(shift), attribute_of(dim)});
}

Value Emitter::round(Operand x) {
  static const Op& this_op = op_table().at("round");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::rsqrt(Operand x) {
  static const Op& this_op = op_table().at("rsqrt");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::scatter(Operand x, int64_t dim, Operand index, Operand src, const std::optional<std::string>& reduce) {
  static const Op& this_op = op_table().at("scatter");
  const Operand these[] = {x, index, src};
  return emit_one(this_op, these, {attribute_of(dim), attribute_of(reduce)});
}

Value Emitter::scatter_add(Operand x, int64_t dim, Operand index, Operand src) {
  static const Op& this_op = op_table().at("scatter_add");
  const Operand these[] = {x, index, src};
  return emit_one(this_op, these, {attribute_of(dim)});
}

Value Emitter::scatter_amax(Operand x, int64_t dim, Operand index, Operand src) {
  static const Op& this_op = op_table().at("scatter_amax");
  const Operand these[] = {x, index, src};
  return emit_one(this_op, these, {attribute_of(dim)});
}

Value Emitter::scatter_amin(Operand x, int64_t dim, Operand index, Operand src) {
  static const Op& this_op = op_table().at("scatter_amin");
  const Operand these[] = {x, index, src};
  return emit_one(this_op, these, {attribute_of(dim)});
}

Value Emitter::scatter_mul(Operand x, int64_t dim, Operand index, Operand src) {
  static const Op& this_op = op_table().at("scatter_mul");
  const Operand these[] = {x, index, src};
  return emit_one(this_op, these, {attribute_of(dim)});
}

Value Emitter::scatter_reduce(Operand x, int64_t dim, Operand index, Operand src, const std::string& reduce, bool include_self) {
  static const Op& this_op = op_table().at("scatter_reduce");
  const Operand these[] = {x, index, src};
  return emit_one(this_op, these, {attribute_of(dim), attribute_of(reduce), attribute_of(include_self)});
}

Value Emitter::scatter_set(Operand x, int64_t dim, Operand index, Operand src) {
  static const Op& this_op = op_table().at("scatter_set");
  const Operand these[] = {x, index, src};
  return emit_one(this_op, these, {attribute_of(dim)});
}

Value Emitter::select(Operand x, int64_t dim, int64_t index) {
  static const Op& this_op = op_table().at("select");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dim), attribute_of(index)});
}

Value Emitter::selu(Operand x) {
  static const Op& this_op = op_table().at("selu");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::sigmoid(Operand x) {
  static const Op& this_op = op_table().at("sigmoid");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::sign(Operand x) {
  static const Op& this_op = op_table().at("sign");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::silu(Operand x) {
  static const Op& this_op = op_table().at("silu");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::sin(Operand x) {
  static const Op& this_op = op_table().at("sin");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::sinh(Operand x) {
  static const Op& this_op = op_table().at("sinh");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::slice(Operand x, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
  static const Op& this_op = op_table().at("slice");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dim), attribute_of(start), attribute_of(end), attribute_of(step)});
}

Value Emitter::softmax(Operand x, int64_t dim, std::optional<Dtype> dtype) {
  static const Op& this_op = op_table().at("softmax");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dim), attribute_of(dtype)});
}

Value Emitter::softplus(Operand x, double beta, double threshold) {
  static const Op& this_op = op_table().at("softplus");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(beta), attribute_of(threshold)});
}

Value Emitter::softshrink(Operand x, double lambd) {
  static const Op& this_op = op_table().at("softshrink");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(lambd)});
}

Value Emitter::softsign(Operand x) {
  static const Op& this_op = op_table().at("softsign");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Values Emitter::split(Operand x, const Dims& split_size, int64_t dim) {
  static const Op& this_op = op_table().at("split");
  const Operand these[] = {x};
  return emit(this_op, these, {attribute_of(split_size), attribute_of(dim)});
}

Value Emitter::sqrt(Operand x) {
  static const Op& this_op = op_table().at("sqrt");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::square(Operand x) {
  static const Op& this_op = op_table().at("square");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::squeeze(Operand x, const std::optional<Dims>& dim) {
  static const Op& this_op = op_table().at("squeeze");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dim)});
}

Value Emitter::stack(std::span<const Value> tensors, int64_t dim) {
  static const Op& this_op = op_table().at("stack");
  std::vector<Operand> these;
  these.insert(these.end(), tensors.begin(), tensors.end());
  return emit_one(this_op, these, {attribute_of(dim)});
}

Value Emitter::std(Operand x, const std::optional<Dims>& dim, bool keepdim, double correction) {
  static const Op& this_op = op_table().at("std");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dim), attribute_of(keepdim), attribute_of(correction)});
}

Value Emitter::sub(Operand x, Operand y) {
  static const Op& this_op = op_table().at("sub");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Value Emitter::sum(Operand x, const std::optional<Dims>& dim, bool keepdim, std::optional<Dtype> dtype) {
  static const Op& this_op = op_table().at("sum");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dim), attribute_of(keepdim), attribute_of(dtype)});
}

Value Emitter::swapaxes(Operand x, int64_t dim0, int64_t dim1) {
  static const Op& this_op = op_table().at("swapaxes");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dim0), attribute_of(dim1)});
}

Value Emitter::swapdims(Operand x, int64_t dim0, int64_t dim1) {
  static const Op& this_op = op_table().at("swapdims");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dim0), attribute_of(dim1)});
}

Value Emitter::take_along_dim(Operand x, Operand indices, std::optional<int64_t> dim) {
  static const Op& this_op = op_table().at("take_along_dim");
  const Operand these[] = {x, indices};
  return emit_one(this_op, these, {attribute_of(dim)});
}

Value Emitter::tan(Operand x) {
  static const Op& this_op = op_table().at("tan");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::tanh(Operand x) {
  static const Op& this_op = op_table().at("tanh");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::tanhshrink(Operand x) {
  static const Op& this_op = op_table().at("tanhshrink");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::threshold(Operand x, double threshold, double value) {
  static const Op& this_op = op_table().at("threshold");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(threshold), attribute_of(value)});
}

Value Emitter::tile(Operand x, const Dims& dims) {
  static const Op& this_op = op_table().at("tile");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dims)});
}

Value Emitter::to(Operand x, Dtype dtype) {
  static const Op& this_op = op_table().at("to");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dtype)});
}

Value Emitter::transpose(Operand x, int64_t dim0, int64_t dim1) {
  static const Op& this_op = op_table().at("transpose");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dim0), attribute_of(dim1)});
}

Value Emitter::tril(Operand x, int64_t diagonal) {
  static const Op& this_op = op_table().at("tril");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(diagonal)});
}

Value Emitter::triu(Operand x, int64_t diagonal) {
  static const Op& this_op = op_table().at("triu");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(diagonal)});
}

Value Emitter::trunc(Operand x) {
  static const Op& this_op = op_table().at("trunc");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Values Emitter::unbind(Operand x, int64_t dim) {
  static const Op& this_op = op_table().at("unbind");
  const Operand these[] = {x};
  return emit(this_op, these, {attribute_of(dim)});
}

Value Emitter::unflatten(Operand x, int64_t dim, const Dims& sizes) {
  static const Op& this_op = op_table().at("unflatten");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dim), attribute_of(sizes)});
}

Value Emitter::unsqueeze(Operand x, int64_t dim) {
  static const Op& this_op = op_table().at("unsqueeze");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dim)});
}

Value Emitter::var(Operand x, const std::optional<Dims>& dim, bool keepdim, double correction) {
  static const Op& this_op = op_table().at("var");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dim), attribute_of(keepdim), attribute_of(correction)});
}

Values Emitter::var_mean(Operand x, const std::optional<Dims>& dim, bool keepdim, double correction) {
  static const Op& this_op = op_table().at("var_mean");
  const Operand these[] = {x};
  return emit(this_op, these, {attribute_of(dim), attribute_of(keepdim), attribute_of(correction)});
}

Value Emitter::vstack(std::span<const Value> tensors) {
  static const Op& this_op = op_table().at("vstack");
  std::vector<Operand> these;
  these.insert(these.end(), tensors.begin(), tensors.end());
  return emit_one(this_op, these, {});
}

Value Emitter::where(Operand condition, Operand x, Operand y) {
  static const Op& this_op = op_table().at("where");
  const Operand these[] = {condition, x, y};
  return emit_one(this_op, these, {});
}

}  // namespace lucid
