// Max pooling: the maximum of each window, its position, and the gradient. The gradient of each element is computed
// from the windows that contain it, so no two threads write to one location.

#include <limits>

#include "ops/pool_windows.h"

namespace lucid {
namespace {

using Types = std::vector<TensorType>;

loop::Value lowest(loop::Builder& b, Dtype dtype) {
  if (is_float(dtype)) return b.constant(dtype, -std::numeric_limits<double>::infinity());
  if (dtype == Dtype::kU8) return b.constant(dtype, 0);
  return b.constant(dtype, std::numeric_limits<int64_t>::min() >> (64 - 8 * size_of(dtype)));
}

/// The row-major position of an index of the pooled dimensions.
loop::Value flat(loop::Builder& b, std::span<const PoolAxis> axes, std::span<const loop::Value> place) {
  loop::Value at = place[0];
  for (size_t d = 1; d < axes.size(); ++d) at = at * b.index(axes[d].input) + place[d];
  return at;
}

/// The maximum of the window and its position. NaN counts as larger than any number. Of equal elements the first is
/// chosen, of several NaNs the last.
PoolState best_of_window(ElementContext& element, const Call& call, bool with_position) {
  loop::Builder& b = element.builder();
  const std::vector<PoolAxis> axes = pool_axes(call, false);
  const ElementIndex index(element, call.rank(0), axes.size());
  PoolState state{index.spread(lowest(b, compute_dtype(call.dtype(0))))};
  if (with_position) state.push_back(index.spread(b.index(-1)));
  return for_each_tap(b, axes, index.last, state, [&](const PoolPlace& place, const PoolState& best) -> PoolState {
    const loop::Value x = index.spread(element.load(0, index.at(place.index), place.valid));
    loop::Value better = x > best[0];
    if (is_float(x.dtype())) better = better | (x != x);
    if (with_position) better = better | (best[1] < index.spread(b.index(0)));
    if (place.valid) better = better & place.valid;
    PoolState next{b.select(better, x, best[0])};
    if (with_position) next.push_back(b.select(better, index.spread(flat(b, axes, place.index)), best[1]));
    return next;
  });
}

void reference_best(HostCall& call, bool position) {
  const TensorType type = infer_types(call).front();
  const HostArray out = call.make_output(type);
  const std::vector<PoolAxis> axes = pool_axes(call, false);
  dispatch<Domain::kNumbers>(call.dtype(0), [&]<typename T>() {
    const auto x = read_operand<T>(call, 0, call.dtype(0), call.shape(0));
    for_each_window(type.shape, axes,
                    [&](int64_t index, const Dims&, int64_t first, const std::vector<int64_t>& places) {
                      int64_t best = places.front();
                      for (const int64_t place : places) {
                        const T held = x[static_cast<size_t>(first + best)];
                        const T next = x[static_cast<size_t>(first + place)];
                        if (next > held || next != next) best = place;
                      }
                      if (position)
                        out.as<int64_t>()[index] = best;
                      else
                        write_element(out, index, x[static_cast<size_t>(first + best)]);
                    });
  });
}

std::vector<Sample> dilated_samples() {
  return with({{{filled({2, 9, 11}, Fill::kDistinct)}}}, {{"kernel", Dims{3, 2}},
                                                          {"stride", Dims{1, 2}},
                                                          {"padding", Dims{1, 0}},
                                                          {"dilation", Dims{2, 3}},
                                                          {"size", Dims{7, 4}}});
}

Value positions_of(Emitter& e, const GradientCall& call) {
  return e.max_position(call.in(0), call.ints("kernel"), call.ints("stride"), call.ints("padding"),
                        call.ints("dilation"), call.ints("size"));
}

Op max_pool() {
  return {
      .signature = "max_pool(x, kernel: ints, stride: ints, padding: ints, dilation: ints, size: ints)",
      .doc = R"(Computes the maximum of each window over the last dimensions of `x`. `kernel`, `stride`, `padding` and
`dilation` have one element for each pooled dimension, and `size` holds the sizes of the result. An
empty `kernel` selects adaptive windows, which divide the dimensions evenly.

>>> lucid.max_pool(lucid.tensor([1., 5., 2., 4.]), [2], [2], [0], [1], [2])
tensor([5., 4.]))",
      .names = {.audience = Audience::kOps},
      .dtypes = kNumbers,
      .infer = infer_pool,
      .lowering = IndexedLowering{.body = [](ElementContext& element,
                                             const Call& call) { return best_of_window(element, call, false)[0]; }},
      .reference = [](HostCall& call) { reference_best(call, false); },
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     return {e.max_pool_back(g[0], positions_of(e, call), call.ints("kernel"), call.ints("stride"),
                                             call.ints("padding"), call.ints("dilation"), pooled_sizes(call))};
                   },
                   .saved_inputs = {0}},
      .samples = window_samples(Fill::kDistinct) + dilated_samples(),
  };
}

