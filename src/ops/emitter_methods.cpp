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
    R"(adadelta_step(step, param, square_avg, acc_delta, grad, lr, rho, eps, weight_decay?, *, maximize: bool = false) -> tensors)",
    R"(adagrad_step(step, param, sum, grad, lr, lr_decay, eps, weight_decay?, *, maximize: bool = false) -> tensors)",
    R"(adam_step(step, param, exp_avg, exp_avg_sq, max_exp_avg_sq?, grad, lr, beta1, beta2, eps, weight_decay?, *, decoupled: bool = false, maximize: bool = false) -> tensors)",
    R"(adamax_step(step, param, exp_avg, exp_inf, grad, lr, beta1, beta2, eps, weight_decay?, *, maximize: bool = false) -> tensors)",
    R"(adaptive_avg_pool1d(x, output_size: ints))",
    R"(adaptive_avg_pool2d(x, output_size: ints))",
    R"(adaptive_avg_pool3d(x, output_size: ints))",
    R"(adaptive_max_pool1d_with_indices(x, output_size: ints) -> values, indices)",
    R"(adaptive_max_pool2d_with_indices(x, output_size: ints) -> values, indices)",
    R"(adaptive_max_pool3d_with_indices(x, output_size: ints) -> values, indices)",
    R"(add(x, y))",
    R"(addcdiv(x, tensor1, tensor2, *, value: float = 1.0))",
    R"(addcmul(x, tensor1, tensor2, *, value: float = 1.0))",
    R"(addmm(x, mat1, mat2, *, beta: float = 1.0, alpha: float = 1.0))",
    R"(addmv(x, mat, vector, *, beta: float = 1.0, alpha: float = 1.0))",
    R"(affine_grid(theta, size: ints, align_corners: bool = False))",
    R"(all(x, dim: ints? = None, keepdim: bool = False))",
    R"(amax(x, dim: ints? = None, keepdim: bool = False))",
    R"(amin(x, dim: ints? = None, keepdim: bool = False))",
    R"(any(x, dim: ints? = None, keepdim: bool = False))",
    R"(arange(start, end? = None, step? = None, *, dtype: dtype? = None))",
    R"(argmax(x, dim: int? = None, keepdim: bool = False))",
    R"(argmin(x, dim: int? = None, keepdim: bool = False))",
    R"(argsort(x, dim: int = -1, descending: bool = False, stable: bool = False))",
    R"(asgd_step(step, eta, mu, param, ax, grad, lr, lambd, alpha, t0, weight_decay?, *, maximize: bool = false) -> tensors)",
    R"(asin(x))",
    R"(asinh(x))",
    R"(atan(x))",
    R"(atan2(y, x))",
    R"(atanh(x))",
    R"(attention(q, k, v, mask?, causal: bool, scale: float) -> output, logsumexp)",
    R"(attention_backward(g, logsumexp_gradient, q, k, v, mask?, output, logsumexp, causal: bool, scale: float, for_mask: bool) -> tensors)",
    R"(attention_weights(query, key, attn_mask? = None, *, is_causal: bool = False, scale: float? = None))",
    R"(avg_pool1d(x, kernel_size: ints, stride: ints? = None, padding: ints = [0], ceil_mode: bool = False, count_include_pad: bool = True))",
    R"(avg_pool2d(x, kernel_size: ints, stride: ints? = None, padding: ints = [0], ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int? = None))",
    R"(avg_pool3d(x, kernel_size: ints, stride: ints? = None, padding: ints = [0], ceil_mode: bool = False, count_include_pad: bool = True, divisor_override: int? = None))",
    R"(baddbmm(x, batch1, batch2, *, beta: float = 1.0, alpha: float = 1.0))",
    R"(batch_norm(x, running_mean? = None, running_var? = None, weight? = None, bias? = None, training: bool = False, momentum: float = 0.1, eps: float = 1e-05) -> output, running_mean, running_var)",
    R"(bilinear(x, y, weight, bias? = None))",
    R"(binary_cross_entropy(x, target, weight? = None, *, reduction: str = 'mean'))",
    R"(binary_cross_entropy_with_logits(x, target, weight? = None, pos_weight? = None, *, reduction: str = 'mean'))",
    R"(bincount(x, weights? = None, minlength: int = 0))",
    R"(bitwise_and(x, y))",
    R"(bitwise_left_shift(x, y))",
    R"(bitwise_not(x))",
    R"(bitwise_or(x, y))",
    R"(bitwise_right_shift(x, y))",
    R"(bitwise_xor(x, y))",
    R"(bmm(x, y))",
    R"(broadcast_to(x, size: ints*))",
    R"(bucketize(x, boundaries, *, right: bool = False))",
    R"(cat(tensors: tensors, dim: int = 0))",
    R"(cat_same(tensors: tensors, dim: int = 0))",
    R"(cdist(x, y, p: float = 2.0))",
    R"(ceil(x))",
    R"(celu(x, alpha: float = 1.0))",
    R"(channel_shuffle(x, groups: int))",
    R"(chunk(x, chunks: int, dim: int = 0) -> tensors)",
    R"(clamp(x, min? = None, max? = None))",
    R"(class_loss(x, target, weight?, ignore_index: int = -100, label_smoothing: float = 0.0, reduction: str = 'mean') -> loss, logsumexp, total_weight)",
    R"(class_loss_backward(g, logsumexp_gradient, total_gradient, x, target, weight?, loss, logsumexp, total, ignore_index: int, label_smoothing: float, reduction: str, for_weight: bool) -> tensors)",
    R"(clip(x, min? = None, max? = None))",
    R"(clone(x))",
    R"(constant_pad(x, pad: ints, value: float = 0.0))",
    R"(contiguous(x))",
    R"(conv1d(x, weight, bias? = None, stride: ints = [1], padding: ints = [0], dilation: ints = [1], groups: int = 1))",
    R"(conv2d(x, weight, bias? = None, stride: ints = [1], padding: ints = [0], dilation: ints = [1], groups: int = 1))",
    R"(conv3d(x, weight, bias? = None, stride: ints = [1], padding: ints = [0], dilation: ints = [1], groups: int = 1))",
    R"(conv_transpose1d(x, weight, bias? = None, stride: ints = [1], padding: ints = [0], output_padding: ints = [0], groups: int = 1, dilation: ints = [1]))",
    R"(conv_transpose2d(x, weight, bias? = None, stride: ints = [1], padding: ints = [0], output_padding: ints = [0], groups: int = 1, dilation: ints = [1]))",
    R"(conv_transpose3d(x, weight, bias? = None, stride: ints = [1], padding: ints = [0], output_padding: ints = [0], groups: int = 1, dilation: ints = [1]))",
    R"(convolution(x, weight, bias? = None, stride: ints, low: ints, high: ints, input_dilation: ints, dilation: ints, groups: int = 1, transposed: bool = False))",
    R"(convolution_weight(x, grad, kernel: ints, stride: ints, low: ints, input_dilation: ints, dilation: ints, groups: int = 1, transposed: bool = False))",
    R"(cos(x))",
    R"(cosh(x))",
    R"(cosine_embedding_loss(x1, x2, target, *, margin: float = 0.0, reduction: str = 'mean'))",
    R"(cosine_similarity(x1, x2, dim: int = 1, eps: float = 1e-08))",
    R"(count_nonzero(x, dim: ints? = None))",
    R"(cross_entropy(x, target, weight? = None, *, ignore_index: int = -100, reduction: str = 'mean', label_smoothing: float = 0.0))",
    R"(ctc_loss(log_probs, targets, input_lengths, target_lengths, blank: int = 0, *, reduction: str = 'mean', zero_infinity: bool = False))",
    R"(cumprod(x, dim: int, *, dtype: dtype? = None))",
    R"(cumsum(x, dim: int, *, dtype: dtype? = None))",
    R"(diag(x, diagonal: int = 0))",
    R"(diagonal(x, offset: int = 0, dim1: int = 0, dim2: int = 1))",
    R"(diff(x, n: int = 1, dim: int = -1))",
    R"(div(x, y))",
    R"(dot(x, y))",
    R"(draw_alpha_dropout(state, x, p: float = 0.5))",
    R"(draw_bernoulli(state, p))",
    R"(draw_bits(state, size: ints))",
    R"(draw_dropout(state, x, p: float = 0.5))",
    R"(draw_feature_alpha_dropout(state, x, p: float = 0.5))",
    R"(draw_feature_dropout(state, x, p: float = 0.5))",
    R"(draw_gumbel_softmax(state, logits, tau: float = 1.0, hard: bool = False, dim: int = -1))",
    R"(draw_integers(state, size: ints, low: int, high: int, *, dtype: dtype? = None))",
    R"(draw_multinomial(state, p, num_samples: int, replacement: bool = False))",
    R"(draw_normal(state, size: ints, *, dtype: dtype? = None))",
    R"(draw_permutation(state, n: int))",
    R"(draw_rrelu(state, x, lower: float = 0.125, upper: float = 0.3333333333333333))",
    R"(draw_uniform(state, size: ints, *, dtype: dtype? = None))",
    R"(dstack(tensors: tensors))",
    R"(einsum(equation: str, tensors: tensors))",
    R"(elu(x, alpha: float = 1.0))",
    R"(embedding(weight, indices, padding_idx: int? = None))",
    R"(embedding_bag(weight, indices, offsets? = None, per_sample_weights? = None, *, mode: str = 'mean', include_last_offset: bool = False, padding_idx: int? = None))",
    R"(embedding_bag_offsets(offsets, count: int))",
    R"(empty(size: ints*, *, dtype: dtype? = None))",
    R"(empty_like(x, *, dtype: dtype? = None))",
    R"(eq(x, y))",
    R"(erf(x))",
    R"(erfc(x))",
    R"(exp(x))",
    R"(exp2(x))",
    R"(expand(x, size: ints*))",
    R"(expm1(x))",
    R"(eye(n: int, m: int? = None, *, dtype: dtype? = None))",
    R"(flatten(x, start_dim: int = 0, end_dim: int = -1))",
    R"(flip(x, dims: ints*))",
    R"(floor(x))",
    R"(floor_divide(x, y))",
    R"(fmod(x, y))",
    R"(fold(x, output_size: ints, kernel_size: ints, dilation: ints = [1], padding: ints = [0], stride: ints = [1]))",
    R"(full(size: ints, fill_value, *, dtype: dtype? = None))",
    R"(full_like(x, fill_value, *, dtype: dtype? = None))",
    R"(gather(x, dim: int, index))",
    R"(gaussian_nll_loss(x, target, var, full: bool = False, eps: float = 1e-06, *, reduction: str = 'mean'))",
    R"(ge(x, y))",
    R"(gelu(x, *, approximate: str = 'none'))",
    R"(glu(x, dim: int = -1))",
    R"(grid_sample(x, grid, mode: str = 'bilinear', padding_mode: str = 'zeros', align_corners: bool = False))",
    R"(group_norm(x, num_groups: int, weight? = None, bias? = None, eps: float = 1e-05))",
    R"(gt(x, y))",
    R"(hardshrink(x, lambd: float = 0.5))",
    R"(hardsigmoid(x))",
    R"(hardswish(x))",
    R"(hardtanh(x, min_val: float = -1.0, max_val: float = 1.0))",
    R"(hinge_embedding_loss(x, target, *, margin: float = 1.0, reduction: str = 'mean'))",
    R"(histc(x, bins: int = 100, min: float = 0.0, max: float = 0.0))",
    R"(hstack(tensors: tensors))",
    R"(huber_loss(x, target, *, reduction: str = 'mean', delta: float = 1.0))",
    R"(index(x, indices: tensors))",
    R"(index_add(x, dim: int, index, source))",
    R"(index_put(x, values, indices: tensors, accumulate: bool = False))",
    R"(index_put_add(x, values, indices: tensors))",
    R"(index_put_set(x, values, indices: tensors))",
    R"(index_select(x, dim: int, index))",
    R"(inner(x, y))",
    R"(instance_norm(x, running_mean? = None, running_var? = None, weight? = None, bias? = None, use_input_stats: bool = True, momentum: float = 0.1, eps: float = 1e-05) -> output, running_mean, running_var)",
    R"(interpolate(x, size: ints? = None, scale_factor: float? = None, mode: str = 'nearest', align_corners: bool? = None))",
    R"(iota(size: ints, dim: int = 0))",
    R"(isclose(x, y, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False))",
    R"(isfinite(x))",
    R"(isinf(x))",
    R"(isnan(x))",
    R"(kl_div(x, target, *, reduction: str = 'mean', log_target: bool = False))",
    R"(kron(x, y))",
    R"(kthvalue(x, k: int, dim: int = -1, keepdim: bool = False) -> values, indices)",
    R"(l1_loss(x, target, *, reduction: str = 'mean'))",
    R"(layer_norm(x, normalized_shape: ints, weight? = None, bias? = None, eps: float = 1e-05))",
    R"(le(x, y))",
    R"(leaky_relu(x, negative_slope: float = 0.01))",
    R"(lerp(x, end, weight))",
    R"(linear(x, weight, bias? = None))",
    R"(linspace(start: float, end: float, steps: int, *, dtype: dtype? = None))",
    R"(lion_step(param, exp_avg, grad, lr, beta1, beta2, weight_decay?, *, maximize: bool = false) -> tensors)",
    R"(local_response_norm(x, size: int, alpha: float = 0.0001, beta: float = 0.75, k: float = 1.0))",
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
    R"(logspace(start: float, end: float, steps: int, base: float = 10.0, *, dtype: dtype? = None))",
    R"(logsumexp(x, dim: ints? = None, keepdim: bool = False))",
    R"(lp_pool1d(x, norm_type: float, kernel_size: ints, stride: ints? = None, ceil_mode: bool = False))",
    R"(lp_pool2d(x, norm_type: float, kernel_size: ints, stride: ints? = None, ceil_mode: bool = False))",
    R"(lp_pool3d(x, norm_type: float, kernel_size: ints, stride: ints? = None, ceil_mode: bool = False))",
    R"(lt(x, y))",
    R"(margin_ranking_loss(x1, x2, target, *, margin: float = 0.0, reduction: str = 'mean'))",
    R"(masked_fill(x, mask, value))",
    R"(masked_select(x, mask))",
    R"(matmul(x, y))",
    R"(max_dim(x, dim: int, keepdim: bool = False) -> values, indices)",
    R"(max_pool(x, kernel: ints, stride: ints, padding: ints, dilation: ints, size: ints))",
    R"(max_pool1d(x, kernel_size: ints, stride: ints? = None, padding: ints = [0], dilation: ints = [1], ceil_mode: bool = False))",
    R"(max_pool1d_with_indices(x, kernel_size: ints, stride: ints? = None, padding: ints = [0], dilation: ints = [1], ceil_mode: bool = False) -> values, indices)",
    R"(max_pool2d(x, kernel_size: ints, stride: ints? = None, padding: ints = [0], dilation: ints = [1], ceil_mode: bool = False))",
    R"(max_pool2d_with_indices(x, kernel_size: ints, stride: ints? = None, padding: ints = [0], dilation: ints = [1], ceil_mode: bool = False) -> values, indices)",
    R"(max_pool3d(x, kernel_size: ints, stride: ints? = None, padding: ints = [0], dilation: ints = [1], ceil_mode: bool = False))",
    R"(max_pool3d_with_indices(x, kernel_size: ints, stride: ints? = None, padding: ints = [0], dilation: ints = [1], ceil_mode: bool = False) -> values, indices)",
    R"(max_pool_back(grad, indices, kernel: ints, stride: ints, padding: ints, dilation: ints, size: ints))",
    R"(max_position(x, kernel: ints, stride: ints, padding: ints, dilation: ints, size: ints))",
    R"(max_unpool1d(x, indices, kernel_size: ints, stride: ints? = None, padding: ints = [0], output_size: ints? = None))",
    R"(max_unpool2d(x, indices, kernel_size: ints, stride: ints? = None, padding: ints = [0], output_size: ints? = None))",
    R"(max_unpool3d(x, indices, kernel_size: ints, stride: ints? = None, padding: ints = [0], output_size: ints? = None))",
    R"(maximum(x, y))",
    R"(mean(x, dim: ints? = None, keepdim: bool = False, *, dtype: dtype? = None))",
    R"(mean_pool(x, kernel: ints, stride: ints, padding: ints, dilation: ints, size: ints, include_padding: bool = True, divisor: int? = None))",
    R"(mean_pool_back(grad, kernel: ints, stride: ints, padding: ints, dilation: ints, size: ints, include_padding: bool = True, divisor: int? = None))",
    R"(median(x))",
    R"(median_dim(x, dim: int, keepdim: bool = False) -> values, indices)",
    R"(meshgrid(tensors: tensors, *, indexing: str = "ij") -> tensors)",
    R"(min_dim(x, dim: int, keepdim: bool = False) -> values, indices)",
    R"(minimum(x, y))",
    R"(mish(x))",
    R"(mm(x, y))",
    R"(movedim(x, source: ints, destination: ints))",
    R"(mse_loss(x, target, *, reduction: str = 'mean'))",
    R"(msort(x))",
    R"(mul(x, y))",
    R"(multi_margin_loss(x, target, p: int = 1, margin: float = 1.0, weight? = None, *, reduction: str = 'mean'))",
    R"(multilabel_margin_loss(x, target, *, reduction: str = 'mean'))",
    R"(multilabel_soft_margin_loss(x, target, weight? = None, *, reduction: str = 'mean'))",
    R"(mv(x, vector))",
    R"(nadam_step(step, mu_product, param, exp_avg, exp_avg_sq, grad, lr, beta1, beta2, eps, momentum_decay, weight_decay?, *, decoupled: bool = false, maximize: bool = false) -> tensors)",
    R"(nan_to_num(x, nan: float = 0.0, posinf: float? = None, neginf: float? = None))",
    R"(nanmean(x, dim: ints? = None, keepdim: bool = False))",
    R"(nansum(x, dim: ints? = None, keepdim: bool = False, *, dtype: dtype? = None))",
    R"(narrow(x, dim: int, start: int, length: int))",
    R"(ndtr(x))",
    R"(ne(x, y))",
    R"(neg(x))",
    R"(nll_loss(x, target, weight? = None, *, ignore_index: int = -100, reduction: str = 'mean'))",
    R"(nonzero(x))",
    R"(norm(x, p: float = 2.0, dim: ints? = None, keepdim: bool = False))",
    R"(normalize(x, p: float = 2.0, dim: int = 1, eps: float = 1e-12))",
    R"(one_hot(x, num_classes: int))",
    R"(ones(size: ints*, *, dtype: dtype? = None))",
    R"(ones_like(x, *, dtype: dtype? = None))",
    R"(outer(x, y))",
    R"(pad(x, pad: ints, mode: str = "constant", value: float = 0.0))",
    R"(pairwise_distance(x1, x2, p: float = 2.0, eps: float = 1e-06, keepdim: bool = False))",
    R"(permute(x, dims: ints*))",
    R"(pixel_shuffle(x, upscale_factor: int))",
    R"(pixel_unshuffle(x, downscale_factor: int))",
    R"(poisson_nll_loss(x, target, log_input: bool = True, full: bool = False, *, eps: float = 1e-08, reduction: str = 'mean'))",
    R"(pow(x, y))",
    R"(power(x, y))",
    R"(prelu(x, weight))",
    R"(prod(x, dim: ints? = None, keepdim: bool = False, *, dtype: dtype? = None))",
    R"(radam_step(step, param, exp_avg, exp_avg_sq, grad, lr, beta1, beta2, eps, weight_decay?, *, decoupled: bool = false, maximize: bool = false) -> tensors)",
    R"(reciprocal(x))",
    R"(relu(x))",
    R"(relu6(x))",
    R"(remainder(x, y))",
    R"(repeat(x, repeats: ints*))",
    R"(repeat_interleave(x, repeats: int, dim: int? = None))",
    R"(resample(x, dim: int, size: int, mode: str = 'nearest', align_corners: bool = False, scale: float? = None))",
    R"(reshape(x, shape: ints*))",
    R"(rms_norm(x, normalized_shape: ints, weight? = None, eps: float? = None))",
    R"(rmsprop_step(step, param, square_avg, grad_avg?, momentum_buffer?, grad, lr, alpha, eps, momentum?, weight_decay?, *, maximize: bool = false) -> tensors)",
    R"(roll(x, shifts: ints, dims: ints? = None))",
    R"(roll_one(x, shift: int, dim: int))",
    R"(round(x))",
    R"(rprop_step(step, param, prev, step_size, grad, etaminus, etaplus, step_size_min, step_size_max, *, maximize: bool = false) -> tensors)",
    R"(rrelu(x, lower: float = 0.125, upper: float = 0.3333333333333333))",
    R"(rsqrt(x))",
    R"(scaled_dot_product_attention(query, key, value, attn_mask? = None, *, is_causal: bool = False, scale: float? = None, enable_gqa: bool = False))",
    R"(scatter(x, dim: int, index, src, *, reduce: str? = None))",
    R"(scatter_add(x, dim: int, index, src))",
    R"(scatter_amax(x, dim: int, index, src))",
    R"(scatter_amin(x, dim: int, index, src))",
    R"(scatter_mul(x, dim: int, index, src))",
    R"(scatter_reduce(x, dim: int, index, src, reduce: str, *, include_self: bool = True))",
    R"(scatter_set(x, dim: int, index, src))",
    R"(searchsorted(sorted_sequence, values, *, right: bool = False))",
    R"(select(x, dim: int, index: int))",
    R"(selu(x))",
    R"(set_strided_part(x, part, stride: ints, offset: int = 0))",
    R"(sgd_step(param, momentum_buffer?, grad, lr, momentum?, dampening?, weight_decay?, *, nesterov: bool = false, maximize: bool = false, first: bool = false) -> tensors)",
    R"(sigmoid(x))",
    R"(sign(x))",
    R"(silu(x))",
    R"(sin(x))",
    R"(sinh(x))",
    R"(slice(x, dim: int = 0, start: int? = None, end: int? = None, step: int = 1))",
    R"(smooth_l1_loss(x, target, *, reduction: str = 'mean', beta: float = 1.0))",
    R"(soft_margin_loss(x, target, *, reduction: str = 'mean'))",
    R"(softmax(x, dim: int = -1, *, dtype: dtype? = None))",
    R"(softmin(x, dim: int = -1, *, dtype: dtype? = None))",
    R"(softplus(x, beta: float = 1.0, threshold: float = 20.0))",
    R"(softshrink(x, lambd: float = 0.5))",
    R"(softsign(x))",
    R"(sort(x, dim: int = -1, descending: bool = False, stable: bool = False) -> values, indices)",
    R"(split(x, split_size: ints, dim: int = 0) -> tensors)",
    R"(sqrt(x))",
    R"(square(x))",
    R"(squeeze(x, dim: ints? = None))",
    R"(stack(tensors: tensors, dim: int = 0))",
    R"(standardize(x, weight?, bias?, dim: ints, eps: float = 1e-05, centered: bool = True) -> tensors)",
    R"(standardize_backward(g, x, weight?, mean?, var, mean_gradient?, var_gradient, dim: ints, eps: float, for_x: bool, for_weight: bool, bias_shape: ints) -> tensors)",
    R"(std(x, dim: ints? = None, keepdim: bool = False, *, correction: float = 1.0))",
    R"(strided_part(x, size: ints, stride: ints, offset: int = 0))",
    R"(sub(x, y))",
    R"(sum(x, dim: ints? = None, keepdim: bool = False, *, dtype: dtype? = None))",
    R"(swapaxes(x, dim0: int, dim1: int))",
    R"(swapdims(x, dim0: int, dim1: int))",
    R"(take_along_dim(x, indices, dim: int? = None))",
    R"(tan(x))",
    R"(tanh(x))",
    R"(tanhshrink(x))",
    R"(tensordot(x, y, dims: ints = [2], dims_y: ints? = None))",
    R"(threshold(x, threshold: float, value: float))",
    R"(tile(x, dims: ints*))",
    R"(to(x, dtype: dtype))",
    R"(topk(x, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> values, indices)",
    R"(trace(x))",
    R"(transpose(x, dim0: int, dim1: int))",
    R"(tril(x, diagonal: int = 0))",
    R"(tril_indices(row: int, col: int, offset: int = 0))",
    R"(triplet_margin_loss(anchor, positive, negative, *, margin: float = 1.0, p: float = 2.0, eps: float = 1e-06, swap: bool = False, reduction: str = 'mean'))",
    R"(triu(x, diagonal: int = 0))",
    R"(triu_indices(row: int, col: int, offset: int = 0))",
    R"(trunc(x))",
    R"(unbind(x, dim: int = 0) -> tensors)",
    R"(unflatten(x, dim: int, sizes: ints))",
    R"(unfold(x, kernel_size: ints, dilation: ints = [1], padding: ints = [0], stride: ints = [1]))",
    R"(unique_all(x, dim: int? = None) -> values, inverse, counts)",
    R"(unsqueeze(x, dim: int))",
    R"(var(x, dim: ints? = None, keepdim: bool = False, *, correction: float = 1.0))",
    R"(var_mean(x, dim: ints? = None, keepdim: bool = False, *, correction: float = 1.0) -> var, mean)",
    R"(vdot(x, y))",
    R"(vstack(tensors: tensors))",
    R"(where(condition, x, y))",
    R"(zeros(size: ints*, *, dtype: dtype? = None))",
    R"(zeros_like(x, *, dtype: dtype? = None))",
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

