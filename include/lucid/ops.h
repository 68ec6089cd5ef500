// Generated from the op table by tools/generate; do not edit.
// clang-format off
#pragma once

#include <lucid/tensor.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
/// All ops, as functions of tensors and numbers.
namespace lucid {

/// Returns the absolute value of `x`, elementwise. The smallest value of a signed integer dtype is returned
/// unchanged, because its absolute value overflows.
Tensor abs(const Argument& x);

/// Computes the inverse cosine of `x`, elementwise. The result is in [0, pi], or NaN for |x| > 1. Integers
/// are promoted to float.
Tensor acos(const Argument& x);

/// Computes the inverse hyperbolic cosine of `x`, elementwise. The result is NaN for x < 1. Integers are
/// promoted to float.
Tensor acosh(const Argument& x);

/// Averages the last dimension of `x` into `output_size` bins. Bin i covers the elements
/// from floor(i * size / output_size) up to but not including ceil((i + 1) * size /
/// output_size). `x` is [channels, length] or [batch, channels, length].
Tensor adaptive_avg_pool1d(const Argument& x, Ints output_size);

/// Averages the last two dimensions of `x` into `output_size` bins: one number for both
/// dimensions or one for each. Along each dimension, bin i covers the elements from
/// floor(i * size / output_size) up to but not including ceil((i + 1) * size /
/// output_size). `x` is [channels, height, width] or [batch, channels, height, width].
Tensor adaptive_avg_pool2d(const Argument& x, Ints output_size);

/// Averages the last three dimensions of `x` into `output_size` bins: one number for all
/// dimensions or one for each. Along each dimension, bin i covers the elements from
/// floor(i * size / output_size) up to but not including ceil((i + 1) * size /
/// output_size). `x` is [channels, depth, height, width] or [batch, channels, depth,
/// height, width].
Tensor adaptive_avg_pool3d(const Argument& x, Ints output_size);

struct AdaptiveMaxPool1dWithIndicesResult {
  Tensor values;
  Tensor indices;
};

/// Divides the last dimension of `x` into `output_size` bins and returns the maximum of each bin as
/// `values` and its i64 position in that dimension as `indices`. Bin i covers the elements from floor(i *
/// size / output_size) up to but not including ceil((i + 1) * size / output_size).
AdaptiveMaxPool1dWithIndicesResult adaptive_max_pool1d_with_indices(const Argument& x, Ints output_size);

struct AdaptiveMaxPool2dWithIndicesResult {
  Tensor values;
  Tensor indices;
};

/// Divides the last two dimensions of `x` into `output_size` bins, one number for both dimensions or one
/// for each, and returns the maximum of each bin as `values` and its i64 position in the flattened
/// dimensions as `indices`. Along each dimension, bin i covers the elements from floor(i * size /
/// output_size) up to but not including ceil((i + 1) * size / output_size).
AdaptiveMaxPool2dWithIndicesResult adaptive_max_pool2d_with_indices(const Argument& x, Ints output_size);

struct AdaptiveMaxPool3dWithIndicesResult {
  Tensor values;
  Tensor indices;
};

/// Divides the last three dimensions of `x` into `output_size` bins, one number for all dimensions or one
/// for each, and returns the maximum of each bin as `values` and its i64 position in the flattened
/// dimensions as `indices`. Along each dimension, bin i covers the elements from floor(i * size /
/// output_size) up to but not including ceil((i + 1) * size / output_size).
AdaptiveMaxPool3dWithIndicesResult adaptive_max_pool3d_with_indices(const Argument& x, Ints output_size);

/// Returns x + y, elementwise, with broadcasting and type promotion. For bools, this is logical or.
/// Integers wrap on overflow.
Tensor add(const Argument& x, const Argument& y);

/// Computes x + value * tensor1 / tensor2, elementwise, with broadcasting and type promotion. The common
/// dtype must be floating-point.
Tensor addcdiv(const Argument& x, const Argument& tensor1, const Argument& tensor2, double value = 1.0);

/// Computes x + value * tensor1 * tensor2, elementwise, with broadcasting and type promotion. Raises
/// TypeError if the tensors hold integers and `value` is not an integer.
Tensor addcmul(const Argument& x, const Argument& tensor1, const Argument& tensor2, double value = 1.0);

/// Computes beta * x + alpha * (mat1 @ mat2), where `x` broadcasts to the shape of the product. All
/// tensors must have the same dtype. With beta = 0, `x` is ignored, even if it contains NaN.
Tensor addmm(const Argument& x, const Argument& mat1, const Argument& mat2, double beta = 1.0, double alpha = 1.0);

/// Computes beta * x + alpha * (mat @ vector), where `x` broadcasts to the shape of the product. All
/// tensors must have the same dtype. With beta = 0, `x` is ignored, even if it contains NaN.
Tensor addmv(const Argument& x, const Argument& mat, const Argument& vector, double beta = 1.0, double alpha = 1.0);

/// Returns the positions at which `grid_sample` must read an image of shape `size` to transform it by the
/// matrices `theta`. For `size` [batch, channels, height, width], `theta` is [batch, 2, 3] and the result is
/// [batch, height, width, 2]; for [batch, channels, depth, height, width], they are [batch, 3, 4] and
/// [batch, depth, height, width, 3]. Positions from -1 to 1 span the image, from the outer edge of its first element to
/// that of its last or, with `align_corners`, from the center of its first element to the center of its last.
Tensor affine_grid(const Argument& theta, Ints size, bool align_corners = false);

/// Returns whether all elements of `x` are nonzero over the dimensions `dim`, or over all
/// dimensions by default, as a bool tensor. `keepdim` keeps the reduced dimensions with size
/// 1. The result for no elements is True.
Tensor all(const Argument& x, OptionalInts dim = kNone, bool keepdim = false);

/// Returns the maximum of `x` over the dimensions `dim`, or over all dimensions by default.
/// `keepdim` keeps the reduced dimensions with size 1. NaN is propagated. The gradient is
/// divided equally among equal maxima. Raises ValueError if there are no elements to reduce.
Tensor amax(const Argument& x, OptionalInts dim = kNone, bool keepdim = false);

/// Returns the minimum of `x` over the dimensions `dim`, or over all dimensions by default.
/// `keepdim` keeps the reduced dimensions with size 1. NaN is propagated. The gradient is
/// divided equally among equal minima. Raises ValueError if there are no elements to reduce.
Tensor amin(const Argument& x, OptionalInts dim = kNone, bool keepdim = false);

/// Returns whether any element of `x` is nonzero over the dimensions `dim`, or over all
/// dimensions by default, as a bool tensor. `keepdim` keeps the reduced dimensions with size
/// 1. The result for no elements is False.
Tensor any(const Argument& x, OptionalInts dim = kNone, bool keepdim = false);

/// Returns the numbers from `start` up to but not including `end`, in steps of `step`. With one argument,
/// returns the numbers from 0 up to it. The default dtype is i64 if all arguments are integers and the
/// default float dtype otherwise. Floats are computed as start + i * step in f64. Raises ValueError if
/// `step` is 0 or leads away from `end`.
Tensor arange(const Argument& start, const Argument& end = Argument(), const Argument& step = Argument(), std::optional<Dtype> dtype = std::nullopt);

/// Returns the i64 index of the maximum of `x` along `dim`, or in the flattened tensor by default. The
/// first of equal elements is chosen, or the first NaN if there is one. `keepdim` keeps the reduced
/// dimension with size 1. Raises ValueError if there are no elements to reduce.
Tensor argmax(const Argument& x, std::optional<int64_t> dim = std::nullopt, bool keepdim = false);

/// Returns the i64 index of the minimum of `x` along `dim`, or in the flattened tensor by default. The
/// first of equal elements is chosen, or the first NaN if there is one. `keepdim` keeps the reduced
/// dimension with size 1. Raises ValueError if there are no elements to reduce.
Tensor argmin(const Argument& x, std::optional<int64_t> dim = std::nullopt, bool keepdim = false);

/// Returns the i64 indices that sort `x` along `dim`, in ascending order unless `descending` is true. The
/// sort is always stable. NaN sorts as larger than every number.
Tensor argsort(const Argument& x, int64_t dim = -1, bool descending = false, bool stable = false);

/// Computes the inverse sine of `x`, elementwise. The result is in [-pi/2, pi/2], or NaN for |x| > 1.
/// Integers are promoted to float.
Tensor asin(const Argument& x);

/// Computes the inverse hyperbolic sine of `x`, elementwise. Integers are promoted to float.
Tensor asinh(const Argument& x);

/// Computes the inverse tangent of `x`, elementwise. The result is in [-pi/2, pi/2]. Integers
/// are promoted to float.
Tensor atan(const Argument& x);

/// Computes the angle of the point (x, y), elementwise, with broadcasting. The result is in [-pi, pi]. The
/// signs of both arguments select the quadrant. Integers are promoted to float.
Tensor atan2(const Argument& y, const Argument& x);

/// Computes the inverse hyperbolic tangent of `x`, elementwise. The result is infinite for |x| = 1 and NaN
/// for |x| > 1. Integers are promoted to float.
Tensor atanh(const Argument& x);

struct AttentionResult {
  Tensor output;
  Tensor logsumexp;
};

/// Computes softmax(q @ k.mT * scale + mask) @ v for each batch and head, with `q` [n, h, l, e], `k`
/// [n, h, s, e] and `v` [n, h, s, d] of the same dtype. A bool `mask` [n, h, l, s] selects the keys that each query
/// attends to; a `mask` of the dtype of `q` is added to the scores. With `causal`, query i attends only to keys 0 to i.
/// Returns the output [n, h, l, d] and `logsumexp` [n, h, l], the logarithm of the sums that the softmax divides by,
/// which is f32 for 16-bit inputs. The output is 0 for a query that attends to no key.
AttentionResult attention(const Argument& q, const Argument& k, const Argument& v, const Argument& mask, bool causal, double scale);

/// Computes the gradients of `attention` with respect to `q`, `k` and `v` and, with `for_mask`, with
/// respect to a floating-point `mask`. `g` and `logsumexp_gradient` are the gradients of its two results, `output` and
/// `logsumexp`.
std::vector<Tensor> attention_backward(const Argument& g, const Argument& logsumexp_gradient, const Argument& q, const Argument& k, const Argument& v, const Argument& mask, const Argument& output, const Argument& logsumexp, bool causal, double scale, bool for_mask);

/// Computes softmax(query @ key.mT * scale + attn_mask), the weights [..., l, s] that
/// `scaled_dot_product_attention` gives to the values. Use it to inspect the weights or to apply dropout to them. The
/// arguments are those of `scaled_dot_product_attention`.
Tensor attention_weights(const Argument& query, const Argument& key, const Argument& attn_mask = Argument(), bool is_causal = false, std::optional<double> scale = std::nullopt);

/// Computes the mean of each sliding window over the last dimension of `x`, which is
/// [channels, length] or [batch, channels, length]. `stride` defaults to `kernel_size`.
/// `padding` adds zeros at both ends, at most half of the window; `count_include_pad`
/// selects whether they count in the divisor. `ceil_mode` rounds the number of windows up
/// instead of down.
Tensor avg_pool1d(const Argument& x, Ints kernel_size, OptionalInts stride = kNone, Ints padding = {0}, bool ceil_mode = false, bool count_include_pad = true);

/// Computes the mean of each sliding window over the last two dimensions of `x`, which is [channels,
/// height, width] or [batch, channels, height, width]. `stride` defaults to `kernel_size`. `padding` adds
/// zeros on all sides, at most half of the window; `count_include_pad` selects whether they count in the
/// divisor. `divisor_override` replaces the divisor and must not be 0. `ceil_mode` rounds the number of
/// windows up instead of down.
Tensor avg_pool2d(const Argument& x, Ints kernel_size, OptionalInts stride = kNone, Ints padding = {0}, bool ceil_mode = false, bool count_include_pad = true, std::optional<Dim> divisor_override = std::nullopt);

/// Computes the mean of each sliding window over the last three dimensions of `x`, which is [channels,
/// depth, height, width] or [batch, channels, depth, height, width]. `stride` defaults to `kernel_size`.
/// `padding` adds zeros on all sides, at most half of the window; `count_include_pad` selects whether they
/// count in the divisor. `divisor_override` replaces the divisor and must not be 0. `ceil_mode` rounds the
/// number of windows up instead of down.
Tensor avg_pool3d(const Argument& x, Ints kernel_size, OptionalInts stride = kNone, Ints padding = {0}, bool ceil_mode = false, bool count_include_pad = true, std::optional<Dim> divisor_override = std::nullopt);

/// Computes beta * x + alpha * (batch1 @ batch2) for batches of matrices, where `x` broadcasts to the
/// shape of the product. All tensors must have the same dtype. With beta = 0, `x` is ignored, even if it contains NaN.
Tensor baddbmm(const Argument& x, const Argument& batch1, const Argument& batch2, double beta = 1.0, double alpha = 1.0);

struct BatchNormResult {
  Tensor output;
  Tensor running_mean;
  Tensor running_var;
};

/// Normalizes `x` to mean 0 and variance 1 for each channel (dimension 1), then multiplies by `weight`
/// and adds `bias`, which have one element for each channel. With `training`, the mean and variance are computed from
/// `x`, and the returned running statistics are (1 - momentum) * running + momentum * new, where the new variance is
/// unbiased; without running statistics, the new ones are returned. Otherwise the running statistics are used and
/// returned unchanged. No operand is written: the caller stores the returned statistics. `eps` is added to the
/// variance.
BatchNormResult batch_norm(const Argument& x, const Argument& running_mean = Argument(), const Argument& running_var = Argument(), const Argument& weight = Argument(), const Argument& bias = Argument(), bool training = false, double momentum = 0.1, double eps = 1e-05);

/// Computes x @ weight[o] @ y + bias[o] for each output o, over the last dimensions of `x` [..., i] and
/// `y` [..., j]. `weight` is [o, i, j] and the result [..., o]. All operands must have the same dtype.
Tensor bilinear(const Argument& x, const Argument& y, const Argument& weight, const Argument& bias = Argument());

/// Computes -(target * log(x) + (1 - target) * log(1 - x)) times `weight`, which broadcasts, for
/// probabilities `x`. Logarithms below -100 are replaced by -100, so the loss is finite. `x` and `target` must have the
/// same shape. Raises ValueError unless their elements are between 0 and 1. `reduction` is 'mean', 'sum' or 'none', which
/// returns the loss of each element.
Tensor binary_cross_entropy(const Argument& x, const Argument& target, const Argument& weight = Argument(), const std::string& reduction = "mean");

/// Computes `binary_cross_entropy` of sigmoid(x), without overflow. `weight` multiplies all losses, and
/// `pos_weight` the part of positive targets, -target * log(sigmoid(x)); both broadcast. `x` and `target` must have the
/// same shape. `reduction` is 'mean', 'sum' or 'none', which returns the loss of each element.
Tensor binary_cross_entropy_with_logits(const Argument& x, const Argument& target, const Argument& weight = Argument(), const Argument& pos_weight = Argument(), const std::string& reduction = "mean");

/// Counts the occurrences of each value in `x`, a vector of nonnegative integers. Element i of the result
/// is the number of times that i occurs, as i64, or the sum of the `weights` at those positions, as f32 for
/// f32 weights and f64 otherwise. The result has at least `minlength` elements. Raises ValueError if an
/// element is negative.
Tensor bincount(const Argument& x, const Argument& weights = Argument(), Dim minlength = 0);

/// Computes the bitwise and of `x` and `y`, elementwise, with broadcasting. Takes integers and
/// bools.
Tensor bitwise_and(const Argument& x, const Argument& y);

/// Shifts the bits of `x` left by `y`, elementwise, with broadcasting. Returns 0 where `y` is negative or
/// at least the bit width of the dtype. Takes integers.
Tensor bitwise_left_shift(const Argument& x, const Argument& y);

/// Inverts every bit of `x`, elementwise. For bools, this is logical not.
Tensor bitwise_not(const Argument& x);

/// Computes the bitwise or of `x` and `y`, elementwise, with broadcasting. Takes integers and
/// bools.
Tensor bitwise_or(const Argument& x, const Argument& y);

/// Shifts the bits of `x` right by `y` with sign extension, elementwise, with broadcasting. Where `y` is
/// negative or at least the bit width of the dtype, every bit is shifted out: the result is -1 for negative
/// `x` and 0 otherwise. Takes integers.
Tensor bitwise_right_shift(const Argument& x, const Argument& y);

/// Computes the bitwise exclusive or of `x` and `y`, elementwise, with broadcasting. Takes
/// integers and bools.
Tensor bitwise_xor(const Argument& x, const Argument& y);

/// Computes the matrix products of two batches of matrices of the same dtype: `x` [b, n, k] and `y`
/// [b, k, m] give [b, n, m].
Tensor bmm(const Argument& x, const Argument& y);

/// Alias of expand: returns a view of `x` with dimensions of size 1 expanded to `size` without copying.
Tensor broadcast_to(const Argument& x, Ints size);

/// Returns the i64 index of the bucket that each element of `x` falls into. `boundaries` is a sorted
/// vector. Bucket i holds boundaries[i-1] < x <= boundaries[i], or boundaries[i-1] <= x < boundaries[i] if
/// `right` is true.
Tensor bucketize(const Argument& x, const Argument& boundaries, bool right = false);

/// Concatenates `tensors` along `dim`. Their sizes must match except along `dim`, and they must not be
/// 0-d. Dtypes are promoted. Empty 1-d tensors are skipped if another tensor has more dimensions.
Tensor cat(const std::vector<Tensor>& tensors, int64_t dim = 0);

/// Concatenates tensors of one dtype and number of dimensions along `dim`. `cat` is implemented by this
/// op.
Tensor cat_same(const std::vector<Tensor>& tensors, int64_t dim = 0);

/// Computes the p-norm distance between each row of `x` [..., n, d] and each row of `y` [..., m, d].
/// Leading dimensions broadcast, and the result is [..., n, m]. `p` must not be negative; p = 0 counts the elements
/// that differ, and p = inf returns the largest difference. The gradient at distance 0 is 0.
Tensor cdist(const Argument& x, const Argument& y, double p = 2.0);

/// Rounds `x` up to an integer, elementwise. The dtype does not change.
Tensor ceil(const Argument& x);

/// Computes the continuously differentiable exponential linear unit, elementwise: `x` where
/// x > 0 and alpha * (exp(x / alpha) - 1) elsewhere.
Tensor celu(const Argument& x, double alpha = 1.0);

/// Divides the channels (dimension 1) of `x` into `groups` groups and interleaves them: the first channel
/// of each group, then the second of each, and so on.
Tensor channel_shuffle(const Argument& x, Dim groups);

/// Returns `x` unchanged. Raises ValueError unless all elements are between 0 and 1.
Tensor checked_probability(const Argument& x);

/// Splits `x` along `dim` into at most `chunks` parts of equal size, the last of which may be smaller.
/// The parts are views of `x`.
std::vector<Tensor> chunk(const Argument& x, Dim chunks, int64_t dim = 0);

/// Clamps `x` to [min, max], elementwise, with broadcasting and type promotion. Either bound may be
/// omitted. Where min > max, the result is `max`. Raises ValueError if both bounds are omitted.
Tensor clamp(const Argument& x, const Argument& min = Argument(), const Argument& max = Argument());

struct ClassLossResult {
  Tensor loss;
  Tensor logsumexp;
  Tensor total_weight;
};

/// Computes the `cross_entropy` of scores `x` [batch, classes, positions] and class indices `target`
/// [batch, positions], and returns it with intermediate results that its gradient needs: `logsumexp` of the scores over
/// the classes, and the total weight of the targets.
ClassLossResult class_loss(const Argument& x, const Argument& target, const Argument& weight = Argument(), Dim ignore_index = -100, double label_smoothing = 0.0, const std::string& reduction = "mean");

/// Computes the gradient of `class_loss` with respect to `x` and, with `for_weight`, with respect to
/// `weight`. `g`, `logsumexp_gradient` and `total_gradient` are the gradients of its results.
std::vector<Tensor> class_loss_backward(const Argument& g, const Argument& logsumexp_gradient, const Argument& total_gradient, const Argument& x, const Argument& target, const Argument& weight, const Argument& loss, const Argument& logsumexp, const Argument& total, Dim ignore_index, double label_smoothing, const std::string& reduction, bool for_weight);

/// Alias of clamp: clamps `x` to [min, max], elementwise.
Tensor clip(const Argument& x, const Argument& min = Argument(), const Argument& max = Argument());

/// Returns a copy of `x` with its own memory.
Tensor clone(const Argument& x);

/// Pads `x` with `value`. `pad` holds two sizes for each padded dimension, before and after, starting from
/// the last dimension. Negative sizes crop. Raises ValueError if `pad` has an odd length, names more
/// dimensions than `x` has, or crops more than a dimension holds.
Tensor constant_pad(const Argument& x, Ints pad, double value = 0.0);

/// Returns `x` in row-major layout: `x` itself if it already has it, otherwise a copy.
Tensor contiguous(const Argument& x);

/// Computes a 1-d convolution (cross-correlation) of `x` [batch, in, length], or [in, length] without a
/// batch, with `weight` [out, in / groups, taps], and adds `bias` [out]. All operands must have the same dtype.
/// `stride` is the step between outputs and `dilation` the step between taps. `padding` is the number of zeros on both
/// sides: one number, one for each dimension, or two for each dimension (before and after). In Python it may also be
/// "same", which keeps the size and needs stride 1, or "valid", which means no padding. `groups` divides the channels
/// into groups that are convolved separately. Raises ValueError if the weight is larger than the padded input.
Tensor conv1d(const Argument& x, const Argument& weight, const Argument& bias = Argument(), Ints stride = {1}, Ints padding = {0}, Ints dilation = {1}, Dim groups = 1);

/// Computes a 2-d convolution (cross-correlation) of `x` [batch, in, height, width], or
/// [in, height, width] without a batch, with `weight` [out, in / groups, rows, columns], and adds `bias` [out]. All
/// operands must have the same dtype. `stride` is the step between outputs and `dilation` the step between taps.
/// `padding` is the number of zeros on both sides: one number, one for each dimension, or two for each dimension
/// (before and after). In Python it may also be "same", which keeps the size and needs stride 1, or "valid", which
/// means no padding. `groups` divides the channels into groups that are convolved separately. Raises ValueError if the
/// weight is larger than the padded input.
Tensor conv2d(const Argument& x, const Argument& weight, const Argument& bias = Argument(), Ints stride = {1}, Ints padding = {0}, Ints dilation = {1}, Dim groups = 1);

/// Computes a 3-d convolution (cross-correlation) of `x` [batch, in, depth, height, width], or
/// [in, depth, height, width] without a batch, with `weight` [out, in / groups, depth, rows, columns], and adds `bias`
/// [out]. All operands must have the same dtype. `stride` is the step between outputs and `dilation` the step between
/// taps. `padding` is the number of zeros on both sides: one number, one for each dimension, or two for each dimension
/// (before and after). In Python it may also be "same", which keeps the size and needs stride 1, or "valid", which
/// means no padding. `groups` divides the channels into groups that are convolved separately. Raises ValueError if the
/// weight is larger than the padded input.
Tensor conv3d(const Argument& x, const Argument& weight, const Argument& bias = Argument(), Ints stride = {1}, Ints padding = {0}, Ints dilation = {1}, Dim groups = 1);

/// Computes the transpose of a conv1d with the weight `weight` [in, out / groups, taps], which is its
/// gradient with respect to the input, and adds `bias` [out]. `x` is [batch, in, length], or [in, length] without a
/// batch. Each spatial size n becomes (n - 1) * stride - 2 * padding + dilation * (taps - 1) + output_padding + 1.
/// `output_padding` must be smaller than the stride or the dilation.
Tensor conv_transpose1d(const Argument& x, const Argument& weight, const Argument& bias = Argument(), Ints stride = {1}, Ints padding = {0}, Ints output_padding = {0}, Dim groups = 1, Ints dilation = {1});

/// Computes the transpose of a conv2d with the weight `weight` [in, out / groups, rows, columns], which
/// is its gradient with respect to the input, and adds `bias` [out]. `x` is [batch, in, height, width], or
/// [in, height, width] without a batch. Each spatial size n becomes
/// (n - 1) * stride - 2 * padding + dilation * (taps - 1) + output_padding + 1. `output_padding` must be smaller than
/// the stride or the dilation.
Tensor conv_transpose2d(const Argument& x, const Argument& weight, const Argument& bias = Argument(), Ints stride = {1}, Ints padding = {0}, Ints output_padding = {0}, Dim groups = 1, Ints dilation = {1});

/// Computes the transpose of a conv3d with the weight `weight` [in, out / groups, depth, rows, columns],
/// which is its gradient with respect to the input, and adds `bias` [out]. `x` is [batch, in, depth, height, width], or
/// [in, depth, height, width] without a batch. Each spatial size n becomes
/// (n - 1) * stride - 2 * padding + dilation * (taps - 1) + output_padding + 1. `output_padding` must be smaller than
/// the stride or the dilation.
Tensor conv_transpose3d(const Argument& x, const Argument& weight, const Argument& bias = Argument(), Ints stride = {1}, Ints padding = {0}, Ints output_padding = {0}, Dim groups = 1, Ints dilation = {1});

/// Computes a convolution (cross-correlation) of `x` [batch, in, ...] with `weight`
/// [out, in / groups, ...] over any number of spatial dimensions, and adds `bias` [out]. The lists have one number for
/// each spatial dimension: `stride` is the step between outputs and `dilation` the step between taps; `low` and `high`
/// are the numbers of zeros before and after the input, where a negative number crops it; input_dilation - 1 zeros are
/// inserted between neighboring input elements. With `transposed`, `weight` is [in, out / groups, ...] and its taps are
/// reversed.
Tensor convolution(const Argument& x, const Argument& weight, const Argument& bias, Ints stride, Ints low, Ints high, Ints input_dilation, Ints dilation, Dim groups = 1, bool transposed = false);

/// Computes the gradient with respect to the weight of a `convolution` of `x` whose result has the
/// gradient `grad`. `kernel` holds the spatial sizes of the weight; the other arguments are those of `convolution`.
Tensor convolution_weight(const Argument& x, const Argument& grad, Ints kernel, Ints stride, Ints low, Ints input_dilation, Ints dilation, Dim groups = 1, bool transposed = false);

/// Computes the cosine of `x`, in radians, elementwise. Integers are promoted to float.
Tensor cos(const Argument& x);

/// Computes the hyperbolic cosine of `x`, elementwise. Integers are promoted to float.
Tensor cosh(const Argument& x);

/// Computes 1 - c where `target` is 1, and max(0, c - margin) where it is -1, where c is the cosine of
/// the angle between the vectors of `x1` and `x2` along the last dimension. `target` has one element for each pair of
/// vectors. `reduction` is 'mean', 'sum' or 'none', which returns the loss of each pair.
Tensor cosine_embedding_loss(const Argument& x1, const Argument& x2, const Argument& target, double margin = 0.0, const std::string& reduction = "mean");

/// Computes the cosine of the angle between the vectors of `x1` and `x2` along `dim`: their dot product
/// divided by the product of their norms, each at least `eps`. `x1` and `x2` broadcast.
Tensor cosine_similarity(const Argument& x1, const Argument& x2, int64_t dim = 1, double eps = 1e-08);

/// Counts the nonzero elements of `x` over the dimensions `dim`, or over all dimensions by default. The
/// result is i64.
Tensor count_nonzero(const Argument& x, OptionalInts dim = kNone);

/// Computes -log(softmax(x)) at the target class. `x` holds scores, with classes in dimension 1
/// (dimension 0 without a batch). `target` holds i64 class indices in the shape of `x` without the classes, or
/// probabilities of all classes in the shape of `x`. `weight` has one factor for each class. Targets equal to
/// `ignore_index` are ignored, and with class indices the mean is weighted by `weight`. `label_smoothing`, from 0 to 1,
/// is the part of the target that is spread evenly over all classes. `reduction` is 'mean', 'sum' or 'none', which
/// returns the loss of each example.
Tensor cross_entropy(const Argument& x, const Argument& target, const Argument& weight = Argument(), Dim ignore_index = -100, const std::string& reduction = "mean", double label_smoothing = 0.0);

/// Computes the connectionist temporal classification loss: minus the logarithm of the probability of the
/// target sequence, summed over all alignments, where an alignment yields its target when repetitions are merged and
/// blanks removed. `log_probs` is [time, batch, classes], or [time, classes] without a batch; `targets` is
/// [batch, length], or the concatenation of all targets. `input_lengths` and `target_lengths` hold the lengths of each
/// sequence, and `blank` is the class of blanks. `reduction` is 'mean', the mean of the losses divided by their target
/// lengths, 'sum' or 'none'. The loss of a target that is too long for its input is infinite, or 0 with
/// `zero_infinity`.
Tensor ctc_loss(const Argument& log_probs, const Argument& targets, const Argument& input_lengths, const Argument& target_lengths, Dim blank = 0, const std::string& reduction = "mean", bool zero_infinity = false);

/// Returns the cumulative product of `x` along `dim`. Integers and bools are multiplied in i64 unless
/// `dtype` is given.
Tensor cumprod(const Argument& x, int64_t dim, std::optional<Dtype> dtype = std::nullopt);

/// Returns the cumulative sum of `x` along `dim`. Integers and bools are summed in i64 unless
/// `dtype` is given.
Tensor cumsum(const Argument& x, int64_t dim, std::optional<Dtype> dtype = std::nullopt);

/// Returns the diagonal `diagonal` of a matrix as a vector, or a square matrix with the vector `x` on
/// that diagonal and zeros elsewhere. 0 is the main diagonal, positive ones are above it. The result is a copy.
Tensor diag(const Argument& x, Dim diagonal = 0);

/// Returns a view of the diagonal of `x` over the dimensions `dim1` and `dim2`, as the last dimension
/// of the result. Positive offsets select diagonals above the main one and negative offsets those below
/// it. Raises ValueError if `x` has fewer than two dimensions.
Tensor diagonal(const Argument& x, Dim offset = 0, int64_t dim1 = 0, int64_t dim2 = 1);

/// Returns the `n`-th forward difference of `x` along `dim`: x[i + 1] - x[i], applied `n` times. For bools,
/// returns whether neighboring elements differ. Raises ValueError if `x` is 0-d or `n` is negative.
Tensor diff(const Argument& x, Dim n = 1, int64_t dim = -1);

/// Returns x / y, elementwise, with broadcasting and type promotion. Integers and bools are converted to
/// the default float dtype. Division by zero yields an infinity or NaN.
Tensor div(const Argument& x, const Argument& y);

/// Computes the dot product of two vectors of the same dtype and length: the sum of the products of their
/// elements.
Tensor dot(const Argument& x, const Argument& y);

/// Concatenates `tensors` along the third dimension. A tensor of shape [n] becomes [1, n, 1] and one of
/// shape [n, m] becomes [n, m, 1].
Tensor dstack(const std::vector<Tensor>& tensors);

/// Computes sums of products over labelled dimensions, in Einstein notation. `equation` has a term for
/// each tensor, separated by commas, with a letter for each dimension; "..." stands for the remaining dimensions, which
/// broadcast. The term after "->" names the dimensions of the result, and letters missing there are summed over.
/// Without an arrow, the result has the dimensions of the ellipsis, then the letters that occur once, in alphabetical
/// order. A letter repeated within a term selects the diagonal. All tensors must have the same dtype.
Tensor einsum(const std::string& equation, const std::vector<Tensor>& tensors);

/// Computes the exponential linear unit, elementwise: `x` where x > 0 and alpha * (exp(x) - 1) elsewhere.
Tensor elu(const Argument& x, double alpha = 1.0);

/// Returns the rows of the matrix `weight` at `indices`, an i64 tensor of any shape. The result has the
/// shape of `indices` followed by the length of a row. The row `padding_idx`, which may be negative to count from the
/// end, gets no gradient. Raises IndexError for an index that is negative or too large.
Tensor embedding(const Argument& weight, const Argument& indices, std::optional<Dim> padding_idx = std::nullopt);

/// Computes the sum, mean or maximum (`mode`: "sum", "mean" or "max") of the rows of `weight` that each
/// bag of `indices` selects. Each row of a 2-d `indices` is a bag. A 1-d `indices` is divided into bags by `offsets`,
/// the start of each bag, which must start with 0 and never decrease; with `include_last_offset`, the last offset is
/// the end of the last bag. `per_sample_weights`, of the shape of `indices` and only for mode "sum", multiplies the
/// rows. Indices equal to `padding_idx` are ignored. The result of an empty bag is 0.
Tensor embedding_bag(const Argument& weight, const Argument& indices, const Argument& offsets = Argument(), const Argument& per_sample_weights = Argument(), const std::string& mode = "mean", bool include_last_offset = false, std::optional<Dim> padding_idx = std::nullopt);

/// Returns `offsets` unchanged after checking them: they must start with 0, never decrease, and not
/// exceed `count`, the number of indices. Raises IndexError otherwise.
Tensor embedding_bag_offsets(const Argument& offsets, Dim count);

/// Returns a tensor of shape `size` with unspecified values, to be written later. The values are
/// currently zeros, but do not rely on it. `dtype` defaults to the default float dtype.
Tensor empty(Ints size, std::optional<Dtype> dtype = std::nullopt);

/// Returns a tensor of unspecified values with the shape and memory layout of `x`, to be written later.
/// The values are currently zeros, but do not rely on it. `dtype` defaults to the dtype of `x`.
Tensor empty_like(const Argument& x, std::optional<Dtype> dtype = std::nullopt);

/// Returns x == y, elementwise, as a bool tensor, with broadcasting.
Tensor eq(const Argument& x, const Argument& y);

/// Computes the error function of `x`, elementwise. Integers are promoted to float.
Tensor erf(const Argument& x);

/// Computes the complementary error function 1 - erf(x), elementwise, with full accuracy for
/// large `x`. Integers are promoted to float.
Tensor erfc(const Argument& x);

/// Computes the exponential of `x`, elementwise. Integers are promoted to float.
Tensor exp(const Argument& x);

/// Computes 2 to the power `x`, elementwise. Integers are promoted to float.
Tensor exp2(const Argument& x);

/// Returns a view of `x` with dimensions of size 1 expanded to `size` without copying. A size of -1 keeps
/// the size of that dimension. `size` may have additional leading dimensions. Raises ValueError if a
/// dimension of another size would change.
Tensor expand(const Argument& x, Ints size);

/// Computes exp(x) - 1, elementwise, with full accuracy near 0. Integers are promoted to
/// float.
Tensor expm1(const Argument& x);

/// Returns the matrix of `n` rows and `m` columns with ones on the main diagonal and zeros elsewhere. `m`
/// defaults to `n` and `dtype` to the default float dtype.
Tensor eye(Dim n, std::optional<Dim> m = std::nullopt, std::optional<Dtype> dtype = std::nullopt);

/// Returns `x` with the dimensions from `start_dim` to `end_dim`, both included, merged into one. A 0-d
/// tensor becomes a vector of one element. The result is a view if the strides of `x` allow it and a
/// copy otherwise.
Tensor flatten(const Argument& x, int64_t start_dim = 0, int64_t end_dim = -1);

/// Returns a copy of `x` with the order of the elements reversed along the dimensions `dims`.
Tensor flip(const Argument& x, Ints dims);

/// Rounds `x` down to an integer, elementwise. The dtype does not change.
Tensor floor(const Argument& x);

/// Returns floor(x / y), elementwise, with broadcasting and type promotion. Raises RuntimeError if an
/// integer is divided by zero.
Tensor floor_divide(const Argument& x, const Argument& y);

/// Returns the remainder of division rounded towards zero, elementwise, with broadcasting and type
/// promotion. The result has the sign of `x`, as in C. Raises RuntimeError if an integer is divided by
/// zero.
Tensor fmod(const Argument& x, const Argument& y);

/// Returns the images [batch, channels, height, width] of size `output_size` that are the sums of the
/// windows in the columns of `x` [batch, channels * window, windows]: elements at the same position are added. It is
/// the transpose of `unfold` with the same `kernel_size`, `dilation`, `padding` and `stride`. The batch may be missing.
Tensor fold(const Argument& x, Ints output_size, Ints kernel_size, Ints dilation = {1}, Ints padding = {0}, Ints stride = {1});

/// Returns a tensor of shape `size` filled with `fill_value`, a number or a 0-d tensor. `dtype` defaults
/// to the default float dtype if `fill_value` is a floating-point number, and to the dtype of `fill_value` otherwise.
Tensor full(Ints size, const Argument& fill_value, std::optional<Dtype> dtype = std::nullopt);

/// Returns a tensor with the shape and memory layout of `x`, filled with `fill_value`, a number or a 0-d
/// tensor. `dtype` defaults to the dtype of `x`.
Tensor full_like(const Argument& x, const Argument& fill_value, std::optional<Dtype> dtype = std::nullopt);

/// Returns the elements of `x` at the positions `index` along `dim`: in 2-d with dim = 1,
/// result[i, j] = x[i, index[i, j]]. `index` is an i64 tensor of the shape of the result; it has as many dimensions as
/// `x` and may be larger only along `dim`. Raises IndexError for an index that is negative or too large.
Tensor gather(const Argument& x, int64_t dim, const Argument& index);

/// Computes the negative log likelihood of `target` under a normal distribution of mean `x` and variance
/// `var`: (log(v) + (x - target) ** 2 / v) / 2, where v is `var`, but at least `eps`. With `full`, the constant
/// log(2 * pi) / 2 is added. `reduction` is 'mean', 'sum' or 'none', which returns the loss of each element.
Tensor gaussian_nll_loss(const Argument& x, const Argument& target, const Argument& var, bool full = false, double eps = 1e-06, const std::string& reduction = "mean");

/// Returns x >= y, elementwise, as a bool tensor, with broadcasting.
Tensor ge(const Argument& x, const Argument& y);

/// Computes the Gaussian error linear unit x * P(Z <= x), elementwise, where Z is a standard normal
/// variable. `approximate` is 'none' for the exact form or 'tanh' for 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x
/// + 0.044715 * x^3))), which older models use. Raises ValueError for any other `approximate`.
Tensor gelu(const Argument& x, const std::string& approximate = "none");

/// Computes the gated linear unit a * sigmoid(b), where a and b are the first and the second half of `x`
/// along `dim`. Raises ValueError if the size of `dim` is odd.
Tensor glu(const Argument& x, int64_t dim = -1);

/// Samples the image `x` [batch, channels, height, width] at the positions `grid` [batch, h, w, 2], whose
/// last dimension holds the x and y coordinates, from -1 to 1 within the image. The result is [batch, channels, h, w].
/// With depth, `x` is [batch, channels, depth, height, width] and `grid` [batch, d, h, w, 3]. `mode` is "bilinear",
/// "nearest" or, without depth, "bicubic". `padding_mode` selects the values outside the image: "zeros", "border" for
/// the nearest element, or "reflection" for the mirrored image. `align_corners` is that of `affine_grid`. `x` and
/// `grid` must have the same dtype.
Tensor grid_sample(const Argument& x, const Argument& grid, const std::string& mode = "bilinear", const std::string& padding_mode = "zeros", bool align_corners = false);

/// Normalizes `x` to mean 0 and variance 1 over each group of adjacent channels (dimension 1) and all
/// later dimensions, then multiplies by `weight` and adds `bias`, which have one element for each channel. `num_groups`
/// must divide the number of channels. `eps` is added to the variance.
Tensor group_norm(const Argument& x, Dim num_groups, const Argument& weight = Argument(), const Argument& bias = Argument(), double eps = 1e-05);

/// Returns x > y, elementwise, as a bool tensor, with broadcasting.
Tensor gt(const Argument& x, const Argument& y);

/// Returns `x` where |x| > lambd and 0 elsewhere, elementwise. NaN is propagated.
Tensor hardshrink(const Argument& x, double lambd = 0.5);

/// Computes x / 6 + 1/2 clamped to [0, 1], elementwise.
Tensor hardsigmoid(const Argument& x);

/// Computes x * hardsigmoid(x), elementwise.
Tensor hardswish(const Argument& x);

/// Clamps `x` to [min_val, max_val], elementwise. NaN is propagated.
Tensor hardtanh(const Argument& x, double min_val = -1.0, double max_val = 1.0);

/// Computes `x` where `target` is 1, and max(0, margin - x) where it is -1. `x` and `target` broadcast.
/// `reduction` is 'mean', 'sum' or 'none', which returns the loss of each element.
Tensor hinge_embedding_loss(const Argument& x, const Argument& target, double margin = 1.0, const std::string& reduction = "mean");

/// Counts the elements of `x` in `bins` intervals of equal width between `min` and `max`. If `min` equals
/// `max`, the minimum and maximum of `x` are used. The last interval includes its upper bound. Elements
/// outside the range and NaN are not counted. The result has the dtype of `x`, which must be
/// floating-point.
Tensor histc(const Argument& x, Dim bins = 100, double min = 0.0, double max = 0.0);

/// Concatenates `tensors` horizontally: along the first dimension if they are 1-d, otherwise along the
/// second. 0-d tensors become 1-d.
Tensor hstack(const std::vector<Tensor>& tensors);

/// Computes d ** 2 / 2 where d = |x - target| is below `delta`, and delta * (d - delta / 2) elsewhere.
/// `x` and `target` broadcast, and `delta` must be positive. `reduction` is 'mean', 'sum' or 'none', which returns the
/// loss of each element.
Tensor huber_loss(const Argument& x, const Argument& target, const std::string& reduction = "mean", double delta = 1.0);

/// Returns the elements of `x` selected by `indices`, i64 tensors of one shape, one for each leading
/// dimension of `x`. The result has the shape of an index tensor, followed by the remaining dimensions of `x`. Indexing
/// such as x[i, j] is implemented by this op. Negative indices count from the end; out-of-range indices raise
/// IndexError.
Tensor index(const Argument& x, const std::vector<Tensor>& indices);

/// Returns `x` with the slices of `source` along `dim` added at the positions in `index`, an i64 vector.
/// Repeated indices accumulate. `source` has the shape of `x`, except that its size along `dim` is the
/// length of `index`. Raises IndexError if an index is negative or too large.
Tensor index_add(const Argument& x, int64_t dim, const Argument& index, const Argument& source);

/// Returns `x` with `values` written at the positions given by the i64 tensors `indices` for the leading
/// dimensions. The index tensors have one shape, and `values` is a number or a tensor that broadcasts to
/// the indexed part. `accumulate` adds to the elements instead of replacing them. Raises IndexError if an
/// index is out of range.
Tensor index_put(const Argument& x, const Argument& values, const std::vector<Tensor>& indices, bool accumulate = false);

/// Returns `x` with `values` added at the positions given by the index tensors
/// `indices` for the leading dimensions, in row-major order. Repeated positions
/// accumulate.
Tensor index_put_add(const Argument& x, const Argument& values, const std::vector<Tensor>& indices);

/// Returns `x` with `values` written at the positions given by the index tensors
/// `indices` for the leading dimensions. If positions repeat, the last element in
/// row-major order wins.
Tensor index_put_set(const Argument& x, const Argument& values, const std::vector<Tensor>& indices);

/// Returns the slices of `x` at the positions `index` along `dim`. `index` is an i64 tensor, 0-d or 1-d.
/// Raises IndexError for an index that is negative or too large.
Tensor index_select(const Argument& x, int64_t dim, const Argument& index);

/// Computes the sums of products over the last dimensions of `x` and `y`, which must have the same dtype
/// and size there. The result has the other dimensions of `x`, then those of `y`. If one of the tensors is 0-d, the
/// result is their product.
Tensor inner(const Argument& x, const Argument& y);

struct InstanceNormResult {
  Tensor output;
  Tensor running_mean;
  Tensor running_var;
};

/// Normalizes `x` to mean 0 and variance 1 for each channel of each instance of the batch, then
/// multiplies by `weight` and adds `bias`, which have one element for each channel. Without `use_input_stats`, the
/// running statistics are used instead. Running statistics are updated and returned as by `batch_norm`, with the means
/// over the batch as the new values.
InstanceNormResult instance_norm(const Argument& x, const Argument& running_mean = Argument(), const Argument& running_var = Argument(), const Argument& weight = Argument(), const Argument& bias = Argument(), bool use_input_stats = true, double momentum = 0.1, double eps = 1e-05);

/// Resizes the spatial dimensions of `x` [batch, channels, ...], 1 to 3 of them, to `size` or by
/// `scale_factor`; exactly one of the two must be given. `mode` is "nearest", "nearest-exact", "area", "linear" for 1
/// spatial dimension, "bilinear" or "bicubic" for 2, or "trilinear" for 3. `align_corners`, for the linear and cubic
/// modes only, aligns the centers of the corner elements of input and result; otherwise their outer edges are aligned.
Tensor interpolate(const Argument& x, OptionalInts size = kNone, std::optional<double> scale_factor = std::nullopt, const std::string& mode = "nearest", std::optional<bool> align_corners = std::nullopt);

/// Returns an i64 tensor of shape `size` in which each element is its own index along `dim`.
Tensor iota(Ints size, int64_t dim = 0);

/// Returns whether |x - y| <= atol + rtol * |y|, elementwise, as a bool tensor, with broadcasting.
/// Infinities are close only if they are equal. NaNs are close to each other only if `equal_nan` is true.
/// Integers are compared as floats.
Tensor isclose(const Argument& x, const Argument& y, double rtol = 1e-05, double atol = 1e-08, bool equal_nan = false);

/// Returns whether `x` is neither infinite nor NaN, elementwise, as a bool tensor.
Tensor isfinite(const Argument& x);

/// Returns whether `x` is positive or negative infinity, elementwise, as a bool tensor.
Tensor isinf(const Argument& x);

/// Returns whether `x` is NaN, elementwise, as a bool tensor.
Tensor isnan(const Argument& x);

/// Computes target * (log(target) - x), where `x` holds logarithms of probabilities. With `log_target`,
/// `target` holds logarithms too, and the loss is exp(target) * (target - x). `reduction` is 'mean', 'sum', 'none',
/// which returns the loss of each element, or 'batchmean', which divides the sum by the size of dimension 0 and so
/// returns the Kullback-Leibler divergence.
Tensor kl_div(const Argument& x, const Argument& target, const std::string& reduction = "mean", bool log_target = false);

/// Computes the Kronecker product: each element of `x` is replaced by its product with `y`. The tensor
/// with fewer dimensions gets leading dimensions of size 1.
Tensor kron(const Argument& x, const Argument& y);

struct KthvalueResult {
  Tensor values;
  Tensor indices;
};

/// Returns the `k`-th smallest element of `x` along `dim`, counted from 1, as `values` and its i64 index as
/// `indices`. `keepdim` keeps the reduced dimension with size 1. NaN counts as larger than every number.
/// Raises ValueError if `k` is below 1 or exceeds the size of `dim`.
KthvalueResult kthvalue(const Argument& x, Dim k, int64_t dim = -1, bool keepdim = false);

/// Computes the absolute error |x - target|. `x` and `target` broadcast. `reduction` is 'mean', 'sum' or
/// 'none', which returns the loss of each element.
Tensor l1_loss(const Argument& x, const Argument& target, const std::string& reduction = "mean");

/// Normalizes `x` to mean 0 and variance 1 over its last dimensions, whose sizes are `normalized_shape`,
/// then multiplies by `weight` and adds `bias`, both of shape `normalized_shape`. `eps` is added to the variance.
Tensor layer_norm(const Argument& x, Ints normalized_shape, const Argument& weight = Argument(), const Argument& bias = Argument(), double eps = 1e-05);

/// Returns x <= y, elementwise, as a bool tensor, with broadcasting.
Tensor le(const Argument& x, const Argument& y);

/// Returns `x` where x > 0 and x * negative_slope elsewhere, elementwise.
Tensor leaky_relu(const Argument& x, double negative_slope = 0.01);

/// Interpolates linearly between `x` and `end`: x + weight * (end - x), elementwise, with broadcasting and
/// type promotion. The common dtype must be floating-point. The result is exactly `x` for weight 0 and
/// exactly `end` for weight 1.
Tensor lerp(const Argument& x, const Argument& end, const Argument& weight);

/// Computes x @ weight.T + bias, the function of a Linear layer. `x` is [..., in] and `weight` [out, in],
/// or [in] for a single output without a dimension; `bias` broadcasts to the result [..., out]. All operands must have
/// the same dtype.
Tensor linear(const Argument& x, const Argument& weight, const Argument& bias = Argument());

/// Returns `steps` evenly spaced numbers from `start` to `end`, both included and exact. They are computed
/// in f64. The result has the default float dtype unless `dtype` is given. Raises ValueError if `steps` is
/// negative.
Tensor linspace(double start, double end, Dim steps, std::optional<Dtype> dtype = std::nullopt);

/// Divides `x` by (k + alpha * m) ** beta, where m is the mean of the squares over `size` neighboring
/// channels (dimension 1). Channels beyond the ends count as 0. `x` must have at least 3 dimensions.
Tensor local_response_norm(const Argument& x, Dim size, double alpha = 0.0001, double beta = 0.75, double k = 1.0);

/// Computes the natural logarithm of `x`, elementwise. The result is -inf at 0 and NaN for negative `x`.
/// Integers are promoted to float.
Tensor log(const Argument& x);

/// Computes the base-10 logarithm of `x`, elementwise. The result is -inf at 0 and NaN for negative `x`.
/// Integers are promoted to float.
Tensor log10(const Argument& x);

/// Computes the natural logarithm of 1 + x, elementwise, with full accuracy near 0. The result is -inf at
/// -1 and NaN below it. Integers are promoted to float.
Tensor log1p(const Argument& x);

/// Computes the base-2 logarithm of `x`, elementwise. The result is -inf at 0 and NaN for negative `x`.
/// Integers are promoted to float.
Tensor log2(const Argument& x);

/// Computes log(softmax(x)) along `dim`, without underflow. `dtype`, if given, is the floating-point dtype
/// that `x` is converted to first.
Tensor log_softmax(const Argument& x, int64_t dim = -1, std::optional<Dtype> dtype = std::nullopt);

/// Returns whether both `x` and `y` are nonzero, elementwise, as a bool tensor, with
/// broadcasting.
Tensor logical_and(const Argument& x, const Argument& y);

/// Returns whether `x` is zero, elementwise, as a bool tensor.
Tensor logical_not(const Argument& x);

/// Returns whether `x` or `y` is nonzero, elementwise, as a bool tensor, with broadcasting.
Tensor logical_or(const Argument& x, const Argument& y);

/// Returns whether exactly one of `x` and `y` is nonzero, elementwise, as a bool tensor, with
/// broadcasting.
Tensor logical_xor(const Argument& x, const Argument& y);

/// Computes log(sigmoid(x)), elementwise, without overflow.
Tensor logsigmoid(const Argument& x);

/// Returns `base` raised to `steps` evenly spaced exponents from `start` to `end`, both included. They are
/// computed in f64. The result has the default float dtype unless `dtype` is given. Raises ValueError if
/// `steps` is negative.
Tensor logspace(double start, double end, Dim steps, double base = 10.0, std::optional<Dtype> dtype = std::nullopt);

/// Computes log(sum(exp(x))) over the dimensions `dim`, or over all dimensions by default, without
/// overflow. `keepdim` keeps the reduced dimensions with size 1.
Tensor logsumexp(const Argument& x, OptionalInts dim = kNone, bool keepdim = false);

/// Computes the power average (sum of x^p)^(1/p), with p = norm_type, of each sliding window
/// over the last dimension of `x`, which is [channels, length] or [batch, channels, length].
/// `stride` defaults to `kernel_size`. `ceil_mode` rounds the number of windows up instead
/// of down.
Tensor lp_pool1d(const Argument& x, double norm_type, Ints kernel_size, OptionalInts stride = kNone, bool ceil_mode = false);

/// Computes the power average (sum of x^p)^(1/p), with p = norm_type, of each sliding window
/// over the last two dimensions of `x`, which is [channels, height, width] or [batch,
/// channels, height, width]. `stride` defaults to `kernel_size`. `ceil_mode` rounds the
/// number of windows up instead of down.
Tensor lp_pool2d(const Argument& x, double norm_type, Ints kernel_size, OptionalInts stride = kNone, bool ceil_mode = false);

/// Computes the power average (sum of x^p)^(1/p), with p = norm_type, of each sliding window
/// over the last three dimensions of `x`, which is [channels, depth, height, width] or
/// [batch, channels, depth, height, width]. `stride` defaults to `kernel_size`. `ceil_mode`
/// rounds the number of windows up instead of down.
Tensor lp_pool3d(const Argument& x, double norm_type, Ints kernel_size, OptionalInts stride = kNone, bool ceil_mode = false);

/// Returns x < y, elementwise, as a bool tensor, with broadcasting.
Tensor lt(const Argument& x, const Argument& y);

/// Computes max(0, margin - target * (x1 - x2)), where target 1 means that `x1` should be larger than
/// `x2` and -1 the opposite. The operands broadcast. `reduction` is 'mean', 'sum' or 'none', which returns the loss of
/// each element.
Tensor margin_ranking_loss(const Argument& x1, const Argument& x2, const Argument& target, double margin = 0.0, const std::string& reduction = "mean");

/// Returns `x` with elements replaced by `value` where `mask` is true. `mask` is a bool tensor that
/// broadcasts with `x`, and `value` is a number or a 0-d tensor. The result has the dtype of `x`. Raises
/// TypeError if `value` is a floating-point number and `x` holds integers or bools.
Tensor masked_fill(const Argument& x, const Argument& mask, const Argument& value);

/// Returns the elements of `x` where the bool tensor `mask` is true, in row-major order, as a 1-d tensor.
/// `x` and `mask` broadcast.
Tensor masked_select(const Argument& x, const Argument& mask);

/// Computes the matrix product of `x` and `y`, which must have the same dtype and at least one dimension.
/// A 1-d `x` is a row and a 1-d `y` a column, and their added dimension is removed from the result. The dimensions
/// before the last two are batches, which broadcast.
Tensor matmul(const Argument& x, const Argument& y);

struct MaxDimResult {
  Tensor values;
  Tensor indices;
};

/// Returns the maxima of `x` along `dim` as `values` and their i64 indices as `indices`. The
/// first of equal elements is chosen, or the first NaN if there is one, and it alone receives
/// the gradient. `keepdim` keeps the reduced dimension with size 1. Raises ValueError if there
/// are no elements to reduce.
MaxDimResult max_dim(const Argument& x, int64_t dim, bool keepdim = false);

/// Computes the maximum of each window over the last dimensions of `x`. `kernel`, `stride`, `padding` and
/// `dilation` have one element for each pooled dimension, and `size` holds the sizes of the result. An
/// empty `kernel` selects adaptive windows, which divide the dimensions evenly.
Tensor max_pool(const Argument& x, Ints kernel, Ints stride, Ints padding, Ints dilation, Ints size);

/// Computes the maximum of each sliding window over the last dimension of `x`, which is [channels, length]
/// or [batch, channels, length]. `stride` defaults to `kernel_size`. `dilation` is the distance between
/// the elements of a window. `padding` is ignored by the maximum and is at most half of the window.
/// `ceil_mode` rounds the number of windows up instead of down. NaN is propagated.
Tensor max_pool1d(const Argument& x, Ints kernel_size, OptionalInts stride = kNone, Ints padding = {0}, Ints dilation = {1}, bool ceil_mode = false);

struct MaxPool1dWithIndicesResult {
  Tensor values;
  Tensor indices;
};

/// Computes max_pool1d and returns the maxima as `values` and their i64 positions in the last dimension of
/// `x` as `indices`. Of equal elements the first is chosen, and of several NaNs the last.
MaxPool1dWithIndicesResult max_pool1d_with_indices(const Argument& x, Ints kernel_size, OptionalInts stride = kNone, Ints padding = {0}, Ints dilation = {1}, bool ceil_mode = false);

/// Computes the maximum of each sliding window over the last two dimensions of `x`, which is [channels,
/// height, width] or [batch, channels, height, width]. `stride` defaults to `kernel_size`. `dilation` is
/// the distance between the elements of a window. `padding` is ignored by the maximum and is at most half
/// of the window. `ceil_mode` rounds the number of windows up instead of down. NaN is propagated.
Tensor max_pool2d(const Argument& x, Ints kernel_size, OptionalInts stride = kNone, Ints padding = {0}, Ints dilation = {1}, bool ceil_mode = false);

struct MaxPool2dWithIndicesResult {
  Tensor values;
  Tensor indices;
};

/// Computes max_pool2d and returns the maxima as `values` and their i64 positions in the flattened last
/// two dimensions of `x` as `indices`. Of equal elements the first is chosen, and of several NaNs the
/// last.
MaxPool2dWithIndicesResult max_pool2d_with_indices(const Argument& x, Ints kernel_size, OptionalInts stride = kNone, Ints padding = {0}, Ints dilation = {1}, bool ceil_mode = false);

/// Computes the maximum of each sliding window over the last three dimensions of `x`, which is [channels,
/// depth, height, width] or [batch, channels, depth, height, width]. `stride` defaults to `kernel_size`.
/// `dilation` is the distance between the elements of a window. `padding` is ignored by the maximum and is
/// at most half of the window. `ceil_mode` rounds the number of windows up instead of down. NaN is
/// propagated.
Tensor max_pool3d(const Argument& x, Ints kernel_size, OptionalInts stride = kNone, Ints padding = {0}, Ints dilation = {1}, bool ceil_mode = false);

struct MaxPool3dWithIndicesResult {
  Tensor values;
  Tensor indices;
};

/// Computes max_pool3d and returns the maxima as `values` and their i64 positions in the flattened last
/// three dimensions of `x` as `indices`. Of equal elements the first is chosen, and of several NaNs the
/// last.
MaxPool3dWithIndicesResult max_pool3d_with_indices(const Argument& x, Ints kernel_size, OptionalInts stride = kNone, Ints padding = {0}, Ints dilation = {1}, bool ceil_mode = false);

/// Computes the gradient of max_pool with respect to its operand. `grad` is the gradient of its result,
/// `indices` holds the positions of the maxima as max_position returns them, and `size` holds the sizes of
/// the pooled dimensions of the operand.
Tensor max_pool_back(const Argument& grad, const Argument& indices, Ints kernel, Ints stride, Ints padding, Ints dilation, Ints size);

/// Returns the i64 position of the maximum of each window over the last dimensions of `x`, counted in those
/// dimensions flattened. The parameters are those of max_pool.
Tensor max_position(const Argument& x, Ints kernel, Ints stride, Ints padding, Ints dilation, Ints size);

/// Returns a tensor with the elements of `x` at the positions `indices` where max_pool1d found them, and
/// zeros elsewhere. `x` and `indices` are results of max_pool1d_with_indices, and `kernel_size`, `stride` (default
/// `kernel_size`) and `padding` are its arguments. Each spatial size n becomes
/// (n - 1) * stride - 2 * padding + kernel_size, unless `output_size` gives another size less than one stride away.
Tensor max_unpool1d(const Argument& x, const Argument& indices, Ints kernel_size, OptionalInts stride = kNone, Ints padding = {0}, OptionalInts output_size = kNone);

/// Returns a tensor with the elements of `x` at the positions `indices` where max_pool2d found them, and
/// zeros elsewhere. `x` and `indices` are results of max_pool2d_with_indices, and `kernel_size`, `stride` (default
/// `kernel_size`) and `padding` are its arguments. Each spatial size n becomes
/// (n - 1) * stride - 2 * padding + kernel_size, unless `output_size` gives another size less than one stride away.
Tensor max_unpool2d(const Argument& x, const Argument& indices, Ints kernel_size, OptionalInts stride = kNone, Ints padding = {0}, OptionalInts output_size = kNone);

/// Returns a tensor with the elements of `x` at the positions `indices` where max_pool3d found them, and
/// zeros elsewhere. `x` and `indices` are results of max_pool3d_with_indices, and `kernel_size`, `stride` (default
/// `kernel_size`) and `padding` are its arguments. Each spatial size n becomes
/// (n - 1) * stride - 2 * padding + kernel_size, unless `output_size` gives another size less than one stride away.
Tensor max_unpool3d(const Argument& x, const Argument& indices, Ints kernel_size, OptionalInts stride = kNone, Ints padding = {0}, OptionalInts output_size = kNone);

/// Returns the larger of `x` and `y`, elementwise, with broadcasting and type promotion. If
/// either element is NaN, the result is NaN.
Tensor maximum(const Argument& x, const Argument& y);

/// Returns the mean of `x` over the dimensions `dim`, or over all dimensions by default. `keepdim` keeps
/// the reduced dimensions with size 1. Integers and bools are averaged in the default float dtype unless
/// `dtype`, which must be floating-point, is given. The mean of no elements is NaN.
Tensor mean(const Argument& x, OptionalInts dim = kNone, bool keepdim = false, std::optional<Dtype> dtype = std::nullopt);

/// Computes the mean of each window over the last dimensions of `x`. `kernel`, `stride`, `padding` and
/// `dilation` have one element for each pooled dimension, and `size` holds the sizes of the result. An
/// empty `kernel` selects adaptive windows, which divide the dimensions evenly. `include_padding` selects
/// whether padding counts in the divisor, and `divisor` replaces the divisor.
Tensor mean_pool(const Argument& x, Ints kernel, Ints stride, Ints padding, Ints dilation, Ints size, bool include_padding = true, std::optional<Dim> divisor = std::nullopt);

/// Computes the gradient of mean_pool with respect to its operand. `grad` is the gradient of its result,
/// and `size` holds the sizes of the pooled dimensions of the operand. The other parameters are those of
/// mean_pool.
Tensor mean_pool_back(const Argument& grad, Ints kernel, Ints stride, Ints padding, Ints dilation, Ints size, bool include_padding = true, std::optional<Dim> divisor = std::nullopt);

/// Returns the median of all elements of `x`. The median of an even number of elements is the lower of the
/// two middle ones. NaN is propagated. Raises ValueError if `x` has no elements.
Tensor median(const Argument& x);

struct MedianDimResult {
  Tensor values;
  Tensor indices;
};

/// Returns the medians of `x` along `dim` as `values` and their i64 indices as `indices`. The median of an
/// even number of elements is the lower of the two middle ones. NaN is propagated. `keepdim` keeps the
/// reduced dimension with size 1. Raises ValueError if there are no elements to reduce.
MedianDimResult median_dim(const Argument& x, int64_t dim, bool keepdim = false);

/// Returns coordinate grids for `tensors`, each 0-d or 1-d: for each of them a tensor of the shape of the
/// grid, whose dimension i has the size of tensor i. With `indexing` "xy" instead of "ij", the first two dimensions are
/// swapped.
std::vector<Tensor> meshgrid(const std::vector<Tensor>& tensors, const std::string& indexing = "ij");

struct MinDimResult {
  Tensor values;
  Tensor indices;
};

/// Returns the minima of `x` along `dim` as `values` and their i64 indices as `indices`. The
/// first of equal elements is chosen, or the first NaN if there is one, and it alone receives
/// the gradient. `keepdim` keeps the reduced dimension with size 1. Raises ValueError if there
/// are no elements to reduce.
MinDimResult min_dim(const Argument& x, int64_t dim, bool keepdim = false);

/// Returns the smaller of `x` and `y`, elementwise, with broadcasting and type promotion. If
/// either element is NaN, the result is NaN.
Tensor minimum(const Argument& x, const Argument& y);

/// Computes x * tanh(softplus(x)), elementwise.
Tensor mish(const Argument& x);

/// Computes the matrix product of `x` [n, k] and `y` [k, m], which must have the same dtype.
Tensor mm(const Argument& x, const Argument& y);

/// Returns a view of `x` with the dimensions `source` moved to the positions `destination`. The other
/// dimensions keep their order. Raises ValueError if the two differ in length or repeat a dimension.
Tensor movedim(const Argument& x, Ints source, Ints destination);

/// Computes the squared error (x - target) ** 2. `x` and `target` broadcast. `reduction` is 'mean', 'sum'
/// or 'none', which returns the loss of each element.
Tensor mse_loss(const Argument& x, const Argument& target, const std::string& reduction = "mean");

/// Sorts `x` along its first dimension in ascending order. NaN sorts as larger than every number.
Tensor msort(const Argument& x);

/// Returns x * y, elementwise, with broadcasting and type promotion. For bools, this is logical and.
/// Integers wrap on overflow.
Tensor mul(const Argument& x, const Argument& y);

/// Computes the mean over the classes of max(0, margin - x[target] + x[class]) ** p, where the target
/// class itself counts as 0. `x` is [batch, classes] or [classes], `target` holds i64 class indices, and `p` is 1 or 2.
/// `weight` has one factor for each class; that of the target class multiplies the loss. `reduction` is 'mean', 'sum'
/// or 'none', which returns the loss of each example.
Tensor multi_margin_loss(const Argument& x, const Argument& target, Dim p = 1, double margin = 1.0, const Argument& weight = Argument(), const std::string& reduction = "mean");

/// Computes the sum of max(0, 1 - x[i] + x[j]) over all pairs of a target class i and another class j
/// that is not a target, divided by the number of classes. `x` is [batch, classes] or [classes]; `target`, of the same
/// shape, lists the i64 indices of the target classes before its first -1. `reduction` is 'mean', 'sum' or 'none',
/// which returns the loss of each example.
Tensor multilabel_margin_loss(const Argument& x, const Argument& target, const std::string& reduction = "mean");

/// Computes the mean of `binary_cross_entropy_with_logits` over the last dimension, where `weight`
/// multiplies the losses before the mean. `reduction` is 'mean', 'sum' or 'none', which returns the loss of each
/// example.
Tensor multilabel_soft_margin_loss(const Argument& x, const Argument& target, const Argument& weight = Argument(), const std::string& reduction = "mean");

/// Computes the product of the matrix `x` [n, k] and the vector `vector` [k], which must have the same
/// dtype.
Tensor mv(const Argument& x, const Argument& vector);

/// Replaces NaN by `nan`, infinity by `posinf` and negative infinity by `neginf`, elementwise. `posinf` and
/// `neginf` default to the largest and the smallest finite value of the dtype. Integers and bools are
/// returned unchanged.
Tensor nan_to_num(const Argument& x, double nan = 0.0, std::optional<double> posinf = std::nullopt, std::optional<double> neginf = std::nullopt);

/// Returns the mean of the elements of `x` that are not NaN over the dimensions `dim`, or over all
/// dimensions by default. `keepdim` keeps the reduced dimensions with size 1. The result is NaN where every
/// element is NaN.
Tensor nanmean(const Argument& x, OptionalInts dim = kNone, bool keepdim = false);

/// Returns the sum of the elements of `x` that are not NaN over the dimensions `dim`, or over all
/// dimensions by default. `keepdim` keeps the reduced dimensions with size 1. Integers and bools are summed
/// in i64 unless `dtype` is given.
Tensor nansum(const Argument& x, OptionalInts dim = kNone, bool keepdim = false, std::optional<Dtype> dtype = std::nullopt);

/// Returns a view of `length` consecutive elements of `x` from `start` along `dim`. A negative `start`
/// counts from the end. Raises IndexError if `start` is out of range and ValueError if the elements
/// extend past the end.
Tensor narrow(const Argument& x, int64_t dim, Dim start, Dim length);

/// Computes the cumulative distribution function of the standard normal distribution at `x`, elementwise,
/// with full accuracy in both tails. Integers are promoted to float.
Tensor ndtr(const Argument& x);

/// Returns x != y, elementwise, as a bool tensor, with broadcasting.
Tensor ne(const Argument& x, const Argument& y);

/// Returns -x, elementwise. Integers wrap on overflow. Bools are not supported.
Tensor neg(const Argument& x);

/// Computes the negative log likelihood: -x at the target class, where `x` holds logarithms of
/// probabilities, such as log_softmax returns. The arguments are those of `cross_entropy`; `target` must hold class
/// indices.
Tensor nll_loss(const Argument& x, const Argument& target, const Argument& weight = Argument(), Dim ignore_index = -100, const std::string& reduction = "mean");

/// Returns the indices of the nonzero elements of `x` in row-major order, as an i64 matrix with a row for
/// each element and a column for each dimension of `x`.
Tensor nonzero(const Argument& x);

/// Computes the vector p-norm (sum of |x|^p)^(1/p) over the dimensions `dim`, or over all dimensions by
/// default. p = inf and p = -inf select the largest and the smallest absolute value, and p = 0 counts the
/// nonzero elements. `keepdim` keeps the reduced dimensions with size 1. The gradient is 0 where the norm
/// is 0.
Tensor norm(const Argument& x, double p = 2.0, OptionalInts dim = kNone, bool keepdim = false);

/// Divides `x` by its p-norm along `dim`, or by `eps` where the norm is smaller.
Tensor normalize(const Argument& x, double p = 2.0, int64_t dim = 1, double eps = 1e-12);

/// Returns an i64 tensor with the dimensions of `x` and a new last dimension of size `num_classes`, which
/// is 1 at the class given by the element of `x` and 0 elsewhere. Raises IndexError for a class that is negative or too
/// large.
Tensor one_hot(const Argument& x, Dim num_classes);

/// Returns a tensor of shape `size` filled with ones. `dtype` defaults to the default float dtype.
Tensor ones(Ints size, std::optional<Dtype> dtype = std::nullopt);

/// Returns a tensor of ones with the shape and memory layout of `x`. `dtype` defaults to the dtype of
/// `x`.
Tensor ones_like(const Argument& x, std::optional<Dtype> dtype = std::nullopt);

/// Computes the outer product of the vectors `x` and `y`: a matrix of the products of each element of `x`
/// with each element of `y`. Dtypes are promoted.
Tensor outer(const Argument& x, const Argument& y);

/// Pads the last dimensions of `x`. `pad` holds two sizes for each padded dimension, before and after,
/// starting from the last dimension. `mode` is "constant" (fills with `value`; negative sizes crop),
/// "reflect" (mirrors without repeating the edge; each size must be below the size of the dimension),
/// "replicate" (repeats the edge) or "circular" (wraps around; each size is at most the size of the
/// dimension). Raises ValueError if `mode` or `pad` is invalid.
Tensor pad(const Argument& x, Ints pad, const std::string& mode = "constant", double value = 0.0);

/// Computes the p-norm of x1 - x2 + eps along the last dimension, which stays with size 1 if `keepdim`.
/// `x1` and `x2` broadcast.
Tensor pairwise_distance(const Argument& x1, const Argument& x2, double p = 2.0, double eps = 1e-06, bool keepdim = false);

/// Returns a view of `x` with its dimensions in the order `dims`: dimension i of the result is
/// dimension dims[i] of `x`. Raises ValueError if `dims` is not a permutation of all dimensions.
Tensor permute(const Argument& x, Ints dims);

/// Rearranges `x` [..., channels * r * r, height, width] into [..., channels, height * r, width * r],
/// where r is `upscale_factor`.
Tensor pixel_shuffle(const Argument& x, Dim upscale_factor);

/// Rearranges `x` [..., channels, height * r, width * r] into [..., channels * r * r, height, width],
/// where r is `downscale_factor`. It is the inverse of `pixel_shuffle`.
Tensor pixel_unshuffle(const Argument& x, Dim downscale_factor);

/// Computes the negative log likelihood of counts `target` under a Poisson distribution:
/// exp(x) - target * x, where `x` is the logarithm of the rate, or, without `log_input`, x - target * log(x + eps),
/// where `x` is the rate. With `full`, Stirling's approximation of log(target!) is added for targets above 1.
/// `reduction` is 'mean', 'sum' or 'none', which returns the loss of each element.
Tensor poisson_nll_loss(const Argument& x, const Argument& target, bool log_input = true, bool full = false, double eps = 1e-08, const std::string& reduction = "mean");

/// Raises `x` to the power `y`, elementwise, with broadcasting and type promotion. The exponents 2, 3, 0.5,
/// -0.5, -1 and -2, given as numbers, are computed with products and roots. Integers wrap on overflow.
/// Raises ValueError if `x` holds integers and `y` is a negative number.
Tensor pow(const Argument& x, const Argument& y);

/// Raises `x` to the power `y`, elementwise, with the same algorithm for every `y`. Integers wrap on
/// overflow. Negative powers of integers are 0, except for the bases 1 and -1. Raises ValueError if `x`
/// holds integers and `y` is a negative number.
Tensor power(const Argument& x, const Argument& y);

/// Returns `x` where x > 0 and x * weight elsewhere, elementwise. `weight` is a floating-point tensor with
/// one element, or with one element for each channel (dimension 1) of `x`. The result has the dtype of `x`.
Tensor prelu(const Argument& x, const Argument& weight);

/// Returns the product of `x` over the dimensions `dim`, or over all dimensions by default. `keepdim` keeps
/// the reduced dimensions with size 1. Integers and bools are multiplied in i64 unless `dtype` is given.
/// The product of no elements is 1.
Tensor prod(const Argument& x, OptionalInts dim = kNone, bool keepdim = false, std::optional<Dtype> dtype = std::nullopt);

/// Returns `x` with elements replaced by the negative limit of selu with probability `p`, then scaled and
/// shifted so that a mean of 0 and a variance of 1 are preserved. `x` must be a floating-point tensor.
Tensor random_alpha_dropout(const Argument& state, const Argument& x, double p = 0.5);

/// Samples from Bernoulli distributions: each element is 1 with the probability in `p` and 0 otherwise. The
/// result has the shape and dtype of `p`, which must be floating-point. A sample is 1 where a number from
/// random_uniform, of f64 if `p` is f64 and of f32 otherwise, is below `p`. Raises ValueError if an element
/// of `p` is not in [0, 1].
Tensor random_bernoulli(const Argument& state, const Argument& p);

/// Returns an i64 tensor of shape `size` with 64 random bits in each element. `state` is i64[2]: the seed
/// of a Philox4x32-10 generator and an offset. Element i has the bits of w0 * 2^32 + w1, where w0 to w3 are
/// the four words that the generator returns for counter offset + i.
Tensor random_bits(const Argument& state, Ints size);

/// Returns x / (1 - p), with elements set to 0 with probability `p`: those whose f32 number of
/// random_uniform(state) is below `p`. `x` must be a floating-point tensor.
Tensor random_dropout(const Argument& state, const Argument& x, double p = 0.5);

/// Applies random_alpha_dropout to whole channels. A channel is one index of the first two dimensions of
/// `x`, a floating-point tensor.
Tensor random_feature_alpha_dropout(const Argument& state, const Argument& x, double p = 0.5);

/// Returns x / (1 - p), with whole channels set to 0 with probability `p`. A channel is one index of the
/// first two dimensions of `x`, a floating-point tensor.
Tensor random_feature_dropout(const Argument& state, const Argument& x, double p = 0.5);

/// Computes softmax((logits + noise) / tau) along `dim` with noise from the Gumbel distribution: a
/// differentiable sample of a class. With `hard`, the result is 1 for the largest element and 0 for the others, with
/// the gradient of the soft sample. `tau` must be positive.
Tensor random_gumbel_softmax(const Argument& state, const Argument& logits, double tau = 1.0, bool hard = false, int64_t dim = -1);

/// Samples integers uniformly from [low, high). `dtype` defaults to i64. With the words w0 to w3 of each
/// element as in random_bits, a sample is `low` plus the high 64 bits of (high - low) * (w0 * 2^32 + w1).
/// The probability of each integer is within 2^-64 of uniform. Raises ValueError if low >= high or if
/// `dtype` cannot represent the whole range.
Tensor random_integers(const Argument& state, Ints size, Dim low, Dim high, std::optional<Dtype> dtype = std::nullopt);

/// Samples `num_samples` i64 category indices from each row of `p`, with probabilities proportional to its
/// elements. `p` is a floating-point vector or matrix of finite, nonnegative weights, which need not sum to
/// 1. Without `replacement`, an index is sampled at most once in a row. Each sample multiplies the f64
/// number of random_uniform for its element by the sum of the remaining weights. Raises ValueError if a
/// weight is invalid or a row has too few positive weights.
Tensor random_multinomial(const Argument& state, const Argument& p, Dim num_samples, bool replacement = false);

/// Samples from the normal distribution with mean 0 and variance 1 by the Box-Muller transform sqrt(-2
/// log(u)) * cos(2 pi v). `dtype` is floating-point and defaults to the default float dtype. With the words
/// w0 to w3 of each element as in random_bits, u is (w0 + 1) / 2^32 and v a binary fraction of the top 24
/// bits of w1 for f32 and narrower dtypes. For f64, u has 53 bits of w0 and w1 and v has 53 bits of w2 and
/// w3.
Tensor random_normal(const Argument& state, Ints size, std::optional<Dtype> dtype = std::nullopt);

/// Returns a random permutation of the integers from 0 to n - 1 as an i64 vector. It is the order that
/// sorts the numbers of random_bits for the same `state`.
Tensor random_permutation(const Argument& state, Dim n);

/// Returns `x` where it is not negative, and elsewhere `x` times a slope sampled from the uniform
/// distribution on [lower, upper). `x` must be a floating-point tensor.
Tensor random_rrelu(const Argument& state, const Argument& x, double lower = 0.125, double upper = 0.3333333333333333);

/// Samples from the uniform distribution on [0, 1). `dtype` is floating-point and defaults to the default
/// float dtype. With the words w0 to w3 of each element as in random_bits, a sample is a binary fraction of
/// the top 24 bits of w0 for f32, 11 for f16, 8 for bf16, and of the top 53 bits of w0 and w1 for f64.
Tensor random_uniform(const Argument& state, Ints size, std::optional<Dtype> dtype = std::nullopt);

/// Computes 1 / x, elementwise. Integers are promoted to float.
Tensor reciprocal(const Argument& x);

/// Computes the rectified linear unit max(x, 0), elementwise. NaN is propagated.
Tensor relu(const Argument& x);

/// Clamps `x` to [0, 6], elementwise. NaN is propagated.
Tensor relu6(const Argument& x);

/// Returns the remainder of floor division, elementwise, with broadcasting and type promotion. The result
/// has the sign of `y`, as in Python. Raises RuntimeError if an integer is divided by zero.
Tensor remainder(const Argument& x, const Argument& y);

/// Returns `x` repeated `repeats` times along each dimension, as a copy. `repeats` has at least as many
/// numbers as `x` has dimensions; new dimensions come first.
Tensor repeat(const Argument& x, Ints repeats);

/// Returns `x` with each element repeated `repeats` times in a row along `dim`, as a copy. Without `dim`,
/// `x` is flattened first.
Tensor repeat_interleave(const Argument& x, Dim repeats, std::optional<int64_t> dim = std::nullopt);

/// Returns `x` resized to `size` elements along `dim`, with the interpolation `mode` and `align_corners`
/// of `interpolate`. `scale` is the ratio of the new size to the old; by default it is computed from the sizes.
Tensor resample(const Argument& x, int64_t dim, Dim size, const std::string& mode = "nearest", bool align_corners = false, std::optional<double> scale = std::nullopt);

/// Returns the elements of `x` in row-major order with the shape `shape`. One size may be -1 and is
/// then inferred. The result is a view if the strides of `x` allow it and a copy otherwise. Raises
/// ValueError if the number of elements differs.
Tensor reshape(const Argument& x, Ints shape);

/// Divides `x` by the root mean square over its last dimensions, whose sizes are `normalized_shape`, and
/// multiplies by `weight` of shape `normalized_shape`. `eps` is added to the mean of the squares; it defaults to the
/// machine epsilon of the dtype in which `x` is computed (f32 for 16-bit floats).
Tensor rms_norm(const Argument& x, Ints normalized_shape, const Argument& weight = Argument(), std::optional<double> eps = std::nullopt);

/// Returns `x` with its elements moved by `shifts` along the dimensions `dims`. Elements moved past the
/// end reappear at the start, and vice versa. Without `dims`, `x` is rolled as if it were flattened, and keeps its
/// shape.
Tensor roll(const Argument& x, Ints shifts, OptionalInts dims = kNone);

/// Returns `x` with its elements moved by `shift` along `dim`. Elements moved past the end reappear at
/// the start, and vice versa.
Tensor roll_one(const Argument& x, Dim shift, int64_t dim);

/// Rounds `x` to the nearest integer, with ties to even, elementwise. The dtype does not
/// change.
Tensor round(const Argument& x);

/// Computes the randomized leaky ReLU in evaluation mode, elementwise: `x` where x >= 0 and x * (lower +
/// upper) / 2 elsewhere. random_rrelu samples the slopes for training.
Tensor rrelu(const Argument& x, double lower = 0.125, double upper = 0.3333333333333333);

/// Computes 1 / sqrt(x), elementwise. The result is NaN for negative `x`. Integers are promoted to float.
Tensor rsqrt(const Argument& x);

/// Computes softmax(query @ key.mT * scale + attn_mask) @ value, with `query` [..., l, e], `key`
/// [..., s, e] and `value` [..., s, d] of the same dtype. The leading dimensions broadcast, and the result is
/// [..., l, d]. `attn_mask` broadcasts to [..., l, s]: a bool mask selects the keys that each query attends to, a mask
/// of the dtype of `query` is added to the scores. With `is_causal`, query i attends only to keys 0 to i; it cannot be
/// combined with `attn_mask`. The result is 0 for a query that attends to no key. `scale` defaults to 1 / sqrt(e). With
/// `enable_gqa`, `key` and `value` may have fewer heads (dimension -3) than `query`: each of their heads serves a group
/// of consecutive query heads.
Tensor scaled_dot_product_attention(const Argument& query, const Argument& key, const Argument& value, const Argument& attn_mask = Argument(), bool is_causal = false, std::optional<double> scale = std::nullopt, bool enable_gqa = false);

/// Returns `x` with the elements of `src` written at the positions given by `index`, an i64 tensor, along
/// `dim`; the other coordinates are those of the element in `index`. `src` is a number or a tensor at least
/// as large as `index` in every dimension. If indices repeat, the last element in row-major order wins.
/// `reduce` is None, "add" or "multiply"; the latter two add to or multiply the elements of `x` instead.
/// Raises IndexError if an index is negative or too large.
Tensor scatter(const Argument& x, int64_t dim, const Argument& index, const Argument& src, const std::optional<std::string>& reduce = std::nullopt);

/// Returns `x` with the elements of `src` added at the positions given by `index`
/// along `dim`; the other coordinates are those of the element in `src`. `index` is
/// an i64 tensor of the shape of `src`. Repeated indices accumulate. Raises
/// IndexError if an index is negative or too large, and TypeError if the dtypes of
/// `x` and `src` differ.
Tensor scatter_add(const Argument& x, int64_t dim, const Argument& index, const Argument& src);

/// Returns `x` with each position given by `index` along `dim` replaced by the
/// maximum of its element and the elements of `src` for that position. `index` has
/// the shape of `src`.
Tensor scatter_amax(const Argument& x, int64_t dim, const Argument& index, const Argument& src);

/// Returns `x` with each position given by `index` along `dim` replaced by the
/// minimum of its element and the elements of `src` for that position. `index` has
/// the shape of `src`.
Tensor scatter_amin(const Argument& x, int64_t dim, const Argument& index, const Argument& src);

/// Returns `x` with the elements of `src` multiplied in at the positions given by
/// `index` along `dim`. Repeated indices accumulate. `index` has the shape of `src`.
Tensor scatter_mul(const Argument& x, int64_t dim, const Argument& index, const Argument& src);

/// Returns `x` with the elements of `src` combined at the positions given by `index` along `dim`. `reduce`
/// is "sum", "prod", "mean", "amax" or "amin". `include_self` selects whether the elements of `x` at those
/// positions take part. Means of integers are rounded down. `index` has the shape of `src`. Raises
/// IndexError if an index is negative or too large, and ValueError for any other `reduce`.
Tensor scatter_reduce(const Argument& x, int64_t dim, const Argument& index, const Argument& src, const std::string& reduce, bool include_self = true);

/// Returns `x` with the elements of `src` written at the positions given by `index` along `dim`. If
/// indices repeat, the last element in row-major order wins. `index` has the shape of `src`.
Tensor scatter_set(const Argument& x, int64_t dim, const Argument& index, const Argument& src);

/// Returns the i64 indices at which `values` would be inserted into `sorted_sequence` to keep its last
/// dimension sorted. An index is before equal elements, or after them if `right` is true. NaN sorts after
/// every number. `sorted_sequence` is a vector, or agrees with `values` in all dimensions except the last.
/// Raises TypeError if the dtypes differ.
Tensor searchsorted(const Argument& sorted_sequence, const Argument& values, bool right = false);

/// Returns a view of `x` at position `index` along `dim`, with that dimension removed. A negative
/// `index` counts from the end. Raises IndexError if `index` is out of range.
Tensor select(const Argument& x, int64_t dim, Dim index);

/// Computes the scaled exponential linear unit scale * elu(x, alpha), elementwise, with
/// alpha = 1.6732632423543772 and scale = 1.0507009873554805. These constants preserve mean
/// 0 and variance 1 through many layers.
Tensor selu(const Argument& x);

/// Returns `x` with the part given by the shape of `part`, `stride` and `offset`, as in strided_part,
/// replaced by `part`. Raises TypeError if the dtypes differ, and ValueError if the part overlaps itself or
/// is not inside `x`.
Tensor set_strided_part(const Argument& x, const Argument& part, Ints stride, Dim offset = 0);

/// Computes the logistic function 1 / (1 + exp(-x)), elementwise. Integers are promoted to
/// float.
Tensor sigmoid(const Argument& x);

/// Returns -1, 0 or 1 according to the sign of `x`, elementwise. The sign of NaN is 0.
Tensor sign(const Argument& x);

/// Computes x * sigmoid(x), elementwise. Also known as swish.
Tensor silu(const Argument& x);

/// Computes the sine of `x`, in radians, elementwise. Integers are promoted to float.
Tensor sin(const Argument& x);

/// Computes the hyperbolic sine of `x`, elementwise. Integers are promoted to float.
Tensor sinh(const Argument& x);

/// Returns a view of every `step`-th element of `x` from `start` up to but not including `end` along
/// `dim`. Negative bounds count from the end, and bounds out of range are clamped, as for slices in
/// Python. Raises ValueError if `step` is not positive.
Tensor slice(const Argument& x, int64_t dim = 0, std::optional<Dim> start = std::nullopt, std::optional<Dim> end = std::nullopt, Dim step = 1);

/// Computes d ** 2 / (2 * beta) where d = |x - target| is below `beta`, and d - beta / 2 elsewhere. `x`
/// and `target` broadcast, and `beta` must not be negative; with beta = 0 this is `l1_loss`. `reduction` is 'mean',
/// 'sum' or 'none', which returns the loss of each element.
Tensor smooth_l1_loss(const Argument& x, const Argument& target, const std::string& reduction = "mean", double beta = 1.0);

/// Computes log(1 + exp(-target * x)) without overflow, for targets 1 and -1. `x` and `target` broadcast.
/// `reduction` is 'mean', 'sum' or 'none', which returns the loss of each element.
Tensor soft_margin_loss(const Argument& x, const Argument& target, const std::string& reduction = "mean");

/// Computes exp(x) / sum(exp(x)) along `dim`, without overflow. `dtype`, if given, is the floating-point
/// dtype that `x` is converted to first.
Tensor softmax(const Argument& x, int64_t dim = -1, std::optional<Dtype> dtype = std::nullopt);

/// Computes softmax(-x) along `dim`, so that the smallest element has the largest weight. `dtype`, if
/// given, is the floating-point dtype that `x` is converted to first.
Tensor softmin(const Argument& x, int64_t dim = -1, std::optional<Dtype> dtype = std::nullopt);

/// Computes log(1 + exp(beta * x)) / beta, elementwise. Returns `x` where beta * x >
/// threshold.
Tensor softplus(const Argument& x, double beta = 1.0, double threshold = 20.0);

/// Moves `x` towards 0 by `lambd`, elementwise: x - lambd where x > lambd, x + lambd where x
/// < -lambd, and 0 elsewhere.
Tensor softshrink(const Argument& x, double lambd = 0.5);

/// Computes x / (1 + |x|), elementwise.
Tensor softsign(const Argument& x);

struct SortResult {
  Tensor values;
  Tensor indices;
};

/// Sorts `x` along `dim`, in ascending order unless `descending` is true. Returns the sorted elements as
/// `values` and their i64 indices in `x` as `indices`. The sort is always stable. NaN sorts as larger than
/// every number.
SortResult sort(const Argument& x, int64_t dim = -1, bool descending = false, bool stable = false);

/// Splits `x` along `dim` into parts of `split_size` elements, the last of which may be smaller. If
/// `split_size` is a list of several sizes, the parts have these sizes, which must add up to the size of `dim`. The
/// parts are views of `x`.
std::vector<Tensor> split(const Argument& x, Ints split_size, int64_t dim = 0);

/// Computes the square root of `x`, correctly rounded, elementwise. The result is NaN for negative `x`.
/// Integers are promoted to float.
Tensor sqrt(const Argument& x);

/// Returns x * x, elementwise.
Tensor square(const Argument& x);

/// Returns a view of `x` without its dimensions of size 1. If `dim` is given, removes only those of the
/// given dimensions that have size 1.
Tensor squeeze(const Argument& x, OptionalInts dim = kNone);

/// Joins `tensors` of one shape along a new dimension `dim`. Dtypes are promoted.
Tensor stack(const std::vector<Tensor>& tensors, int64_t dim = 0);

/// Computes (x - mean) / sqrt(var + eps) * weight + bias, where mean and var are the mean and the biased
/// variance of `x` over the dimensions `dim`. Returns the result, the mean and the variance, which the gradient needs.
/// Without `centered`, the mean is not subtracted or returned, and the variance is the mean of the squares. `weight`
/// and `bias` broadcast.
std::vector<Tensor> standardize(const Argument& x, const Argument& weight, const Argument& bias, Ints dim, double eps = 1e-05, bool centered = true);

/// Computes the requested gradients of `standardize`: of `x` with `for_x`, of `weight` with `for_weight`,
/// and of a bias if `bias_shape` is not empty. `g`, `mean_gradient` and `var_gradient` are the gradients of its
/// results.
std::vector<Tensor> standardize_backward(const Argument& g, const Argument& x, const Argument& weight, const Argument& mean, const Argument& var, const Argument& mean_gradient, const Argument& var_gradient, Ints dim, double eps, bool for_x, bool for_weight, Ints bias_shape);

/// Returns the standard deviation of `x` over the dimensions `dim`, or over all dimensions by default: the
/// square root of the variance, which is the sum of squared deviations from the mean divided by max(0, n -
/// correction) for n elements. `keepdim` keeps the reduced dimensions with size 1.
Tensor std(const Argument& x, OptionalInts dim = kNone, bool keepdim = false, double correction = 1.0);

/// Returns the part of `x` with the given `size`, `stride` and `offset`, counted in elements as if `x` were
/// contiguous. The result is a view if `x` is contiguous. Parts may overlap themselves. Raises ValueError
/// if the part is not inside `x`.
Tensor strided_part(const Argument& x, Ints size, Ints stride, Dim offset = 0);

/// Returns x - y, elementwise, with broadcasting and type promotion. Integers wrap on overflow. Bools are
/// not supported.
Tensor sub(const Argument& x, const Argument& y);

/// Returns the sum of `x` over the dimensions `dim`, or over all dimensions by default. `keepdim` keeps the
/// reduced dimensions with size 1. Integers and bools are summed in i64 unless `dtype` is given. The sum of
/// no elements is 0.
Tensor sum(const Argument& x, OptionalInts dim = kNone, bool keepdim = false, std::optional<Dtype> dtype = std::nullopt);

/// Alias of transpose: returns a view of `x` with dimensions `dim0` and `dim1` swapped.
Tensor swapaxes(const Argument& x, int64_t dim0, int64_t dim1);

/// Alias of transpose: returns a view of `x` with dimensions `dim0` and `dim1` swapped.
Tensor swapdims(const Argument& x, int64_t dim0, int64_t dim1);

/// Returns the elements of `x` at the positions `indices`, an i64 tensor, along `dim`. `x` and `indices`
/// have the same number of dimensions, and those other than `dim` broadcast. Without `dim`, both are flattened first.
Tensor take_along_dim(const Argument& x, const Argument& indices, std::optional<int64_t> dim = std::nullopt);

/// Computes the tangent of `x`, in radians, elementwise. Integers are promoted to float.
Tensor tan(const Argument& x);

/// Computes the hyperbolic tangent of `x`, elementwise. Integers are promoted to float.
Tensor tanh(const Argument& x);

/// Computes x - tanh(x), elementwise.
Tensor tanhshrink(const Argument& x);

/// Computes sums of products over several dimensions of two tensors of the same dtype: over the last
/// dims[0] dimensions of `x` and the first dims[0] dimensions of `y`, or, if `dims_y` is given, over the dimensions
/// `dims` of `x` paired with the dimensions `dims_y` of `y`. The result has the remaining dimensions of `x`, then those
/// of `y`.
Tensor tensordot(const Argument& x, const Argument& y, Ints dims = {2}, OptionalInts dims_y = kNone);

/// Returns `x` where x > threshold and `value` elsewhere, elementwise. NaN is propagated.
Tensor threshold(const Argument& x, double threshold, double value);

/// Returns `x` repeated `dims` times along each dimension, as a copy. If `dims` has fewer numbers than
/// `x` has dimensions, they apply to the last ones; if it has more, new dimensions come first.
Tensor tile(const Argument& x, Ints dims);

/// Converts `x` to `dtype`. Conversion from float to integer truncates towards zero and saturates at the
/// bounds of the dtype; NaN becomes 0.
Tensor to(const Argument& x, Dtype dtype);

/// Returns a copy of `x` on a device, 'cpu' or 'gpu'.
Tensor to_device(const Argument& x, const std::string& device);

struct TopkResult {
  Tensor values;
  Tensor indices;
};

/// Returns the `k` largest elements of `x` along `dim`, or the smallest if `largest` is false, as `values`
/// and their i64 indices as `indices`. They are always sorted, best first; of equal elements the first ones
/// are chosen. NaN counts as larger than every number. Raises ValueError if `k` is negative or exceeds the
/// size of `dim`.
TopkResult topk(const Argument& x, Dim k, int64_t dim = -1, bool largest = true, bool sorted = true);

/// Returns the sum of the diagonal elements of the matrix `x`.
Tensor trace(const Argument& x);

/// Returns a view of `x` with dimensions `dim0` and `dim1` swapped.
Tensor transpose(const Argument& x, int64_t dim0, int64_t dim1);

/// Returns the lower triangle of the matrices in the last two dimensions of `x`, with zeros above the
/// diagonal `diagonal`: 0 is the main diagonal, positive ones are above it.
Tensor tril(const Argument& x, Dim diagonal = 0);

/// Returns the row and column indices of the lower triangle of a `row` by `col`
/// matrix, in row-major order, as an i64 tensor with two rows. The triangle includes
/// the diagonal `offset`: 0 is the main diagonal, and positive offsets are above it.
Tensor tril_indices(Dim row, Dim col, Dim offset = 0);

/// Computes max(0, margin + d(anchor, positive) - d(anchor, negative)), where d is `pairwise_distance`
/// with `p` and `eps`. With `swap`, d(positive, negative) replaces d(anchor, negative) where it is smaller. `reduction`
/// is 'mean', 'sum' or 'none', which returns the loss of each triplet.
Tensor triplet_margin_loss(const Argument& anchor, const Argument& positive, const Argument& negative, double margin = 1.0, double p = 2.0, double eps = 1e-06, bool swap = false, const std::string& reduction = "mean");

/// Returns the upper triangle of the matrices in the last two dimensions of `x`, with zeros below the
/// diagonal `diagonal`: 0 is the main diagonal, positive ones are above it.
Tensor triu(const Argument& x, Dim diagonal = 0);

/// Returns the row and column indices of the upper triangle of a `row` by `col`
/// matrix, in row-major order, as an i64 tensor with two rows. The triangle includes
/// the diagonal `offset`: 0 is the main diagonal, and positive offsets are above it.
Tensor triu_indices(Dim row, Dim col, Dim offset = 0);

/// Rounds `x` towards zero to an integer, elementwise. The dtype does not change.
Tensor trunc(const Argument& x);

/// Returns the slices of `x` at each index along `dim`, without that dimension. They are views of `x`.
std::vector<Tensor> unbind(const Argument& x, int64_t dim = 0);

/// Returns `x` with dimension `dim` split into dimensions of the given `sizes`. One size may be -1 and
/// is then inferred. The result is a view.
Tensor unflatten(const Argument& x, int64_t dim, Ints sizes);

/// Returns the sliding windows of the images `x` [batch, channels, height, width] as the columns of a
/// tensor [batch, channels * window, windows], where window is the number of elements of a window and windows the
/// number of windows. The batch may be missing. `kernel_size` is the shape of a window; `dilation`, `padding` and
/// `stride` are those of `conv2d`. Each is one number, or one for each dimension.
Tensor unfold(const Argument& x, Ints kernel_size, Ints dilation = {1}, Ints padding = {0}, Ints stride = {1});

struct UniqueAllResult {
  Tensor values;
  Tensor inverse;
  Tensor counts;
};

/// Returns the sorted distinct elements of `x`, or its distinct slices along `dim`, as `values`; the index
/// into `values` of each element or slice as `inverse`; and the number of occurrences of each as `counts`.
/// Every NaN is distinct.
UniqueAllResult unique_all(const Argument& x, std::optional<int64_t> dim = std::nullopt);

/// Returns a view of `x` with a dimension of size 1 inserted at position `dim`. A negative `dim` counts
/// from the end of the result.
Tensor unsqueeze(const Argument& x, int64_t dim);

/// Returns the variance of `x` over the dimensions `dim`, or over all dimensions by default: the sum of
/// squared deviations from the mean, divided by max(0, n - correction) for n elements. The default
/// `correction` of 1 is Bessel's correction. `keepdim` keeps the reduced dimensions with size 1.
Tensor var(const Argument& x, OptionalInts dim = kNone, bool keepdim = false, double correction = 1.0);

struct VarMeanResult {
  Tensor var;
  Tensor mean;
};

/// Returns the variance and the mean of `x` over the dimensions `dim`, or over all dimensions by default,
/// as `var` and `mean`. The variance divides by max(0, n - correction) for n elements. `keepdim` keeps the
/// reduced dimensions with size 1.
VarMeanResult var_mean(const Argument& x, OptionalInts dim = kNone, bool keepdim = false, double correction = 1.0);

/// Computes the dot product of two vectors of the same dtype and length. For real numbers, the only ones
/// that Lucid has, it is the same as `dot`.
Tensor vdot(const Argument& x, const Argument& y);

/// Concatenates `tensors` vertically, along the first dimension. 0-d and 1-d tensors become rows.
Tensor vstack(const std::vector<Tensor>& tensors);

/// Returns `x` where `condition` is true and `y` elsewhere, elementwise, with broadcasting. `condition`
/// must be bool. `x` and `y` are promoted to a common dtype.
Tensor where(const Argument& condition, const Argument& x, const Argument& y);

/// Returns a tensor of shape `size` filled with zeros. `dtype` defaults to the default float dtype.
Tensor zeros(Ints size, std::optional<Dtype> dtype = std::nullopt);

/// Returns a tensor of zeros with the shape and memory layout of `x`. `dtype` defaults to the dtype of
/// `x`.
Tensor zeros_like(const Argument& x, std::optional<Dtype> dtype = std::nullopt);

}  // namespace lucid
#pragma GCC visibility pop
