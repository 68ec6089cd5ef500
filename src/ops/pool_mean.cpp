// Mean pooling and its gradient.

#include <optional>

#include "ops/pool_windows.h"

namespace lucid {
namespace {

/// The number of elements that a mean counts, if it is the same for all windows.
std::optional<int64_t> common_divisor(std::span<const PoolAxis> axes, bool include_padding) {
  int64_t product = 1;
  for (const PoolAxis& axis : axes) {
    const bool all_inside = (axis.output - 1) * axis.stride + axis.kernel - axis.padding <=
                            axis.input + (include_padding ? axis.padding : 0);
    if (axis.adaptive || !all_inside || (axis.padding > 0 && !include_padding)) return std::nullopt;
    product *= axis.kernel;
  }
  return product;
}

/// The divisor of the window at these indices.
loop::Value divisor(ElementContext& element, const Call& call, std::span<const PoolAxis> axes,
                    std::span<const loop::Value> window, Dtype dtype) {
  loop::Builder& b = element.builder();
  if (!call.is_none("divisor")) return b.convert(element.number(call.integer("divisor")), dtype);
  if (const auto common = common_divisor(axes, call.flag("include_padding")))
    return b.constant(dtype, static_cast<double>(*common));
  loop::Value count;
  for (size_t d = 0; d < axes.size(); ++d) {
    const loop::Value along = counted_elements(b, axes[d], window[d], call.flag("include_padding"));
    count = count ? count * along : along;
  }
  return b.convert(count, dtype);
}

template <typename T>
T reference_divisor(const Call& call, std::span<const PoolAxis> axes, const Dims& window) {
  if (!call.is_none("divisor")) return static_cast<T>(call.integer("divisor"));
  int64_t count = 1;
  for (size_t d = 0; d < axes.size(); ++d) count *= axes[d].count(window[d], call.flag("include_padding"));
  return static_cast<T>(count);
}

std::vector<Sample> mean_samples() {
  return window_samples(Fill::kNormal) +
         with({{{normal({2, 7, 18})}}}, {{"kernel", Dims{3, 3}},
                                         {"stride", Dims{2, 2}},
                                         {"padding", Dims{1, 1}},
                                         {"dilation", Dims{1, 1}},
                                         {"size", Dims{4, 9}},
                                         {"include_padding", false}}) +
         with({{{normal({9, 11})}}}, {{"kernel", Dims{5, 5}},
                                      {"stride", Dims{3, 4}},
                                      {"padding", Dims{0, 0}},
                                      {"dilation", Dims{1, 1}},
                                      {"size", Dims{3, 3}},
                                      {"divisor", int64_t{7}}});
}

Op mean_pool() {
  return {
      .signature =
          "mean_pool(x, kernel: ints, stride: ints, padding: ints, dilation: ints, size: ints, "
          "include_padding: bool = True, divisor: int? = None)",
      .doc = R"(Computes the mean of each window over the last dimensions of `x`. `kernel`, `stride`, `padding` and
`dilation` have one element for each pooled dimension, and `size` holds the sizes of the result. An
empty `kernel` selects adaptive windows, which divide the dimensions evenly. `include_padding` selects
whether padding counts in the divisor, and `divisor` replaces the divisor.

>>> lucid.mean_pool(lucid.tensor([1., 5., 2., 4.]), [2], [2], [0], [1], [2])
tensor([3., 3.]))",
      .names = {.audience = Audience::kOps},
      .dtypes = kFloats,
      .infer = infer_pool,
      .lowering = IndexedLowering{.body =
                                      [](ElementContext& element, const Call& call) {
                                        loop::Builder& b = element.builder();
                                        const std::vector<PoolAxis> axes = pool_axes(call, false);
                                        const ElementIndex index(element, call.rank(0), axes.size());
                                        const Dtype dtype = compute_dtype(call.dtype(0));
                                        const loop::Value sum = for_each_tap(
                                            b, axes, index.last, {index.spread(b.constant(dtype, 0.0))},
                                            [&](const PoolPlace& place, const PoolState& state) -> PoolState {
                                              return {state[0] + element.load(0, index.at(place.index), place.valid)};
                                            })[0];
                                        return sum / divisor(element, call, axes, index.last, dtype);
                                      }},
      .reference =
          [](HostCall& call) {
            const TensorType type = infer_types(call).front();
            const HostArray out = call.make_output(type);
            const std::vector<PoolAxis> axes = pool_axes(call, false);
            dispatch<Domain::kFloats>(type.dtype, [&]<typename T>() {
              const auto x = read_operand<T>(call, 0, type.dtype, call.shape(0));
              for_each_window(
                  type.shape, axes,
                  [&](int64_t index, const Dims& window, int64_t first, const std::vector<int64_t>& places) {
                    T sum = 0;
                    for (const int64_t place : places) sum += x[static_cast<size_t>(first + place)];
                    write_element(out, index, sum / reference_divisor<T>(call, axes, window));
                  });
            });
          },
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
        Value shared = g[0];
        std::optional<int64_t> divisor = call.is_none("divisor")
                                             ? common_divisor(pool_axes(call, false), call.flag("include_padding"))
                                             : std::optional<int64_t>(call.integer("divisor"));
        if (divisor) {
          // Divide once for each window instead of once for each element.
          shared = e.div(g[0], *divisor);
          divisor = 1;
        }
        return {e.mean_pool_back(shared, call.ints("kernel"), call.ints("stride"), call.ints("padding"),
                                 call.ints("dilation"), pooled_sizes(call), call.flag("include_padding"), divisor)};
      }},
      .samples = mean_samples(),
  };
}

