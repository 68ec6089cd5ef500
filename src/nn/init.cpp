#include <lucid/autograd.h>
#include <lucid/nn/init.h>
#include <lucid/ops.h>

#include <cmath>

#include "base/dtype.h"
#include "base/error.h"
#include "nn/init_random.h"
#include "tensor/api.h"

namespace lucid::nn::init {
namespace {

thread_local GeneratorImpl* generator_in_use = nullptr;

Tensor sample(const char* op, const Attributes& attributes) {
  GeneratorImpl& generator = generator_in_use ? *generator_in_use : current_generator();
  return wrap(generator.sample(op_table().at(op), {}, attributes).front());
}

Attribute dims_of(const Shape& shape) { return Dims(shape.begin(), shape.end()); }

/// Writes the elements of a tensor. Its position in the graph does not change.
Tensor write(const Tensor& tensor, const Argument& values) {
  const NoGrad no_grad;
  tensor.detach().copy_(values);
  return tensor;
}

void check_float(const char* name, const Tensor& tensor) {
  if (!is_float(tensor.dtype()))
    throw TypeError("{}: expected a floating-point tensor, got {}", name, to_string(unwrap(tensor).type()));
}

double normal_cdf(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }

/// Samples the standard normal distribution between a and b by inverting the distribution function with bisection. Used
/// if few samples would fall between the bounds.
std::vector<double> invert_cdf(const std::vector<double>& uniform, double a, double b) {
  // The upper tail is mirrored to the lower one, where the function has more precision.
  const bool mirrored = a > 0;
  if (mirrored) std::tie(a, b) = std::pair(-b, -a);
  const double low = normal_cdf(a);
  const double high = normal_cdf(b);
  std::vector<double> numbers;
  for (const double u : uniform) {
    const double wanted = low + u * (high - low);
    double left = a;
    double right = b;
    for (int i = 0; i < 64; ++i) {
      const double middle = left + (right - left) / 2;
      (normal_cdf(middle) < wanted ? left : right) = middle;
    }
    numbers.push_back(mirrored ? -left : left);
  }
  return numbers;
}

double kaiming_std(const Tensor& tensor, double a, const std::string& mode, const std::string& nonlinearity) {
  const Fans fans = calculate_fans(tensor);
  if (mode != "fan_in" && mode != "fan_out")
    throw ValueError("kaiming: mode must be 'fan_in' or 'fan_out', got '{}'", mode);
  const auto fan = static_cast<double>(mode == "fan_in" ? fans.in : fans.out);
  return calculate_gain(nonlinearity, a) / std::sqrt(fan);
}

double xavier_std(const Tensor& tensor, double gain) {
  const Fans fans = calculate_fans(tensor);
  return gain * std::sqrt(2.0 / static_cast<double>(fans.in + fans.out));
}

/// Makes the columns of a matrix, stored in column-major order, orthogonal and of length 1.
void orthonormalize(std::vector<double>& columns, size_t rows, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    double* column = &columns[i * rows];
    // Twice, to remove the rounding errors of the first round.
    for (int round = 0; round < 2; ++round) {
      for (size_t j = 0; j < i; ++j) {
        const double* other = &columns[j * rows];
        double product = 0;
        for (size_t r = 0; r < rows; ++r) product += column[r] * other[r];
        for (size_t r = 0; r < rows; ++r) column[r] -= product * other[r];
      }
    }
    double square = 0;
    for (size_t r = 0; r < rows; ++r) square += column[r] * column[r];
    for (size_t r = 0; r < rows; ++r) column[r] /= std::sqrt(square);
  }
}

}  // namespace

UseGenerator::UseGenerator(GeneratorImpl& generator) : before_(std::exchange(generator_in_use, &generator)) {}
UseGenerator::~UseGenerator() { generator_in_use = before_; }