Value Emitter::adaptive_avg_pool1d(Operand x, const Dims& output_size) {
  static const Op& this_op = op_table().at("adaptive_avg_pool1d");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(output_size)});
}

Value Emitter::adaptive_avg_pool2d(Operand x, const Dims& output_size) {
  static const Op& this_op = op_table().at("adaptive_avg_pool2d");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(output_size)});
}

Value Emitter::adaptive_avg_pool3d(Operand x, const Dims& output_size) {
  static const Op& this_op = op_table().at("adaptive_avg_pool3d");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(output_size)});
}

Values Emitter::adaptive_max_pool1d_with_indices(Operand x, const Dims& output_size) {
  static const Op& this_op = op_table().at("adaptive_max_pool1d_with_indices");
  const Operand these[] = {x};
  return emit(this_op, these, {attribute_of(output_size)});
}

Values Emitter::adaptive_max_pool2d_with_indices(Operand x, const Dims& output_size) {
  static const Op& this_op = op_table().at("adaptive_max_pool2d_with_indices");
  const Operand these[] = {x};
  return emit(this_op, these, {attribute_of(output_size)});
}

Values Emitter::adaptive_max_pool3d_with_indices(Operand x, const Dims& output_size) {
  static const Op& this_op = op_table().at("adaptive_max_pool3d_with_indices");
  const Operand these[] = {x};
  return emit(this_op, these, {attribute_of(output_size)});
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

Value Emitter::addmm(Operand x, Operand mat1, Operand mat2, double beta, double alpha) {
  static const Op& this_op = op_table().at("addmm");
  const Operand these[] = {x, mat1, mat2};
  return emit_one(this_op, these, {attribute_of(beta), attribute_of(alpha)});
}

Value Emitter::addmv(Operand x, Operand mat, Operand vector, double beta, double alpha) {
  static const Op& this_op = op_table().at("addmv");
  const Operand these[] = {x, mat, vector};
  return emit_one(this_op, these, {attribute_of(beta), attribute_of(alpha)});
}

Value Emitter::affine_grid(Operand theta, const Dims& size, bool align_corners) {
  static const Op& this_op = op_table().at("affine_grid");
  const Operand these[] = {theta};
  return emit_one(this_op, these, {attribute_of(size), attribute_of(align_corners)});
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

Value Emitter::arange(Operand start, Operand end, Operand step, std::optional<Dtype> dtype) {
  static const Op& this_op = op_table().at("arange");
  const Operand these[] = {start, end, step};
  return emit_one(this_op, these, {attribute_of(dtype)});
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

Value Emitter::argsort(Operand x, int64_t dim, bool descending, bool stable) {
  static const Op& this_op = op_table().at("argsort");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dim), attribute_of(descending), attribute_of(stable)});
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

Values Emitter::attention(Operand q, Operand k, Operand v, Operand mask, bool causal, double scale) {
  static const Op& this_op = op_table().at("attention");
  const Operand these[] = {q, k, v, mask};
  return emit(this_op, these, {attribute_of(causal), attribute_of(scale)});
}

Values Emitter::attention_backward(Operand g, Operand logsumexp_gradient, Operand q, Operand k, Operand v, Operand mask, Operand output, Operand logsumexp, bool causal, double scale, bool for_mask) {
  static const Op& this_op = op_table().at("attention_backward");
  const Operand these[] = {g, logsumexp_gradient, q, k, v, mask, output, logsumexp};
  return emit(this_op, these, {attribute_of(causal), attribute_of(scale), attribute_of(for_mask)});
}

Value Emitter::attention_weights(Operand query, Operand key, Operand attn_mask, bool is_causal, std::optional<double> scale) {
  static const Op& this_op = op_table().at("attention_weights");
  const Operand these[] = {query, key, attn_mask};
  return emit_one(this_op, these, {attribute_of(is_causal), attribute_of(scale)});
}

Value Emitter::avg_pool1d(Operand x, const Dims& kernel_size, const std::optional<Dims>& stride, const Dims& padding, bool ceil_mode, bool count_include_pad) {
  static const Op& this_op = op_table().at("avg_pool1d");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(kernel_size), attribute_of(stride), attribute_of(padding), attribute_of(ceil_mode), attribute_of(count_include_pad)});
}

