// Generated from the op table by tools/generate; do not edit.
// clang-format off

#include <lucid/ops.h>

#include "tensor/api.h"
#include "tensor/eager.h"

namespace lucid {
namespace {

Dims dims_of(const Shape& shape) { return Dims(shape.begin(), shape.end()); }

std::optional<Dims> dims_of(const std::optional<Shape>& shape) {
  return shape ? std::optional(dims_of(*shape)) : std::nullopt;
}

Values values_of(const std::vector<Tensor>& tensors) {
  Values values;
  for (const Tensor& tensor : tensors) values.push_back(value_of(tensor));
  return values;
}

}  // namespace

Tensor abs(const Argument& x) {
  return wrap(eager().abs(operand_of(x)));
}

Tensor acos(const Argument& x) {
  return wrap(eager().acos(operand_of(x)));
}

Tensor acosh(const Argument& x) {
  return wrap(eager().acosh(operand_of(x)));
}

Tensor adaptive_avg_pool1d(const Argument& x, const Shape& output_size) {
  return wrap(eager().adaptive_avg_pool1d(operand_of(x), dims_of(output_size)));
}

Tensor adaptive_avg_pool2d(const Argument& x, const Shape& output_size) {
  return wrap(eager().adaptive_avg_pool2d(operand_of(x), dims_of(output_size)));
}

Tensor adaptive_avg_pool3d(const Argument& x, const Shape& output_size) {
  return wrap(eager().adaptive_avg_pool3d(operand_of(x), dims_of(output_size)));
}

std::vector<Tensor> adaptive_max_pool1d_with_indices(const Argument& x, const Shape& output_size) {
  return wrap(eager().adaptive_max_pool1d_with_indices(operand_of(x), dims_of(output_size)));
}

std::vector<Tensor> adaptive_max_pool2d_with_indices(const Argument& x, const Shape& output_size) {
  return wrap(eager().adaptive_max_pool2d_with_indices(operand_of(x), dims_of(output_size)));
}

std::vector<Tensor> adaptive_max_pool3d_with_indices(const Argument& x, const Shape& output_size) {
  return wrap(eager().adaptive_max_pool3d_with_indices(operand_of(x), dims_of(output_size)));
}

Tensor add(const Argument& x, const Argument& y) {
  return wrap(eager().add(operand_of(x), operand_of(y)));
}

Tensor addcdiv(const Argument& x, const Argument& tensor1, const Argument& tensor2, double value) {
  return wrap(eager().addcdiv(operand_of(x), operand_of(tensor1), operand_of(tensor2), value));
}

Tensor addcmul(const Argument& x, const Argument& tensor1, const Argument& tensor2, double value) {
  return wrap(eager().addcmul(operand_of(x), operand_of(tensor1), operand_of(tensor2), value));
}

Tensor addmm(const Argument& x, const Argument& mat1, const Argument& mat2, double beta, double alpha) {
  return wrap(eager().addmm(operand_of(x), operand_of(mat1), operand_of(mat2), beta, alpha));
}

Tensor addmv(const Argument& x, const Argument& mat, const Argument& vector, double beta, double alpha) {
  return wrap(eager().addmv(operand_of(x), operand_of(mat), operand_of(vector), beta, alpha));
}

Tensor affine_grid(const Argument& theta, const Shape& size, bool align_corners) {
  return wrap(eager().affine_grid(operand_of(theta), dims_of(size), align_corners));
}

Tensor all(const Argument& x, const std::optional<Shape>& dim, bool keepdim) {
  return wrap(eager().all(operand_of(x), dims_of(dim), keepdim));
}

Tensor amax(const Argument& x, const std::optional<Shape>& dim, bool keepdim) {
  return wrap(eager().amax(operand_of(x), dims_of(dim), keepdim));
}

Tensor amin(const Argument& x, const std::optional<Shape>& dim, bool keepdim) {
  return wrap(eager().amin(operand_of(x), dims_of(dim), keepdim));
}

Tensor any(const Argument& x, const std::optional<Shape>& dim, bool keepdim) {
  return wrap(eager().any(operand_of(x), dims_of(dim), keepdim));
}

Tensor arange(const Argument& start, const Argument& end, const Argument& step, std::optional<Dtype> dtype) {
  return wrap(eager().arange(operand_of(start), operand_of(end), operand_of(step), dtype));
}

Tensor argmax(const Argument& x, std::optional<int64_t> dim, bool keepdim) {
  return wrap(eager().argmax(operand_of(x), dim, keepdim));
}

Tensor argmin(const Argument& x, std::optional<int64_t> dim, bool keepdim) {
  return wrap(eager().argmin(operand_of(x), dim, keepdim));
}

Tensor argsort(const Argument& x, int64_t dim, bool descending, bool stable) {
  return wrap(eager().argsort(operand_of(x), dim, descending, stable));
}

Tensor asin(const Argument& x) {
  return wrap(eager().asin(operand_of(x)));
}

Tensor asinh(const Argument& x) {
  return wrap(eager().asinh(operand_of(x)));
}

Tensor atan(const Argument& x) {
  return wrap(eager().atan(operand_of(x)));
}

Tensor atan2(const Argument& y, const Argument& x) {
  return wrap(eager().atan2(operand_of(y), operand_of(x)));
}

Tensor atanh(const Argument& x) {
  return wrap(eager().atanh(operand_of(x)));
}

std::vector<Tensor> attention(const Argument& q, const Argument& k, const Argument& v, const Argument& mask, bool causal, double scale) {
  return wrap(eager().attention(operand_of(q), operand_of(k), operand_of(v), operand_of(mask), causal, scale));
}

std::vector<Tensor> attention_backward(const Argument& g, const Argument& logsumexp_gradient, const Argument& q, const Argument& k, const Argument& v, const Argument& mask, const Argument& output, const Argument& logsumexp, bool causal, double scale, bool for_mask) {
  return wrap(eager().attention_backward(operand_of(g), operand_of(logsumexp_gradient), operand_of(q), operand_of(k), operand_of(v), operand_of(mask), operand_of(output), operand_of(logsumexp), causal, scale, for_mask));
}

Tensor attention_weights(const Argument& query, const Argument& key, const Argument& attn_mask, bool is_causal, std::optional<double> scale) {
  return wrap(eager().attention_weights(operand_of(query), operand_of(key), operand_of(attn_mask), is_causal, scale));
}

Tensor avg_pool1d(const Argument& x, const Shape& kernel_size, const std::optional<Shape>& stride, const Shape& padding, bool ceil_mode, bool count_include_pad) {
  return wrap(eager().avg_pool1d(operand_of(x), dims_of(kernel_size), dims_of(stride), dims_of(padding), ceil_mode, count_include_pad));
}

Tensor avg_pool2d(const Argument& x, const Shape& kernel_size, const std::optional<Shape>& stride, const Shape& padding, bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override) {
  return wrap(eager().avg_pool2d(operand_of(x), dims_of(kernel_size), dims_of(stride), dims_of(padding), ceil_mode, count_include_pad, divisor_override));
}

Tensor avg_pool3d(const Argument& x, const Shape& kernel_size, const std::optional<Shape>& stride, const Shape& padding, bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override) {
  return wrap(eager().avg_pool3d(operand_of(x), dims_of(kernel_size), dims_of(stride), dims_of(padding), ceil_mode, count_include_pad, divisor_override));
}

Tensor baddbmm(const Argument& x, const Argument& batch1, const Argument& batch2, double beta, double alpha) {
  return wrap(eager().baddbmm(operand_of(x), operand_of(batch1), operand_of(batch2), beta, alpha));
}

std::vector<Tensor> batch_norm(const Argument& x, const Argument& running_mean, const Argument& running_var, const Argument& weight, const Argument& bias, bool training, double momentum, double eps) {
  return wrap(eager().batch_norm(operand_of(x), operand_of(running_mean), operand_of(running_var), operand_of(weight), operand_of(bias), training, momentum, eps));
}

Tensor bilinear(const Argument& x, const Argument& y, const Argument& weight, const Argument& bias) {
  return wrap(eager().bilinear(operand_of(x), operand_of(y), operand_of(weight), operand_of(bias)));
}

Tensor binary_cross_entropy(const Argument& x, const Argument& target, const Argument& weight, const std::string& reduction) {
  return wrap(eager().binary_cross_entropy(operand_of(x), operand_of(target), operand_of(weight), reduction));
}

Tensor binary_cross_entropy_with_logits(const Argument& x, const Argument& target, const Argument& weight, const Argument& pos_weight, const std::string& reduction) {
  return wrap(eager().binary_cross_entropy_with_logits(operand_of(x), operand_of(target), operand_of(weight), operand_of(pos_weight), reduction));
}

Tensor bincount(const Argument& x, const Argument& weights, int64_t minlength) {
  return wrap(eager().bincount(operand_of(x), operand_of(weights), minlength));
}

Tensor bitwise_and(const Argument& x, const Argument& y) {
  return wrap(eager().bitwise_and(operand_of(x), operand_of(y)));
}

Tensor bitwise_left_shift(const Argument& x, const Argument& y) {
  return wrap(eager().bitwise_left_shift(operand_of(x), operand_of(y)));
}

Tensor bitwise_not(const Argument& x) {
  return wrap(eager().bitwise_not(operand_of(x)));
}

Tensor bitwise_or(const Argument& x, const Argument& y) {
  return wrap(eager().bitwise_or(operand_of(x), operand_of(y)));
}

Tensor bitwise_right_shift(const Argument& x, const Argument& y) {
  return wrap(eager().bitwise_right_shift(operand_of(x), operand_of(y)));
}

Tensor bitwise_xor(const Argument& x, const Argument& y) {
  return wrap(eager().bitwise_xor(operand_of(x), operand_of(y)));
}

Tensor bmm(const Argument& x, const Argument& y) {
  return wrap(eager().bmm(operand_of(x), operand_of(y)));
}

Tensor broadcast_to(const Argument& x, const Shape& size) {
  return wrap(eager().broadcast_to(operand_of(x), dims_of(size)));
}

Tensor bucketize(const Argument& x, const Argument& boundaries, bool right) {
  return wrap(eager().bucketize(operand_of(x), operand_of(boundaries), right));
}

Tensor cat(const std::vector<Tensor>& tensors, int64_t dim) {
  return wrap(eager().cat(values_of(tensors), dim));
}

Tensor cat_same(const std::vector<Tensor>& tensors, int64_t dim) {
  return wrap(eager().cat_same(values_of(tensors), dim));
}

Tensor cdist(const Argument& x, const Argument& y, double p) {
  return wrap(eager().cdist(operand_of(x), operand_of(y), p));
}

Tensor ceil(const Argument& x) {
  return wrap(eager().ceil(operand_of(x)));
}

Tensor celu(const Argument& x, double alpha) {
  return wrap(eager().celu(operand_of(x), alpha));
}

Tensor channel_shuffle(const Argument& x, int64_t groups) {
  return wrap(eager().channel_shuffle(operand_of(x), groups));
}

std::vector<Tensor> chunk(const Argument& x, int64_t chunks, int64_t dim) {
  return wrap(eager().chunk(operand_of(x), chunks, dim));
}

Tensor clamp(const Argument& x, const Argument& min, const Argument& max) {
  return wrap(eager().clamp(operand_of(x), operand_of(min), operand_of(max)));
}

std::vector<Tensor> class_loss(const Argument& x, const Argument& target, const Argument& weight, int64_t ignore_index, double label_smoothing, const std::string& reduction) {
  return wrap(eager().class_loss(operand_of(x), operand_of(target), operand_of(weight), ignore_index, label_smoothing, reduction));
}

std::vector<Tensor> class_loss_backward(const Argument& g, const Argument& logsumexp_gradient, const Argument& total_gradient, const Argument& x, const Argument& target, const Argument& weight, const Argument& loss, const Argument& logsumexp, const Argument& total, int64_t ignore_index, double label_smoothing, const std::string& reduction, bool for_weight) {
  return wrap(eager().class_loss_backward(operand_of(g), operand_of(logsumexp_gradient), operand_of(total_gradient), operand_of(x), operand_of(target), operand_of(weight), operand_of(loss), operand_of(logsumexp), operand_of(total), ignore_index, label_smoothing, reduction, for_weight));
}

Tensor clip(const Argument& x, const Argument& min, const Argument& max) {
  return wrap(eager().clip(operand_of(x), operand_of(min), operand_of(max)));
}

Tensor clone(const Argument& x) {
  return wrap(eager().clone(operand_of(x)));
}

Tensor constant_pad(const Argument& x, const Shape& pad, double value) {
  return wrap(eager().constant_pad(operand_of(x), dims_of(pad), value));
}

Tensor contiguous(const Argument& x) {
  return wrap(eager().contiguous(operand_of(x)));
}

Tensor conv1d(const Argument& x, const Argument& weight, const Argument& bias, const Shape& stride, const Shape& padding, const Shape& dilation, int64_t groups) {
  return wrap(eager().conv1d(operand_of(x), operand_of(weight), operand_of(bias), dims_of(stride), dims_of(padding), dims_of(dilation), groups));
}

Tensor conv2d(const Argument& x, const Argument& weight, const Argument& bias, const Shape& stride, const Shape& padding, const Shape& dilation, int64_t groups) {
  return wrap(eager().conv2d(operand_of(x), operand_of(weight), operand_of(bias), dims_of(stride), dims_of(padding), dims_of(dilation), groups));
}

Tensor conv3d(const Argument& x, const Argument& weight, const Argument& bias, const Shape& stride, const Shape& padding, const Shape& dilation, int64_t groups) {
  return wrap(eager().conv3d(operand_of(x), operand_of(weight), operand_of(bias), dims_of(stride), dims_of(padding), dims_of(dilation), groups));
}

Tensor conv_transpose1d(const Argument& x, const Argument& weight, const Argument& bias, const Shape& stride, const Shape& padding, const Shape& output_padding, int64_t groups, const Shape& dilation) {
  return wrap(eager().conv_transpose1d(operand_of(x), operand_of(weight), operand_of(bias), dims_of(stride), dims_of(padding), dims_of(output_padding), groups, dims_of(dilation)));
}

Tensor conv_transpose2d(const Argument& x, const Argument& weight, const Argument& bias, const Shape& stride, const Shape& padding, const Shape& output_padding, int64_t groups, const Shape& dilation) {
  return wrap(eager().conv_transpose2d(operand_of(x), operand_of(weight), operand_of(bias), dims_of(stride), dims_of(padding), dims_of(output_padding), groups, dims_of(dilation)));
}

Tensor conv_transpose3d(const Argument& x, const Argument& weight, const Argument& bias, const Shape& stride, const Shape& padding, const Shape& output_padding, int64_t groups, const Shape& dilation) {
  return wrap(eager().conv_transpose3d(operand_of(x), operand_of(weight), operand_of(bias), dims_of(stride), dims_of(padding), dims_of(output_padding), groups, dims_of(dilation)));
}

Tensor convolution(const Argument& x, const Argument& weight, const Argument& bias, const Shape& stride, const Shape& low, const Shape& high, const Shape& input_dilation, const Shape& dilation, int64_t groups, bool transposed) {
  return wrap(eager().convolution(operand_of(x), operand_of(weight), operand_of(bias), dims_of(stride), dims_of(low), dims_of(high), dims_of(input_dilation), dims_of(dilation), groups, transposed));
}

Tensor convolution_weight(const Argument& x, const Argument& grad, const Shape& kernel, const Shape& stride, const Shape& low, const Shape& input_dilation, const Shape& dilation, int64_t groups, bool transposed) {
  return wrap(eager().convolution_weight(operand_of(x), operand_of(grad), dims_of(kernel), dims_of(stride), dims_of(low), dims_of(input_dilation), dims_of(dilation), groups, transposed));
}

Tensor cos(const Argument& x) {
  return wrap(eager().cos(operand_of(x)));
}

Tensor cosh(const Argument& x) {
  return wrap(eager().cosh(operand_of(x)));
}

Tensor cosine_embedding_loss(const Argument& x1, const Argument& x2, const Argument& target, double margin, const std::string& reduction) {
  return wrap(eager().cosine_embedding_loss(operand_of(x1), operand_of(x2), operand_of(target), margin, reduction));
}

Tensor cosine_similarity(const Argument& x1, const Argument& x2, int64_t dim, double eps) {
  return wrap(eager().cosine_similarity(operand_of(x1), operand_of(x2), dim, eps));
}

Tensor count_nonzero(const Argument& x, const std::optional<Shape>& dim) {
  return wrap(eager().count_nonzero(operand_of(x), dims_of(dim)));
}

Tensor cross_entropy(const Argument& x, const Argument& target, const Argument& weight, int64_t ignore_index, const std::string& reduction, double label_smoothing) {
  return wrap(eager().cross_entropy(operand_of(x), operand_of(target), operand_of(weight), ignore_index, reduction, label_smoothing));
}

Tensor ctc_loss(const Argument& log_probs, const Argument& targets, const Argument& input_lengths, const Argument& target_lengths, int64_t blank, const std::string& reduction, bool zero_infinity) {
  return wrap(eager().ctc_loss(operand_of(log_probs), operand_of(targets), operand_of(input_lengths), operand_of(target_lengths), blank, reduction, zero_infinity));
}

Tensor cumprod(const Argument& x, int64_t dim, std::optional<Dtype> dtype) {
  return wrap(eager().cumprod(operand_of(x), dim, dtype));
}

Tensor cumsum(const Argument& x, int64_t dim, std::optional<Dtype> dtype) {
  return wrap(eager().cumsum(operand_of(x), dim, dtype));
}

Tensor diag(const Argument& x, int64_t diagonal) {
  return wrap(eager().diag(operand_of(x), diagonal));
}

Tensor diagonal(const Argument& x, int64_t offset, int64_t dim1, int64_t dim2) {
  return wrap(eager().diagonal(operand_of(x), offset, dim1, dim2));
}

Tensor diff(const Argument& x, int64_t n, int64_t dim) {
  return wrap(eager().diff(operand_of(x), n, dim));
}

Tensor div(const Argument& x, const Argument& y) {
  return wrap(eager().div(operand_of(x), operand_of(y)));
}

Tensor dot(const Argument& x, const Argument& y) {
  return wrap(eager().dot(operand_of(x), operand_of(y)));
}

Tensor draw_alpha_dropout(const Argument& state, const Argument& x, double p) {
  return wrap(eager().draw_alpha_dropout(operand_of(state), operand_of(x), p));
}

Tensor draw_bernoulli(const Argument& state, const Argument& p) {
  return wrap(eager().draw_bernoulli(operand_of(state), operand_of(p)));
}

Tensor draw_bits(const Argument& state, const Shape& size) {
  return wrap(eager().draw_bits(operand_of(state), dims_of(size)));
}

Tensor draw_dropout(const Argument& state, const Argument& x, double p) {
  return wrap(eager().draw_dropout(operand_of(state), operand_of(x), p));
}

Tensor draw_feature_alpha_dropout(const Argument& state, const Argument& x, double p) {
  return wrap(eager().draw_feature_alpha_dropout(operand_of(state), operand_of(x), p));
}

Tensor draw_feature_dropout(const Argument& state, const Argument& x, double p) {
  return wrap(eager().draw_feature_dropout(operand_of(state), operand_of(x), p));
}

Tensor draw_gumbel_softmax(const Argument& state, const Argument& logits, double tau, bool hard, int64_t dim) {
  return wrap(eager().draw_gumbel_softmax(operand_of(state), operand_of(logits), tau, hard, dim));
}

Tensor draw_integers(const Argument& state, const Shape& size, int64_t low, int64_t high, std::optional<Dtype> dtype) {
  return wrap(eager().draw_integers(operand_of(state), dims_of(size), low, high, dtype));
}

Tensor draw_multinomial(const Argument& state, const Argument& p, int64_t num_samples, bool replacement) {
  return wrap(eager().draw_multinomial(operand_of(state), operand_of(p), num_samples, replacement));
}

Tensor draw_normal(const Argument& state, const Shape& size, std::optional<Dtype> dtype) {
  return wrap(eager().draw_normal(operand_of(state), dims_of(size), dtype));
}

Tensor draw_permutation(const Argument& state, int64_t n) {
  return wrap(eager().draw_permutation(operand_of(state), n));
}

Tensor draw_rrelu(const Argument& state, const Argument& x, double lower, double upper) {
  return wrap(eager().draw_rrelu(operand_of(state), operand_of(x), lower, upper));
}

Tensor draw_uniform(const Argument& state, const Shape& size, std::optional<Dtype> dtype) {
  return wrap(eager().draw_uniform(operand_of(state), dims_of(size), dtype));
}

Tensor dstack(const std::vector<Tensor>& tensors) {
  return wrap(eager().dstack(values_of(tensors)));
}

Tensor einsum(const std::string& equation, const std::vector<Tensor>& tensors) {
  return wrap(eager().einsum(equation, values_of(tensors)));
}

Tensor elu(const Argument& x, double alpha) {
  return wrap(eager().elu(operand_of(x), alpha));
}

Tensor embedding(const Argument& weight, const Argument& indices, std::optional<int64_t> padding_idx) {
  return wrap(eager().embedding(operand_of(weight), operand_of(indices), padding_idx));
}

Tensor embedding_bag(const Argument& weight, const Argument& indices, const Argument& offsets, const Argument& per_sample_weights, const std::string& mode, bool include_last_offset, std::optional<int64_t> padding_idx) {
  return wrap(eager().embedding_bag(operand_of(weight), operand_of(indices), operand_of(offsets), operand_of(per_sample_weights), mode, include_last_offset, padding_idx));
}

Tensor embedding_bag_offsets(const Argument& offsets, int64_t count) {
  return wrap(eager().embedding_bag_offsets(operand_of(offsets), count));
}

Tensor empty(const Shape& size, std::optional<Dtype> dtype) {
  return wrap(eager().empty(dims_of(size), dtype));
}

Tensor empty_like(const Argument& x, std::optional<Dtype> dtype) {
  return wrap(eager().empty_like(operand_of(x), dtype));
}

Tensor eq(const Argument& x, const Argument& y) {
  return wrap(eager().eq(operand_of(x), operand_of(y)));
}

Tensor erf(const Argument& x) {
  return wrap(eager().erf(operand_of(x)));
}

Tensor erfc(const Argument& x) {
  return wrap(eager().erfc(operand_of(x)));
}

Tensor exp(const Argument& x) {
  return wrap(eager().exp(operand_of(x)));
}

Tensor exp2(const Argument& x) {
  return wrap(eager().exp2(operand_of(x)));
}

Tensor expand(const Argument& x, const Shape& size) {
  return wrap(eager().expand(operand_of(x), dims_of(size)));
}

Tensor expm1(const Argument& x) {
  return wrap(eager().expm1(operand_of(x)));
}

Tensor eye(int64_t n, std::optional<int64_t> m, std::optional<Dtype> dtype) {
  return wrap(eager().eye(n, m, dtype));
}

Tensor flatten(const Argument& x, int64_t start_dim, int64_t end_dim) {
  return wrap(eager().flatten(operand_of(x), start_dim, end_dim));
}

Tensor flip(const Argument& x, const Shape& dims) {
  return wrap(eager().flip(operand_of(x), dims_of(dims)));
}

Tensor floor(const Argument& x) {
  return wrap(eager().floor(operand_of(x)));
}

Tensor floor_divide(const Argument& x, const Argument& y) {
  return wrap(eager().floor_divide(operand_of(x), operand_of(y)));
}

Tensor fmod(const Argument& x, const Argument& y) {
  return wrap(eager().fmod(operand_of(x), operand_of(y)));
}

Tensor fold(const Argument& x, const Shape& output_size, const Shape& kernel_size, const Shape& dilation, const Shape& padding, const Shape& stride) {
  return wrap(eager().fold(operand_of(x), dims_of(output_size), dims_of(kernel_size), dims_of(dilation), dims_of(padding), dims_of(stride)));
}

Tensor full(const Shape& size, const Argument& fill_value, std::optional<Dtype> dtype) {
  return wrap(eager().full(dims_of(size), operand_of(fill_value), dtype));
}

Tensor full_like(const Argument& x, const Argument& fill_value, std::optional<Dtype> dtype) {
  return wrap(eager().full_like(operand_of(x), operand_of(fill_value), dtype));
}

Tensor gather(const Argument& x, int64_t dim, const Argument& index) {
  return wrap(eager().gather(operand_of(x), dim, operand_of(index)));
}

Tensor gaussian_nll_loss(const Argument& x, const Argument& target, const Argument& var, bool full, double eps, const std::string& reduction) {
  return wrap(eager().gaussian_nll_loss(operand_of(x), operand_of(target), operand_of(var), full, eps, reduction));
}

Tensor ge(const Argument& x, const Argument& y) {
  return wrap(eager().ge(operand_of(x), operand_of(y)));
}

Tensor gelu(const Argument& x, const std::string& approximate) {
  return wrap(eager().gelu(operand_of(x), approximate));
}

Tensor glu(const Argument& x, int64_t dim) {
  return wrap(eager().glu(operand_of(x), dim));
}

Tensor grid_sample(const Argument& x, const Argument& grid, const std::string& mode, const std::string& padding_mode, bool align_corners) {
  return wrap(eager().grid_sample(operand_of(x), operand_of(grid), mode, padding_mode, align_corners));
}

Tensor group_norm(const Argument& x, int64_t num_groups, const Argument& weight, const Argument& bias, double eps) {
  return wrap(eager().group_norm(operand_of(x), num_groups, operand_of(weight), operand_of(bias), eps));
}

Tensor gt(const Argument& x, const Argument& y) {
  return wrap(eager().gt(operand_of(x), operand_of(y)));
}

Tensor hardshrink(const Argument& x, double lambd) {
  return wrap(eager().hardshrink(operand_of(x), lambd));
}

Tensor hardsigmoid(const Argument& x) {
  return wrap(eager().hardsigmoid(operand_of(x)));
}

Tensor hardswish(const Argument& x) {
  return wrap(eager().hardswish(operand_of(x)));
}

Tensor hardtanh(const Argument& x, double min_val, double max_val) {
  return wrap(eager().hardtanh(operand_of(x), min_val, max_val));
}

Tensor hinge_embedding_loss(const Argument& x, const Argument& target, double margin, const std::string& reduction) {
  return wrap(eager().hinge_embedding_loss(operand_of(x), operand_of(target), margin, reduction));
}

Tensor histc(const Argument& x, int64_t bins, double min, double max) {
  return wrap(eager().histc(operand_of(x), bins, min, max));
}

Tensor hstack(const std::vector<Tensor>& tensors) {
  return wrap(eager().hstack(values_of(tensors)));
}

Tensor huber_loss(const Argument& x, const Argument& target, const std::string& reduction, double delta) {
  return wrap(eager().huber_loss(operand_of(x), operand_of(target), reduction, delta));
}

Tensor index(const Argument& x, const std::vector<Tensor>& indices) {
  return wrap(eager().index(operand_of(x), values_of(indices)));
}

Tensor index_add(const Argument& x, int64_t dim, const Argument& index, const Argument& source) {
  return wrap(eager().index_add(operand_of(x), dim, operand_of(index), operand_of(source)));
}

Tensor index_put(const Argument& x, const Argument& values, const std::vector<Tensor>& indices, bool accumulate) {
  return wrap(eager().index_put(operand_of(x), operand_of(values), values_of(indices), accumulate));
}

Tensor index_put_add(const Argument& x, const Argument& values, const std::vector<Tensor>& indices) {
  return wrap(eager().index_put_add(operand_of(x), operand_of(values), values_of(indices)));
}

Tensor index_put_set(const Argument& x, const Argument& values, const std::vector<Tensor>& indices) {
  return wrap(eager().index_put_set(operand_of(x), operand_of(values), values_of(indices)));
}

Tensor index_select(const Argument& x, int64_t dim, const Argument& index) {
  return wrap(eager().index_select(operand_of(x), dim, operand_of(index)));
}

Tensor inner(const Argument& x, const Argument& y) {
  return wrap(eager().inner(operand_of(x), operand_of(y)));
}

std::vector<Tensor> instance_norm(const Argument& x, const Argument& running_mean, const Argument& running_var, const Argument& weight, const Argument& bias, bool use_input_stats, double momentum, double eps) {
  return wrap(eager().instance_norm(operand_of(x), operand_of(running_mean), operand_of(running_var), operand_of(weight), operand_of(bias), use_input_stats, momentum, eps));
}

Tensor interpolate(const Argument& x, const std::optional<Shape>& size, std::optional<double> scale_factor, const std::string& mode, std::optional<bool> align_corners) {
  return wrap(eager().interpolate(operand_of(x), dims_of(size), scale_factor, mode, align_corners));
}

Tensor iota(const Shape& size, int64_t dim) {
  return wrap(eager().iota(dims_of(size), dim));
}

Tensor isclose(const Argument& x, const Argument& y, double rtol, double atol, bool equal_nan) {
  return wrap(eager().isclose(operand_of(x), operand_of(y), rtol, atol, equal_nan));
}

Tensor isfinite(const Argument& x) {
  return wrap(eager().isfinite(operand_of(x)));
}

Tensor isinf(const Argument& x) {
  return wrap(eager().isinf(operand_of(x)));
}

Tensor isnan(const Argument& x) {
  return wrap(eager().isnan(operand_of(x)));
}

Tensor kl_div(const Argument& x, const Argument& target, const std::string& reduction, bool log_target) {
  return wrap(eager().kl_div(operand_of(x), operand_of(target), reduction, log_target));
}

Tensor kron(const Argument& x, const Argument& y) {
  return wrap(eager().kron(operand_of(x), operand_of(y)));
}

std::vector<Tensor> kthvalue(const Argument& x, int64_t k, int64_t dim, bool keepdim) {
  return wrap(eager().kthvalue(operand_of(x), k, dim, keepdim));
}

Tensor l1_loss(const Argument& x, const Argument& target, const std::string& reduction) {
  return wrap(eager().l1_loss(operand_of(x), operand_of(target), reduction));
}

Tensor layer_norm(const Argument& x, const Shape& normalized_shape, const Argument& weight, const Argument& bias, double eps) {
  return wrap(eager().layer_norm(operand_of(x), dims_of(normalized_shape), operand_of(weight), operand_of(bias), eps));
}

Tensor le(const Argument& x, const Argument& y) {
  return wrap(eager().le(operand_of(x), operand_of(y)));
}

Tensor leaky_relu(const Argument& x, double negative_slope) {
  return wrap(eager().leaky_relu(operand_of(x), negative_slope));
}

Tensor lerp(const Argument& x, const Argument& end, const Argument& weight) {
  return wrap(eager().lerp(operand_of(x), operand_of(end), operand_of(weight)));
}

Tensor linear(const Argument& x, const Argument& weight, const Argument& bias) {
  return wrap(eager().linear(operand_of(x), operand_of(weight), operand_of(bias)));
}

Tensor linspace(double start, double end, int64_t steps, std::optional<Dtype> dtype) {
  return wrap(eager().linspace(start, end, steps, dtype));
}

Tensor local_response_norm(const Argument& x, int64_t size, double alpha, double beta, double k) {
  return wrap(eager().local_response_norm(operand_of(x), size, alpha, beta, k));
}

Tensor log(const Argument& x) {
  return wrap(eager().log(operand_of(x)));
}

Tensor log10(const Argument& x) {
  return wrap(eager().log10(operand_of(x)));
}

Tensor log1p(const Argument& x) {
  return wrap(eager().log1p(operand_of(x)));
}

Tensor log2(const Argument& x) {
  return wrap(eager().log2(operand_of(x)));
}

Tensor log_softmax(const Argument& x, int64_t dim, std::optional<Dtype> dtype) {
  return wrap(eager().log_softmax(operand_of(x), dim, dtype));
}

Tensor logical_and(const Argument& x, const Argument& y) {
  return wrap(eager().logical_and(operand_of(x), operand_of(y)));
}

Tensor logical_not(const Argument& x) {
  return wrap(eager().logical_not(operand_of(x)));
}

Tensor logical_or(const Argument& x, const Argument& y) {
  return wrap(eager().logical_or(operand_of(x), operand_of(y)));
}

Tensor logical_xor(const Argument& x, const Argument& y) {
  return wrap(eager().logical_xor(operand_of(x), operand_of(y)));
}

Tensor logsigmoid(const Argument& x) {
  return wrap(eager().logsigmoid(operand_of(x)));
}

Tensor logspace(double start, double end, int64_t steps, double base, std::optional<Dtype> dtype) {
  return wrap(eager().logspace(start, end, steps, base, dtype));
}

Tensor logsumexp(const Argument& x, const std::optional<Shape>& dim, bool keepdim) {
  return wrap(eager().logsumexp(operand_of(x), dims_of(dim), keepdim));
}

Tensor lp_pool1d(const Argument& x, double norm_type, const Shape& kernel_size, const std::optional<Shape>& stride, bool ceil_mode) {
  return wrap(eager().lp_pool1d(operand_of(x), norm_type, dims_of(kernel_size), dims_of(stride), ceil_mode));
}

Tensor lp_pool2d(const Argument& x, double norm_type, const Shape& kernel_size, const std::optional<Shape>& stride, bool ceil_mode) {
  return wrap(eager().lp_pool2d(operand_of(x), norm_type, dims_of(kernel_size), dims_of(stride), ceil_mode));
}

Tensor lp_pool3d(const Argument& x, double norm_type, const Shape& kernel_size, const std::optional<Shape>& stride, bool ceil_mode) {
  return wrap(eager().lp_pool3d(operand_of(x), norm_type, dims_of(kernel_size), dims_of(stride), ceil_mode));
}

Tensor lt(const Argument& x, const Argument& y) {
  return wrap(eager().lt(operand_of(x), operand_of(y)));
}

Tensor margin_ranking_loss(const Argument& x1, const Argument& x2, const Argument& target, double margin, const std::string& reduction) {
  return wrap(eager().margin_ranking_loss(operand_of(x1), operand_of(x2), operand_of(target), margin, reduction));
}

Tensor masked_fill(const Argument& x, const Argument& mask, const Argument& value) {
  return wrap(eager().masked_fill(operand_of(x), operand_of(mask), operand_of(value)));
}

Tensor masked_select(const Argument& x, const Argument& mask) {
  return wrap(eager().masked_select(operand_of(x), operand_of(mask)));
}

Tensor matmul(const Argument& x, const Argument& y) {
  return wrap(eager().matmul(operand_of(x), operand_of(y)));
}

std::vector<Tensor> max_dim(const Argument& x, int64_t dim, bool keepdim) {
  return wrap(eager().max_dim(operand_of(x), dim, keepdim));
}

Tensor max_pool(const Argument& x, const Shape& kernel, const Shape& stride, const Shape& padding, const Shape& dilation, const Shape& size) {
  return wrap(eager().max_pool(operand_of(x), dims_of(kernel), dims_of(stride), dims_of(padding), dims_of(dilation), dims_of(size)));
}

Tensor max_pool1d(const Argument& x, const Shape& kernel_size, const std::optional<Shape>& stride, const Shape& padding, const Shape& dilation, bool ceil_mode) {
  return wrap(eager().max_pool1d(operand_of(x), dims_of(kernel_size), dims_of(stride), dims_of(padding), dims_of(dilation), ceil_mode));
}

std::vector<Tensor> max_pool1d_with_indices(const Argument& x, const Shape& kernel_size, const std::optional<Shape>& stride, const Shape& padding, const Shape& dilation, bool ceil_mode) {
  return wrap(eager().max_pool1d_with_indices(operand_of(x), dims_of(kernel_size), dims_of(stride), dims_of(padding), dims_of(dilation), ceil_mode));
}

Tensor max_pool2d(const Argument& x, const Shape& kernel_size, const std::optional<Shape>& stride, const Shape& padding, const Shape& dilation, bool ceil_mode) {
  return wrap(eager().max_pool2d(operand_of(x), dims_of(kernel_size), dims_of(stride), dims_of(padding), dims_of(dilation), ceil_mode));
}

std::vector<Tensor> max_pool2d_with_indices(const Argument& x, const Shape& kernel_size, const std::optional<Shape>& stride, const Shape& padding, const Shape& dilation, bool ceil_mode) {
  return wrap(eager().max_pool2d_with_indices(operand_of(x), dims_of(kernel_size), dims_of(stride), dims_of(padding), dims_of(dilation), ceil_mode));
}

Tensor max_pool3d(const Argument& x, const Shape& kernel_size, const std::optional<Shape>& stride, const Shape& padding, const Shape& dilation, bool ceil_mode) {
  return wrap(eager().max_pool3d(operand_of(x), dims_of(kernel_size), dims_of(stride), dims_of(padding), dims_of(dilation), ceil_mode));
}

std::vector<Tensor> max_pool3d_with_indices(const Argument& x, const Shape& kernel_size, const std::optional<Shape>& stride, const Shape& padding, const Shape& dilation, bool ceil_mode) {
  return wrap(eager().max_pool3d_with_indices(operand_of(x), dims_of(kernel_size), dims_of(stride), dims_of(padding), dims_of(dilation), ceil_mode));
}

Tensor max_pool_back(const Argument& grad, const Argument& indices, const Shape& kernel, const Shape& stride, const Shape& padding, const Shape& dilation, const Shape& size) {
  return wrap(eager().max_pool_back(operand_of(grad), operand_of(indices), dims_of(kernel), dims_of(stride), dims_of(padding), dims_of(dilation), dims_of(size)));
}

Tensor max_position(const Argument& x, const Shape& kernel, const Shape& stride, const Shape& padding, const Shape& dilation, const Shape& size) {
  return wrap(eager().max_position(operand_of(x), dims_of(kernel), dims_of(stride), dims_of(padding), dims_of(dilation), dims_of(size)));
}

Tensor max_unpool1d(const Argument& x, const Argument& indices, const Shape& kernel_size, const std::optional<Shape>& stride, const Shape& padding, const std::optional<Shape>& output_size) {
  return wrap(eager().max_unpool1d(operand_of(x), operand_of(indices), dims_of(kernel_size), dims_of(stride), dims_of(padding), dims_of(output_size)));
}

Tensor max_unpool2d(const Argument& x, const Argument& indices, const Shape& kernel_size, const std::optional<Shape>& stride, const Shape& padding, const std::optional<Shape>& output_size) {
  return wrap(eager().max_unpool2d(operand_of(x), operand_of(indices), dims_of(kernel_size), dims_of(stride), dims_of(padding), dims_of(output_size)));
}

Tensor max_unpool3d(const Argument& x, const Argument& indices, const Shape& kernel_size, const std::optional<Shape>& stride, const Shape& padding, const std::optional<Shape>& output_size) {
  return wrap(eager().max_unpool3d(operand_of(x), operand_of(indices), dims_of(kernel_size), dims_of(stride), dims_of(padding), dims_of(output_size)));
}

Tensor maximum(const Argument& x, const Argument& y) {
  return wrap(eager().maximum(operand_of(x), operand_of(y)));
}

Tensor mean(const Argument& x, const std::optional<Shape>& dim, bool keepdim, std::optional<Dtype> dtype) {
  return wrap(eager().mean(operand_of(x), dims_of(dim), keepdim, dtype));
}

Tensor mean_pool(const Argument& x, const Shape& kernel, const Shape& stride, const Shape& padding, const Shape& dilation, const Shape& size, bool include_padding, std::optional<int64_t> divisor) {
  return wrap(eager().mean_pool(operand_of(x), dims_of(kernel), dims_of(stride), dims_of(padding), dims_of(dilation), dims_of(size), include_padding, divisor));
}

Tensor mean_pool_back(const Argument& grad, const Shape& kernel, const Shape& stride, const Shape& padding, const Shape& dilation, const Shape& size, bool include_padding, std::optional<int64_t> divisor) {
  return wrap(eager().mean_pool_back(operand_of(grad), dims_of(kernel), dims_of(stride), dims_of(padding), dims_of(dilation), dims_of(size), include_padding, divisor));
}

Tensor median(const Argument& x) {
  return wrap(eager().median(operand_of(x)));
}

std::vector<Tensor> median_dim(const Argument& x, int64_t dim, bool keepdim) {
  return wrap(eager().median_dim(operand_of(x), dim, keepdim));
}

std::vector<Tensor> meshgrid(const std::vector<Tensor>& tensors, const std::string& indexing) {
  return wrap(eager().meshgrid(values_of(tensors), indexing));
}

std::vector<Tensor> min_dim(const Argument& x, int64_t dim, bool keepdim) {
  return wrap(eager().min_dim(operand_of(x), dim, keepdim));
}

Tensor minimum(const Argument& x, const Argument& y) {
  return wrap(eager().minimum(operand_of(x), operand_of(y)));
}

Tensor mish(const Argument& x) {
  return wrap(eager().mish(operand_of(x)));
}

Tensor mm(const Argument& x, const Argument& y) {
  return wrap(eager().mm(operand_of(x), operand_of(y)));
}

Tensor movedim(const Argument& x, const Shape& source, const Shape& destination) {
  return wrap(eager().movedim(operand_of(x), dims_of(source), dims_of(destination)));
}

Tensor mse_loss(const Argument& x, const Argument& target, const std::string& reduction) {
  return wrap(eager().mse_loss(operand_of(x), operand_of(target), reduction));
}

Tensor msort(const Argument& x) {
  return wrap(eager().msort(operand_of(x)));
}

Tensor mul(const Argument& x, const Argument& y) {
  return wrap(eager().mul(operand_of(x), operand_of(y)));
}

Tensor multi_margin_loss(const Argument& x, const Argument& target, int64_t p, double margin, const Argument& weight, const std::string& reduction) {
  return wrap(eager().multi_margin_loss(operand_of(x), operand_of(target), p, margin, operand_of(weight), reduction));
}

Tensor multilabel_margin_loss(const Argument& x, const Argument& target, const std::string& reduction) {
  return wrap(eager().multilabel_margin_loss(operand_of(x), operand_of(target), reduction));
}

Tensor multilabel_soft_margin_loss(const Argument& x, const Argument& target, const Argument& weight, const std::string& reduction) {
  return wrap(eager().multilabel_soft_margin_loss(operand_of(x), operand_of(target), operand_of(weight), reduction));
}

Tensor mv(const Argument& x, const Argument& vector) {
  return wrap(eager().mv(operand_of(x), operand_of(vector)));
}

Tensor nan_to_num(const Argument& x, double nan, std::optional<double> posinf, std::optional<double> neginf) {
  return wrap(eager().nan_to_num(operand_of(x), nan, posinf, neginf));
}

Tensor nanmean(const Argument& x, const std::optional<Shape>& dim, bool keepdim) {
  return wrap(eager().nanmean(operand_of(x), dims_of(dim), keepdim));
}

Tensor nansum(const Argument& x, const std::optional<Shape>& dim, bool keepdim, std::optional<Dtype> dtype) {
  return wrap(eager().nansum(operand_of(x), dims_of(dim), keepdim, dtype));
}

Tensor narrow(const Argument& x, int64_t dim, int64_t start, int64_t length) {
  return wrap(eager().narrow(operand_of(x), dim, start, length));
}

Tensor ndtr(const Argument& x) {
  return wrap(eager().ndtr(operand_of(x)));
}

Tensor ne(const Argument& x, const Argument& y) {
  return wrap(eager().ne(operand_of(x), operand_of(y)));
}

Tensor neg(const Argument& x) {
  return wrap(eager().neg(operand_of(x)));
}

Tensor nll_loss(const Argument& x, const Argument& target, const Argument& weight, int64_t ignore_index, const std::string& reduction) {
  return wrap(eager().nll_loss(operand_of(x), operand_of(target), operand_of(weight), ignore_index, reduction));
}

Tensor nonzero(const Argument& x) {
  return wrap(eager().nonzero(operand_of(x)));
}

Tensor norm(const Argument& x, double p, const std::optional<Shape>& dim, bool keepdim) {
  return wrap(eager().norm(operand_of(x), p, dims_of(dim), keepdim));
}

Tensor normalize(const Argument& x, double p, int64_t dim, double eps) {
  return wrap(eager().normalize(operand_of(x), p, dim, eps));
}

Tensor one_hot(const Argument& x, int64_t num_classes) {
  return wrap(eager().one_hot(operand_of(x), num_classes));
}

Tensor ones(const Shape& size, std::optional<Dtype> dtype) {
  return wrap(eager().ones(dims_of(size), dtype));
}

Tensor ones_like(const Argument& x, std::optional<Dtype> dtype) {
  return wrap(eager().ones_like(operand_of(x), dtype));
}

Tensor outer(const Argument& x, const Argument& y) {
  return wrap(eager().outer(operand_of(x), operand_of(y)));
}

Tensor pad(const Argument& x, const Shape& pad, const std::string& mode, double value) {
  return wrap(eager().pad(operand_of(x), dims_of(pad), mode, value));
}

Tensor pairwise_distance(const Argument& x1, const Argument& x2, double p, double eps, bool keepdim) {
  return wrap(eager().pairwise_distance(operand_of(x1), operand_of(x2), p, eps, keepdim));
}

Tensor permute(const Argument& x, const Shape& dims) {
  return wrap(eager().permute(operand_of(x), dims_of(dims)));
}

Tensor pixel_shuffle(const Argument& x, int64_t upscale_factor) {
  return wrap(eager().pixel_shuffle(operand_of(x), upscale_factor));
}

Tensor pixel_unshuffle(const Argument& x, int64_t downscale_factor) {
  return wrap(eager().pixel_unshuffle(operand_of(x), downscale_factor));
}

Tensor poisson_nll_loss(const Argument& x, const Argument& target, bool log_input, bool full, double eps, const std::string& reduction) {
  return wrap(eager().poisson_nll_loss(operand_of(x), operand_of(target), log_input, full, eps, reduction));
}

Tensor pow(const Argument& x, const Argument& y) {
  return wrap(eager().pow(operand_of(x), operand_of(y)));
}

Tensor power(const Argument& x, const Argument& y) {
  return wrap(eager().power(operand_of(x), operand_of(y)));
}

Tensor prelu(const Argument& x, const Argument& weight) {
  return wrap(eager().prelu(operand_of(x), operand_of(weight)));
}

Tensor prod(const Argument& x, const std::optional<Shape>& dim, bool keepdim, std::optional<Dtype> dtype) {
  return wrap(eager().prod(operand_of(x), dims_of(dim), keepdim, dtype));
}

Tensor reciprocal(const Argument& x) {
  return wrap(eager().reciprocal(operand_of(x)));
}

Tensor relu(const Argument& x) {
  return wrap(eager().relu(operand_of(x)));
}

Tensor relu6(const Argument& x) {
  return wrap(eager().relu6(operand_of(x)));
}

Tensor remainder(const Argument& x, const Argument& y) {
  return wrap(eager().remainder(operand_of(x), operand_of(y)));
}

Tensor repeat(const Argument& x, const Shape& repeats) {
  return wrap(eager().repeat(operand_of(x), dims_of(repeats)));
}

Tensor repeat_interleave(const Argument& x, int64_t repeats, std::optional<int64_t> dim) {
  return wrap(eager().repeat_interleave(operand_of(x), repeats, dim));
}

Tensor resample(const Argument& x, int64_t dim, int64_t size, const std::string& mode, bool align_corners, std::optional<double> scale) {
  return wrap(eager().resample(operand_of(x), dim, size, mode, align_corners, scale));
}

Tensor reshape(const Argument& x, const Shape& shape) {
  return wrap(eager().reshape(operand_of(x), dims_of(shape)));
}

Tensor rms_norm(const Argument& x, const Shape& normalized_shape, const Argument& weight, std::optional<double> eps) {
  return wrap(eager().rms_norm(operand_of(x), dims_of(normalized_shape), operand_of(weight), eps));
}

Tensor roll(const Argument& x, const Shape& shifts, const std::optional<Shape>& dims) {
  return wrap(eager().roll(operand_of(x), dims_of(shifts), dims_of(dims)));
}

Tensor roll_one(const Argument& x, int64_t shift, int64_t dim) {
  return wrap(eager().roll_one(operand_of(x), shift, dim));
}

Tensor round(const Argument& x) {
  return wrap(eager().round(operand_of(x)));
}

Tensor rrelu(const Argument& x, double lower, double upper) {
  return wrap(eager().rrelu(operand_of(x), lower, upper));
}

Tensor rsqrt(const Argument& x) {
  return wrap(eager().rsqrt(operand_of(x)));
}

Tensor scaled_dot_product_attention(const Argument& query, const Argument& key, const Argument& value, const Argument& attn_mask, bool is_causal, std::optional<double> scale, bool enable_gqa) {
  return wrap(eager().scaled_dot_product_attention(operand_of(query), operand_of(key), operand_of(value), operand_of(attn_mask), is_causal, scale, enable_gqa));
}

Tensor scatter(const Argument& x, int64_t dim, const Argument& index, const Argument& src, const std::optional<std::string>& reduce) {
  return wrap(eager().scatter(operand_of(x), dim, operand_of(index), operand_of(src), reduce));
}

Tensor scatter_add(const Argument& x, int64_t dim, const Argument& index, const Argument& src) {
  return wrap(eager().scatter_add(operand_of(x), dim, operand_of(index), operand_of(src)));
}

Tensor scatter_amax(const Argument& x, int64_t dim, const Argument& index, const Argument& src) {
  return wrap(eager().scatter_amax(operand_of(x), dim, operand_of(index), operand_of(src)));
}

Tensor scatter_amin(const Argument& x, int64_t dim, const Argument& index, const Argument& src) {
  return wrap(eager().scatter_amin(operand_of(x), dim, operand_of(index), operand_of(src)));
}

Tensor scatter_mul(const Argument& x, int64_t dim, const Argument& index, const Argument& src) {
  return wrap(eager().scatter_mul(operand_of(x), dim, operand_of(index), operand_of(src)));
}

Tensor scatter_reduce(const Argument& x, int64_t dim, const Argument& index, const Argument& src, const std::string& reduce, bool include_self) {
  return wrap(eager().scatter_reduce(operand_of(x), dim, operand_of(index), operand_of(src), reduce, include_self));
}

Tensor scatter_set(const Argument& x, int64_t dim, const Argument& index, const Argument& src) {
  return wrap(eager().scatter_set(operand_of(x), dim, operand_of(index), operand_of(src)));
}

Tensor searchsorted(const Argument& sorted_sequence, const Argument& values, bool right) {
  return wrap(eager().searchsorted(operand_of(sorted_sequence), operand_of(values), right));
}

Tensor select(const Argument& x, int64_t dim, int64_t index) {
  return wrap(eager().select(operand_of(x), dim, index));
}

Tensor selu(const Argument& x) {
  return wrap(eager().selu(operand_of(x)));
}

Tensor set_strided_part(const Argument& x, const Argument& part, const Shape& stride, int64_t offset) {
  return wrap(eager().set_strided_part(operand_of(x), operand_of(part), dims_of(stride), offset));
}

Tensor sigmoid(const Argument& x) {
  return wrap(eager().sigmoid(operand_of(x)));
}

Tensor sign(const Argument& x) {
  return wrap(eager().sign(operand_of(x)));
}

Tensor silu(const Argument& x) {
  return wrap(eager().silu(operand_of(x)));
}

Tensor sin(const Argument& x) {
  return wrap(eager().sin(operand_of(x)));
}

Tensor sinh(const Argument& x) {
  return wrap(eager().sinh(operand_of(x)));
}

Tensor slice(const Argument& x, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
  return wrap(eager().slice(operand_of(x), dim, start, end, step));
}

Tensor smooth_l1_loss(const Argument& x, const Argument& target, const std::string& reduction, double beta) {
  return wrap(eager().smooth_l1_loss(operand_of(x), operand_of(target), reduction, beta));
}

Tensor soft_margin_loss(const Argument& x, const Argument& target, const std::string& reduction) {
  return wrap(eager().soft_margin_loss(operand_of(x), operand_of(target), reduction));
}

Tensor softmax(const Argument& x, int64_t dim, std::optional<Dtype> dtype) {
  return wrap(eager().softmax(operand_of(x), dim, dtype));
}

Tensor softmin(const Argument& x, int64_t dim, std::optional<Dtype> dtype) {
  return wrap(eager().softmin(operand_of(x), dim, dtype));
}

Tensor softplus(const Argument& x, double beta, double threshold) {
  return wrap(eager().softplus(operand_of(x), beta, threshold));
}

Tensor softshrink(const Argument& x, double lambd) {
  return wrap(eager().softshrink(operand_of(x), lambd));
}

Tensor softsign(const Argument& x) {
  return wrap(eager().softsign(operand_of(x)));
}

std::vector<Tensor> sort(const Argument& x, int64_t dim, bool descending, bool stable) {
  return wrap(eager().sort(operand_of(x), dim, descending, stable));
}

std::vector<Tensor> split(const Argument& x, const Shape& split_size, int64_t dim) {
  return wrap(eager().split(operand_of(x), dims_of(split_size), dim));
}

Tensor sqrt(const Argument& x) {
  return wrap(eager().sqrt(operand_of(x)));
}

Tensor square(const Argument& x) {
  return wrap(eager().square(operand_of(x)));
}

Tensor squeeze(const Argument& x, const std::optional<Shape>& dim) {
  return wrap(eager().squeeze(operand_of(x), dims_of(dim)));
}

Tensor stack(const std::vector<Tensor>& tensors, int64_t dim) {
  return wrap(eager().stack(values_of(tensors), dim));
}

std::vector<Tensor> standardize(const Argument& x, const Argument& weight, const Argument& bias, const Shape& dim, double eps, bool centered) {
  return wrap(eager().standardize(operand_of(x), operand_of(weight), operand_of(bias), dims_of(dim), eps, centered));
}

std::vector<Tensor> standardize_backward(const Argument& g, const Argument& x, const Argument& weight, const Argument& mean, const Argument& var, const Argument& mean_gradient, const Argument& var_gradient, const Shape& dim, double eps, bool for_x, bool for_weight, const Shape& bias_shape) {
  return wrap(eager().standardize_backward(operand_of(g), operand_of(x), operand_of(weight), operand_of(mean), operand_of(var), operand_of(mean_gradient), operand_of(var_gradient), dims_of(dim), eps, for_x, for_weight, dims_of(bias_shape)));
}

Tensor std(const Argument& x, const std::optional<Shape>& dim, bool keepdim, double correction) {
  return wrap(eager().std(operand_of(x), dims_of(dim), keepdim, correction));
}

Tensor strided_part(const Argument& x, const Shape& size, const Shape& stride, int64_t offset) {
  return wrap(eager().strided_part(operand_of(x), dims_of(size), dims_of(stride), offset));
}

Tensor sub(const Argument& x, const Argument& y) {
  return wrap(eager().sub(operand_of(x), operand_of(y)));
}

Tensor sum(const Argument& x, const std::optional<Shape>& dim, bool keepdim, std::optional<Dtype> dtype) {
  return wrap(eager().sum(operand_of(x), dims_of(dim), keepdim, dtype));
}

Tensor swapaxes(const Argument& x, int64_t dim0, int64_t dim1) {
  return wrap(eager().swapaxes(operand_of(x), dim0, dim1));
}

Tensor swapdims(const Argument& x, int64_t dim0, int64_t dim1) {
  return wrap(eager().swapdims(operand_of(x), dim0, dim1));
}

Tensor take_along_dim(const Argument& x, const Argument& indices, std::optional<int64_t> dim) {
  return wrap(eager().take_along_dim(operand_of(x), operand_of(indices), dim));
}

Tensor tan(const Argument& x) {
  return wrap(eager().tan(operand_of(x)));
}

Tensor tanh(const Argument& x) {
  return wrap(eager().tanh(operand_of(x)));
}

Tensor tanhshrink(const Argument& x) {
  return wrap(eager().tanhshrink(operand_of(x)));
}

Tensor tensordot(const Argument& x, const Argument& y, const Shape& dims, const std::optional<Shape>& dims_y) {
  return wrap(eager().tensordot(operand_of(x), operand_of(y), dims_of(dims), dims_of(dims_y)));
}

Tensor threshold(const Argument& x, double threshold, double value) {
  return wrap(eager().threshold(operand_of(x), threshold, value));
}

Tensor tile(const Argument& x, const Shape& dims) {
  return wrap(eager().tile(operand_of(x), dims_of(dims)));
}

Tensor to(const Argument& x, Dtype dtype) {
  return wrap(eager().to(operand_of(x), dtype));
}

std::vector<Tensor> topk(const Argument& x, int64_t k, int64_t dim, bool largest, bool sorted) {
  return wrap(eager().topk(operand_of(x), k, dim, largest, sorted));
}

Tensor trace(const Argument& x) {
  return wrap(eager().trace(operand_of(x)));
}

Tensor transpose(const Argument& x, int64_t dim0, int64_t dim1) {
  return wrap(eager().transpose(operand_of(x), dim0, dim1));
}

Tensor tril(const Argument& x, int64_t diagonal) {
  return wrap(eager().tril(operand_of(x), diagonal));
}

Tensor tril_indices(int64_t row, int64_t col, int64_t offset) {
  return wrap(eager().tril_indices(row, col, offset));
}

Tensor triplet_margin_loss(const Argument& anchor, const Argument& positive, const Argument& negative, double margin, double p, double eps, bool swap, const std::string& reduction) {
  return wrap(eager().triplet_margin_loss(operand_of(anchor), operand_of(positive), operand_of(negative), margin, p, eps, swap, reduction));
}

Tensor triu(const Argument& x, int64_t diagonal) {
  return wrap(eager().triu(operand_of(x), diagonal));
}

Tensor triu_indices(int64_t row, int64_t col, int64_t offset) {
  return wrap(eager().triu_indices(row, col, offset));
}

Tensor trunc(const Argument& x) {
  return wrap(eager().trunc(operand_of(x)));
}

std::vector<Tensor> unbind(const Argument& x, int64_t dim) {
  return wrap(eager().unbind(operand_of(x), dim));
}

Tensor unflatten(const Argument& x, int64_t dim, const Shape& sizes) {
  return wrap(eager().unflatten(operand_of(x), dim, dims_of(sizes)));
}

Tensor unfold(const Argument& x, const Shape& kernel_size, const Shape& dilation, const Shape& padding, const Shape& stride) {
  return wrap(eager().unfold(operand_of(x), dims_of(kernel_size), dims_of(dilation), dims_of(padding), dims_of(stride)));
}

std::vector<Tensor> unique_all(const Argument& x, std::optional<int64_t> dim) {
  return wrap(eager().unique_all(operand_of(x), dim));
}

Tensor unsqueeze(const Argument& x, int64_t dim) {
  return wrap(eager().unsqueeze(operand_of(x), dim));
}

Tensor var(const Argument& x, const std::optional<Shape>& dim, bool keepdim, double correction) {
  return wrap(eager().var(operand_of(x), dims_of(dim), keepdim, correction));
}

std::vector<Tensor> var_mean(const Argument& x, const std::optional<Shape>& dim, bool keepdim, double correction) {
  return wrap(eager().var_mean(operand_of(x), dims_of(dim), keepdim, correction));
}

Tensor vdot(const Argument& x, const Argument& y) {
  return wrap(eager().vdot(operand_of(x), operand_of(y)));
}

Tensor vstack(const std::vector<Tensor>& tensors) {
  return wrap(eager().vstack(values_of(tensors)));
}

Tensor where(const Argument& condition, const Argument& x, const Argument& y) {
  return wrap(eager().where(operand_of(condition), operand_of(x), operand_of(y)));
}

Tensor zeros(const Shape& size, std::optional<Dtype> dtype) {
  return wrap(eager().zeros(dims_of(size), dtype));
}

Tensor zeros_like(const Argument& x, std::optional<Dtype> dtype) {
  return wrap(eager().zeros_like(operand_of(x), dtype));
}

}  // namespace lucid