Tensor random_uniform(const Shape& shape, Dtype dtype) { return sample("random_uniform", {dims_of(shape), dtype}); }
Tensor random_normal(const Shape& shape, Dtype dtype) { return sample("random_normal", {dims_of(shape), dtype}); }
Tensor random_permutation(int64_t n) { return sample("random_permutation", {n}); }

double calculate_gain(const std::string& nonlinearity, double param) {
  if (nonlinearity == "linear" || nonlinearity == "sigmoid" || nonlinearity.starts_with("conv")) return 1;
  if (nonlinearity == "tanh") return 5.0 / 3;
  if (nonlinearity == "relu") return std::sqrt(2.0);
  if (nonlinearity == "leaky_relu") return std::sqrt(2.0 / (1 + param * param));
  if (nonlinearity == "selu") return 0.75;
  throw ValueError("calculate_gain: unknown nonlinearity '{}'", nonlinearity);
}

Fans calculate_fans(const Tensor& tensor) {
  const Shape shape = tensor.shape();
  if (shape.size() < 2)
    throw ValueError("fan in and fan out require at least 2 dimensions, got {}", to_string(unwrap(tensor).type()));
  int64_t field = 1;
  for (size_t d = 2; d < shape.size(); ++d) field *= shape[d];
  return {shape[1] * field, shape[0] * field};
}

Tensor uniform_(Tensor tensor, double a, double b) {
  check_float("uniform_", tensor);
  return write(tensor, random_uniform(tensor.shape(), tensor.dtype()) * (b - a) + a);
}

Tensor normal_(Tensor tensor, double mean, double std) {
  check_float("normal_", tensor);
  return write(tensor, random_normal(tensor.shape(), tensor.dtype()) * std + mean);
}

Tensor trunc_normal_(Tensor tensor, double mean, double std, double a, double b) {
  check_float("trunc_normal_", tensor);
  if (!(a < b)) throw ValueError("trunc_normal_: the lower bound {} must be below the upper bound {}", a, b);
  const double low = (a - mean) / std;
  const double high = (b - mean) / std;
  const bool tail = std::min(normal_cdf(high) - normal_cdf(low), normal_cdf(-low) - normal_cdf(-high)) < 0.05;
  Tensor numbers;
  if (tail) {
    const std::vector<double> uniform = random_uniform(tensor.shape(), kFloat64).to_vector<double>();
    numbers = from_vector(invert_cdf(uniform, low, high), tensor.shape());
  } else {
    numbers = random_normal(tensor.shape(), tensor.dtype());
    while (true) {
      const Tensor outside = logical_or(lt(numbers, low), gt(numbers, high));
      if (!any(outside).item<bool>()) break;
      numbers = where(outside, random_normal(tensor.shape(), tensor.dtype()), numbers);
    }
  }
  return write(tensor, clamp(numbers * std + mean, a, b));
}

Tensor constant_(Tensor tensor, double value) {
  const NoGrad no_grad;
  tensor.detach().fill_(value);
  return tensor;
}
Tensor ones_(Tensor tensor) { return constant_(std::move(tensor), 1); }
Tensor zeros_(Tensor tensor) { return constant_(std::move(tensor), 0); }

Tensor eye_(Tensor tensor) {
  if (tensor.dim() != 2) throw ValueError("eye_: expected 2 dimensions, got {}", to_string(unwrap(tensor).type()));
  const DeviceScope device(unwrap(tensor).device());
  return write(tensor, eye(tensor.size(0), tensor.size(1), tensor.dtype()));
}

