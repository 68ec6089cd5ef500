#include <gtest/gtest.h>

#include <random>

#include "ops/convolution_rules.h"
#include "runtime/float_mode.h"
#include "tensor/eager.h"
#include "tensor_samples.h"

// Compares convolutions of random shapes with their reference, bitwise. The shape determines the kernel.
namespace lucid {
namespace {

using test::TensorSample;

class RandomShape {
 public:
  explicit RandomShape(uint32_t seed) : random_(seed) {
    const int64_t dimensions = among({1, 2, 2, 2, 3});
    shape_.batch = among({1, 1, 2, 3});
    shape_.groups = among({1, 1, 1, 2, 5, 17});
    const bool depthwise = shape_.groups > 1 && among({0, 1}) == 1;
    shape_.in_channels = depthwise ? 1 : among({1, 2, 3, 6, 15, 16, 17, 40});
    shape_.out_channels = depthwise ? 1 : among({1, 2, 6, 7, 16, 18, 33, 64});
    shape_.transposed = among({0, 0, 1}) == 1;
    for (int64_t d = 0; d < dimensions; ++d) {
      const bool last = d + 1 == dimensions;
      ConvolutionAxis axis{.output = last ? among({1, 2, 7, 14, 16, 17, 33, 60}) : among({1, 2, 3, 5}),
                           .kernel = among({1, 2, 3, 3, 5}),
                           .stride = among({1, 1, 1, 2, 3}),
                           .low = among({0, 0, 1, 2, -1}),
                           .input_dilation = among({1, 1, 1, 2}),
                           .dilation = among({1, 1, 1, 2})};
      // An input that the windows cover exactly, or that is smaller or larger.
      const int64_t spread = std::max<int64_t>(1, axis.extent() - axis.low - among({0, 0, 1}));
      axis.input = (spread - 1) / axis.input_dilation + 1;
      shape_.axes.push_back(axis);
    }
    while (shape_.groups * shape_.in_channels * shape_.out_channels * shape_.taps() * shape_.outputs() > 400'000)
      shape_.groups = shape_.groups > 1 ? 1 : shrink();
  }

  Sample convolution() {
    Sample sample{{normal(shape_.input_shape()), normal(shape_.weight_shape()), absent()}, numbers()};
    if (among({0, 1}) == 1) sample.tensors[2] = normal({shape_.groups * shape_.out_channels});
    Dims high;
    for (const ConvolutionAxis& axis : shape_.axes)
      high.push_back(axis.extent() - axis.low - ((axis.input - 1) * axis.input_dilation + 1));
    sample.attributes.emplace_back("high", high);
    return sample;
  }

  Sample weight_gradient() {
    Sample sample{{normal(shape_.input_shape()), normal(shape_.output_shape())}, numbers()};
    Dims kernel;
    for (const ConvolutionAxis& axis : shape_.axes) kernel.push_back(axis.kernel);
    sample.attributes.emplace_back("kernel", kernel);
    return sample;
  }

 private:
  int64_t among(std::vector<int64_t> choices) {
    return choices[std::uniform_int_distribution<size_t>(0, choices.size() - 1)(random_)];
  }

  /// Halves the channels; there is one group.
  int64_t shrink() {
    shape_.in_channels = (shape_.in_channels + 1) / 2;
    shape_.out_channels = (shape_.out_channels + 1) / 2;
    return 1;
  }

  std::vector<std::pair<std::string, Attribute>> numbers() const {
    Dims stride, low, input_dilation, dilation;
    for (const ConvolutionAxis& axis : shape_.axes) {
      stride.push_back(axis.stride);
      low.push_back(axis.low);
      input_dilation.push_back(axis.input_dilation);
      dilation.push_back(axis.dilation);
    }
    return {{"stride", stride},        {"low", low},
            {"dilation", dilation},    {"input_dilation", input_dilation},
            {"groups", shape_.groups}, {"transposed", shape_.transposed}};
  }

  std::mt19937 random_;
  ConvolutionShape shape_;
};

void compare(const char* name, const Sample& sample, Dtype dtype) {
  const Op& op = op_table().at(name);
  const TensorSample made(op, sample, dtype);
  SCOPED_TRACE(test::describe(made.reference));
  const Value result = eager().emit_one(op, made.operands, made.reference.attributes);
  const FloatModeScope float_mode;
  const Value expected = Interpreter().emit_one(op, made.reference.operands, made.reference.attributes);
  const TensorImpl& got = *tensor_of(result);
  const HostArray want = Interpreter::array(expected);
  ASSERT_EQ(to_string(result.type()), to_string(expected.type()));
  for (int64_t i = 0; i < got.numel(); ++i) {
    const auto bytes = static_cast<int64_t>(size_of(dtype));
    const double x = Scalar::load(dtype, test::element_at(got, i)).to_double();
    const double y = Scalar::load(dtype, want.as<char>() + i * bytes).to_double();
    ASSERT_TRUE(x == y && std::signbit(x) == std::signbit(y)) << "element " << i << " is " << x << " instead of " << y;
  }
}

TEST(Convolution, OfRandomShapesAgreesWithItsReference) {
  for (uint32_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomShape shape(seed);
    compare("convolution", shape.convolution(), seed % 8 == 7 ? Dtype::kF64 : Dtype::kF32);
    if (HasFatalFailure()) return;
  }
}

TEST(Convolution, WeightGradientsOfRandomShapesAgreeWithTheirReference) {
  for (uint32_t seed = 0; seed < 120; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomShape shape(1000 + seed);
    compare("convolution_weight", shape.weight_gradient(), seed % 8 == 7 ? Dtype::kF64 : Dtype::kF32);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace lucid