Op max_position() {
  return {
      .signature = "max_position(x, kernel: ints, stride: ints, padding: ints, dilation: ints, size: ints)",
      .doc = R"(Returns the i64 position of the maximum of each window over the last dimensions of `x`, counted in those
dimensions flattened. The parameters are those of max_pool.

>>> lucid.max_position(lucid.tensor([1., 5., 2., 4.]), [2], [2], [0], [1], [2])
tensor([1, 3]))",
      .names = {.audience = Audience::kOps},
      .dtypes = kNumbers,
      .infer = [](const Call& call) -> Types {
        checked_numel(call.name(), resized(call), sizeof(int64_t));
        return {{Dtype::kI64, resized(call)}};
      },
      .lowering = IndexedLowering{.body = [](ElementContext& element,
                                             const Call& call) { return best_of_window(element, call, true)[1]; }},
      .reference = [](HostCall& call) { reference_best(call, true); },
      .gradient = zero_gradient(),
      .samples = window_samples(Fill::kNormal) + dilated_samples(),
  };
}

Op max_pool_back() {
  return {
      .signature =
          "max_pool_back(grad, indices, kernel: ints, stride: ints, padding: ints, dilation: ints, size: ints)",
      .doc = R"(Computes the gradient of max_pool with respect to its operand. `grad` is the gradient of its result,
`indices` holds the positions of the maxima as max_position returns them, and `size` holds the sizes of
the pooled dimensions of the operand.

>>> lucid.max_pool_back(lucid.tensor([1., 2.]), lucid.tensor([1, 3]), [2], [2], [0], [1], [4])
tensor([0., 1., 0., 2.]))",
      .names = {.audience = Audience::kOps},
      .dtypes = kFloats,
      .infer = infer_pool,
      .lowering = IndexedLowering{.body =
                                      [](ElementContext& element, const Call& call) {
                                        loop::Builder& b = element.builder();
                                        const std::vector<PoolAxis> axes = pool_axes(call, true);
                                        const ElementIndex index(element, call.rank(0), axes.size());
                                        const loop::Value here = flat(b, axes, index.last);
                                        const loop::Value zero = b.constant(compute_dtype(call.dtype(0)), 0.0);
                                        return for_each_covering_window(
                                            b, axes, index.last, {index.spread(zero)},
                                            [&](const PoolPlace& place, const PoolState& sum) -> PoolState {
                                              const auto window = index.at(place.index);
                                              loop::Value chosen = element.load(1, window, place.valid) == here;
                                              if (place.valid) chosen = chosen & place.valid;
                                              const loop::Value g = element.load(0, window, place.valid);
                                              return {sum[0] + b.select(chosen, g, zero)};
                                            })[0];
                                      }},
      .reference =
          [](HostCall& call) {
            const TensorType type = infer_types(call).front();
            const HostArray out = call.make_output(type);
            dispatch<Domain::kFloats>(type.dtype, [&]<typename T>() {
              const auto g = read_operand<T>(call, 0, type.dtype, call.shape(0));
              std::vector<T> sums(static_cast<size_t>(out.size()));
              const int64_t plane = numel(call.ints("size"));
              const int64_t windows = numel(pooled_sizes(call));
              for (size_t i = 0; i < g.size(); ++i) {
                const int64_t image = static_cast<int64_t>(i) / windows;
                sums[static_cast<size_t>(image * plane + call.in(1).as<int64_t>()[i])] += g[i];
              }
              for (size_t i = 0; i < sums.size(); ++i) write_element(out, static_cast<int64_t>(i), sums[i]);
            });
          },
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
                     const Dims pooled = pooled_sizes(call);
                     Dims planes = g[0].shape();
                     Dims windows = call.shape(0);
                     const auto leading = planes.size() - pooled.size();
                     planes.resize(leading);
                     windows.resize(leading);
                     planes.push_back(numel(call.ints("size")));
                     windows.push_back(numel(pooled));
                     const Value picked = e.gather(e.reshape(g[0], planes), static_cast<int64_t>(leading),
                                                   e.reshape(call.in(1), windows));
                     return {e.reshape(picked, call.shape(0)), Value()};
                   },
                   .saved_inputs = {1}},
      // Each position is inside its window.
      .samples = with({{{normal({2, 3}), {.shape = {2, 3}, .fill = Fill::kOffset, .dtype = Dtype::kI64, .bound = 1}}}},
                      {{"kernel", Dims{3}},
                       {"stride", Dims{1}},
                       {"padding", Dims{2}},
                       {"dilation", Dims{1}},
                       {"size", Dims{1}}}) +
                 with({{{normal({2, 1, 1}), offsets({2, 1, 1}, 15)}}}, {{"kernel", Dims{}},
                                                                        {"stride", Dims{}},
                                                                        {"padding", Dims{}},
                                                                        {"dilation", Dims{}},
                                                                        {"size", Dims{5, 3}}}),
  };
}

}  // namespace

void add_max_pool_ops(std::vector<Op>& ops) {
  for (auto make : {max_pool, max_position, max_pool_back}) ops.push_back(make());
}

}  // namespace lucid