Value Emitter::avg_pool2d(Operand x, const Dims& kernel_size, const std::optional<Dims>& stride, const Dims& padding, bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override) {
  static const Op& this_op = op_table().at("avg_pool2d");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(kernel_size), attribute_of(stride), attribute_of(padding), attribute_of(ceil_mode), attribute_of(count_include_pad), attribute_of(divisor_override)});
}

Value Emitter::avg_pool3d(Operand x, const Dims& kernel_size, const std::optional<Dims>& stride, const Dims& padding, bool ceil_mode, bool count_include_pad, std::optional<int64_t> divisor_override) {
  static const Op& this_op = op_table().at("avg_pool3d");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(kernel_size), attribute_of(stride), attribute_of(padding), attribute_of(ceil_mode), attribute_of(count_include_pad), attribute_of(divisor_override)});
}

Value Emitter::baddbmm(Operand x, Operand batch1, Operand batch2, double beta, double alpha) {
  static const Op& this_op = op_table().at("baddbmm");
  const Operand these[] = {x, batch1, batch2};
  return emit_one(this_op, these, {attribute_of(beta), attribute_of(alpha)});
}

Values Emitter::batch_norm(Operand x, Operand running_mean, Operand running_var, Operand weight, Operand bias, bool training, double momentum, double eps) {
  static const Op& this_op = op_table().at("batch_norm");
  const Operand these[] = {x, running_mean, running_var, weight, bias};
  return emit(this_op, these, {attribute_of(training), attribute_of(momentum), attribute_of(eps)});
}

