// Generated from the op table by tools/generate; do not edit.
// clang-format off
#pragma once

#include <lucid/tensor.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#pragma GCC visibility push(default)
/// The ops, each as a function of tensors and numbers.
namespace lucid {

/// The absolute value, elementwise.
Tensor abs(const Argument& x);

/// The angle in [0, pi] whose cosine is x, elementwise.
Tensor acos(const Argument& x);

/// The inverse of the hyperbolic cosine, elementwise. NaN below 1.
Tensor acosh(const Argument& x);

/// The means of so many parts of the last dimension.
Tensor adaptive_avg_pool1d(const Argument& x, const Shape& output_size);

/// The means of so many parts of the last two dimensions.
Tensor adaptive_avg_pool2d(const Argument& x, const Shape& output_size);

/// The means of so many parts of the last three dimensions.
Tensor adaptive_avg_pool3d(const Argument& x, const Shape& output_size);

/// The largest element of each of so many parts of the last dimension, and where it stands.
std::vector<Tensor> adaptive_max_pool1d_with_indices(const Argument& x, const Shape& output_size);

/// The largest element of each of so many parts of the last two dimensions, and where it stands.
std::vector<Tensor> adaptive_max_pool2d_with_indices(const Argument& x, const Shape& output_size);

/// The largest element of each of so many parts of the last three dimensions, and where it stands.
std::vector<Tensor> adaptive_max_pool3d_with_indices(const Argument& x, const Shape& output_size);

/// x + y, elementwise. For bools, logical or.
Tensor add(const Argument& x, const Argument& y);

/// x + value * tensor1 / tensor2, elementwise.
Tensor addcdiv(const Argument& x, const Argument& tensor1, const Argument& tensor2, double value = 1.0);

/// x + value * tensor1 * tensor2, elementwise.
Tensor addcmul(const Argument& x, const Argument& tensor1, const Argument& tensor2, double value = 1.0);

/// beta * x + alpha * (mat1 @ mat2), x being broadcast.
Tensor addmm(const Argument& x, const Argument& mat1, const Argument& mat2, double beta = 1.0, double alpha = 1.0);

/// beta * x + alpha * (mat @ vector).
Tensor addmv(const Argument& x, const Argument& mat, const Argument& vector, double beta = 1.0, double alpha = 1.0);

/// The places at which grid_sample reads an image of this size [batch, channels, height, width] so that it is moved by the
/// matrices theta [batch, 2, 3]; or [batch, 3, 4] for 3 dimensions. The image reaches from -1 to 1: with align_corners from the
/// middle of its first element to that of its last.
Tensor affine_grid(const Argument& theta, const Shape& size, bool align_corners = false);

/// Whether all elements over some dimensions, or all, are nonzero.
Tensor all(const Argument& x, const std::optional<Shape>& dim = std::nullopt, bool keepdim = false);

/// The largest element over some dimensions, or all; NaN if there is one.
Tensor amax(const Argument& x, const std::optional<Shape>& dim = std::nullopt, bool keepdim = false);

/// The smallest element over some dimensions, or all; NaN if there is one.
Tensor amin(const Argument& x, const std::optional<Shape>& dim = std::nullopt, bool keepdim = false);

/// Whether any element over some dimensions, or all, is nonzero.
Tensor any(const Argument& x, const std::optional<Shape>& dim = std::nullopt, bool keepdim = false);

/// The numbers from start up to but not including end, in steps; with one argument, from 0 to it. Floats are computed as
/// start + i * step in f64.
Tensor arange(const Argument& start, const Argument& end = Argument(), const Argument& step = Argument(), std::optional<Dtype> dtype = std::nullopt);

/// The index of the largest element along dim, or in the flattened tensor; the first of equals.
Tensor argmax(const Argument& x, std::optional<int64_t> dim = std::nullopt, bool keepdim = false);

/// The index of the smallest element along dim, or in the flattened tensor; the first of equals.
Tensor argmin(const Argument& x, std::optional<int64_t> dim = std::nullopt, bool keepdim = false);

/// The indices that put x in order along a dimension. Equal elements always keep their order.
Tensor argsort(const Argument& x, int64_t dim = -1, bool descending = false, bool stable = false);

/// The angle in [-pi/2, pi/2] whose sine is x, elementwise.
Tensor asin(const Argument& x);

/// The inverse of the hyperbolic sine, elementwise.
Tensor asinh(const Argument& x);

/// The angle in [-pi/2, pi/2] whose tangent is x, elementwise.
Tensor atan(const Argument& x);

/// The angle of the point (x, y), in [-pi, pi], elementwise.
Tensor atan2(const Argument& y, const Argument& x);

/// The inverse of the hyperbolic tangent, elementwise.
Tensor atanh(const Argument& x);

/// softmax(q @ k.mT * scale + mask) @ v for each batch and head, and the logarithm of the sums that the softmax divides by. A
/// mask of bools says which keys a query attends to; causal, that it attends to none after its own place. A query without keys
/// gives zeros.
std::vector<Tensor> attention(const Argument& q, const Argument& k, const Argument& v, const Argument& mask, bool causal, double scale);

/// The gradients of attention: of q, k and v, and of a mask of numbers if asked for.
std::vector<Tensor> attention_backward(const Argument& g, const Argument& logsumexp_gradient, const Argument& q, const Argument& k, const Argument& v, const Argument& mask, const Argument& output, const Argument& logsumexp, bool causal, double scale, bool for_mask);

/// softmax(query @ key.mT * scale + attn_mask): how much scaled_dot_product_attention makes of each value, as a tensor, for
/// those who look at it or leave some of it out.
Tensor attention_weights(const Argument& query, const Argument& key, const Argument& attn_mask = Argument(), bool is_causal = false, std::optional<double> scale = std::nullopt);

/// The mean of each window of the last dimension; stride is kernel_size unless given.
Tensor avg_pool1d(const Argument& x, const Shape& kernel_size, const std::optional<Shape>& stride = std::nullopt, const Shape& padding = Shape{0}, bool ceil_mode = false, bool count_include_pad = true);

/// The mean of each window of the last two dimensions; stride is kernel_size unless given.
Tensor avg_pool2d(const Argument& x, const Shape& kernel_size, const std::optional<Shape>& stride = std::nullopt, const Shape& padding = Shape{0}, bool ceil_mode = false, bool count_include_pad = true, std::optional<int64_t> divisor_override = std::nullopt);

/// The mean of each window of the last three dimensions; stride is kernel_size unless given.
Tensor avg_pool3d(const Argument& x, const Shape& kernel_size, const std::optional<Shape>& stride = std::nullopt, const Shape& padding = Shape{0}, bool ceil_mode = false, bool count_include_pad = true, std::optional<int64_t> divisor_override = std::nullopt);

/// beta * x + alpha * (batch1 @ batch2) for batches of matrices, x being broadcast.
Tensor baddbmm(const Argument& x, const Argument& batch1, const Argument& batch2, double beta = 1.0, double alpha = 1.0);

/// x with mean 0 and variance 1 for each channel (dimension 1), times weight plus bias. In training the mean and the variance
/// are those of x, and the running ones that come back have taken in momentum times them (the variance unbiased); without
/// running ones they come back as they are. Otherwise the running ones are used, and come back unchanged. Nothing is written:
/// whoever keeps running statistics stores what comes back.
std::vector<Tensor> batch_norm(const Argument& x, const Argument& running_mean = Argument(), const Argument& running_var = Argument(), const Argument& weight = Argument(), const Argument& bias = Argument(), bool training = false, double momentum = 0.1, double eps = 1e-05);

/// x @ weight[o] @ y + bias[o] for each output o, over the last dimensions of x and y.
Tensor bilinear(const Argument& x, const Argument& y, const Argument& weight, const Argument& bias = Argument());

/// -(target * log(x) + (1 - target) * log(1 - x)), times weight, for probabilities x; logarithms are held above -100.
Tensor binary_cross_entropy(const Argument& x, const Argument& target, const Argument& weight = Argument(), const std::string& reduction = "mean");

/// binary_cross_entropy of sigmoid(x), without overflow. pos_weight, broadcast, weighs what positive targets lose.
Tensor binary_cross_entropy_with_logits(const Argument& x, const Argument& target, const Argument& weight = Argument(), const Argument& pos_weight = Argument(), const std::string& reduction = "mean");

/// How often each of the numbers 0, 1, ... occurs in a vector of integers, or the sum of the weights at its places.
Tensor bincount(const Argument& x, const Argument& weights = Argument(), int64_t minlength = 0);

/// The bits set in both x and y, elementwise.
Tensor bitwise_and(const Argument& x, const Argument& y);

/// x with its bits moved up by y places, elementwise. 0 when y is negative or no less than the number of bits.
Tensor bitwise_left_shift(const Argument& x, const Argument& y);

/// x with every bit flipped, elementwise. For bools, logical not.
Tensor bitwise_not(const Argument& x);

/// The bits set in x or y, elementwise.
Tensor bitwise_or(const Argument& x, const Argument& y);

/// x with its bits moved down by y places, keeping the sign, elementwise. A y that is negative or too large
/// moves all of them out.
Tensor bitwise_right_shift(const Argument& x, const Argument& y);

/// The bits set in exactly one of x and y, elementwise.
Tensor bitwise_xor(const Argument& x, const Argument& y);

/// The products of the matrices of two batches.
Tensor bmm(const Argument& x, const Argument& y);

/// x with its dimensions of size 1 repeated to the given sizes without copying; another name for expand.
Tensor broadcast_to(const Argument& x, const Shape& size);

/// The number of the bucket that each element falls into, between sorted boundaries.
Tensor bucketize(const Argument& x, const Argument& boundaries, bool right = false);

/// Tensors one after another along a dimension. Dtypes are promoted.
Tensor cat(const std::vector<Tensor>& tensors, int64_t dim = 0);

/// Tensors of one dtype and rank, one after another along a dimension: what cat comes down to.
Tensor cat_same(const std::vector<Tensor>& tensors, int64_t dim = 0);

/// The distances between every row of x and every row of y, by the p-norm; leading dimensions are batches.
Tensor cdist(const Argument& x, const Argument& y, double p = 2.0);

/// The smallest integer not below x, elementwise.
Tensor ceil(const Argument& x);

/// x where it is above 0, else alpha * (exp(x / alpha) - 1).
Tensor celu(const Argument& x, double alpha = 1.0);

/// x with its channels (dimension 1), seen as groups, in the order first of each group, second of each, and so on.
Tensor channel_shuffle(const Argument& x, int64_t groups);

/// x cut into at most so many parts of equal size along a dimension, the last perhaps smaller.
std::vector<Tensor> chunk(const Argument& x, int64_t chunks, int64_t dim = 0);

/// x, but no less than min and no more than max, elementwise. max wins where they contradict.
Tensor clamp(const Argument& x, const Argument& min = Argument(), const Argument& max = Argument());

/// cross_entropy of scores [batch, classes, places] and classes [batch, places], with what its gradient needs.
std::vector<Tensor> class_loss(const Argument& x, const Argument& target, const Argument& weight = Argument(), int64_t ignore_index = -100, double label_smoothing = 0.0, const std::string& reduction = "mean");

/// The gradients of class_loss: of x, and of the weight if asked for.
std::vector<Tensor> class_loss_backward(const Argument& g, const Argument& logsumexp_gradient, const Argument& total_gradient, const Argument& x, const Argument& target, const Argument& weight, const Argument& loss, const Argument& logsumexp, const Argument& total, int64_t ignore_index, double label_smoothing, const std::string& reduction, bool for_weight);

/// Another name of clamp.
Tensor clip(const Argument& x, const Argument& min = Argument(), const Argument& max = Argument());

/// A copy of x with memory of its own.
Tensor clone(const Argument& x);

/// x with so many elements of one value before and after the last dimension, then the one before it, and so on; negative numbers cut.
Tensor constant_pad(const Argument& x, const Shape& pad, double value = 0.0);

/// x laid out in row-major order: x itself if it is already, else a copy.
Tensor contiguous(const Argument& x);

/// The sums of products of weight [out, in / groups, taps] with x [batch, in, length] at every stride-th place.
Tensor conv1d(const Argument& x, const Argument& weight, const Argument& bias = Argument(), const Shape& stride = Shape{1}, const Shape& padding = Shape{0}, const Shape& dilation = Shape{1}, int64_t groups = 1);

/// The sums of products of weight [out, in / groups, rows, columns] with x [batch, in, height, width] at every
/// stride-th place. In Python, padding may also be "same", which keeps the size, or "valid", which is none.
Tensor conv2d(const Argument& x, const Argument& weight, const Argument& bias = Argument(), const Shape& stride = Shape{1}, const Shape& padding = Shape{0}, const Shape& dilation = Shape{1}, int64_t groups = 1);

/// The sums of products of weight [out, in / groups, ...] with x [batch, in, ...] over three dimensions, at every
/// stride-th place.
Tensor conv3d(const Argument& x, const Argument& weight, const Argument& bias = Argument(), const Shape& stride = Shape{1}, const Shape& padding = Shape{0}, const Shape& dilation = Shape{1}, int64_t groups = 1);

/// The gradient by its input of a conv1d with this weight [in, out / groups, taps], as a layer.
Tensor conv_transpose1d(const Argument& x, const Argument& weight, const Argument& bias = Argument(), const Shape& stride = Shape{1}, const Shape& padding = Shape{0}, const Shape& output_padding = Shape{0}, int64_t groups = 1, const Shape& dilation = Shape{1});

/// The gradient by its input of a conv2d with this weight [in, out / groups, rows, columns], as a layer.
Tensor conv_transpose2d(const Argument& x, const Argument& weight, const Argument& bias = Argument(), const Shape& stride = Shape{1}, const Shape& padding = Shape{0}, const Shape& output_padding = Shape{0}, int64_t groups = 1, const Shape& dilation = Shape{1});

/// The gradient by its input of a conv3d with this weight [in, out / groups, ...], as a layer.
Tensor conv_transpose3d(const Argument& x, const Argument& weight, const Argument& bias = Argument(), const Shape& stride = Shape{1}, const Shape& padding = Shape{0}, const Shape& output_padding = Shape{0}, int64_t groups = 1, const Shape& dilation = Shape{1});

/// Convolution over any number of dimensions. Before each image stand `low` zeros and after it `high`, fewer if negative;
/// between its elements input_dilation - 1. A transposed weight is [in, out, ...], its taps in reverse.
Tensor convolution(const Argument& x, const Argument& weight, const Argument& bias, const Shape& stride, const Shape& low, const Shape& high, const Shape& input_dilation, const Shape& dilation, int64_t groups = 1, bool transposed = false);

/// The gradient by its weight of a convolution of x whose result has the gradient grad.
Tensor convolution_weight(const Argument& x, const Argument& grad, const Shape& kernel, const Shape& stride, const Shape& low, const Shape& input_dilation, const Shape& dilation, int64_t groups = 1, bool transposed = false);

/// The cosine of an angle in radians, elementwise.
Tensor cos(const Argument& x);

/// The hyperbolic cosine, elementwise.
Tensor cosh(const Argument& x);

/// 1 - c where the target is 1, max(0, c - margin) where it is -1, c being the cosine between vectors.
Tensor cosine_embedding_loss(const Argument& x1, const Argument& x2, const Argument& target, double margin = 0.0, const std::string& reduction = "mean");

/// The cosine of the angle between vectors along dim: their dot product divided by their norms, each at least eps.
Tensor cosine_similarity(const Argument& x1, const Argument& x2, int64_t dim = 1, double eps = 1e-08);

/// How many elements over some dimensions, or all, are nonzero.
Tensor count_nonzero(const Argument& x, const std::optional<Shape>& dim = std::nullopt);

/// -log(softmax(x)) of the right class: x holds scores with classes in dimension 1 (0 without a batch), the target the right
/// classes, or probabilities of all classes. weight has a number for each class, and the mean is weighed by it; targets equal
/// to ignore_index do not count. label_smoothing takes that part of the target and spreads it evenly.
Tensor cross_entropy(const Argument& x, const Argument& target, const Argument& weight = Argument(), int64_t ignore_index = -100, const std::string& reduction = "mean", double label_smoothing = 0.0);

/// Minus the logarithm of the probability that a sequence of classes, blanks and repetitions left out, is the target, summed
/// over all alignments. log_probs is [time, batch, classes], the targets [batch, length] or one after another. The mean is over
/// losses divided by their target's length. zero_infinity makes 0 of the losses of targets that are too long.
Tensor ctc_loss(const Argument& log_probs, const Argument& targets, const Argument& input_lengths, const Argument& target_lengths, int64_t blank = 0, const std::string& reduction = "mean", bool zero_infinity = false);

/// The product of each element and those before it along dim. Integers and bools are multiplied as i64.
Tensor cumprod(const Argument& x, int64_t dim, std::optional<Dtype> dtype = std::nullopt);

/// The sum of each element and those before it along dim. Integers and bools are summed as i64.
Tensor cumsum(const Argument& x, int64_t dim, std::optional<Dtype> dtype = std::nullopt);

/// The diagonal of a matrix, or the matrix with a vector on its diagonal.
Tensor diag(const Argument& x, int64_t diagonal = 0);

/// The diagonal of x over two dimensions, as the last dimension of the result.
Tensor diagonal(const Argument& x, int64_t offset = 0, int64_t dim1 = 0, int64_t dim2 = 1);

/// The difference of each element and the one before it along dim, taken n times. For bools, whether they differ.
Tensor diff(const Argument& x, int64_t n = 1, int64_t dim = -1);

/// x / y, elementwise. Integers give floats.
Tensor div(const Argument& x, const Argument& y);

/// The sum of the products of two vectors' elements.
Tensor dot(const Argument& x, const Argument& y);

/// x with elements replaced, with probability p, by the limit of selu; then scaled and shifted so that mean 0 and
/// variance 1 stay.
Tensor draw_alpha_dropout(const Argument& state, const Argument& x, double p = 0.5);

/// Ones with the probabilities in p, zeros otherwise: whether draw_uniform's number, of f64 for f64 and else of f32, is
/// below p.
Tensor draw_bernoulli(const Argument& state, const Argument& p);

/// 64 random bits for each element: w0 above w1.
Tensor draw_bits(const Argument& state, const Shape& size);

/// x / (1 - p), but 0 with probability p: where draw_uniform's number of f32 is below p.
Tensor draw_dropout(const Argument& state, const Argument& x, double p = 0.5);

/// draw_alpha_dropout of whole channels, indices of the first two dimensions.
Tensor draw_feature_alpha_dropout(const Argument& state, const Argument& x, double p = 0.5);

/// x / (1 - p), but whole channels, indices of the first two dimensions, are 0 with probability p.
Tensor draw_feature_dropout(const Argument& state, const Argument& x, double p = 0.5);

/// softmax((logits + noise) / tau) along dim, the noise being Gumbel's: a differentiable draw of a class. hard gives 1 for
/// the largest and 0 for the others, with the gradient of the soft draw.
Tensor draw_gumbel_softmax(const Argument& state, const Argument& logits, double tau = 1.0, bool hard = false, int64_t dim = -1);

/// Integers from low up to but not including high, all equally likely: low plus the high half of the product of high - low
/// and the 64 bits w0 above w1. No integer's probability is off by more than 2^-64.
Tensor draw_integers(const Argument& state, const Shape& size, int64_t low, int64_t high, std::optional<Dtype> dtype = std::nullopt);

/// Indices drawn from each row of p with probabilities proportional to its elements: draw_uniform's f64 number of the
/// element, times the sum of the weights that are left, decides.
Tensor draw_multinomial(const Argument& state, const Argument& p, int64_t num_samples, bool replacement = false);

/// Numbers from the normal distribution with mean 0 and variance 1, by Box and Muller: sqrt(-2 log u) cos(2 pi v). For f32
/// and narrower u is (w0 + 1) / 2^32 and v the top 24 bits of w1 as a fraction; for f64 u is made of 53 bits of w0 and w1 and
/// v of 53 bits of w2 and w3.
Tensor draw_normal(const Argument& state, const Shape& size, std::optional<Dtype> dtype = std::nullopt);

/// The numbers from 0 to n - 1 in a random order: that of draw_bits' numbers.
Tensor draw_permutation(const Argument& state, int64_t n);

/// x where it is not negative, else x times a slope from the uniform distribution on [lower, upper).
Tensor draw_rrelu(const Argument& state, const Argument& x, double lower = 0.125, double upper = 0.3333333333333333);

/// Numbers from the uniform distribution on [0, 1): the top 24 bits of w0 for f32, 11 for f16, 8 for bf16, and the top 53
/// bits of w0 and w1 for f64, as a fraction.
Tensor draw_uniform(const Argument& state, const Shape& size, std::optional<Dtype> dtype = std::nullopt);

/// Tensors behind one another along the third dimension.
Tensor dstack(const std::vector<Tensor>& tensors);

/// Sums of products over named dimensions, in Einstein's notation: a letter for each dimension of each tensor, those
/// missing after the arrow being summed.
Tensor einsum(const std::string& equation, const std::vector<Tensor>& tensors);

/// x where it is above 0, else alpha * (exp(x) - 1).
Tensor elu(const Argument& x, double alpha = 1.0);

/// The rows of weight at the given indices, of any shape. The row padding_idx gets no gradient.
Tensor embedding(const Argument& weight, const Argument& indices, std::optional<int64_t> padding_idx = std::nullopt);

/// The sum, mean or largest elements of rows of weight, bag by bag. A bag is a row of indices, or begins where offsets says;
/// with include_last_offset the last offset is where the last bag ends. padding_idx does not count.
Tensor embedding_bag(const Argument& weight, const Argument& indices, const Argument& offsets = Argument(), const Argument& per_sample_weights = Argument(), const std::string& mode = "mean", bool include_last_offset = false, std::optional<int64_t> padding_idx = std::nullopt);

/// offsets, where bags begin in a row of `count` indices: the first is 0, and none is below the one before it.
Tensor embedding_bag_offsets(const Argument& offsets, int64_t count);

/// A tensor whose elements are still to be written. They are zero, but do not rely on it.
Tensor empty(const Shape& size, std::optional<Dtype> dtype = std::nullopt);

/// A tensor of the shape and dtype of x whose elements are still to be written. They are zero, but do not rely on it.
Tensor empty_like(const Argument& x, std::optional<Dtype> dtype = std::nullopt);

/// Whether x equals y, elementwise.
Tensor eq(const Argument& x, const Argument& y);

/// The error function, elementwise.
Tensor erf(const Argument& x);

/// 1 - erf(x), accurate for large x, elementwise.
Tensor erfc(const Argument& x);

/// e to the power x, elementwise.
Tensor exp(const Argument& x);

/// 2 to the power x, elementwise.
Tensor exp2(const Argument& x);

/// x with its dimensions of size 1 repeated to the given sizes without copying; -1 keeps a size.
Tensor expand(const Argument& x, const Shape& size);

/// e to the power x, minus 1, accurate near 0, elementwise.
Tensor expm1(const Argument& x);

/// The matrix with ones on its diagonal and zeros elsewhere.
Tensor eye(int64_t n, std::optional<int64_t> m = std::nullopt, std::optional<Dtype> dtype = std::nullopt);

/// x with the dimensions from start_dim to end_dim made one.
Tensor flatten(const Argument& x, int64_t start_dim = 0, int64_t end_dim = -1);

/// x with the order of elements reversed along the given dimensions.
Tensor flip(const Argument& x, const Shape& dims);

/// The largest integer not above x, elementwise.
Tensor floor(const Argument& x);

/// The largest integer not above x / y, elementwise. Dividing an integer by zero is an error.
Tensor floor_divide(const Argument& x, const Argument& y);

/// What division rounded towards zero leaves of x, with the sign of x. Dividing an integer by zero is an error.
Tensor fmod(const Argument& x, const Argument& y);

/// The sums of columns [batch, channels * window, windows] where their elements' places in an image meet.
Tensor fold(const Argument& x, const Shape& output_size, const Shape& kernel_size, const Shape& dilation = Shape{1}, const Shape& padding = Shape{0}, const Shape& stride = Shape{1});

/// A tensor of the given size, filled with one value.
Tensor full(const Shape& size, const Argument& fill_value, std::optional<Dtype> dtype = std::nullopt);

/// A tensor of the shape and dtype of x, filled with one value.
Tensor full_like(const Argument& x, const Argument& fill_value, std::optional<Dtype> dtype = std::nullopt);

/// Elements of x, picked along one dimension by an index tensor of the result's shape.
Tensor gather(const Argument& x, int64_t dim, const Argument& index);

/// (log(v) + (x - target) ** 2 / v) / 2, v being the variance, held above eps: what a target costs that is normal around x.
/// full adds the constant log(2 pi) / 2.
Tensor gaussian_nll_loss(const Argument& x, const Argument& target, const Argument& var, bool full = false, double eps = 1e-06, const std::string& reduction = "mean");

/// Whether x is not below y, elementwise.
Tensor ge(const Argument& x, const Argument& y);

/// x times the probability that a normal variable is below x. approximate='tanh' is the form of old models.
Tensor gelu(const Argument& x, const std::string& approximate = "none");

/// The first half of x along dim times the sigmoid of the second.
Tensor glu(const Argument& x, int64_t dim = -1);

/// The image x [batch, channels, height, width] at the places grid [batch, ..., 2], whose last dimension is x and y between -1
/// and 1; or with depth and three coordinates. Modes are bilinear, nearest and, for two dimensions, bicubic; beyond the image
/// lie zeros, its border, or its reflection.
Tensor grid_sample(const Argument& x, const Argument& grid, const std::string& mode = "bilinear", const std::string& padding_mode = "zeros", bool align_corners = false);

/// x with mean 0 and variance 1 over groups of neighbouring channels (dimension 1) and all later dimensions, times weight
/// plus bias, which have a number for each channel.
Tensor group_norm(const Argument& x, int64_t num_groups, const Argument& weight = Argument(), const Argument& bias = Argument(), double eps = 1e-05);

/// Whether x is above y, elementwise.
Tensor gt(const Argument& x, const Argument& y);

/// x, but 0 where |x| is at most lambd.
Tensor hardshrink(const Argument& x, double lambd = 0.5);

/// x / 6 + 1/2, held between 0 and 1.
Tensor hardsigmoid(const Argument& x);

/// x * hardsigmoid(x).
Tensor hardswish(const Argument& x);

/// x held between two bounds.
Tensor hardtanh(const Argument& x, double min_val = -1.0, double max_val = 1.0);

/// x where the target is 1, max(0, margin - x) where it is -1.
Tensor hinge_embedding_loss(const Argument& x, const Argument& target, double margin = 1.0, const std::string& reduction = "mean");

/// How many elements fall into each of so many equal intervals between min and max, or between the smallest and largest
/// element if both are 0. What lies outside is not counted.
Tensor histc(const Argument& x, int64_t bins = 100, double min = 0.0, double max = 0.0);

/// Tensors side by side: along the first dimension if they are 1-d, else along the second.
Tensor hstack(const std::vector<Tensor>& tensors);

/// d ** 2 / 2 where d = |x - target| is below delta, and delta * (d - delta / 2) elsewhere.
Tensor huber_loss(const Argument& x, const Argument& target, const std::string& reduction = "mean", double delta = 1.0);

/// Elements of x picked by index tensors of one shape, one for each leading dimension: what x[i, j] comes down to.
Tensor index(const Argument& x, const std::vector<Tensor>& indices);

/// x with the parts of source added in at the given indices along a dimension.
Tensor index_add(const Argument& x, int64_t dim, const Argument& index, const Argument& source);

/// x with values, broadcast as needed, written or added at places given by index tensors for the leading dimensions.
Tensor index_put(const Argument& x, const Argument& values, const std::vector<Tensor>& indices, bool accumulate = false);

/// x with values added at places given by index tensors, in row-major order.
Tensor index_put_add(const Argument& x, const Argument& values, const std::vector<Tensor>& indices);

/// x with values written at places given by index tensors, in row-major order.
Tensor index_put_set(const Argument& x, const Argument& values, const std::vector<Tensor>& indices);

/// The parts of x at the given indices along a dimension.
Tensor index_select(const Argument& x, int64_t dim, const Argument& index);

/// The sums of products over the last dimension of both tensors.
Tensor inner(const Argument& x, const Argument& y);

/// x with mean 0 and variance 1 for each channel of each element of the batch, times weight plus bias. Running statistics
/// come back as from batch_norm, having taken in the means over the batch.
std::vector<Tensor> instance_norm(const Argument& x, const Argument& running_mean = Argument(), const Argument& running_var = Argument(), const Argument& weight = Argument(), const Argument& bias = Argument(), bool use_input_stats = true, double momentum = 0.1, double eps = 1e-05);

/// x [batch, channels, ...] with its last dimensions of another size, given or as a factor. Modes are nearest, nearest-exact,
/// linear, bilinear, trilinear (for 1, 2, 3 dimensions), bicubic and area. align_corners makes the corners of both grids meet;
/// otherwise the corners of their elements do.
Tensor interpolate(const Argument& x, const std::optional<Shape>& size = std::nullopt, std::optional<double> scale_factor = std::nullopt, const std::string& mode = "nearest", std::optional<bool> align_corners = std::nullopt);

/// A tensor of i64 in which each element is its own index along dim.
Tensor iota(const Shape& size, int64_t dim = 0);

/// Whether |x - y| <= atol + rtol * |y|, elementwise. NaNs are close to each other only with equal_nan.
Tensor isclose(const Argument& x, const Argument& y, double rtol = 1e-05, double atol = 1e-08, bool equal_nan = false);

/// Whether x is neither infinite nor NaN, elementwise.
Tensor isfinite(const Argument& x);

/// Whether x is infinite, elementwise.
Tensor isinf(const Argument& x);

/// Whether x is NaN, elementwise.
Tensor isnan(const Argument& x);

/// target * (log(target) - x), x being a logarithm of probabilities, and the target too if log_target says so. The reduction
/// 'batchmean' divides the sum by the size of dimension 0: that is the divergence of Kullback and Leibler.
Tensor kl_div(const Argument& x, const Argument& target, const std::string& reduction = "mean", bool log_target = false);

/// The Kronecker product: each element of x replaced by its product with y.
Tensor kron(const Argument& x, const Argument& y);

/// The k-th smallest element along a dimension, counted from 1, and its index.
std::vector<Tensor> kthvalue(const Argument& x, int64_t k, int64_t dim = -1, bool keepdim = false);

/// |x - target|, and of that the mean, the sum, or each element.
Tensor l1_loss(const Argument& x, const Argument& target, const std::string& reduction = "mean");

/// x with mean 0 and variance 1 over its last dimensions, times weight plus bias, which have their shape.
Tensor layer_norm(const Argument& x, const Shape& normalized_shape, const Argument& weight = Argument(), const Argument& bias = Argument(), double eps = 1e-05);

/// Whether x is not above y, elementwise.
Tensor le(const Argument& x, const Argument& y);

/// x where it is above 0, else x * negative_slope.
Tensor leaky_relu(const Argument& x, double negative_slope = 0.01);

/// x + weight * (end - x), elementwise: x for weight 0, end for weight 1.
Tensor lerp(const Argument& x, const Argument& end, const Argument& weight);

/// x @ weight.T + bias: what a Linear layer computes.
Tensor linear(const Argument& x, const Argument& weight, const Argument& bias = Argument());

/// So many numbers in even steps from start to end, both included.
Tensor linspace(double start, double end, int64_t steps, std::optional<Dtype> dtype = std::nullopt);

/// x divided by (k + alpha * m) ** beta, m being the mean of the squares of `size` neighbouring channels (dimension 1),
/// those beyond the ends counting as 0.
Tensor local_response_norm(const Argument& x, int64_t size, double alpha = 0.0001, double beta = 0.75, double k = 1.0);

/// The natural logarithm, elementwise.
Tensor log(const Argument& x);

/// The logarithm to base 10, elementwise.
Tensor log10(const Argument& x);

/// The natural logarithm of 1 + x, accurate near 0, elementwise.
Tensor log1p(const Argument& x);

/// The logarithm to base 2, elementwise.
Tensor log2(const Argument& x);

/// The logarithm of softmax(x, dim), without underflow.
Tensor log_softmax(const Argument& x, int64_t dim = -1, std::optional<Dtype> dtype = std::nullopt);

/// Whether both x and y are nonzero, elementwise.
Tensor logical_and(const Argument& x, const Argument& y);

/// Whether x is zero, elementwise.
Tensor logical_not(const Argument& x);

/// Whether x or y is nonzero, elementwise.
Tensor logical_or(const Argument& x, const Argument& y);

/// Whether exactly one of x and y is nonzero, elementwise.
Tensor logical_xor(const Argument& x, const Argument& y);

/// log(sigmoid(x)), without overflow.
Tensor logsigmoid(const Argument& x);

/// Powers of the base whose exponents are so many numbers in even steps from start to end, both included.
Tensor logspace(double start, double end, int64_t steps, double base = 10.0, std::optional<Dtype> dtype = std::nullopt);

/// The logarithm of the sum of exp(x) over some dimensions, or all, without overflow.
Tensor logsumexp(const Argument& x, const std::optional<Shape>& dim = std::nullopt, bool keepdim = false);

/// The p-th root of the sum of p-th powers of each window of the last dimension.
Tensor lp_pool1d(const Argument& x, double norm_type, const Shape& kernel_size, const std::optional<Shape>& stride = std::nullopt, bool ceil_mode = false);

/// The p-th root of the sum of p-th powers of each window of the last two dimensions.
Tensor lp_pool2d(const Argument& x, double norm_type, const Shape& kernel_size, const std::optional<Shape>& stride = std::nullopt, bool ceil_mode = false);

/// The p-th root of the sum of p-th powers of each window of the last three dimensions.
Tensor lp_pool3d(const Argument& x, double norm_type, const Shape& kernel_size, const std::optional<Shape>& stride = std::nullopt, bool ceil_mode = false);

/// Whether x is below y, elementwise.
Tensor lt(const Argument& x, const Argument& y);

/// max(0, margin - target * (x1 - x2)): target 1 wants x1 above x2, -1 the opposite.
Tensor margin_ranking_loss(const Argument& x1, const Argument& x2, const Argument& target, double margin = 0.0, const std::string& reduction = "mean");

/// x with `value`, a number or a 0-d tensor, wherever the mask is true. The dtype stays that of x.
Tensor masked_fill(const Argument& x, const Argument& mask, const Argument& value);

/// The elements of x where the mask holds, in row-major order, as a vector.
Tensor masked_select(const Argument& x, const Argument& mask);

/// The matrix product. A vector on the left is a row, on the right a column, and its dimension disappears; the
/// dimensions before the last two are batches, which broadcast.
Tensor matmul(const Argument& x, const Argument& y);

/// The largest elements along dim and their indices; the first of equals.
std::vector<Tensor> max_dim(const Argument& x, int64_t dim, bool keepdim = false);

/// The largest element of each window of the last dimensions; windows divide them evenly if kernel is empty.
Tensor max_pool(const Argument& x, const Shape& kernel, const Shape& stride, const Shape& padding, const Shape& dilation, const Shape& size);

/// The largest element of each window of the last dimension; stride is kernel_size unless given.
Tensor max_pool1d(const Argument& x, const Shape& kernel_size, const std::optional<Shape>& stride = std::nullopt, const Shape& padding = Shape{0}, const Shape& dilation = Shape{1}, bool ceil_mode = false);

/// max_pool1d, and where the elements stand in the last dimension.
std::vector<Tensor> max_pool1d_with_indices(const Argument& x, const Shape& kernel_size, const std::optional<Shape>& stride = std::nullopt, const Shape& padding = Shape{0}, const Shape& dilation = Shape{1}, bool ceil_mode = false);

/// The largest element of each window of the last two dimensions; stride is kernel_size unless given.
Tensor max_pool2d(const Argument& x, const Shape& kernel_size, const std::optional<Shape>& stride = std::nullopt, const Shape& padding = Shape{0}, const Shape& dilation = Shape{1}, bool ceil_mode = false);

/// max_pool2d, and where the elements stand in the last two dimensions, flattened.
std::vector<Tensor> max_pool2d_with_indices(const Argument& x, const Shape& kernel_size, const std::optional<Shape>& stride = std::nullopt, const Shape& padding = Shape{0}, const Shape& dilation = Shape{1}, bool ceil_mode = false);

/// The largest element of each window of the last three dimensions; stride is kernel_size unless given.
Tensor max_pool3d(const Argument& x, const Shape& kernel_size, const std::optional<Shape>& stride = std::nullopt, const Shape& padding = Shape{0}, const Shape& dilation = Shape{1}, bool ceil_mode = false);

/// max_pool3d, and where the elements stand in the last three dimensions, flattened.
std::vector<Tensor> max_pool3d_with_indices(const Argument& x, const Shape& kernel_size, const std::optional<Shape>& stride = std::nullopt, const Shape& padding = Shape{0}, const Shape& dilation = Shape{1}, bool ceil_mode = false);

/// The gradient of a max_pool from that of its result and the positions of the largest elements.
Tensor max_pool_back(const Argument& grad, const Argument& indices, const Shape& kernel, const Shape& stride, const Shape& padding, const Shape& dilation, const Shape& size);

/// Where the largest element of each window of the last dimensions stands in them, flattened.
Tensor max_position(const Argument& x, const Shape& kernel, const Shape& stride, const Shape& padding, const Shape& dilation, const Shape& size);

/// The elements of x put where max_pool1d found them, zeros elsewhere.
Tensor max_unpool1d(const Argument& x, const Argument& indices, const Shape& kernel_size, const std::optional<Shape>& stride = std::nullopt, const Shape& padding = Shape{0}, const std::optional<Shape>& output_size = std::nullopt);

/// The elements of x put where max_pool2d found them, zeros elsewhere.
Tensor max_unpool2d(const Argument& x, const Argument& indices, const Shape& kernel_size, const std::optional<Shape>& stride = std::nullopt, const Shape& padding = Shape{0}, const std::optional<Shape>& output_size = std::nullopt);

/// The elements of x put where max_pool3d found them, zeros elsewhere.
Tensor max_unpool3d(const Argument& x, const Argument& indices, const Shape& kernel_size, const std::optional<Shape>& stride = std::nullopt, const Shape& padding = Shape{0}, const std::optional<Shape>& output_size = std::nullopt);

/// The larger of x and y, elementwise; NaN if either is NaN.
Tensor maximum(const Argument& x, const Argument& y);

/// The mean over some dimensions, or all: the sum divided by the number of elements. Integers give floats.
Tensor mean(const Argument& x, const std::optional<Shape>& dim = std::nullopt, bool keepdim = false, std::optional<Dtype> dtype = std::nullopt);

/// The mean of each window of the last dimensions; windows divide them evenly if kernel is empty.
Tensor mean_pool(const Argument& x, const Shape& kernel, const Shape& stride, const Shape& padding, const Shape& dilation, const Shape& size, bool include_padding = true, std::optional<int64_t> divisor = std::nullopt);

/// The gradient of a mean_pool from that of its result.
Tensor mean_pool_back(const Argument& grad, const Shape& kernel, const Shape& stride, const Shape& padding, const Shape& dilation, const Shape& size, bool include_padding = true, std::optional<int64_t> divisor = std::nullopt);

/// The median of all elements: the lower of the two middle ones if their number is even; NaN if there is one.
Tensor median(const Argument& x);

/// The medians along a dimension and their indices: the lower of the two middle elements if their number is even; NaN if
/// there is one.
std::vector<Tensor> median_dim(const Argument& x, int64_t dim, bool keepdim = false);

/// Coordinate grids from 1-d coordinates: one tensor for each, all of the grid's shape.
std::vector<Tensor> meshgrid(const std::vector<Tensor>& tensors, const std::string& indexing = "ij");

/// The smallest elements along dim and their indices; the first of equals.
std::vector<Tensor> min_dim(const Argument& x, int64_t dim, bool keepdim = false);

/// The smaller of x and y, elementwise; NaN if either is NaN.
Tensor minimum(const Argument& x, const Argument& y);

/// x * tanh(softplus(x)).
Tensor mish(const Argument& x);

/// The product of two matrices.
Tensor mm(const Argument& x, const Argument& y);

/// x with some dimensions moved to new positions, the others keeping their order.
Tensor movedim(const Argument& x, const Shape& source, const Shape& destination);

/// (x - target) ** 2, and of that the mean, the sum, or each element ('none').
Tensor mse_loss(const Argument& x, const Argument& target, const std::string& reduction = "mean");

/// The elements of x in order along the first dimension.
Tensor msort(const Argument& x);

/// x * y, elementwise. For bools, logical and.
Tensor mul(const Argument& x, const Argument& y);

/// The mean over the classes of max(0, margin - x[right] + x[class]) ** p, the right class itself left out.
Tensor multi_margin_loss(const Argument& x, const Argument& target, int64_t p = 1, double margin = 1.0, const Argument& weight = Argument(), const std::string& reduction = "mean");

/// The sum of max(0, 1 - x[right] + x[wrong]) over all pairs of right and wrong classes, divided by the number of classes.
/// The right ones stand in the target, before its first -1.
Tensor multilabel_margin_loss(const Argument& x, const Argument& target, const std::string& reduction = "mean");

/// The mean over the last dimension of binary_cross_entropy_with_logits, times weight.
Tensor multilabel_soft_margin_loss(const Argument& x, const Argument& target, const Argument& weight = Argument(), const std::string& reduction = "mean");

/// The product of a matrix and a vector.
Tensor mv(const Argument& x, const Argument& vector);

/// x with NaN and the infinities replaced, elementwise: by default, by 0 and the largest finite numbers.
Tensor nan_to_num(const Argument& x, double nan = 0.0, std::optional<double> posinf = std::nullopt, std::optional<double> neginf = std::nullopt);

/// The mean over some dimensions, or all, of the elements that are not NaN.
Tensor nanmean(const Argument& x, const std::optional<Shape>& dim = std::nullopt, bool keepdim = false);

/// The sum over some dimensions, or all, of the elements that are not NaN.
Tensor nansum(const Argument& x, const std::optional<Shape>& dim = std::nullopt, bool keepdim = false, std::optional<Dtype> dtype = std::nullopt);

/// `length` neighbouring indices of x from start along a dimension.
Tensor narrow(const Argument& x, int64_t dim, int64_t start, int64_t length);

/// The probability that a standard normal variable is below x, accurate in both tails, elementwise.
Tensor ndtr(const Argument& x);

/// Whether x differs from y, elementwise.
Tensor ne(const Argument& x, const Argument& y);

/// -x, elementwise.
Tensor neg(const Argument& x);

/// Minus x at the right class: what cross_entropy is of log_softmax(x). The arguments are cross_entropy's.
Tensor nll_loss(const Argument& x, const Argument& target, const Argument& weight = Argument(), int64_t ignore_index = -100, const std::string& reduction = "mean");

/// The indices of the elements of x that are not zero, a row for each, in row-major order.
Tensor nonzero(const Argument& x);

/// The p-norm over some dimensions, or all. inf and -inf give the largest and the smallest absolute value.
Tensor norm(const Argument& x, double p = 2.0, const std::optional<Shape>& dim = std::nullopt, bool keepdim = false);

/// x divided by its p-norm along dim, or by eps where the norm is smaller.
Tensor normalize(const Argument& x, double p = 2.0, int64_t dim = 1, double eps = 1e-12);

/// Ones at the given classes along a new last dimension, zeros elsewhere.
Tensor one_hot(const Argument& x, int64_t num_classes);

/// A tensor of ones.
Tensor ones(const Shape& size, std::optional<Dtype> dtype = std::nullopt);

/// Ones of the shape and dtype of x.
Tensor ones_like(const Argument& x, std::optional<Dtype> dtype = std::nullopt);

/// The products of every element of one vector with every element of another.
Tensor outer(const Argument& x, const Argument& y);

/// x made larger at the ends of its last dimensions: by a constant, or by its own elements reflected, replicated or in a circle.
Tensor pad(const Argument& x, const Shape& pad, const std::string& mode = "constant", double value = 0.0);

/// The p-norm of x1 - x2 + eps along the last dimension.
Tensor pairwise_distance(const Argument& x1, const Argument& x2, double p = 2.0, double eps = 1e-06, bool keepdim = false);

/// x with its dimensions in another order.
Tensor permute(const Argument& x, const Shape& dims);

/// x [..., channels * r * r, height, width] as [..., channels, height * r, width * r].
Tensor pixel_shuffle(const Argument& x, int64_t upscale_factor);

/// x [..., channels, height * r, width * r] as [..., channels * r * r, height, width].
Tensor pixel_unshuffle(const Argument& x, int64_t downscale_factor);

/// exp(x) - target * x, or, where x is no logarithm, x - target * log(x + eps): what a count of Poisson's distribution costs.
/// full adds Stirling's estimate of log(target!) for targets above 1.
Tensor poisson_nll_loss(const Argument& x, const Argument& target, bool log_input = true, bool full = false, double eps = 1e-08, const std::string& reduction = "mean");

/// x to the power y, elementwise. The numbers 2, 3, 0.5, -0.5, -1 and -2 are computed by products and roots.
Tensor pow(const Argument& x, const Argument& y);

/// x to the power y, elementwise, the same way for every y. Integers wrap; their negative powers are 0, except
/// those of 1 and -1.
Tensor power(const Argument& x, const Argument& y);

/// x where it is above 0, else x times weight, which has one number or one for each channel (dimension 1).
Tensor prelu(const Argument& x, const Argument& weight);

/// The product over some dimensions, or all. Integers and bools are multiplied as i64.
Tensor prod(const Argument& x, const std::optional<Shape>& dim = std::nullopt, bool keepdim = false, std::optional<Dtype> dtype = std::nullopt);

/// 1 / x, elementwise.
Tensor reciprocal(const Argument& x);

/// x where it is above 0, else 0; NaN stays NaN.
Tensor relu(const Argument& x);

/// x held between 0 and 6.
Tensor relu6(const Argument& x);

/// What floor division leaves of x, with the sign of y. Dividing an integer by zero is an error.
Tensor remainder(const Argument& x, const Argument& y);

/// x repeated so often along each dimension; new dimensions come first.
Tensor repeat(const Argument& x, const Shape& repeats);

/// Each element of x repeated so often in place along a dimension, or of x flattened.
Tensor repeat_interleave(const Argument& x, int64_t repeats, std::optional<int64_t> dim = std::nullopt);

/// x with `size` elements along one dimension, made of those near them as interpolate describes.
Tensor resample(const Argument& x, int64_t dim, int64_t size, const std::string& mode = "nearest", bool align_corners = false, std::optional<double> scale = std::nullopt);

/// The same elements in row-major order under another shape; one size may be -1. A view if the strides allow it.
Tensor reshape(const Argument& x, const Shape& shape);

/// x divided by the root of the mean of its squares over its last dimensions, times weight, which has their shape. eps,
/// which is added to the mean, is the dtype's rounding error where it is not given.
Tensor rms_norm(const Argument& x, const Shape& normalized_shape, const Argument& weight = Argument(), std::optional<double> eps = std::nullopt);

/// x with its elements moved on along dimensions, or flattened, those past the end coming back at the start.
Tensor roll(const Argument& x, const Shape& shifts, const std::optional<Shape>& dims = std::nullopt);

/// x with its elements moved on along one dimension, those past the end coming back at the start.
Tensor roll_one(const Argument& x, int64_t shift, int64_t dim);

/// The nearest integer, halves to the even one, elementwise.
Tensor round(const Argument& x);

/// x where it is not negative, else x times the mean of the slopes that training draws between lower and upper; draw_rrelu
/// draws them.
Tensor rrelu(const Argument& x, double lower = 0.125, double upper = 0.3333333333333333);

/// 1 divided by the square root, elementwise.
Tensor rsqrt(const Argument& x);

/// softmax(query @ key.mT * scale + attn_mask) @ value: [..., l, e], [..., s, e] and [..., s, d] give [..., l, d]. A mask of
/// bools says which keys a query attends to, one of numbers is added; is_causal lets query i attend to the keys up to i. The
/// scale is 1 / sqrt(e) if none is given. With enable_gqa keys and values may have fewer heads (dimension -3), each for as many
/// neighbouring heads of the query.
Tensor scaled_dot_product_attention(const Argument& query, const Argument& key, const Argument& value, const Argument& attn_mask = Argument(), bool is_causal = false, std::optional<double> scale = std::nullopt, bool enable_gqa = false);

/// x with src, a tensor or a number, written at places given by index along a dimension, or added or multiplied in.
Tensor scatter(const Argument& x, int64_t dim, const Argument& index, const Argument& src, const std::optional<std::string>& reduce = std::nullopt);

/// x with src added in at places given by index along a dimension.
Tensor scatter_add(const Argument& x, int64_t dim, const Argument& index, const Argument& src);

/// x with src taken in where it is larger, at places given by index.
Tensor scatter_amax(const Argument& x, int64_t dim, const Argument& index, const Argument& src);

/// x with src taken in where it is smaller, at places given by index.
Tensor scatter_amin(const Argument& x, int64_t dim, const Argument& index, const Argument& src);

/// x with src multiplied in at places given by index.
Tensor scatter_mul(const Argument& x, int64_t dim, const Argument& index, const Argument& src);

/// x with src combined in at places given by index: "sum", "prod", "mean", "amax" or "amin".
Tensor scatter_reduce(const Argument& x, int64_t dim, const Argument& index, const Argument& src, const std::string& reduce, bool include_self = true);

/// x with src written at places given by index along a dimension; the last of several wins.
Tensor scatter_set(const Argument& x, int64_t dim, const Argument& index, const Argument& src);

/// Where each value would be inserted to keep a sorted sequence in order, before equal elements or, with right, after them.
Tensor searchsorted(const Argument& sorted_sequence, const Argument& values, bool right = false);

/// The part of x at one index along a dimension, which disappears.
Tensor select(const Argument& x, int64_t dim, int64_t index);

/// elu with the constants that keep mean 0 and variance 1 through many layers.
Tensor selu(const Argument& x);

/// x with a part, as strided_part names it, replaced.
Tensor set_strided_part(const Argument& x, const Argument& part, const Shape& stride, int64_t offset = 0);

/// 1 / (1 + exp(-x)), elementwise.
Tensor sigmoid(const Argument& x);

/// -1, 0 or 1 by the sign of x, elementwise. NaN gives 0.
Tensor sign(const Argument& x);

/// x * sigmoid(x), also called swish.
Tensor silu(const Argument& x);

/// The sine of an angle in radians, elementwise.
Tensor sin(const Argument& x);

/// The hyperbolic sine, elementwise.
Tensor sinh(const Argument& x);

/// Every step-th index of x from start to end along a dimension; bounds are clipped as Python's slices are.
Tensor slice(const Argument& x, int64_t dim = 0, std::optional<int64_t> start = std::nullopt, std::optional<int64_t> end = std::nullopt, int64_t step = 1);

/// d ** 2 / (2 * beta) where d = |x - target| is below beta, and d - beta / 2 elsewhere.
Tensor smooth_l1_loss(const Argument& x, const Argument& target, const std::string& reduction = "mean", double beta = 1.0);

/// log(1 + exp(-target * x)) for targets that are 1 or -1.
Tensor soft_margin_loss(const Argument& x, const Argument& target, const std::string& reduction = "mean");

/// exp(x), scaled to sum to 1 along dim.
Tensor softmax(const Argument& x, int64_t dim = -1, std::optional<Dtype> dtype = std::nullopt);

/// softmax(-x, dim): the smallest element gets the most.
Tensor softmin(const Argument& x, int64_t dim = -1, std::optional<Dtype> dtype = std::nullopt);

/// log(1 + exp(beta * x)) / beta, and x itself where beta * x is above the threshold.
Tensor softplus(const Argument& x, double beta = 1.0, double threshold = 20.0);

/// x moved towards 0 by lambd, and 0 where it would pass it.
Tensor softshrink(const Argument& x, double lambd = 0.5);

/// x / (1 + |x|).
Tensor softsign(const Argument& x);

/// The elements of x in order along a dimension, and where each stood. Equal elements always keep their order.
std::vector<Tensor> sort(const Argument& x, int64_t dim = -1, bool descending = false, bool stable = false);

/// Parts of x along a dimension: of one size, the last perhaps smaller, or of the sizes in a list.
std::vector<Tensor> split(const Argument& x, const Shape& split_size, int64_t dim = 0);

/// The square root, correctly rounded, elementwise.
Tensor sqrt(const Argument& x);

/// x * x, elementwise.
Tensor square(const Argument& x);

/// x without its dimensions of size 1, or without those given that have size 1.
Tensor squeeze(const Argument& x, const std::optional<Shape>& dim = std::nullopt);

/// Tensors of one shape side by side along a new dimension.
Tensor stack(const std::vector<Tensor>& tensors, int64_t dim = 0);

/// (x - mean) / sqrt(var + eps) * weight + bias, mean and variance being those over some dimensions; then the mean and
/// the variance, as they are needed again for gradients. Without centering there is no mean, and the variance is the mean of
/// the squares. Weight and bias are broadcast.
std::vector<Tensor> standardize(const Argument& x, const Argument& weight, const Argument& bias, const Shape& dim, double eps = 1e-05, bool centered = true);

/// The gradients of standardize, those that are asked for: of x, of the weight, of a bias of this shape.
std::vector<Tensor> standardize_backward(const Argument& g, const Argument& x, const Argument& weight, const Argument& mean, const Argument& var, const Argument& mean_gradient, const Argument& var_gradient, const Shape& dim, double eps, bool for_x, bool for_weight, const Shape& bias_shape);

/// The standard deviation over some dimensions, or all: the square root of the variance.
Tensor std(const Argument& x, const std::optional<Shape>& dim = std::nullopt, bool keepdim = false, double correction = 1.0);

/// The elements of x at offset, and at multiples of the strides from there, counted as if x were contiguous.
Tensor strided_part(const Argument& x, const Shape& size, const Shape& stride, int64_t offset = 0);

/// x - y, elementwise.
Tensor sub(const Argument& x, const Argument& y);

/// The sum over some dimensions, or all. Integers and bools are summed as i64.
Tensor sum(const Argument& x, const std::optional<Shape>& dim = std::nullopt, bool keepdim = false, std::optional<Dtype> dtype = std::nullopt);

/// x with two dimensions exchanged; another name for transpose.
Tensor swapaxes(const Argument& x, int64_t dim0, int64_t dim1);

/// x with two dimensions exchanged; another name for transpose.
Tensor swapdims(const Argument& x, int64_t dim0, int64_t dim1);

/// Elements of x picked by an index tensor along a dimension, the other dimensions broadcast; flattened without one.
Tensor take_along_dim(const Argument& x, const Argument& indices, std::optional<int64_t> dim = std::nullopt);

/// The tangent of an angle in radians, elementwise.
Tensor tan(const Argument& x);

/// The hyperbolic tangent, elementwise.
Tensor tanh(const Argument& x);

/// x - tanh(x).
Tensor tanhshrink(const Argument& x);

/// The sums of products over several dimensions of two tensors: the last `dims` of x with the first of y, or those that
/// dims and dims_y name.
Tensor tensordot(const Argument& x, const Argument& y, const Shape& dims = Shape{2}, const std::optional<Shape>& dims_y = std::nullopt);

/// x where it is above the threshold, else value; NaN stays NaN.
Tensor threshold(const Argument& x, double threshold, double value);

/// x repeated so often along each of the last dimensions; new dimensions come first.
Tensor tile(const Argument& x, const Shape& dims);

/// x converted to another dtype. Floats become integers by dropping the fraction and saturating; NaN becomes 0.
Tensor to(const Argument& x, Dtype dtype);

/// The k largest or smallest elements along a dimension, best first, and their indices; of equal ones the first.
std::vector<Tensor> topk(const Argument& x, int64_t k, int64_t dim = -1, bool largest = true, bool sorted = true);

/// The sum of a matrix's diagonal.
Tensor trace(const Argument& x);

/// x with two dimensions exchanged.
Tensor transpose(const Argument& x, int64_t dim0, int64_t dim1);

/// The lower triangle of a matrix, zeros above the given diagonal.
Tensor tril(const Argument& x, int64_t diagonal = 0);

/// The rows and columns of a matrix's lower triangle, in row-major order.
Tensor tril_indices(int64_t row, int64_t col, int64_t offset = 0);

/// max(0, margin + d(anchor, positive) - d(anchor, negative)), d being pairwise_distance. swap takes d(positive, negative)
/// instead of d(anchor, negative) where it is smaller.
Tensor triplet_margin_loss(const Argument& anchor, const Argument& positive, const Argument& negative, double margin = 1.0, double p = 2.0, double eps = 1e-06, bool swap = false, const std::string& reduction = "mean");

/// The upper triangle of a matrix, zeros below the given diagonal.
Tensor triu(const Argument& x, int64_t diagonal = 0);

/// The rows and columns of a matrix's upper triangle, in row-major order.
Tensor triu_indices(int64_t row, int64_t col, int64_t offset = 0);

/// x without its fraction, elementwise.
Tensor trunc(const Argument& x);

/// The parts of x at each index along a dimension.
std::vector<Tensor> unbind(const Argument& x, int64_t dim = 0);

/// x with one dimension split into several; one size may be -1.
Tensor unflatten(const Argument& x, int64_t dim, const Shape& sizes);

/// The windows of an image as columns: [batch, channels * window, windows].
Tensor unfold(const Argument& x, const Shape& kernel_size, const Shape& dilation = Shape{1}, const Shape& padding = Shape{0}, const Shape& stride = Shape{1});

/// The distinct elements of x, or its distinct parts along a dimension, in order; for each element or part which one it
/// is; and how often each occurs. Every NaN is distinct.
std::vector<Tensor> unique_all(const Argument& x, std::optional<int64_t> dim = std::nullopt);

/// x with a dimension of size 1 inserted before position dim.
Tensor unsqueeze(const Argument& x, int64_t dim);

/// The variance over some dimensions, or all: the squared deviations from the mean, summed and divided by their
/// number less the correction.
Tensor var(const Argument& x, const std::optional<Shape>& dim = std::nullopt, bool keepdim = false, double correction = 1.0);

/// The variance and the mean over some dimensions, or all.
std::vector<Tensor> var_mean(const Argument& x, const std::optional<Shape>& dim = std::nullopt, bool keepdim = false, double correction = 1.0);

/// The sum of the products of two vectors' elements, as dot for real numbers.
Tensor vdot(const Argument& x, const Argument& y);

/// Tensors below one another, vectors as rows.
Tensor vstack(const std::vector<Tensor>& tensors);

/// x where the condition holds, y elsewhere.
Tensor where(const Argument& condition, const Argument& x, const Argument& y);

/// A tensor of zeros.
Tensor zeros(const Shape& size, std::optional<Dtype> dtype = std::nullopt);

/// Zeros of the shape and dtype of x.
Tensor zeros_like(const Argument& x, std::optional<Dtype> dtype = std::nullopt);

}  // namespace lucid
#pragma GCC visibility pop
