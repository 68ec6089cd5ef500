// Generated from the op table by tools/generate; do not edit.
// clang-format off
#pragma once

#include <lucid/argument.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
namespace lucid {

struct BatchNormResult;
struct InstanceNormResult;
struct KthvalueResult;
struct MaxDimResult;
struct MedianDimResult;
struct MinDimResult;
struct SortResult;
struct TopkResult;
struct UniqueAllResult;
struct VarMeanResult;

/// The ops that are methods of Tensor, which derives from this class. Each one is the function of lucid/ops.h whose
/// first argument is the tensor. Those whose names end with _ write the result into the tensor and return it.
class TensorMethods {
 public:
  /// Returns the absolute value of `x`, elementwise.
  Tensor abs() const;
  Tensor& abs_();
  /// Computes the inverse cosine of `x`, elementwise.
  Tensor acos() const;
  Tensor& acos_();
  /// Computes the inverse hyperbolic cosine of `x`, elementwise.
  Tensor acosh() const;
  Tensor& acosh_();
  /// Returns x + y, elementwise, with broadcasting and type promotion.
  Tensor add(const Argument& y) const;
  Tensor& add_(const Argument& y);
  /// Computes x + value * tensor1 / tensor2, elementwise, with broadcasting and type promotion.
  Tensor addcdiv(const Argument& tensor1, const Argument& tensor2, double value = 1.0) const;
  Tensor& addcdiv_(const Argument& tensor1, const Argument& tensor2, double value = 1.0);
  /// Computes x + value * tensor1 * tensor2, elementwise, with broadcasting and type promotion.
  Tensor addcmul(const Argument& tensor1, const Argument& tensor2, double value = 1.0) const;
  Tensor& addcmul_(const Argument& tensor1, const Argument& tensor2, double value = 1.0);
  /// Computes beta * x + alpha * (mat1 @ mat2), where `x` broadcasts to the shape of the product.
  Tensor addmm(const Argument& mat1, const Argument& mat2, double beta = 1.0, double alpha = 1.0) const;
  Tensor& addmm_(const Argument& mat1, const Argument& mat2, double beta = 1.0, double alpha = 1.0);
  /// Computes beta * x + alpha * (mat @ vector), where `x` broadcasts to the shape of the product.
  Tensor addmv(const Argument& mat, const Argument& vector, double beta = 1.0, double alpha = 1.0) const;
  /// Returns the positions at which `grid_sample` must read an image of shape `size` to transform it by the matrices
  /// `theta`.
  Tensor affine_grid(Ints size, bool align_corners = false) const;
  /// Returns whether all elements of `x` are nonzero over the dimensions `dim`, or over all dimensions by default, as a
  /// bool tensor.
  Tensor all(OptionalInts dim = kNone, bool keepdim = false) const;
  /// Returns the maximum of `x` over the dimensions `dim`, or over all dimensions by default.
  Tensor amax(OptionalInts dim = kNone, bool keepdim = false) const;
  /// Returns the minimum of `x` over the dimensions `dim`, or over all dimensions by default.
  Tensor amin(OptionalInts dim = kNone, bool keepdim = false) const;
  /// Returns whether any element of `x` is nonzero over the dimensions `dim`, or over all dimensions by default, as a
  /// bool tensor.
  Tensor any(OptionalInts dim = kNone, bool keepdim = false) const;
  /// Returns the i64 index of the maximum of `x` along `dim`, or in the flattened tensor by default.
  Tensor argmax(std::optional<int64_t> dim = std::nullopt, bool keepdim = false) const;
  /// Returns the i64 index of the minimum of `x` along `dim`, or in the flattened tensor by default.
  Tensor argmin(std::optional<int64_t> dim = std::nullopt, bool keepdim = false) const;
  /// Returns the i64 indices that sort `x` along `dim`, in ascending order unless `descending` is true.
  Tensor argsort(int64_t dim = -1, bool descending = false, bool stable = false) const;
  /// Computes the inverse sine of `x`, elementwise.
  Tensor asin() const;
  Tensor& asin_();
  /// Computes the inverse hyperbolic sine of `x`, elementwise.
  Tensor asinh() const;
  Tensor& asinh_();
  /// Computes the inverse tangent of `x`, elementwise.
  Tensor atan() const;
  Tensor& atan_();
  /// Computes the angle of the point (x, y), elementwise, with broadcasting.
  Tensor atan2(const Argument& x) const;
  Tensor& atan2_(const Argument& x);
  /// Computes the inverse hyperbolic tangent of `x`, elementwise.
  Tensor atanh() const;
  Tensor& atanh_();
  /// Computes softmax(query @ key.mT * scale + attn_mask), the weights [..., l, s] that `scaled_dot_product_attention`
  /// gives to the values.
  Tensor attention_weights(const Argument& key, const Argument& attn_mask = Argument(), bool is_causal = false, std::optional<double> scale = std::nullopt) const;
  /// Computes beta * x + alpha * (batch1 @ batch2) for batches of matrices, where `x` broadcasts to the shape of the
  /// product.
  Tensor baddbmm(const Argument& batch1, const Argument& batch2, double beta = 1.0, double alpha = 1.0) const;
  Tensor& baddbmm_(const Argument& batch1, const Argument& batch2, double beta = 1.0, double alpha = 1.0);
  /// Normalizes `x` to mean 0 and variance 1 for each channel (dimension 1), then multiplies by `weight` and adds
  /// `bias`, which have one element for each channel.
  BatchNormResult batch_norm(const Argument& running_mean = Argument(), const Argument& running_var = Argument(), const Argument& weight = Argument(), const Argument& bias = Argument(), bool training = false, double momentum = 0.1, double eps = 1e-05) const;
  /// Computes x @ weight[o] @ y + bias[o] for each output o, over the last dimensions of `x` [..., i] and `y` [..., j].
  Tensor bilinear(const Argument& y, const Argument& weight, const Argument& bias = Argument()) const;
  /// Computes -(target * log(x) + (1 - target) * log(1 - x)) times `weight`, which broadcasts, for probabilities `x`.
  Tensor binary_cross_entropy(const Argument& target, const Argument& weight = Argument(), const std::string& reduction = "mean") const;
  /// Computes `binary_cross_entropy` of sigmoid(x), without overflow.
  Tensor binary_cross_entropy_with_logits(const Argument& target, const Argument& weight = Argument(), const Argument& pos_weight = Argument(), const std::string& reduction = "mean") const;
  /// Counts the occurrences of each value in `x`, a vector of nonnegative integers.
  Tensor bincount(const Argument& weights = Argument(), Dim minlength = 0) const;
  /// Computes the bitwise and of `x` and `y`, elementwise, with broadcasting.
  Tensor bitwise_and(const Argument& y) const;
  Tensor& bitwise_and_(const Argument& y);
  /// Shifts the bits of `x` left by `y`, elementwise, with broadcasting.
  Tensor bitwise_left_shift(const Argument& y) const;
  Tensor& bitwise_left_shift_(const Argument& y);
  /// Inverts every bit of `x`, elementwise.
  Tensor bitwise_not() const;
  Tensor& bitwise_not_();
  /// Computes the bitwise or of `x` and `y`, elementwise, with broadcasting.
  Tensor bitwise_or(const Argument& y) const;
  Tensor& bitwise_or_(const Argument& y);
  /// Shifts the bits of `x` right by `y` with sign extension, elementwise, with broadcasting.
  Tensor bitwise_right_shift(const Argument& y) const;
  Tensor& bitwise_right_shift_(const Argument& y);
  /// Computes the bitwise exclusive or of `x` and `y`, elementwise, with broadcasting.
  Tensor bitwise_xor(const Argument& y) const;
  Tensor& bitwise_xor_(const Argument& y);
  /// Computes the matrix products of two batches of matrices of the same dtype: `x` [b, n, k] and `y` [b, k, m] give
  /// [b, n, m].
  Tensor bmm(const Argument& y) const;
  /// Alias of expand: returns a view of `x` with dimensions of size 1 expanded to `size` without copying.
  Tensor broadcast_to(Ints size) const;
  /// Returns the i64 index of the bucket that each element of `x` falls into.
  Tensor bucketize(const Argument& boundaries, bool right = false) const;
  /// Computes the p-norm distance between each row of `x` [..., n, d] and each row of `y` [..., m, d].
  Tensor cdist(const Argument& y, double p = 2.0) const;
  /// Rounds `x` up to an integer, elementwise.
  Tensor ceil() const;
  Tensor& ceil_();
  /// Computes the continuously differentiable exponential linear unit, elementwise: `x` where x > 0 and alpha * (exp(x
  /// / alpha) - 1) elsewhere.
  Tensor celu(double alpha = 1.0) const;
  Tensor& celu_(double alpha = 1.0);
  /// Divides the channels (dimension 1) of `x` into `groups` groups and interleaves them: the first channel of each
  /// group, then the second of each, and so on.
  Tensor channel_shuffle(Dim groups) const;
  /// Splits `x` along `dim` into at most `chunks` parts of equal size, the last of which may be smaller.
  std::vector<Tensor> chunk(Dim chunks, int64_t dim = 0) const;
  /// Clamps `x` to [min, max], elementwise, with broadcasting and type promotion.
  Tensor clamp(const Argument& min = Argument(), const Argument& max = Argument()) const;
  Tensor& clamp_(const Argument& min = Argument(), const Argument& max = Argument());
  /// Alias of clamp: clamps `x` to [min, max], elementwise.
  Tensor clip(const Argument& min = Argument(), const Argument& max = Argument()) const;
  Tensor& clip_(const Argument& min = Argument(), const Argument& max = Argument());
  /// Returns a copy of `x` with its own memory.
  Tensor clone() const;
  /// Returns `x` in row-major layout: `x` itself if it already has it, otherwise a copy.
  Tensor contiguous() const;
  /// Computes the cosine of `x`, in radians, elementwise.
  Tensor cos() const;
  Tensor& cos_();
  /// Computes the hyperbolic cosine of `x`, elementwise.
  Tensor cosh() const;
  Tensor& cosh_();
  /// Computes 1 - c where `target` is 1, and max(0, c - margin) where it is -1, where c is the cosine of the angle
  /// between the vectors of `x1` and `x2` along the last dimension.
  Tensor cosine_embedding_loss(const Argument& x2, const Argument& target, double margin = 0.0, const std::string& reduction = "mean") const;
  /// Computes the cosine of the angle between the vectors of `x1` and `x2` along `dim`: their dot product divided by
  /// the product of their norms, each at least `eps`.
  Tensor cosine_similarity(const Argument& x2, int64_t dim = 1, double eps = 1e-08) const;
  /// Counts the nonzero elements of `x` over the dimensions `dim`, or over all dimensions by default.
  Tensor count_nonzero(OptionalInts dim = kNone) const;
  /// Computes -log(softmax(x)) at the target class.
  Tensor cross_entropy(const Argument& target, const Argument& weight = Argument(), Dim ignore_index = -100, const std::string& reduction = "mean", double label_smoothing = 0.0) const;
  /// Computes the connectionist temporal classification loss: minus the logarithm of the probability of the target
  /// sequence, summed over all alignments, where an alignment yields its target when repetitions are merged and blanks
  /// removed.
  Tensor ctc_loss(const Argument& targets, const Argument& input_lengths, const Argument& target_lengths, Dim blank = 0, const std::string& reduction = "mean", bool zero_infinity = false) const;
  /// Returns the cumulative product of `x` along `dim`.
  Tensor cumprod(int64_t dim, std::optional<Dtype> dtype = std::nullopt) const;
  Tensor& cumprod_(int64_t dim, std::optional<Dtype> dtype = std::nullopt);
  /// Returns the cumulative sum of `x` along `dim`.
  Tensor cumsum(int64_t dim, std::optional<Dtype> dtype = std::nullopt) const;
  Tensor& cumsum_(int64_t dim, std::optional<Dtype> dtype = std::nullopt);
  /// Returns the diagonal `diagonal` of a matrix as a vector, or a square matrix with the vector `x` on that diagonal
  /// and zeros elsewhere. 0 is the main diagonal, positive ones are above it.
  Tensor diag(Dim diagonal = 0) const;
  /// Returns a view of the diagonal of `x` over the dimensions `dim1` and `dim2`, as the last dimension of the result.
  Tensor diagonal(Dim offset = 0, int64_t dim1 = 0, int64_t dim2 = 1) const;
  /// Returns the `n`-th forward difference of `x` along `dim`: x[i + 1] - x[i], applied `n` times.
  Tensor diff(Dim n = 1, int64_t dim = -1) const;
  /// Returns x / y, elementwise, with broadcasting and type promotion.
  Tensor div(const Argument& y) const;
  Tensor& div_(const Argument& y);
  /// Computes the dot product of two vectors of the same dtype and length: the sum of the products of their elements.
  Tensor dot(const Argument& y) const;
  /// Computes the exponential linear unit, elementwise: `x` where x > 0 and alpha * (exp(x) - 1) elsewhere.
  Tensor elu(double alpha = 1.0) const;
  Tensor& elu_(double alpha = 1.0);
  /// Returns the rows of the matrix `weight` at `indices`, an i64 tensor of any shape.
  Tensor embedding(const Argument& indices, std::optional<Dim> padding_idx = std::nullopt) const;
  /// Computes the sum, mean or maximum (`mode`: "sum", "mean" or "max") of the rows of `weight` that each bag of
  /// `indices` selects.
  Tensor embedding_bag(const Argument& indices, const Argument& offsets = Argument(), const Argument& per_sample_weights = Argument(), const std::string& mode = "mean", bool include_last_offset = false, std::optional<Dim> padding_idx = std::nullopt) const;
  /// Returns x == y, elementwise, as a bool tensor, with broadcasting.
  Tensor eq(const Argument& y) const;
  Tensor& eq_(const Argument& y);
  /// Computes the error function of `x`, elementwise.
  Tensor erf() const;
  Tensor& erf_();
  /// Computes the complementary error function 1 - erf(x), elementwise, with full accuracy for large `x`.
  Tensor erfc() const;
  Tensor& erfc_();
  /// Computes the exponential of `x`, elementwise.
  Tensor exp() const;
  Tensor& exp_();
  /// Computes 2 to the power `x`, elementwise.
  Tensor exp2() const;
  Tensor& exp2_();
  /// Returns a view of `x` with dimensions of size 1 expanded to `size` without copying.
  Tensor expand(Ints size) const;
  /// Computes exp(x) - 1, elementwise, with full accuracy near 0.
  Tensor expm1() const;
  Tensor& expm1_();
  /// Returns `x` with the dimensions from `start_dim` to `end_dim`, both included, merged into one.
  Tensor flatten(int64_t start_dim = 0, int64_t end_dim = -1) const;
  /// Returns a copy of `x` with the order of the elements reversed along the dimensions `dims`.
  Tensor flip(Ints dims) const;
  /// Rounds `x` down to an integer, elementwise.
  Tensor floor() const;
  Tensor& floor_();
  /// Returns floor(x / y), elementwise, with broadcasting and type promotion.
  Tensor floor_divide(const Argument& y) const;
  Tensor& floor_divide_(const Argument& y);
  /// Returns the remainder of division rounded towards zero, elementwise, with broadcasting and type promotion.
  Tensor fmod(const Argument& y) const;
  Tensor& fmod_(const Argument& y);
  /// Returns the elements of `x` at the positions `index` along `dim`: in 2-d with dim = 1, result[i, j] = x[i,
  /// index[i, j]].
  Tensor gather(int64_t dim, const Argument& index) const;
  /// Computes the negative log likelihood of `target` under a normal distribution of mean `x` and variance `var`:
  /// (log(v) + (x - target) ** 2 / v) / 2, where v is `var`, but at least `eps`.
  Tensor gaussian_nll_loss(const Argument& target, const Argument& var, bool full = false, double eps = 1e-06, const std::string& reduction = "mean") const;
  /// Returns x >= y, elementwise, as a bool tensor, with broadcasting.
  Tensor ge(const Argument& y) const;
  Tensor& ge_(const Argument& y);
  /// Computes the Gaussian error linear unit x * P(Z <= x), elementwise, where Z is a standard normal variable.
  Tensor gelu(const std::string& approximate = "none") const;
  Tensor& gelu_(const std::string& approximate = "none");
  /// Computes the gated linear unit a * sigmoid(b), where a and b are the first and the second half of `x` along `dim`.
  Tensor glu(int64_t dim = -1) const;
  /// Samples the image `x` [batch, channels, height, width] at the positions `grid` [batch, h, w, 2], whose last
  /// dimension holds the x and y coordinates, from -1 to 1 within the image.
  Tensor grid_sample(const Argument& grid, const std::string& mode = "bilinear", const std::string& padding_mode = "zeros", bool align_corners = false) const;
  /// Normalizes `x` to mean 0 and variance 1 over each group of adjacent channels (dimension 1) and all later
  /// dimensions, then multiplies by `weight` and adds `bias`, which have one element for each channel.
  Tensor group_norm(Dim num_groups, const Argument& weight = Argument(), const Argument& bias = Argument(), double eps = 1e-05) const;
  /// Returns x > y, elementwise, as a bool tensor, with broadcasting.
  Tensor gt(const Argument& y) const;
  Tensor& gt_(const Argument& y);
  /// Returns `x` where |x| > lambd and 0 elsewhere, elementwise.
  Tensor hardshrink(double lambd = 0.5) const;
  Tensor& hardshrink_(double lambd = 0.5);
  /// Computes x / 6 + 1/2 clamped to [0, 1], elementwise.
  Tensor hardsigmoid() const;
  Tensor& hardsigmoid_();
  /// Computes x * hardsigmoid(x), elementwise.
  Tensor hardswish() const;
  Tensor& hardswish_();
  /// Clamps `x` to [min_val, max_val], elementwise.
  Tensor hardtanh(double min_val = -1.0, double max_val = 1.0) const;
  Tensor& hardtanh_(double min_val = -1.0, double max_val = 1.0);
  /// Computes `x` where `target` is 1, and max(0, margin - x) where it is -1.
  Tensor hinge_embedding_loss(const Argument& target, double margin = 1.0, const std::string& reduction = "mean") const;
  /// Counts the elements of `x` in `bins` intervals of equal width between `min` and `max`.
  Tensor histc(Dim bins = 100, double min = 0.0, double max = 0.0) const;
  /// Computes d ** 2 / 2 where d = |x - target| is below `delta`, and delta * (d - delta / 2) elsewhere.
  Tensor huber_loss(const Argument& target, const std::string& reduction = "mean", double delta = 1.0) const;
  /// Returns `x` with the slices of `source` along `dim` added at the positions in `index`, an i64 vector.
  Tensor index_add(int64_t dim, const Argument& index, const Argument& source) const;
  Tensor& index_add_(int64_t dim, const Argument& index, const Argument& source);
  /// Returns `x` with `values` written at the positions given by the i64 tensors `indices` for the leading dimensions.
  Tensor index_put(const Argument& values, const std::vector<Tensor>& indices, bool accumulate = false) const;
  Tensor& index_put_(const Argument& values, const std::vector<Tensor>& indices, bool accumulate = false);
  /// Returns the slices of `x` at the positions `index` along `dim`.
  Tensor index_select(int64_t dim, const Argument& index) const;
  /// Computes the sums of products over the last dimensions of `x` and `y`, which must have the same dtype and size
  /// there.
  Tensor inner(const Argument& y) const;
  /// Normalizes `x` to mean 0 and variance 1 for each channel of each instance of the batch, then multiplies by
  /// `weight` and adds `bias`, which have one element for each channel.
  InstanceNormResult instance_norm(const Argument& running_mean = Argument(), const Argument& running_var = Argument(), const Argument& weight = Argument(), const Argument& bias = Argument(), bool use_input_stats = true, double momentum = 0.1, double eps = 1e-05) const;
  /// Resizes the spatial dimensions of `x` [batch, channels, ...], 1 to 3 of them, to `size` or by `scale_factor`;
  /// exactly one of the two must be given.
  Tensor interpolate(OptionalInts size = kNone, std::optional<double> scale_factor = std::nullopt, const std::string& mode = "nearest", std::optional<bool> align_corners = std::nullopt) const;
  /// Returns whether |x - y| <= atol + rtol * |y|, elementwise, as a bool tensor, with broadcasting.
  Tensor isclose(const Argument& y, double rtol = 1e-05, double atol = 1e-08, bool equal_nan = false) const;
  /// Returns whether `x` is neither infinite nor NaN, elementwise, as a bool tensor.
  Tensor isfinite() const;
  /// Returns whether `x` is positive or negative infinity, elementwise, as a bool tensor.
  Tensor isinf() const;
  /// Returns whether `x` is NaN, elementwise, as a bool tensor.
  Tensor isnan() const;
  /// Computes target * (log(target) - x), where `x` holds logarithms of probabilities.
  Tensor kl_div(const Argument& target, const std::string& reduction = "mean", bool log_target = false) const;
  /// Computes the Kronecker product: each element of `x` is replaced by its product with `y`.
  Tensor kron(const Argument& y) const;
  /// Returns the `k`-th smallest element of `x` along `dim`, counted from 1, as `values` and its i64 index as
  /// `indices`.
  KthvalueResult kthvalue(Dim k, int64_t dim = -1, bool keepdim = false) const;
  /// Computes the absolute error |x - target|.
  Tensor l1_loss(const Argument& target, const std::string& reduction = "mean") const;
  /// Normalizes `x` to mean 0 and variance 1 over its last dimensions, whose sizes are `normalized_shape`, then
  /// multiplies by `weight` and adds `bias`, both of shape `normalized_shape`.
  Tensor layer_norm(Ints normalized_shape, const Argument& weight = Argument(), const Argument& bias = Argument(), double eps = 1e-05) const;
  /// Returns x <= y, elementwise, as a bool tensor, with broadcasting.
  Tensor le(const Argument& y) const;
  Tensor& le_(const Argument& y);
  /// Returns `x` where x > 0 and x * negative_slope elsewhere, elementwise.
  Tensor leaky_relu(double negative_slope = 0.01) const;
  Tensor& leaky_relu_(double negative_slope = 0.01);
  /// Interpolates linearly between `x` and `end`: x + weight * (end - x), elementwise, with broadcasting and type
  /// promotion.
  Tensor lerp(const Argument& end, const Argument& weight) const;
  Tensor& lerp_(const Argument& end, const Argument& weight);
  /// Computes x @ weight.T + bias, the function of a Linear layer.
  Tensor linear(const Argument& weight, const Argument& bias = Argument()) const;
  /// Divides `x` by (k + alpha * m) ** beta, where m is the mean of the squares over `size` neighboring channels
  /// (dimension 1).
  Tensor local_response_norm(Dim size, double alpha = 0.0001, double beta = 0.75, double k = 1.0) const;
  /// Computes the natural logarithm of `x`, elementwise.
  Tensor log() const;
  Tensor& log_();
  /// Computes the base-10 logarithm of `x`, elementwise.
  Tensor log10() const;
  Tensor& log10_();
  /// Computes the natural logarithm of 1 + x, elementwise, with full accuracy near 0.
  Tensor log1p() const;
  Tensor& log1p_();
  /// Computes the base-2 logarithm of `x`, elementwise.
  Tensor log2() const;
  Tensor& log2_();
  /// Computes log(softmax(x)) along `dim`, without underflow.
  Tensor log_softmax(int64_t dim = -1, std::optional<Dtype> dtype = std::nullopt) const;
  /// Returns whether both `x` and `y` are nonzero, elementwise, as a bool tensor, with broadcasting.
  Tensor logical_and(const Argument& y) const;
  Tensor& logical_and_(const Argument& y);
  /// Returns whether `x` is zero, elementwise, as a bool tensor.
  Tensor logical_not() const;
  Tensor& logical_not_();
  /// Returns whether `x` or `y` is nonzero, elementwise, as a bool tensor, with broadcasting.
  Tensor logical_or(const Argument& y) const;
  Tensor& logical_or_(const Argument& y);
  /// Returns whether exactly one of `x` and `y` is nonzero, elementwise, as a bool tensor, with broadcasting.
  Tensor logical_xor(const Argument& y) const;
  Tensor& logical_xor_(const Argument& y);
  /// Computes log(sigmoid(x)), elementwise, without overflow.
  Tensor logsigmoid() const;
  Tensor& logsigmoid_();
  /// Computes log(sum(exp(x))) over the dimensions `dim`, or over all dimensions by default, without overflow.
  Tensor logsumexp(OptionalInts dim = kNone, bool keepdim = false) const;
  /// Returns x < y, elementwise, as a bool tensor, with broadcasting.
  Tensor lt(const Argument& y) const;
  Tensor& lt_(const Argument& y);
  /// Computes max(0, margin - target * (x1 - x2)), where target 1 means that `x1` should be larger than `x2` and -1 the
  /// opposite.
  Tensor margin_ranking_loss(const Argument& x2, const Argument& target, double margin = 0.0, const std::string& reduction = "mean") const;
  /// Returns `x` with elements replaced by `value` where `mask` is true.
  Tensor masked_fill(const Argument& mask, const Argument& value) const;
  Tensor& masked_fill_(const Argument& mask, const Argument& value);
  /// Returns the elements of `x` where the bool tensor `mask` is true, in row-major order, as a 1-d tensor.
  Tensor masked_select(const Argument& mask) const;
  /// Computes the matrix product of `x` and `y`, which must have the same dtype and at least one dimension.
  Tensor matmul(const Argument& y) const;
  /// Returns the maxima of `x` along `dim` as `values` and their i64 indices as `indices`.
  MaxDimResult max_dim(int64_t dim, bool keepdim = false) const;
  /// Returns the larger of `x` and `y`, elementwise, with broadcasting and type promotion.
  Tensor maximum(const Argument& y) const;
  Tensor& maximum_(const Argument& y);
  /// Returns the mean of `x` over the dimensions `dim`, or over all dimensions by default.
  Tensor mean(OptionalInts dim = kNone, bool keepdim = false, std::optional<Dtype> dtype = std::nullopt) const;
  /// Returns the median of all elements of `x`.
  Tensor median() const;
  /// Returns the medians of `x` along `dim` as `values` and their i64 indices as `indices`.
  MedianDimResult median_dim(int64_t dim, bool keepdim = false) const;
  /// Returns the minima of `x` along `dim` as `values` and their i64 indices as `indices`.
  MinDimResult min_dim(int64_t dim, bool keepdim = false) const;
  /// Returns the smaller of `x` and `y`, elementwise, with broadcasting and type promotion.
  Tensor minimum(const Argument& y) const;
  Tensor& minimum_(const Argument& y);
  /// Computes x * tanh(softplus(x)), elementwise.
  Tensor mish() const;
  Tensor& mish_();
  /// Computes the matrix product of `x` [n, k] and `y` [k, m], which must have the same dtype.
  Tensor mm(const Argument& y) const;
  /// Returns a view of `x` with the dimensions `source` moved to the positions `destination`.
  Tensor movedim(Ints source, Ints destination) const;
  /// Computes the squared error (x - target) ** 2.
  Tensor mse_loss(const Argument& target, const std::string& reduction = "mean") const;
  /// Sorts `x` along its first dimension in ascending order.
  Tensor msort() const;
  /// Returns x * y, elementwise, with broadcasting and type promotion.
  Tensor mul(const Argument& y) const;
  Tensor& mul_(const Argument& y);
  /// Computes the mean over the classes of max(0, margin - x[target] + x[class]) ** p, where the target class itself
  /// counts as 0.
  Tensor multi_margin_loss(const Argument& target, Dim p = 1, double margin = 1.0, const Argument& weight = Argument(), const std::string& reduction = "mean") const;
  /// Computes the sum of max(0, 1 - x[i] + x[j]) over all pairs of a target class i and another class j that is not a
  /// target, divided by the number of classes.
  Tensor multilabel_margin_loss(const Argument& target, const std::string& reduction = "mean") const;
  /// Computes the mean of `binary_cross_entropy_with_logits` over the last dimension, where `weight` multiplies the
  /// losses before the mean.
  Tensor multilabel_soft_margin_loss(const Argument& target, const Argument& weight = Argument(), const std::string& reduction = "mean") const;
  /// Computes the product of the matrix `x` [n, k] and the vector `vector` [k], which must have the same dtype.
  Tensor mv(const Argument& vector) const;
  /// Replaces NaN by `nan`, infinity by `posinf` and negative infinity by `neginf`, elementwise.
  Tensor nan_to_num(double nan = 0.0, std::optional<double> posinf = std::nullopt, std::optional<double> neginf = std::nullopt) const;
  Tensor& nan_to_num_(double nan = 0.0, std::optional<double> posinf = std::nullopt, std::optional<double> neginf = std::nullopt);
  /// Returns the mean of the elements of `x` that are not NaN over the dimensions `dim`, or over all dimensions by
  /// default.
  Tensor nanmean(OptionalInts dim = kNone, bool keepdim = false) const;
  /// Returns the sum of the elements of `x` that are not NaN over the dimensions `dim`, or over all dimensions by
  /// default.
  Tensor nansum(OptionalInts dim = kNone, bool keepdim = false, std::optional<Dtype> dtype = std::nullopt) const;
  /// Returns a view of `length` consecutive elements of `x` from `start` along `dim`.
  Tensor narrow(int64_t dim, Dim start, Dim length) const;
  /// Computes the cumulative distribution function of the standard normal distribution at `x`, elementwise, with full
  /// accuracy in both tails.
  Tensor ndtr() const;
  Tensor& ndtr_();
  /// Returns x != y, elementwise, as a bool tensor, with broadcasting.
  Tensor ne(const Argument& y) const;
  Tensor& ne_(const Argument& y);
  /// Returns -x, elementwise.
  Tensor neg() const;
  Tensor& neg_();
  /// Computes the negative log likelihood: -x at the target class, where `x` holds logarithms of probabilities, such as
  /// log_softmax returns.
  Tensor nll_loss(const Argument& target, const Argument& weight = Argument(), Dim ignore_index = -100, const std::string& reduction = "mean") const;
  /// Returns the indices of the nonzero elements of `x` in row-major order, as an i64 matrix with a row for each
  /// element and a column for each dimension of `x`.
  Tensor nonzero() const;
  /// Computes the vector p-norm (sum of |x|^p)^(1/p) over the dimensions `dim`, or over all dimensions by default. p =
  /// inf and p = -inf select the largest and the smallest absolute value, and p = 0 counts the nonzero elements.
  Tensor norm(double p = 2.0, OptionalInts dim = kNone, bool keepdim = false) const;
  /// Divides `x` by its p-norm along `dim`, or by `eps` where the norm is smaller.
  Tensor normalize(double p = 2.0, int64_t dim = 1, double eps = 1e-12) const;
  /// Returns an i64 tensor with the dimensions of `x` and a new last dimension of size `num_classes`, which is 1 at the
  /// class given by the element of `x` and 0 elsewhere.
  Tensor one_hot(Dim num_classes) const;
  /// Computes the outer product of the vectors `x` and `y`: a matrix of the products of each element of `x` with each
  /// element of `y`.
  Tensor outer(const Argument& y) const;
  /// Pads the last dimensions of `x`.
  Tensor pad(Ints pad, const std::string& mode = "constant", double value = 0.0) const;
  /// Computes the p-norm of x1 - x2 + eps along the last dimension, which stays with size 1 if `keepdim`.
  Tensor pairwise_distance(const Argument& x2, double p = 2.0, double eps = 1e-06, bool keepdim = false) const;
  /// Returns a view of `x` with its dimensions in the order `dims`: dimension i of the result is dimension dims[i] of
  /// `x`.
  Tensor permute(Ints dims) const;
  /// Rearranges `x` [..., channels * r * r, height, width] into [..., channels, height * r, width * r], where r is
  /// `upscale_factor`.
  Tensor pixel_shuffle(Dim upscale_factor) const;
  /// Rearranges `x` [..., channels, height * r, width * r] into [..., channels * r * r, height, width], where r is
  /// `downscale_factor`.
  Tensor pixel_unshuffle(Dim downscale_factor) const;
  /// Computes the negative log likelihood of counts `target` under a Poisson distribution: exp(x) - target * x, where
  /// `x` is the logarithm of the rate, or, without `log_input`, x - target * log(x + eps), where `x` is the rate.
  Tensor poisson_nll_loss(const Argument& target, bool log_input = true, bool full = false, double eps = 1e-08, const std::string& reduction = "mean") const;
  /// Raises `x` to the power `y`, elementwise, with broadcasting and type promotion.
  Tensor pow(const Argument& y) const;
  Tensor& pow_(const Argument& y);
  /// Returns `x` where x > 0 and x * weight elsewhere, elementwise.
  Tensor prelu(const Argument& weight) const;
  /// Returns the product of `x` over the dimensions `dim`, or over all dimensions by default.
  Tensor prod(OptionalInts dim = kNone, bool keepdim = false, std::optional<Dtype> dtype = std::nullopt) const;
  /// Computes 1 / x, elementwise.
  Tensor reciprocal() const;
  Tensor& reciprocal_();
  /// Computes the rectified linear unit max(x, 0), elementwise.
  Tensor relu() const;
  Tensor& relu_();
  /// Clamps `x` to [0, 6], elementwise.
  Tensor relu6() const;
  Tensor& relu6_();
  /// Returns the remainder of floor division, elementwise, with broadcasting and type promotion.
  Tensor remainder(const Argument& y) const;
  Tensor& remainder_(const Argument& y);
  /// Returns `x` repeated `repeats` times along each dimension, as a copy.
  Tensor repeat(Ints repeats) const;
  /// Returns `x` with each element repeated `repeats` times in a row along `dim`, as a copy.
  Tensor repeat_interleave(Dim repeats, std::optional<int64_t> dim = std::nullopt) const;
  /// Returns the elements of `x` in row-major order with the shape `shape`.
  Tensor reshape(Ints shape) const;
  /// Divides `x` by the root mean square over its last dimensions, whose sizes are `normalized_shape`, and multiplies
  /// by `weight` of shape `normalized_shape`.
  Tensor rms_norm(Ints normalized_shape, const Argument& weight = Argument(), std::optional<double> eps = std::nullopt) const;
  /// Returns `x` with its elements moved by `shifts` along the dimensions `dims`.
  Tensor roll(Ints shifts, OptionalInts dims = kNone) const;
  /// Rounds `x` to the nearest integer, with ties to even, elementwise.
  Tensor round() const;
  Tensor& round_();
  /// Computes the randomized leaky ReLU in evaluation mode, elementwise: `x` where x >= 0 and x * (lower + upper) / 2
  /// elsewhere. random_rrelu samples the slopes for training.
  Tensor rrelu(double lower = 0.125, double upper = 0.3333333333333333) const;
  Tensor& rrelu_(double lower = 0.125, double upper = 0.3333333333333333);
  /// Computes 1 / sqrt(x), elementwise.
  Tensor rsqrt() const;
  Tensor& rsqrt_();
  /// Computes softmax(query @ key.mT * scale + attn_mask) @ value, with `query` [..., l, e], `key` [..., s, e] and
  /// `value` [..., s, d] of the same dtype.
  Tensor scaled_dot_product_attention(const Argument& key, const Argument& value, const Argument& attn_mask = Argument(), bool is_causal = false, std::optional<double> scale = std::nullopt, bool enable_gqa = false) const;
  /// Returns `x` with the elements of `src` written at the positions given by `index`, an i64 tensor, along `dim`; the
  /// other coordinates are those of the element in `index`.
  Tensor scatter(int64_t dim, const Argument& index, const Argument& src, const std::optional<std::string>& reduce = std::nullopt) const;
  Tensor& scatter_(int64_t dim, const Argument& index, const Argument& src, const std::optional<std::string>& reduce = std::nullopt);
  /// Returns `x` with the elements of `src` added at the positions given by `index` along `dim`; the other coordinates
  /// are those of the element in `src`.
  Tensor scatter_add(int64_t dim, const Argument& index, const Argument& src) const;
  Tensor& scatter_add_(int64_t dim, const Argument& index, const Argument& src);
  /// Returns `x` with the elements of `src` combined at the positions given by `index` along `dim`.
  Tensor scatter_reduce(int64_t dim, const Argument& index, const Argument& src, const std::string& reduce, bool include_self = true) const;
  Tensor& scatter_reduce_(int64_t dim, const Argument& index, const Argument& src, const std::string& reduce, bool include_self = true);
  /// Returns the i64 indices at which `values` would be inserted into `sorted_sequence` to keep its last dimension
  /// sorted.
  Tensor searchsorted(const Argument& values, bool right = false) const;
  /// Returns a view of `x` at position `index` along `dim`, with that dimension removed.
  Tensor select(int64_t dim, Dim index) const;
  /// Computes the scaled exponential linear unit scale * elu(x, alpha), elementwise, with alpha = 1.6732632423543772
  /// and scale = 1.0507009873554805.
  Tensor selu() const;
  Tensor& selu_();
  /// Returns `x` with the part given by the shape of `part`, `stride` and `offset`, as in strided_part, replaced by
  /// `part`.
  Tensor set_strided_part(const Argument& part, Ints stride, Dim offset = 0) const;
  /// Computes the logistic function 1 / (1 + exp(-x)), elementwise.
  Tensor sigmoid() const;
  Tensor& sigmoid_();
  /// Returns -1, 0 or 1 according to the sign of `x`, elementwise.
  Tensor sign() const;
  Tensor& sign_();
  /// Computes x * sigmoid(x), elementwise.
  Tensor silu() const;
  Tensor& silu_();
  /// Computes the sine of `x`, in radians, elementwise.
  Tensor sin() const;
  Tensor& sin_();
  /// Computes the hyperbolic sine of `x`, elementwise.
  Tensor sinh() const;
  Tensor& sinh_();
  /// Returns a view of every `step`-th element of `x` from `start` up to but not including `end` along `dim`.
  Tensor slice(int64_t dim = 0, std::optional<Dim> start = std::nullopt, std::optional<Dim> end = std::nullopt, Dim step = 1) const;
  /// Computes d ** 2 / (2 * beta) where d = |x - target| is below `beta`, and d - beta / 2 elsewhere.
  Tensor smooth_l1_loss(const Argument& target, const std::string& reduction = "mean", double beta = 1.0) const;
  /// Computes log(1 + exp(-target * x)) without overflow, for targets 1 and -1.
  Tensor soft_margin_loss(const Argument& target, const std::string& reduction = "mean") const;
  /// Computes exp(x) / sum(exp(x)) along `dim`, without overflow.
  Tensor softmax(int64_t dim = -1, std::optional<Dtype> dtype = std::nullopt) const;
  Tensor& softmax_(int64_t dim = -1, std::optional<Dtype> dtype = std::nullopt);
  /// Computes softmax(-x) along `dim`, so that the smallest element has the largest weight.
  Tensor softmin(int64_t dim = -1, std::optional<Dtype> dtype = std::nullopt) const;
  /// Computes log(1 + exp(beta * x)) / beta, elementwise.
  Tensor softplus(double beta = 1.0, double threshold = 20.0) const;
  Tensor& softplus_(double beta = 1.0, double threshold = 20.0);
  /// Moves `x` towards 0 by `lambd`, elementwise: x - lambd where x > lambd, x + lambd where x < -lambd, and 0
  /// elsewhere.
  Tensor softshrink(double lambd = 0.5) const;
  Tensor& softshrink_(double lambd = 0.5);
  /// Computes x / (1 + |x|), elementwise.
  Tensor softsign() const;
  Tensor& softsign_();
  /// Sorts `x` along `dim`, in ascending order unless `descending` is true.
  SortResult sort(int64_t dim = -1, bool descending = false, bool stable = false) const;
  /// Splits `x` along `dim` into parts of `split_size` elements, the last of which may be smaller.
  std::vector<Tensor> split(Ints split_size, int64_t dim = 0) const;
  /// Computes the square root of `x`, correctly rounded, elementwise.
  Tensor sqrt() const;
  Tensor& sqrt_();
  /// Returns x * x, elementwise.
  Tensor square() const;
  Tensor& square_();
  /// Returns a view of `x` without its dimensions of size 1.
  Tensor squeeze(OptionalInts dim = kNone) const;
  Tensor& squeeze_(OptionalInts dim = kNone);
  /// Returns the standard deviation of `x` over the dimensions `dim`, or over all dimensions by default: the square
  /// root of the variance, which is the sum of squared deviations from the mean divided by max(0, n - correction) for n
  /// elements.
  Tensor std(OptionalInts dim = kNone, bool keepdim = false, double correction = 1.0) const;
  /// Returns the part of `x` with the given `size`, `stride` and `offset`, counted in elements as if `x` were
  /// contiguous.
  Tensor strided_part(Ints size, Ints stride, Dim offset = 0) const;
  /// Returns x - y, elementwise, with broadcasting and type promotion.
  Tensor sub(const Argument& y) const;
  Tensor& sub_(const Argument& y);
  /// Returns the sum of `x` over the dimensions `dim`, or over all dimensions by default.
  Tensor sum(OptionalInts dim = kNone, bool keepdim = false, std::optional<Dtype> dtype = std::nullopt) const;
  /// Alias of transpose: returns a view of `x` with dimensions `dim0` and `dim1` swapped.
  Tensor swapaxes(int64_t dim0, int64_t dim1) const;
  Tensor& swapaxes_(int64_t dim0, int64_t dim1);
  /// Alias of transpose: returns a view of `x` with dimensions `dim0` and `dim1` swapped.
  Tensor swapdims(int64_t dim0, int64_t dim1) const;
  Tensor& swapdims_(int64_t dim0, int64_t dim1);
  /// Returns the elements of `x` at the positions `indices`, an i64 tensor, along `dim`.
  Tensor take_along_dim(const Argument& indices, std::optional<int64_t> dim = std::nullopt) const;
  /// Computes the tangent of `x`, in radians, elementwise.
  Tensor tan() const;
  Tensor& tan_();
  /// Computes the hyperbolic tangent of `x`, elementwise.
  Tensor tanh() const;
  Tensor& tanh_();
  /// Computes x - tanh(x), elementwise.
  Tensor tanhshrink() const;
  Tensor& tanhshrink_();
  /// Computes sums of products over several dimensions of two tensors of the same dtype: over the last dims[0]
  /// dimensions of `x` and the first dims[0] dimensions of `y`, or, if `dims_y` is given, over the dimensions `dims` of
  /// `x` paired with the dimensions `dims_y` of `y`.
  Tensor tensordot(const Argument& y, Ints dims = {2}, OptionalInts dims_y = kNone) const;
  /// Returns `x` where x > threshold and `value` elsewhere, elementwise.
  Tensor threshold(double threshold, double value) const;
  Tensor& threshold_(double threshold, double value);
  /// Returns `x` repeated `dims` times along each dimension, as a copy.
  Tensor tile(Ints dims) const;
  /// Returns the `k` largest elements of `x` along `dim`, or the smallest if `largest` is false, as `values` and their
  /// i64 indices as `indices`.
  TopkResult topk(Dim k, int64_t dim = -1, bool largest = true, bool sorted = true) const;
  /// Returns the sum of the diagonal elements of the matrix `x`.
  Tensor trace() const;
  /// Returns a view of `x` with dimensions `dim0` and `dim1` swapped.
  Tensor transpose(int64_t dim0, int64_t dim1) const;
  Tensor& transpose_(int64_t dim0, int64_t dim1);
  /// Returns the lower triangle of the matrices in the last two dimensions of `x`, with zeros above the diagonal
  /// `diagonal`: 0 is the main diagonal, positive ones are above it.
  Tensor tril(Dim diagonal = 0) const;
  Tensor& tril_(Dim diagonal = 0);
  /// Computes max(0, margin + d(anchor, positive) - d(anchor, negative)), where d is `pairwise_distance` with `p` and
  /// `eps`.
  Tensor triplet_margin_loss(const Argument& positive, const Argument& negative, double margin = 1.0, double p = 2.0, double eps = 1e-06, bool swap = false, const std::string& reduction = "mean") const;
  /// Returns the upper triangle of the matrices in the last two dimensions of `x`, with zeros below the diagonal
  /// `diagonal`: 0 is the main diagonal, positive ones are above it.
  Tensor triu(Dim diagonal = 0) const;
  Tensor& triu_(Dim diagonal = 0);
  /// Rounds `x` towards zero to an integer, elementwise.
  Tensor trunc() const;
  Tensor& trunc_();
  /// Returns the slices of `x` at each index along `dim`, without that dimension.
  std::vector<Tensor> unbind(int64_t dim = 0) const;
  /// Returns `x` with dimension `dim` split into dimensions of the given `sizes`.
  Tensor unflatten(int64_t dim, Ints sizes) const;
  /// Returns the sorted distinct elements of `x`, or its distinct slices along `dim`, as `values`; the index into
  /// `values` of each element or slice as `inverse`; and the number of occurrences of each as `counts`.
  UniqueAllResult unique_all(std::optional<int64_t> dim = std::nullopt) const;
  /// Returns a view of `x` with a dimension of size 1 inserted at position `dim`.
  Tensor unsqueeze(int64_t dim) const;
  Tensor& unsqueeze_(int64_t dim);
  /// Returns the variance of `x` over the dimensions `dim`, or over all dimensions by default: the sum of squared
  /// deviations from the mean, divided by max(0, n - correction) for n elements.
  Tensor var(OptionalInts dim = kNone, bool keepdim = false, double correction = 1.0) const;
  /// Returns the variance and the mean of `x` over the dimensions `dim`, or over all dimensions by default, as `var`
  /// and `mean`.
  VarMeanResult var_mean(OptionalInts dim = kNone, bool keepdim = false, double correction = 1.0) const;
  /// Computes the dot product of two vectors of the same dtype and length.
  Tensor vdot(const Argument& y) const;
  /// Returns `x` where `condition` is true and `y` elsewhere, elementwise, with broadcasting.
  Tensor where(const Argument& x, const Argument& y) const;
};

}  // namespace lucid
#pragma GCC visibility pop