Value Emitter::bilinear(Operand x, Operand y, Operand weight, Operand bias) {
  static const Op& this_op = op_table().at("bilinear");
  const Operand these[] = {x, y, weight, bias};
  return emit_one(this_op, these, {});
}

Value Emitter::binary_cross_entropy(Operand x, Operand target, Operand weight, const std::string& reduction) {
  static const Op& this_op = op_table().at("binary_cross_entropy");
  const Operand these[] = {x, target, weight};
  return emit_one(this_op, these, {attribute_of(reduction)});
}

Value Emitter::binary_cross_entropy_with_logits(Operand x, Operand target, Operand weight, Operand pos_weight, const std::string& reduction) {
  static const Op& this_op = op_table().at("binary_cross_entropy_with_logits");
  const Operand these[] = {x, target, weight, pos_weight};
  return emit_one(this_op, these, {attribute_of(reduction)});
}

Value Emitter::bincount(Operand x, Operand weights, int64_t minlength) {
  static const Op& this_op = op_table().at("bincount");
  const Operand these[] = {x, weights};
  return emit_one(this_op, these, {attribute_of(minlength)});
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

Value Emitter::bmm(Operand x, Operand y) {
  static const Op& this_op = op_table().at("bmm");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Value Emitter::broadcast_to(Operand x, const Dims& size) {
  static const Op& this_op = op_table().at("broadcast_to");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(size)});
}

Value Emitter::bucketize(Operand x, Operand boundaries, bool right) {
  static const Op& this_op = op_table().at("bucketize");
  const Operand these[] = {x, boundaries};
  return emit_one(this_op, these, {attribute_of(right)});
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

Value Emitter::cdist(Operand x, Operand y, double p) {
  static const Op& this_op = op_table().at("cdist");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {attribute_of(p)});
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

Value Emitter::channel_shuffle(Operand x, int64_t groups) {
  static const Op& this_op = op_table().at("channel_shuffle");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(groups)});
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

Values Emitter::class_loss(Operand x, Operand target, Operand weight, int64_t ignore_index, double label_smoothing, const std::string& reduction) {
  static const Op& this_op = op_table().at("class_loss");
  const Operand these[] = {x, target, weight};
  return emit(this_op, these, {attribute_of(ignore_index), attribute_of(label_smoothing), attribute_of(reduction)});
}

