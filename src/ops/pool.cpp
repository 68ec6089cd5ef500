// Pools: the largest element of each window and where it stands, means of windows, and their gradients. A gradient is
// computed for each element from the windows that it lies in, so no two threads meet in one place.

#include <limits>
#include <optional>

#include "ops/pool_rules.h"
#include "ops/reference.h"
#include "ops/reference_index.h"
#include "ops/rules.h"

namespace lucid {
namespace {

using Types = std::vector<TensorType>;

/// Operand 0's shape with the last sizes replaced.
Dims resized(const Call& call) {
  const Dims& size = call.ints("size");
  Dims shape = call.shape(0);
  if (size.size() > shape.size())
    throw ValueError("{}: {} sizes, but the operand has only {} dimensions", call.name(), size.size(), shape.size());
  for (const char* name : {"kernel", "stride", "padding", "dilation"})
    if (!call.ints("kernel").empty() && call.ints(name).size() != size.size())
      throw ValueError("{}: {} has {} numbers, but size has {}", call.name(), name, call.ints(name).size(),
                       size.size());
  for (size_t d = 0; d < size.size(); ++d) shape[shape.size() - size.size() + d] = size[d];
  return shape;
}

Types infer_same_dtype(const Call& call) {
  checked_numel(call.name(), resized(call), size_of(call.dtype(0)));
  return {{call.dtype(0), resized(call)}};
}

/// The element's index in all dimensions.
struct ElementIndex {
  ElementIndex(ElementContext& element, int64_t rank, size_t pooled) {
    for (int64_t d = 0; d < rank; ++d) {
      const loop::Value i = element.index(d);
      (d < rank - static_cast<int64_t>(pooled) ? before : last).push_back(i);
      vector |= i.is_vector();
    }
  }
  /// The index of a place in another tensor with the same leading dimensions.
  std::vector<loop::Value> at(const std::vector<loop::Value>& place) const {
    std::vector<loop::Value> index = before;
    index.insert(index.end(), place.begin(), place.end());
    return index;
  }
  loop::Value spread(loop::Value value) const {
    return vector && !value.is_vector() ? value.builder().splat(value) : value;
  }