Tensor dirac_(Tensor tensor, int64_t groups) {
  const Shape shape = tensor.shape();
  if (shape.size() < 3 || shape.size() > 5)
    throw ValueError("dirac_: expected 3, 4 or 5 dimensions, got {}", to_string(unwrap(tensor).type()));
  if (groups <= 0 || shape[0] % groups != 0)
    throw ValueError("dirac_: {} output channels cannot be split into {} groups", shape[0], groups);
  if (tensor.numel() == 0) return tensor;
  std::vector<double> values(static_cast<size_t>(tensor.numel()));
  int64_t kernel = 1;
  int64_t middle = 0;
  for (size_t d = 2; d < shape.size(); ++d) {
    kernel *= shape[d];
    middle = middle * shape[d] + shape[d] / 2;
  }
  const int64_t per_group = shape[0] / groups;
  for (int64_t group = 0; group < groups; ++group)
    for (int64_t channel = 0; channel < std::min(per_group, shape[1]); ++channel)
      values[static_cast<size_t>(((group * per_group + channel) * shape[1] + channel) * kernel + middle)] = 1;
  return write(tensor, from_vector(values, shape));
}

Tensor xavier_uniform_(Tensor tensor, double gain) {
  const double bound = std::sqrt(3.0) * xavier_std(tensor, gain);
  return uniform_(std::move(tensor), -bound, bound);
}

Tensor xavier_normal_(Tensor tensor, double gain) {
  const double std = xavier_std(tensor, gain);
  return normal_(std::move(tensor), 0, std);
}

Tensor kaiming_uniform_(Tensor tensor, double a, const std::string& mode, const std::string& nonlinearity) {
  if (tensor.numel() == 0) return tensor;
  const double bound = std::sqrt(3.0) * kaiming_std(tensor, a, mode, nonlinearity);
  return uniform_(std::move(tensor), -bound, bound);
}

Tensor kaiming_normal_(Tensor tensor, double a, const std::string& mode, const std::string& nonlinearity) {
  if (tensor.numel() == 0) return tensor;
  const double std = kaiming_std(tensor, a, mode, nonlinearity);
  return normal_(std::move(tensor), 0, std);
}

Tensor orthogonal_(Tensor tensor, double gain) {
  if (tensor.dim() < 2)
    throw ValueError("orthogonal_: expected at least 2 dimensions, got {}", to_string(unwrap(tensor).type()));
  if (tensor.numel() == 0) return tensor;
  const auto rows = static_cast<size_t>(tensor.size(0));
  const size_t columns = static_cast<size_t>(tensor.numel()) / rows;
  const size_t length = std::max(rows, columns);
  const size_t count = std::min(rows, columns);
  std::vector<double> values =
      random_normal({static_cast<int64_t>(count), static_cast<int64_t>(length)}, kFloat64).to_vector<double>();
  orthonormalize(values, length, count);
  Tensor matrix = from_vector(values, {static_cast<int64_t>(count), static_cast<int64_t>(length)});
  if (rows > columns) matrix = transpose(matrix, 0, 1);
  return write(tensor, reshape(matrix, tensor.shape()) * gain);
}

Tensor sparse_(Tensor tensor, double sparsity, double std) {
  if (tensor.dim() != 2) throw ValueError("sparse_: expected 2 dimensions, got {}", to_string(unwrap(tensor).type()));
  const int64_t rows = tensor.size(0);
  const int64_t columns = tensor.size(1);
  if (!(sparsity >= 0 && sparsity <= 1))
    throw ValueError("sparse_: sparsity is the part of each column that is zero, from 0 to 1, got {}", sparsity);
  if (tensor.numel() == 0) return tensor;
  const auto zeros = static_cast<int64_t>(std::ceil(sparsity * static_cast<double>(rows)));
  std::vector<double> values = random_normal(tensor.shape(), kFloat64).to_vector<double>();
  for (int64_t column = 0; column < columns; ++column) {
    const std::vector<int64_t> order = random_permutation(rows).to_vector<int64_t>();
    for (int64_t i = 0; i < zeros; ++i)
      values[static_cast<size_t>(order[static_cast<size_t>(i)] * columns + column)] = 0;
  }
  return write(tensor, from_vector(values, tensor.shape()) * std);
}

}  // namespace lucid::nn::init