Values Emitter::class_loss_backward(Operand g, Operand logsumexp_gradient, Operand total_gradient, Operand x, Operand target, Operand weight, Operand loss, Operand logsumexp, Operand total, int64_t ignore_index, double label_smoothing, const std::string& reduction, bool for_weight) {
  static const Op& this_op = op_table().at("class_loss_backward");
  const Operand these[] = {g, logsumexp_gradient, total_gradient, x, target, weight, loss, logsumexp, total};
  return emit(this_op, these, {attribute_of(ignore_index), attribute_of(label_smoothing), attribute_of(reduction), attribute_of(for_weight)});
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

Value Emitter::conv1d(Operand x, Operand weight, Operand bias, const Dims& stride, const Dims& padding, const Dims& dilation, int64_t groups) {
  static const Op& this_op = op_table().at("conv1d");
  const Operand these[] = {x, weight, bias};
  return emit_one(this_op, these, {attribute_of(stride), attribute_of(padding), attribute_of(dilation), attribute_of(groups)});
}

Value Emitter::conv2d(Operand x, Operand weight, Operand bias, const Dims& stride, const Dims& padding, const Dims& dilation, int64_t groups) {
  static const Op& this_op = op_table().at("conv2d");
  const Operand these[] = {x, weight, bias};
  return emit_one(this_op, these, {attribute_of(stride), attribute_of(padding), attribute_of(dilation), attribute_of(groups)});
}

Value Emitter::conv3d(Operand x, Operand weight, Operand bias, const Dims& stride, const Dims& padding, const Dims& dilation, int64_t groups) {
  static const Op& this_op = op_table().at("conv3d");
  const Operand these[] = {x, weight, bias};
  return emit_one(this_op, these, {attribute_of(stride), attribute_of(padding), attribute_of(dilation), attribute_of(groups)});
}

Value Emitter::conv_transpose1d(Operand x, Operand weight, Operand bias, const Dims& stride, const Dims& padding, const Dims& output_padding, int64_t groups, const Dims& dilation) {
  static const Op& this_op = op_table().at("conv_transpose1d");
  const Operand these[] = {x, weight, bias};
  return emit_one(this_op, these, {attribute_of(stride), attribute_of(padding), attribute_of(output_padding), attribute_of(groups), attribute_of(dilation)});
}

Value Emitter::conv_transpose2d(Operand x, Operand weight, Operand bias, const Dims& stride, const Dims& padding, const Dims& output_padding, int64_t groups, const Dims& dilation) {
  static const Op& this_op = op_table().at("conv_transpose2d");
  const Operand these[] = {x, weight, bias};
  return emit_one(this_op, these, {attribute_of(stride), attribute_of(padding), attribute_of(output_padding), attribute_of(groups), attribute_of(dilation)});
}

Value Emitter::conv_transpose3d(Operand x, Operand weight, Operand bias, const Dims& stride, const Dims& padding, const Dims& output_padding, int64_t groups, const Dims& dilation) {
  static const Op& this_op = op_table().at("conv_transpose3d");
  const Operand these[] = {x, weight, bias};
  return emit_one(this_op, these, {attribute_of(stride), attribute_of(padding), attribute_of(output_padding), attribute_of(groups), attribute_of(dilation)});
}

Value Emitter::convolution(Operand x, Operand weight, Operand bias, const Dims& stride, const Dims& low, const Dims& high, const Dims& input_dilation, const Dims& dilation, int64_t groups, bool transposed) {
  static const Op& this_op = op_table().at("convolution");
  const Operand these[] = {x, weight, bias};
  return emit_one(this_op, these, {attribute_of(stride), attribute_of(low), attribute_of(high), attribute_of(input_dilation), attribute_of(dilation), attribute_of(groups), attribute_of(transposed)});
}

Value Emitter::convolution_weight(Operand x, Operand grad, const Dims& kernel, const Dims& stride, const Dims& low, const Dims& input_dilation, const Dims& dilation, int64_t groups, bool transposed) {
  static const Op& this_op = op_table().at("convolution_weight");
  const Operand these[] = {x, grad};
  return emit_one(this_op, these, {attribute_of(kernel), attribute_of(stride), attribute_of(low), attribute_of(input_dilation), attribute_of(dilation), attribute_of(groups), attribute_of(transposed)});
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

Value Emitter::cosine_embedding_loss(Operand x1, Operand x2, Operand target, double margin, const std::string& reduction) {
  static const Op& this_op = op_table().at("cosine_embedding_loss");
  const Operand these[] = {x1, x2, target};
  return emit_one(this_op, these, {attribute_of(margin), attribute_of(reduction)});
}

Value Emitter::cosine_similarity(Operand x1, Operand x2, int64_t dim, double eps) {
  static const Op& this_op = op_table().at("cosine_similarity");
  const Operand these[] = {x1, x2};
  return emit_one(this_op, these, {attribute_of(dim), attribute_of(eps)});
}

Value Emitter::count_nonzero(Operand x, const std::optional<Dims>& dim) {
  static const Op& this_op = op_table().at("count_nonzero");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dim)});
}

Value Emitter::cross_entropy(Operand x, Operand target, Operand weight, int64_t ignore_index, const std::string& reduction, double label_smoothing) {
  static const Op& this_op = op_table().at("cross_entropy");
  const Operand these[] = {x, target, weight};
  return emit_one(this_op, these, {attribute_of(ignore_index), attribute_of(reduction), attribute_of(label_smoothing)});
}

Value Emitter::ctc_loss(Operand log_probs, Operand targets, Operand input_lengths, Operand target_lengths, int64_t blank, const std::string& reduction, bool zero_infinity) {
  static const Op& this_op = op_table().at("ctc_loss");
  const Operand these[] = {log_probs, targets, input_lengths, target_lengths};
  return emit_one(this_op, these, {attribute_of(blank), attribute_of(reduction), attribute_of(zero_infinity)});
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

Value Emitter::diff(Operand x, int64_t n, int64_t dim) {
  static const Op& this_op = op_table().at("diff");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(n), attribute_of(dim)});
}

Value Emitter::div(Operand x, Operand y) {
  static const Op& this_op = op_table().at("div");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Value Emitter::dot(Operand x, Operand y) {
  static const Op& this_op = op_table().at("dot");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Value Emitter::draw_alpha_dropout(Operand state, Operand x, double p) {
  static const Op& this_op = op_table().at("draw_alpha_dropout");
  const Operand these[] = {state, x};
  return emit_one(this_op, these, {attribute_of(p)});
}

Value Emitter::draw_bernoulli(Operand state, Operand p) {
  static const Op& this_op = op_table().at("draw_bernoulli");
  const Operand these[] = {state, p};
  return emit_one(this_op, these, {});
}

Value Emitter::draw_bits(Operand state, const Dims& size) {
  static const Op& this_op = op_table().at("draw_bits");
  const Operand these[] = {state};
  return emit_one(this_op, these, {attribute_of(size)});
}

Value Emitter::draw_dropout(Operand state, Operand x, double p) {
  static const Op& this_op = op_table().at("draw_dropout");
  const Operand these[] = {state, x};
  return emit_one(this_op, these, {attribute_of(p)});
}

Value Emitter::draw_feature_alpha_dropout(Operand state, Operand x, double p) {
  static const Op& this_op = op_table().at("draw_feature_alpha_dropout");
  const Operand these[] = {state, x};
  return emit_one(this_op, these, {attribute_of(p)});
}

Value Emitter::draw_feature_dropout(Operand state, Operand x, double p) {
  static const Op& this_op = op_table().at("draw_feature_dropout");
  const Operand these[] = {state, x};
  return emit_one(this_op, these, {attribute_of(p)});
}

Value Emitter::draw_gumbel_softmax(Operand state, Operand logits, double tau, bool hard, int64_t dim) {
  static const Op& this_op = op_table().at("draw_gumbel_softmax");
  const Operand these[] = {state, logits};
  return emit_one(this_op, these, {attribute_of(tau), attribute_of(hard), attribute_of(dim)});
}

Value Emitter::draw_integers(Operand state, const Dims& size, int64_t low, int64_t high, std::optional<Dtype> dtype) {
  static const Op& this_op = op_table().at("draw_integers");
  const Operand these[] = {state};
  return emit_one(this_op, these, {attribute_of(size), attribute_of(low), attribute_of(high), attribute_of(dtype)});
}

Value Emitter::draw_multinomial(Operand state, Operand p, int64_t num_samples, bool replacement) {
  static const Op& this_op = op_table().at("draw_multinomial");
  const Operand these[] = {state, p};
  return emit_one(this_op, these, {attribute_of(num_samples), attribute_of(replacement)});
}

Value Emitter::draw_normal(Operand state, const Dims& size, std::optional<Dtype> dtype) {
  static const Op& this_op = op_table().at("draw_normal");
  const Operand these[] = {state};
  return emit_one(this_op, these, {attribute_of(size), attribute_of(dtype)});
}

Value Emitter::draw_permutation(Operand state, int64_t n) {
  static const Op& this_op = op_table().at("draw_permutation");
  const Operand these[] = {state};
  return emit_one(this_op, these, {attribute_of(n)});
}

Value Emitter::draw_rrelu(Operand state, Operand x, double lower, double upper) {
  static const Op& this_op = op_table().at("draw_rrelu");
  const Operand these[] = {state, x};
  return emit_one(this_op, these, {attribute_of(lower), attribute_of(upper)});
}

Value Emitter::draw_uniform(Operand state, const Dims& size, std::optional<Dtype> dtype) {
  static const Op& this_op = op_table().at("draw_uniform");
  const Operand these[] = {state};
  return emit_one(this_op, these, {attribute_of(size), attribute_of(dtype)});
}

Value Emitter::dstack(std::span<const Value> tensors) {
  static const Op& this_op = op_table().at("dstack");
  std::vector<Operand> these;
  these.insert(these.end(), tensors.begin(), tensors.end());
  return emit_one(this_op, these, {});
}

Value Emitter::einsum(const std::string& equation, std::span<const Value> tensors) {
  static const Op& this_op = op_table().at("einsum");
  std::vector<Operand> these;
  these.insert(these.end(), tensors.begin(), tensors.end());
  return emit_one(this_op, these, {attribute_of(equation)});
}

Value Emitter::elu(Operand x, double alpha) {
  static const Op& this_op = op_table().at("elu");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(alpha)});
}

Value Emitter::embedding(Operand weight, Operand indices, std::optional<int64_t> padding_idx) {
  static const Op& this_op = op_table().at("embedding");
  const Operand these[] = {weight, indices};
  return emit_one(this_op, these, {attribute_of(padding_idx)});
}

Value Emitter::embedding_bag(Operand weight, Operand indices, Operand offsets, Operand per_sample_weights, const std::string& mode, bool include_last_offset, std::optional<int64_t> padding_idx) {
  static const Op& this_op = op_table().at("embedding_bag");
  const Operand these[] = {weight, indices, offsets, per_sample_weights};
  return emit_one(this_op, these, {attribute_of(mode), attribute_of(include_last_offset), attribute_of(padding_idx)});
}

Value Emitter::embedding_bag_offsets(Operand offsets, int64_t count) {
  static const Op& this_op = op_table().at("embedding_bag_offsets");
  const Operand these[] = {offsets};
  return emit_one(this_op, these, {attribute_of(count)});
}