  std::vector<loop::Value> before;
  std::vector<loop::Value> last;
  bool vector = false;
};

loop::Value lowest(loop::Builder& b, Dtype dtype) {
  if (is_float(dtype)) return b.constant(dtype, -std::numeric_limits<double>::infinity());
  if (dtype == Dtype::kU8) return b.constant(dtype, 0);
  return b.constant(dtype, std::numeric_limits<int64_t>::min() >> (64 - 8 * size_of(dtype)));
}

/// The position of a place in the pooled dimensions, row-major.
loop::Value flat(loop::Builder& b, std::span<const PoolAxis> axes, std::span<const loop::Value> place) {
  loop::Value at = place[0];
  for (size_t d = 1; d < axes.size(); ++d) at = at * b.index(axes[d].input) + place[d];
  return at;
}

/// The largest element of the window, a NaN being larger than any number, and its position; the first of equals, the
/// last of NaNs.
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

/// Calls f(window, places) for each window of a tensor of this shape: its row-major number among all, and the positions
/// of its elements in operand 0 of the forward call, in order.
template <typename F>
void for_each_window(const Dims& windows, std::span<const PoolAxis> axes, F f) {
  Dims taps;
  int64_t plane = 1;
  for (const PoolAxis& axis : axes) {
    taps.push_back(axis.taps());
    plane *= axis.input;
  }
  const Dims leading(windows.begin(), windows.end() - static_cast<std::ptrdiff_t>(axes.size()));
  int64_t number = 0;
  for_each_index(windows, [&](const Dims& index) {
    const Dims window(index.end() - static_cast<std::ptrdiff_t>(axes.size()), index.end());
    const int64_t first = position(leading, Dims(index.begin(), index.begin() + leading.rank())) * plane;
    std::vector<int64_t> places;
    for_each_index(taps, [&](const Dims& tap) {
      int64_t at = 0;
      for (size_t d = 0; d < axes.size(); ++d) {
        const int64_t i = axes[d].place(window[d], tap[d]);
        if (i < 0) return;
        at = at * axes[d].input + i;
      }
      places.push_back(at);
    });
    f(number++, window, first, places);
  });
}

void reference_best(HostCall& call, bool position) {
  const TensorType type = infer_types(call).front();
  const HostArray out = call.make_output(type);
  const std::vector<PoolAxis> axes = pool_axes(call, false);
  dispatch<Domain::kNumbers>(call.dtype(0), [&]<typename T>() {
    const auto x = read_operand<T>(call, 0, call.dtype(0), call.shape(0));
    for_each_window(type.shape, axes,
                    [&](int64_t number, const Dims&, int64_t first, const std::vector<int64_t>& places) {
                      int64_t best = places.front();
                      for (const int64_t place : places) {
                        const T held = x[static_cast<size_t>(first + best)];
                        const T next = x[static_cast<size_t>(first + place)];
                        if (next > held || next != next) best = place;
                      }
                      if (position)
                        out.as<int64_t>()[number] = best;
                      else
                        write_element(out, number, x[static_cast<size_t>(first + best)]);
                    });
  });
}

std::vector<Sample> window_samples(Fill fill) {
  const auto windows = [](Dims kernel, Dims stride, Dims padding, Dims dilation, Dims size) {
    return std::vector<std::pair<std::string, Attribute>>{
        {"kernel", kernel}, {"stride", stride}, {"padding", padding}, {"dilation", dilation}, {"size", size}};
  };
  return with({{{filled({2, 3, 6, 8}, fill)}}}, windows({2, 2}, {2, 2}, {0, 0}, {1, 1}, {3, 4})) +
         with({{{filled({2, 7, 37}, fill)}}}, windows({3, 3}, {2, 1}, {1, 1}, {1, 1}, {4, 37})) +
         with({{{filled({1, 9}, fill)}}}, windows({3}, {2}, {1}, {1}, {5})) +
         with({{{filled({1, 5, 19, 3}, fill)}}}, windows({1, 5, 2}, {1, 3, 1}, {0, 1, 0}, {1, 1, 1}, {5, 6, 2})) +
         with({{{filled({2, 5, 7}, fill)}}}, windows({}, {}, {}, {}, {3, 9})) +
         with({{{filled({2, 6, 35}, fill)}}}, windows({}, {}, {}, {}, {2, 17})) +
         with({{{filled({0, 5, 7}, fill)}}}, windows({}, {}, {}, {}, {3, 3}));
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

Dims pooled_sizes(const Call& call) {
  const Dims& shape = call.shape(0);
  return {shape.end() - call.ints("size").rank(), shape.end()};
}

Op max_pool() {
  return {
      .signature = "max_pool(x, kernel: ints, stride: ints, padding: ints, dilation: ints, size: ints)",
      .doc =
          R"(The largest element of each window of the last dimensions; windows divide them evenly if kernel is empty.

>>> lucid.max_pool(lucid.tensor([1., 5., 2., 4.]), [2], [2], [0], [1], [2])
tensor([5., 4.]))",
      .names = {.audience = Audience::kOps},
      .dtypes = kNumbers,
      .infer = infer_same_dtype,
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
      .doc = R"(Where the largest element of each window of the last dimensions stands in them, flattened.

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
      .doc = R"(The gradient of a max_pool from that of its result and the positions of the largest elements.

>>> lucid.max_pool_back(lucid.tensor([1., 2.]), lucid.tensor([1, 3]), [2], [2], [0], [1], [4])
tensor([0., 1., 0., 2.]))",
      .names = {.audience = Audience::kOps},
      .dtypes = kFloats,
      .infer = infer_same_dtype,
      .lowering = IndexedLowering{.body =
                                      [](ElementContext& element, const Call& call) {
                                        loop::Builder& b = element.builder();
                                        const std::vector<PoolAxis> axes = pool_axes(call, true);
                                        const ElementIndex index(element, call.rank(0), axes.size());
                                        const loop::Value here = flat(b, axes, index.last);
                                        const loop::Value zero = b.constant(compute_dtype(call.dtype(0)), 0.0);
                                        return for_each_home(
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
      // Each position lies in its window: the first element of each.
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

/// How many elements a mean counts, if that is the same for all windows.
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
    const loop::Value along = counted(b, axes[d], window[d], call.flag("include_padding"));
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
      .doc = R"(The mean of each window of the last dimensions; windows divide them evenly if kernel is empty.

>>> lucid.mean_pool(lucid.tensor([1., 5., 2., 4.]), [2], [2], [0], [1], [2])
tensor([3., 3.]))",
      .names = {.audience = Audience::kOps},
      .dtypes = kFloats,
      .infer = infer_same_dtype,
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
                  [&](int64_t number, const Dims& window, int64_t first, const std::vector<int64_t>& places) {
                    T sum = 0;
                    for (const int64_t place : places) sum += x[static_cast<size_t>(first + place)];
                    write_element(out, number, sum / reference_divisor<T>(call, axes, window));
                  });
            });
          },
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
        Value shared = g[0];
        std::optional<int64_t> divisor = call.is_none("divisor")
                                             ? common_divisor(pool_axes(call, false), call.flag("include_padding"))
                                             : std::optional(call.integer("divisor"));
        if (divisor) {
          // Divided once for each window, not for each element.
          shared = e.div(g[0], *divisor);
          divisor = 1;
        }
        return {e.mean_pool_back(shared, call.ints("kernel"), call.ints("stride"), call.ints("padding"),
                                 call.ints("dilation"), pooled_sizes(call), call.flag("include_padding"), divisor)};
      }},
      .samples = mean_samples(),
  };
}

