#include <optional>

#include "base/dim_math.h"
#include "gpu_traits.h"
#include "interpret_schedule.h"
#include "ir/graph_emitter.h"
#include "schedule/convolution.h"

// Convolutions by tiles in shared memory have the bits of the CPU's kernels.
namespace lucid {
namespace {

struct Case {
  Dims x;       // batch, channels, sizes
  Dims weight;  // out, in, kernel; with `transposed` in, out, kernel
  int64_t stride = 1;
  int64_t low = 0;
  int64_t high = 0;
  int64_t input_dilation = 1;
  int64_t dilation = 1;
  int64_t groups = 1;
  bool transposed = false;
  Dtype dtype = Dtype::kF32;
  bool has_bias = true;
  bool is_channels_last = false;
};

/// Dimensions with the channels of x innermost in memory.
Geometry channels_last(const Dims& sizes) {
  Dims strides = sizes;
  int64_t stride = sizes[1];
  strides[1] = 1;
  for (size_t d = sizes.size(); d-- > 2;) {
    strides[d] = stride;
    stride *= sizes[d];
  }
  strides[0] = stride;
  return {sizes, strides, 0};
}

/// A graph with a convolution and its gradient with respect to the weight, and its inputs.
class Program {
 public:
  explicit Program(const Case& test) : emitter_(graph_) {
    const size_t axes = test.x.size() - 2;
    const auto all = [&](int64_t value) { return Dims(std::vector<SymInt>(axes, SymInt(value))); };
    const Value x = input(test.x, test.dtype, test.is_channels_last);
    const Value weight = input(test.weight, test.dtype, false);
    const int64_t outs = test.transposed ? test.weight[1] * test.groups : test.weight[0];
    const Value bias = test.has_bias ? input({outs}, test.dtype, false) : Value();
    const Value y = emitter_.convolution(x, weight, test.has_bias ? Operand(bias) : Operand(), all(test.stride),
                                         all(test.low), all(test.high), all(test.input_dilation), all(test.dilation),
                                         test.groups, test.transposed);
    const Value grad = input(graph_.values.at(GraphEmitter::id_of(y)).type.shape, test.dtype, test.is_channels_last);
    Dims kernel;
    for (size_t d = 2; d < test.weight.size(); ++d) kernel.push_back(test.weight[d]);
    const Value weight_grad =
        emitter_.convolution_weight(x, grad, kernel, all(test.stride), all(test.low), all(test.input_dilation),
                                    all(test.dilation), test.groups, test.transposed);
    graph_.output_ids = {GraphEmitter::id_of(y), GraphEmitter::id_of(weight_grad)};
  }

  std::vector<test::Bytes> run(const TargetTraits& target) const {
    return test::interpret_schedule(graph_, geometries_, contents_, target);
  }
  /// Whether the schedule for a gpu has groups, for the convolution and for the gradient.
  std::pair<bool, bool> has_groups() const {
    IRGraph graph = graph_;
    auto layouts = assign_layouts(graph, geometries_);
    const Schedule schedule = schedule_graph(graph, std::move(layouts), test::kGpuTraits);
    std::pair<bool, bool> result;
    for (const KernelStep& step : schedule.steps) {
      if (step.kernel->group == 1) continue;
      (step.kernel->name.starts_with("convolution_weight") ? result.second : result.first) = true;
    }
    return result;
  }

 private:
  Value input(const Dims& sizes, Dtype dtype, bool is_channels_last) {
    const ValueId id = graph_.add_input({dtype, sizes});
    geometries_[id] = is_channels_last ? channels_last(sizes) : Geometry{sizes, contiguous_strides(sizes), 0};
    contents_[id] = test::random_elements(dtype, numel(sizes), random_);
    return emitter_.value(id);
  }

  IRGraph graph_;
  GraphEmitter emitter_;
  std::map<ValueId, Geometry> geometries_;
  std::map<ValueId, test::Bytes> contents_;
  std::mt19937 random_{7};
};

void check(const Case& test) {
  const Program program(test);
  EXPECT_EQ(program.has_groups(), std::pair(true, true));
  const auto expected = program.run(cpu_traits());
  const auto found = program.run(test::kGpuTraits);
  EXPECT_EQ(found[0], expected[0]) << "the convolution";
  EXPECT_EQ(found[1], expected[1]) << "the gradient of the weight";
}

TEST(GpuConvolution, Plain) { check({.x = {2, 8, 9, 11}, .weight = {18, 8, 3, 3}}); }

TEST(GpuConvolution, OneAndThreeAxes) {
  check({.x = {2, 9, 40}, .weight = {17, 9, 5}, .stride = 2, .low = 2, .high = 1});
  check({.x = {1, 8, 4, 5, 6}, .weight = {8, 8, 2, 3, 2}, .low = 1, .high = 1});
}

TEST(GpuConvolution, PaddingStridesAndDilation) {
  check({.x = {2, 8, 9, 10}, .weight = {16, 8, 3, 3}, .low = 1, .high = 1});
  check({.x = {1, 8, 11, 9}, .weight = {20, 8, 3, 3}, .stride = 2, .low = 2, .high = 0});
  check({.x = {1, 8, 11, 9}, .weight = {8, 8, 3, 2}, .low = 3, .high = 2, .dilation = 2});
  check({.x = {1, 8, 9, 9}, .weight = {8, 8, 3, 3}, .low = -1, .high = -2, .has_bias = false});
}

TEST(GpuConvolution, ZerosBetweenElements) {
  check({.x = {2, 8, 5, 4}, .weight = {9, 8, 3, 3}, .low = 2, .high = 2, .input_dilation = 2});
  check({.x = {1, 8, 5, 4}, .weight = {8, 9, 3, 4}, .low = 3, .high = 1, .input_dilation = 3, .transposed = true});
}

TEST(GpuConvolution, Groups) {
  check({.x = {2, 12, 6, 7}, .weight = {24, 4, 3, 3}, .low = 1, .high = 1, .groups = 3});
  check({.x = {1, 16, 6, 7}, .weight = {16, 9, 3, 3}, .low = 1, .high = 1, .groups = 2, .transposed = true});
}

TEST(GpuConvolution, SeveralChains) {
  // 600 terms, and 3 * 14 * 15 = 630 pixels.
  check({.x = {3, 24, 14, 15}, .weight = {8, 24, 5, 5}, .low = 2, .high = 2});
}

TEST(GpuConvolution, ChannelsLast) {
  check({.x = {2, 16, 7, 6}, .weight = {16, 16, 3, 3}, .low = 1, .high = 1, .is_channels_last = true});
}

TEST(GpuConvolution, Dtypes) {
  for (const Dtype dtype : {Dtype::kF64, Dtype::kF16, Dtype::kBF16, Dtype::kI32, Dtype::kI64, Dtype::kU8})
    check({.x = {1, 8, 6, 7}, .weight = {9, 8, 3, 3}, .low = 1, .high = 1, .dtype = dtype});
}

TEST(GpuConvolution, FewChannelsHaveTheKernelsOfTheCpu) {
  EXPECT_EQ(Program({.x = {1, 6, 9, 9}, .weight = {6, 1, 3, 3}, .groups = 6}).has_groups(), std::pair(false, false));
  EXPECT_EQ(Program({.x = {1, 1, 9, 9}, .weight = {4, 1, 3, 3}}).has_groups(), std::pair(false, false));
}

}  // namespace
}  // namespace lucid