Value Emitter::empty(const Dims& size, std::optional<Dtype> dtype) {
  static const Op& this_op = op_table().at("empty");
  return emit_one(this_op, {}, {attribute_of(size), attribute_of(dtype)});
}

Value Emitter::empty_like(Operand x, std::optional<Dtype> dtype) {
  static const Op& this_op = op_table().at("empty_like");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dtype)});
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

Value Emitter::eye(int64_t n, std::optional<int64_t> m, std::optional<Dtype> dtype) {
  static const Op& this_op = op_table().at("eye");
  return emit_one(this_op, {}, {attribute_of(n), attribute_of(m), attribute_of(dtype)});
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

Value Emitter::fold(Operand x, const Dims& output_size, const Dims& kernel_size, const Dims& dilation, const Dims& padding, const Dims& stride) {
  static const Op& this_op = op_table().at("fold");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(output_size), attribute_of(kernel_size), attribute_of(dilation), attribute_of(padding), attribute_of(stride)});
}

Value Emitter::full(const Dims& size, Operand fill_value, std::optional<Dtype> dtype) {
  static const Op& this_op = op_table().at("full");
  const Operand these[] = {fill_value};
  return emit_one(this_op, these, {attribute_of(size), attribute_of(dtype)});
}

Value Emitter::full_like(Operand x, Operand fill_value, std::optional<Dtype> dtype) {
  static const Op& this_op = op_table().at("full_like");
  const Operand these[] = {x, fill_value};
  return emit_one(this_op, these, {attribute_of(dtype)});
}

Value Emitter::gather(Operand x, int64_t dim, Operand index) {
  static const Op& this_op = op_table().at("gather");
  const Operand these[] = {x, index};
  return emit_one(this_op, these, {attribute_of(dim)});
}

Value Emitter::gaussian_nll_loss(Operand x, Operand target, Operand var, bool full, double eps, const std::string& reduction) {
  static const Op& this_op = op_table().at("gaussian_nll_loss");
  const Operand these[] = {x, target, var};
  return emit_one(this_op, these, {attribute_of(full), attribute_of(eps), attribute_of(reduction)});
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

Value Emitter::glu(Operand x, int64_t dim) {
  static const Op& this_op = op_table().at("glu");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dim)});
}

Value Emitter::grid_sample(Operand x, Operand grid, const std::string& mode, const std::string& padding_mode, bool align_corners) {
  static const Op& this_op = op_table().at("grid_sample");
  const Operand these[] = {x, grid};
  return emit_one(this_op, these, {attribute_of(mode), attribute_of(padding_mode), attribute_of(align_corners)});
}

Value Emitter::group_norm(Operand x, int64_t num_groups, Operand weight, Operand bias, double eps) {
  static const Op& this_op = op_table().at("group_norm");
  const Operand these[] = {x, weight, bias};
  return emit_one(this_op, these, {attribute_of(num_groups), attribute_of(eps)});
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

Value Emitter::hinge_embedding_loss(Operand x, Operand target, double margin, const std::string& reduction) {
  static const Op& this_op = op_table().at("hinge_embedding_loss");
  const Operand these[] = {x, target};
  return emit_one(this_op, these, {attribute_of(margin), attribute_of(reduction)});
}

Value Emitter::histc(Operand x, int64_t bins, double min, double max) {
  static const Op& this_op = op_table().at("histc");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(bins), attribute_of(min), attribute_of(max)});
}

Value Emitter::hstack(std::span<const Value> tensors) {
  static const Op& this_op = op_table().at("hstack");
  std::vector<Operand> these;
  these.insert(these.end(), tensors.begin(), tensors.end());
  return emit_one(this_op, these, {});
}

Value Emitter::huber_loss(Operand x, Operand target, const std::string& reduction, double delta) {
  static const Op& this_op = op_table().at("huber_loss");
  const Operand these[] = {x, target};
  return emit_one(this_op, these, {attribute_of(reduction), attribute_of(delta)});
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

Value Emitter::inner(Operand x, Operand y) {
  static const Op& this_op = op_table().at("inner");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Values Emitter::instance_norm(Operand x, Operand running_mean, Operand running_var, Operand weight, Operand bias, bool use_input_stats, double momentum, double eps) {
  static const Op& this_op = op_table().at("instance_norm");
  const Operand these[] = {x, running_mean, running_var, weight, bias};
  return emit(this_op, these, {attribute_of(use_input_stats), attribute_of(momentum), attribute_of(eps)});
}

Value Emitter::interpolate(Operand x, const std::optional<Dims>& size, std::optional<double> scale_factor, const std::string& mode, std::optional<bool> align_corners) {
  static const Op& this_op = op_table().at("interpolate");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(size), attribute_of(scale_factor), attribute_of(mode), attribute_of(align_corners)});
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

Value Emitter::kl_div(Operand x, Operand target, const std::string& reduction, bool log_target) {
  static const Op& this_op = op_table().at("kl_div");
  const Operand these[] = {x, target};
  return emit_one(this_op, these, {attribute_of(reduction), attribute_of(log_target)});
}

Value Emitter::kron(Operand x, Operand y) {
  static const Op& this_op = op_table().at("kron");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Values Emitter::kthvalue(Operand x, int64_t k, int64_t dim, bool keepdim) {
  static const Op& this_op = op_table().at("kthvalue");
  const Operand these[] = {x};
  return emit(this_op, these, {attribute_of(k), attribute_of(dim), attribute_of(keepdim)});
}

Value Emitter::l1_loss(Operand x, Operand target, const std::string& reduction) {
  static const Op& this_op = op_table().at("l1_loss");
  const Operand these[] = {x, target};
  return emit_one(this_op, these, {attribute_of(reduction)});
}

Value Emitter::layer_norm(Operand x, const Dims& normalized_shape, Operand weight, Operand bias, double eps) {
  static const Op& this_op = op_table().at("layer_norm");
  const Operand these[] = {x, weight, bias};
  return emit_one(this_op, these, {attribute_of(normalized_shape), attribute_of(eps)});
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

Value Emitter::linear(Operand x, Operand weight, Operand bias) {
  static const Op& this_op = op_table().at("linear");
  const Operand these[] = {x, weight, bias};
  return emit_one(this_op, these, {});
}

Value Emitter::linspace(double start, double end, int64_t steps, std::optional<Dtype> dtype) {
  static const Op& this_op = op_table().at("linspace");
  return emit_one(this_op, {}, {attribute_of(start), attribute_of(end), attribute_of(steps), attribute_of(dtype)});
}

Value Emitter::local_response_norm(Operand x, int64_t size, double alpha, double beta, double k) {
  static const Op& this_op = op_table().at("local_response_norm");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(size), attribute_of(alpha), attribute_of(beta), attribute_of(k)});
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

Value Emitter::logspace(double start, double end, int64_t steps, double base, std::optional<Dtype> dtype) {
  static const Op& this_op = op_table().at("logspace");
  return emit_one(this_op, {}, {attribute_of(start), attribute_of(end), attribute_of(steps), attribute_of(base), attribute_of(dtype)});
}

Value Emitter::logsumexp(Operand x, const std::optional<Dims>& dim, bool keepdim) {
  static const Op& this_op = op_table().at("logsumexp");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dim), attribute_of(keepdim)});
}

Value Emitter::lp_pool1d(Operand x, double norm_type, const Dims& kernel_size, const std::optional<Dims>& stride, bool ceil_mode) {
  static const Op& this_op = op_table().at("lp_pool1d");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(norm_type), attribute_of(kernel_size), attribute_of(stride), attribute_of(ceil_mode)});
}

Value Emitter::lp_pool2d(Operand x, double norm_type, const Dims& kernel_size, const std::optional<Dims>& stride, bool ceil_mode) {
  static const Op& this_op = op_table().at("lp_pool2d");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(norm_type), attribute_of(kernel_size), attribute_of(stride), attribute_of(ceil_mode)});
}

Value Emitter::lp_pool3d(Operand x, double norm_type, const Dims& kernel_size, const std::optional<Dims>& stride, bool ceil_mode) {
  static const Op& this_op = op_table().at("lp_pool3d");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(norm_type), attribute_of(kernel_size), attribute_of(stride), attribute_of(ceil_mode)});
}

Value Emitter::lt(Operand x, Operand y) {
  static const Op& this_op = op_table().at("lt");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Value Emitter::margin_ranking_loss(Operand x1, Operand x2, Operand target, double margin, const std::string& reduction) {
  static const Op& this_op = op_table().at("margin_ranking_loss");
  const Operand these[] = {x1, x2, target};
  return emit_one(this_op, these, {attribute_of(margin), attribute_of(reduction)});
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

Value Emitter::matmul(Operand x, Operand y) {
  static const Op& this_op = op_table().at("matmul");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Values Emitter::max_dim(Operand x, int64_t dim, bool keepdim) {
  static const Op& this_op = op_table().at("max_dim");
  const Operand these[] = {x};
  return emit(this_op, these, {attribute_of(dim), attribute_of(keepdim)});
}

Value Emitter::max_pool(Operand x, const Dims& kernel, const Dims& stride, const Dims& padding, const Dims& dilation, const Dims& size) {
  static const Op& this_op = op_table().at("max_pool");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(kernel), attribute_of(stride), attribute_of(padding), attribute_of(dilation), attribute_of(size)});
}

Value Emitter::max_pool1d(Operand x, const Dims& kernel_size, const std::optional<Dims>& stride, const Dims& padding, const Dims& dilation, bool ceil_mode) {
  static const Op& this_op = op_table().at("max_pool1d");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(kernel_size), attribute_of(stride), attribute_of(padding), attribute_of(dilation), attribute_of(ceil_mode)});
}