/// The samples of mean_pool turned around: gradients of its results.
std::vector<Sample> turned(std::vector<Sample> samples) {
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
      .doc = R"(The gradient of a mean_pool from that of its result.

>>> lucid.mean_pool_back(lucid.tensor([1., 2.]), [2], [2], [0], [1], [4])
tensor([0.5000, 0.5000, 1.0000, 1.0000]))",
      .names = {.audience = Audience::kOps},
      .dtypes = kFloats,
      .infer = infer_same_dtype,
      .lowering =
          IndexedLowering{.body =
                              [](ElementContext& element, const Call& call) {
                                loop::Builder& b = element.builder();
                                const std::vector<PoolAxis> axes = pool_axes(call, true);
                                const ElementIndex index(element, call.rank(0), axes.size());
                                const Dtype dtype = compute_dtype(call.dtype(0));
                                const loop::Value zero = b.constant(dtype, 0.0);
                                return for_each_home(
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
                  [&](int64_t number, const Dims& window, int64_t first, const std::vector<int64_t>& places) {
                    const T part = g[static_cast<size_t>(number)] / reference_divisor<T>(call, axes, window);
                    for (const int64_t place : places) sums[static_cast<size_t>(first + place)] += part;
                  });
              for (size_t i = 0; i < sums.size(); ++i) write_element(out, static_cast<int64_t>(i), sums[i]);
            });
          },
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
        const auto divisor = call.is_none("divisor") ? std::nullopt : std::optional(call.integer("divisor"));
        return {e.mean_pool(g[0], call.ints("kernel"), call.ints("stride"), call.ints("padding"), call.ints("dilation"),
                            pooled_sizes(call), call.flag("include_padding"), divisor)};
      }},
      .samples = turned(mean_samples()),
  };
}

}  // namespace

void add_pool_ops(std::vector<Op>& ops) {
  for (auto make : {max_pool, max_position, max_pool_back, mean_pool, mean_pool_back}) ops.push_back(make());
}

}  // namespace lucid