/// Samples of mean_pool_back: samples of mean_pool with the sizes of operand and result exchanged.
std::vector<Sample> backward_samples(std::vector<Sample> samples) {
  for (Sample& sample : samples) {
    for (auto& [name, value] : sample.attributes) {
      if (name != "size") continue;
      auto& size = std::get<Dims>(value);
      Dims& shape = sample.tensors[0].shape;
      for (size_t d = 0; d < size.size(); ++d) std::swap(size[d], shape[shape.size() - size.size() + d]);
    }
  }
  return samples;
}

Op mean_pool_back() {
  return {
      .signature =
          "mean_pool_back(grad, kernel: ints, stride: ints, padding: ints, dilation: ints, size: ints, "
          "include_padding: bool = True, divisor: int? = None)",
      .doc = R"(Computes the gradient of mean_pool with respect to its operand. `grad` is the gradient of its result,
and `size` holds the sizes of the pooled dimensions of the operand. The other parameters are those of
mean_pool.

>>> lucid.mean_pool_back(lucid.tensor([1., 2.]), [2], [2], [0], [1], [4])
tensor([0.5000, 0.5000, 1.0000, 1.0000]))",
      .names = {.audience = Audience::kOps},
      .dtypes = kFloats,
      .infer = infer_pool,
      .lowering =
          IndexedLowering{.body =
                              [](ElementContext& element, const Call& call) {
                                loop::Builder& b = element.builder();
                                const std::vector<PoolAxis> axes = pool_axes(call, true);
                                const ElementIndex index(element, call.rank(0), axes.size());
                                const Dtype dtype = compute_dtype(call.dtype(0));
                                const loop::Value zero = b.constant(dtype, 0.0);
                                return for_each_covering_window(
                                    b, axes, index.last, {index.spread(zero)},
                                    [&](const PoolPlace& place, const PoolState& sum) -> PoolState {
                                      const loop::Value g = element.load(0, index.at(place.index), place.valid);
                                      const bool divides = call.is_none("divisor") || call.integer("divisor") != 1;
                                      const loop::Value part =
                                          divides ? g / divisor(element, call, axes, place.index, dtype) : g;
                                      return {sum[0] + (place.valid ? b.select(place.valid, part, zero) : part)};
                                    })[0];
                              }},
      .reference =
          [](HostCall& call) {
            const TensorType type = infer_types(call).front();
            const HostArray out = call.make_output(type);
            const std::vector<PoolAxis> axes = pool_axes(call, true);
            dispatch<Domain::kFloats>(type.dtype, [&]<typename T>() {
              const auto g = read_operand<T>(call, 0, type.dtype, call.shape(0));
              std::vector<T> sums(static_cast<size_t>(out.size()));
              for_each_window(
                  call.shape(0), axes,
                  [&](int64_t index, const Dims& window, int64_t first, const std::vector<int64_t>& places) {
                    const T part = g[static_cast<size_t>(index)] / reference_divisor<T>(call, axes, window);
                    for (const int64_t place : places) sums[static_cast<size_t>(first + place)] += part;
                  });
              for (size_t i = 0; i < sums.size(); ++i) write_element(out, static_cast<int64_t>(i), sums[i]);
            });
          },
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
        const auto divisor = call.is_none("divisor") ? std::nullopt : std::optional<int64_t>(call.integer("divisor"));
        return {e.mean_pool(g[0], call.ints("kernel"), call.ints("stride"), call.ints("padding"), call.ints("dilation"),
                            pooled_sizes(call), call.flag("include_padding"), divisor)};
      }},
      .samples = backward_samples(mean_samples()),
  };
}

}  // namespace

void add_mean_pool_ops(std::vector<Op>& ops) {
  for (auto make : {mean_pool, mean_pool_back}) ops.push_back(make());
}

}  // namespace lucid