Values Emitter::max_pool1d_with_indices(Operand x, const Dims& kernel_size, const std::optional<Dims>& stride, const Dims& padding, const Dims& dilation, bool ceil_mode) {
  static const Op& this_op = op_table().at("max_pool1d_with_indices");
  const Operand these[] = {x};
  return emit(this_op, these, {attribute_of(kernel_size), attribute_of(stride), attribute_of(padding), attribute_of(dilation), attribute_of(ceil_mode)});
}

Value Emitter::max_pool2d(Operand x, const Dims& kernel_size, const std::optional<Dims>& stride, const Dims& padding, const Dims& dilation, bool ceil_mode) {
  static const Op& this_op = op_table().at("max_pool2d");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(kernel_size), attribute_of(stride), attribute_of(padding), attribute_of(dilation), attribute_of(ceil_mode)});
}

Values Emitter::max_pool2d_with_indices(Operand x, const Dims& kernel_size, const std::optional<Dims>& stride, const Dims& padding, const Dims& dilation, bool ceil_mode) {
  static const Op& this_op = op_table().at("max_pool2d_with_indices");
  const Operand these[] = {x};
  return emit(this_op, these, {attribute_of(kernel_size), attribute_of(stride), attribute_of(padding), attribute_of(dilation), attribute_of(ceil_mode)});
}

Value Emitter::max_pool3d(Operand x, const Dims& kernel_size, const std::optional<Dims>& stride, const Dims& padding, const Dims& dilation, bool ceil_mode) {
  static const Op& this_op = op_table().at("max_pool3d");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(kernel_size), attribute_of(stride), attribute_of(padding), attribute_of(dilation), attribute_of(ceil_mode)});
}

Values Emitter::max_pool3d_with_indices(Operand x, const Dims& kernel_size, const std::optional<Dims>& stride, const Dims& padding, const Dims& dilation, bool ceil_mode) {
  static const Op& this_op = op_table().at("max_pool3d_with_indices");
  const Operand these[] = {x};
  return emit(this_op, these, {attribute_of(kernel_size), attribute_of(stride), attribute_of(padding), attribute_of(dilation), attribute_of(ceil_mode)});
}

Value Emitter::max_pool_back(Operand grad, Operand indices, const Dims& kernel, const Dims& stride, const Dims& padding, const Dims& dilation, const Dims& size) {
  static const Op& this_op = op_table().at("max_pool_back");
  const Operand these[] = {grad, indices};
  return emit_one(this_op, these, {attribute_of(kernel), attribute_of(stride), attribute_of(padding), attribute_of(dilation), attribute_of(size)});
}

Value Emitter::max_position(Operand x, const Dims& kernel, const Dims& stride, const Dims& padding, const Dims& dilation, const Dims& size) {
  static const Op& this_op = op_table().at("max_position");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(kernel), attribute_of(stride), attribute_of(padding), attribute_of(dilation), attribute_of(size)});
}

Value Emitter::max_unpool1d(Operand x, Operand indices, const Dims& kernel_size, const std::optional<Dims>& stride, const Dims& padding, const std::optional<Dims>& output_size) {
  static const Op& this_op = op_table().at("max_unpool1d");
  const Operand these[] = {x, indices};
  return emit_one(this_op, these, {attribute_of(kernel_size), attribute_of(stride), attribute_of(padding), attribute_of(output_size)});
}

Value Emitter::max_unpool2d(Operand x, Operand indices, const Dims& kernel_size, const std::optional<Dims>& stride, const Dims& padding, const std::optional<Dims>& output_size) {
  static const Op& this_op = op_table().at("max_unpool2d");
  const Operand these[] = {x, indices};
  return emit_one(this_op, these, {attribute_of(kernel_size), attribute_of(stride), attribute_of(padding), attribute_of(output_size)});
}

Value Emitter::max_unpool3d(Operand x, Operand indices, const Dims& kernel_size, const std::optional<Dims>& stride, const Dims& padding, const std::optional<Dims>& output_size) {
  static const Op& this_op = op_table().at("max_unpool3d");
  const Operand these[] = {x, indices};
  return emit_one(this_op, these, {attribute_of(kernel_size), attribute_of(stride), attribute_of(padding), attribute_of(output_size)});
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

Value Emitter::mean_pool(Operand x, const Dims& kernel, const Dims& stride, const Dims& padding, const Dims& dilation, const Dims& size, bool include_padding, std::optional<int64_t> divisor) {
  static const Op& this_op = op_table().at("mean_pool");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(kernel), attribute_of(stride), attribute_of(padding), attribute_of(dilation), attribute_of(size), attribute_of(include_padding), attribute_of(divisor)});
}

Value Emitter::mean_pool_back(Operand grad, const Dims& kernel, const Dims& stride, const Dims& padding, const Dims& dilation, const Dims& size, bool include_padding, std::optional<int64_t> divisor) {
  static const Op& this_op = op_table().at("mean_pool_back");
  const Operand these[] = {grad};
  return emit_one(this_op, these, {attribute_of(kernel), attribute_of(stride), attribute_of(padding), attribute_of(dilation), attribute_of(size), attribute_of(include_padding), attribute_of(divisor)});
}

Value Emitter::median(Operand x) {
  static const Op& this_op = op_table().at("median");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Values Emitter::median_dim(Operand x, int64_t dim, bool keepdim) {
  static const Op& this_op = op_table().at("median_dim");
  const Operand these[] = {x};
  return emit(this_op, these, {attribute_of(dim), attribute_of(keepdim)});
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

Value Emitter::mm(Operand x, Operand y) {
  static const Op& this_op = op_table().at("mm");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Value Emitter::movedim(Operand x, const Dims& source, const Dims& destination) {
  static const Op& this_op = op_table().at("movedim");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(source), attribute_of(destination)});
}

Value Emitter::mse_loss(Operand x, Operand target, const std::string& reduction) {
  static const Op& this_op = op_table().at("mse_loss");
  const Operand these[] = {x, target};
  return emit_one(this_op, these, {attribute_of(reduction)});
}

Value Emitter::msort(Operand x) {
  static const Op& this_op = op_table().at("msort");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::mul(Operand x, Operand y) {
  static const Op& this_op = op_table().at("mul");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Value Emitter::multi_margin_loss(Operand x, Operand target, int64_t p, double margin, Operand weight, const std::string& reduction) {
  static const Op& this_op = op_table().at("multi_margin_loss");
  const Operand these[] = {x, target, weight};
  return emit_one(this_op, these, {attribute_of(p), attribute_of(margin), attribute_of(reduction)});
}

Value Emitter::multilabel_margin_loss(Operand x, Operand target, const std::string& reduction) {
  static const Op& this_op = op_table().at("multilabel_margin_loss");
  const Operand these[] = {x, target};
  return emit_one(this_op, these, {attribute_of(reduction)});
}

Value Emitter::multilabel_soft_margin_loss(Operand x, Operand target, Operand weight, const std::string& reduction) {
  static const Op& this_op = op_table().at("multilabel_soft_margin_loss");
  const Operand these[] = {x, target, weight};
  return emit_one(this_op, these, {attribute_of(reduction)});
}

Value Emitter::mv(Operand x, Operand vector) {
  static const Op& this_op = op_table().at("mv");
  const Operand these[] = {x, vector};
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

Value Emitter::ndtr(Operand x) {
  static const Op& this_op = op_table().at("ndtr");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
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

Value Emitter::nll_loss(Operand x, Operand target, Operand weight, int64_t ignore_index, const std::string& reduction) {
  static const Op& this_op = op_table().at("nll_loss");
  const Operand these[] = {x, target, weight};
  return emit_one(this_op, these, {attribute_of(ignore_index), attribute_of(reduction)});
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

Value Emitter::normalize(Operand x, double p, int64_t dim, double eps) {
  static const Op& this_op = op_table().at("normalize");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(p), attribute_of(dim), attribute_of(eps)});
}

Value Emitter::one_hot(Operand x, int64_t num_classes) {
  static const Op& this_op = op_table().at("one_hot");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(num_classes)});
}

Value Emitter::ones(const Dims& size, std::optional<Dtype> dtype) {
  static const Op& this_op = op_table().at("ones");
  return emit_one(this_op, {}, {attribute_of(size), attribute_of(dtype)});
}

Value Emitter::ones_like(Operand x, std::optional<Dtype> dtype) {
  static const Op& this_op = op_table().at("ones_like");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dtype)});
}

Value Emitter::outer(Operand x, Operand y) {
  static const Op& this_op = op_table().at("outer");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
}

Value Emitter::pad(Operand x, const Dims& pad, const std::string& mode, double value) {
  static const Op& this_op = op_table().at("pad");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(pad), attribute_of(mode), attribute_of(value)});
}

Value Emitter::pairwise_distance(Operand x1, Operand x2, double p, double eps, bool keepdim) {
  static const Op& this_op = op_table().at("pairwise_distance");
  const Operand these[] = {x1, x2};
  return emit_one(this_op, these, {attribute_of(p), attribute_of(eps), attribute_of(keepdim)});
}

Value Emitter::permute(Operand x, const Dims& dims) {
  static const Op& this_op = op_table().at("permute");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dims)});
}

Value Emitter::pixel_shuffle(Operand x, int64_t upscale_factor) {
  static const Op& this_op = op_table().at("pixel_shuffle");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(upscale_factor)});
}

Value Emitter::pixel_unshuffle(Operand x, int64_t downscale_factor) {
  static const Op& this_op = op_table().at("pixel_unshuffle");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(downscale_factor)});
}

Value Emitter::poisson_nll_loss(Operand x, Operand target, bool log_input, bool full, double eps, const std::string& reduction) {
  static const Op& this_op = op_table().at("poisson_nll_loss");
  const Operand these[] = {x, target};
  return emit_one(this_op, these, {attribute_of(log_input), attribute_of(full), attribute_of(eps), attribute_of(reduction)});
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

Value Emitter::prelu(Operand x, Operand weight) {
  static const Op& this_op = op_table().at("prelu");
  const Operand these[] = {x, weight};
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

Value Emitter::resample(Operand x, int64_t dim, int64_t size, const std::string& mode, bool align_corners, std::optional<double> scale) {
  static const Op& this_op = op_table().at("resample");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dim), attribute_of(size), attribute_of(mode), attribute_of(align_corners), attribute_of(scale)});
}

Value Emitter::reshape(Operand x, const Dims& shape) {
  static const Op& this_op = op_table().at("reshape");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(shape)});
}

Value Emitter::rms_norm(Operand x, const Dims& normalized_shape, Operand weight, std::optional<double> eps) {
  static const Op& this_op = op_table().at("rms_norm");
  const Operand these[] = {x, weight};
  return emit_one(this_op, these, {attribute_of(normalized_shape), attribute_of(eps)});
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

Value Emitter::rrelu(Operand x, double lower, double upper) {
  static const Op& this_op = op_table().at("rrelu");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(lower), attribute_of(upper)});
}

Value Emitter::rsqrt(Operand x) {
  static const Op& this_op = op_table().at("rsqrt");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
}

Value Emitter::scaled_dot_product_attention(Operand query, Operand key, Operand value, Operand attn_mask, bool is_causal, std::optional<double> scale, bool enable_gqa) {
  static const Op& this_op = op_table().at("scaled_dot_product_attention");
  const Operand these[] = {query, key, value, attn_mask};
  return emit_one(this_op, these, {attribute_of(is_causal), attribute_of(scale), attribute_of(enable_gqa)});
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

Value Emitter::searchsorted(Operand sorted_sequence, Operand values, bool right) {
  static const Op& this_op = op_table().at("searchsorted");
  const Operand these[] = {sorted_sequence, values};
  return emit_one(this_op, these, {attribute_of(right)});
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

Value Emitter::set_strided_part(Operand x, Operand part, const Dims& stride, int64_t offset) {
  static const Op& this_op = op_table().at("set_strided_part");
  const Operand these[] = {x, part};
  return emit_one(this_op, these, {attribute_of(stride), attribute_of(offset)});
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

Value Emitter::smooth_l1_loss(Operand x, Operand target, const std::string& reduction, double beta) {
  static const Op& this_op = op_table().at("smooth_l1_loss");
  const Operand these[] = {x, target};
  return emit_one(this_op, these, {attribute_of(reduction), attribute_of(beta)});
}

Value Emitter::soft_margin_loss(Operand x, Operand target, const std::string& reduction) {
  static const Op& this_op = op_table().at("soft_margin_loss");
  const Operand these[] = {x, target};
  return emit_one(this_op, these, {attribute_of(reduction)});
}

Value Emitter::softmax(Operand x, int64_t dim, std::optional<Dtype> dtype) {
  static const Op& this_op = op_table().at("softmax");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dim), attribute_of(dtype)});
}

Value Emitter::softmin(Operand x, int64_t dim, std::optional<Dtype> dtype) {
  static const Op& this_op = op_table().at("softmin");
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

Values Emitter::sort(Operand x, int64_t dim, bool descending, bool stable) {
  static const Op& this_op = op_table().at("sort");
  const Operand these[] = {x};
  return emit(this_op, these, {attribute_of(dim), attribute_of(descending), attribute_of(stable)});
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

Values Emitter::standardize(Operand x, Operand weight, Operand bias, const Dims& dim, double eps, bool centered) {
  static const Op& this_op = op_table().at("standardize");
  const Operand these[] = {x, weight, bias};
  return emit(this_op, these, {attribute_of(dim), attribute_of(eps), attribute_of(centered)});
}

Values Emitter::standardize_backward(Operand g, Operand x, Operand weight, Operand mean, Operand var, Operand mean_gradient, Operand var_gradient, const Dims& dim, double eps, bool for_x, bool for_weight, const Dims& bias_shape) {
  static const Op& this_op = op_table().at("standardize_backward");
  const Operand these[] = {g, x, weight, mean, var, mean_gradient, var_gradient};
  return emit(this_op, these, {attribute_of(dim), attribute_of(eps), attribute_of(for_x), attribute_of(for_weight), attribute_of(bias_shape)});
}

Value Emitter::std(Operand x, const std::optional<Dims>& dim, bool keepdim, double correction) {
  static const Op& this_op = op_table().at("std");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dim), attribute_of(keepdim), attribute_of(correction)});
}

Value Emitter::strided_part(Operand x, const Dims& size, const Dims& stride, int64_t offset) {
  static const Op& this_op = op_table().at("strided_part");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(size), attribute_of(stride), attribute_of(offset)});
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

Value Emitter::tensordot(Operand x, Operand y, const Dims& dims, const std::optional<Dims>& dims_y) {
  static const Op& this_op = op_table().at("tensordot");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {attribute_of(dims), attribute_of(dims_y)});
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

Values Emitter::topk(Operand x, int64_t k, int64_t dim, bool largest, bool sorted) {
  static const Op& this_op = op_table().at("topk");
  const Operand these[] = {x};
  return emit(this_op, these, {attribute_of(k), attribute_of(dim), attribute_of(largest), attribute_of(sorted)});
}

Value Emitter::trace(Operand x) {
  static const Op& this_op = op_table().at("trace");
  const Operand these[] = {x};
  return emit_one(this_op, these, {});
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

Value Emitter::tril_indices(int64_t row, int64_t col, int64_t offset) {
  static const Op& this_op = op_table().at("tril_indices");
  return emit_one(this_op, {}, {attribute_of(row), attribute_of(col), attribute_of(offset)});
}

Value Emitter::triplet_margin_loss(Operand anchor, Operand positive, Operand negative, double margin, double p, double eps, bool swap, const std::string& reduction) {
  static const Op& this_op = op_table().at("triplet_margin_loss");
  const Operand these[] = {anchor, positive, negative};
  return emit_one(this_op, these, {attribute_of(margin), attribute_of(p), attribute_of(eps), attribute_of(swap), attribute_of(reduction)});
}

Value Emitter::triu(Operand x, int64_t diagonal) {
  static const Op& this_op = op_table().at("triu");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(diagonal)});
}

Value Emitter::triu_indices(int64_t row, int64_t col, int64_t offset) {
  static const Op& this_op = op_table().at("triu_indices");
  return emit_one(this_op, {}, {attribute_of(row), attribute_of(col), attribute_of(offset)});
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

Value Emitter::unfold(Operand x, const Dims& kernel_size, const Dims& dilation, const Dims& padding, const Dims& stride) {
  static const Op& this_op = op_table().at("unfold");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(kernel_size), attribute_of(dilation), attribute_of(padding), attribute_of(stride)});
}

Values Emitter::unique_all(Operand x, std::optional<int64_t> dim) {
  static const Op& this_op = op_table().at("unique_all");
  const Operand these[] = {x};
  return emit(this_op, these, {attribute_of(dim)});
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

Value Emitter::vdot(Operand x, Operand y) {
  static const Op& this_op = op_table().at("vdot");
  const Operand these[] = {x, y};
  return emit_one(this_op, these, {});
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

Value Emitter::zeros(const Dims& size, std::optional<Dtype> dtype) {
  static const Op& this_op = op_table().at("zeros");
  return emit_one(this_op, {}, {attribute_of(size), attribute_of(dtype)});
}

Value Emitter::zeros_like(Operand x, std::optional<Dtype> dtype) {
  static const Op& this_op = op_table().at("zeros_like");
  const Operand these[] = {x};
  return emit_one(this_op, these, {attribute_of(dtype)});
}

}  // namespace lucid
