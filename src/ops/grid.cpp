// Sampling of images at positions given by a tensor.

#include <array>

#include "ops/rules.h"

namespace lucid {
namespace {

using Types = std::vector<TensorType>;

Op affine_grid() {
  return {
      .signature = "affine_grid(theta, size: ints, align_corners: bool = False)",
      .doc =
          R"(Returns the positions at which `grid_sample` must read an image of shape `size` to transform it by the
matrices `theta`. For `size` [batch, channels, height, width], `theta` is [batch, 2, 3] and the result is
[batch, height, width, 2]; for [batch, channels, depth, height, width], they are [batch, 3, 4] and
[batch, depth, height, width, 3]. Positions from -1 to 1 span the image, from the outer edge of its first element to
that of its last or, with `align_corners`, from the center of its first element to the center of its last.

>>> lucid.affine_grid(lucid.tensor([[[1., 0., 0.], [0., 1., 0.]]]), (1, 1, 1, 2))
tensor([[[[-0.5000,  0.0000],
          [ 0.5000,  0.0000]]]]))",
      .dtypes = kFloats,
      .infer = [](const Call& call) -> Types {
        const Dims& size = call.ints("size");
        const int64_t spatial = size.rank() - 2;
        if ((spatial != 2 && spatial != 3) || call.shape(0) != Dims{size[0], spatial, spatial + 1})
          throw ValueError("affine_grid: theta must be [{}, d, d + 1] for size {} with d = 2 or 3 dimensions, got {}",
                           size.empty() ? SymInt(0) : size[0], to_string(size), to_string(call.operand(0).type()));
        Dims shape{size[0]};
        for (int64_t d = 0; d < spatial; ++d) shape.push_back(size[static_cast<size_t>(d + 2)]);
        shape.push_back(spatial);
        checked_numel(call.name(), shape, size_of(call.dtype(0)));
        return {{call.dtype(0), shape}};
      },
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const Dims shape = infer_types(call).front().shape;
        const int64_t spatial = shape.back();
        const Dims positions(shape.begin() + 1, shape.end() - 1);
        Values columns;
        // The last dimension of the image is the first coordinate of a position.
        for (int64_t d = spatial - 1; d >= 0; --d) {
          const int64_t size = positions[static_cast<size_t>(d)];
          const Value index = e.cast(e.iota(positions, d), in[0].dtype());
          const Value position =
              call.flag("align_corners")
                  ? e.sub(e.mul(index, size > 1 ? 2.0 / static_cast<double>(size - 1) : 0.0), size > 1 ? 1 : 0)
                  : e.sub(e.div(e.add(e.mul(index, 2), 1), size), 1);
          columns.push_back(e.reshape(position, Dims{-1}));
        }
        columns.push_back(e.ones_of(columns.front()));
        const Value homogeneous = e.stack(columns, 1);
        return {e.reshape(e.matmul(homogeneous, e.transpose(in[0], 1, 2)), shape)};
      },
      .samples = with({{{normal({2, 2, 3})}}}, {{"size", Dims{2, 1, 3, 4}}}) +
                 with({{{normal({1, 2, 3})}}}, {{"size", Dims{1, 2, 1, 4}}, {"align_corners", true}}) +
                 with({{{normal({2, 3, 4})}}}, {{"size", Dims{2, 1, 2, 3, 2}}}),
  };
}

enum class Padding : uint8_t { kZeros, kBorder, kReflection };

Padding padding_of(const Call& call) {
  const std::string& mode = call.text("padding_mode");
  if (mode == "zeros") return Padding::kZeros;
  if (mode == "border") return Padding::kBorder;
  if (mode == "reflection") return Padding::kReflection;
  throw ValueError("grid_sample: padding_mode must be zeros, border or reflection, got '{}'", mode);
}

/// An element along one dimension that a result is computed from: its index, its weight, and whether it is inside the
/// image.
struct GridTap {
  Value position;
  Value weight;
  Value exists;
};

/// One dimension of a sampled image.
class Axis {
 public:
  Axis(Emitter& e, const Call& call, int64_t size)
      : e_(e), padding_(padding_of(call)), aligned_(call.flag("align_corners")), size_(size) {}

  /// Converts normalized positions, from -1 to 1, to positions in elements, 0 being the first.
  Value unnormalized(const Value& position) const {
    const auto size = static_cast<double>(size_);
    if (aligned_) return e_.mul(e_.add(position, 1), (size - 1) / 2);
    return e_.mul(e_.sub(e_.mul(e_.add(position, 1), size), 1), 0.5);
  }

  /// Maps positions outside the image into it, according to the padding mode.
  Value padded(const Value& position) const {
    if (padding_ == Padding::kZeros) return position;
    return e_.clamp(padding_ == Padding::kReflection ? reflected(position) : position, 0, size_ - 1);
  }

  /// `position` must be an integer.
  GridTap tap(const Value& position, Value weight) const {
    const Value exists = e_.logical_and(e_.ge(position, 0), e_.le(position, size_ - 1));
    return {e_.cast(e_.clamp(position, 0, size_ - 1), Dtype::kI64), std::move(weight), exists};
  }

 private:
  Value reflected(const Value& position) const {
    const double low = aligned_ ? 0 : -0.5;
    const double span = aligned_ ? static_cast<double>(size_ - 1) : static_cast<double>(size_);
    if (span == 0) return e_.zeros_of(position);
    const Value distance = e_.abs(e_.sub(position, low));
    const Value periods = e_.floor(e_.div(distance, span));
    const Value beyond = e_.sub(distance, e_.mul(periods, span));
    const Value is_even = e_.eq(e_.remainder(periods, 2), 0);
    return e_.add(e_.where(is_even, beyond, e_.sub(span, beyond)), low);
  }

  Emitter& e_;
  Padding padding_;
  bool aligned_;
  int64_t size_;
};

/// The weights of the four neighbors of a position, starting with the second one below it, by Keys' cubic with
/// a = -3/4. `t` is the fractional part of the position.
std::array<Value, 4> cubic_weights(Emitter& e, const Value& t) {
  constexpr double kA = -0.75;
  const auto near = [&](const Value& x) { return e.add(e.mul(e.mul(e.sub(e.mul(x, kA + 2), kA + 3), x), x), 1); };
  const auto far = [&](const Value& x) {
    return e.sub(e.mul(e.add(e.mul(e.sub(e.mul(x, kA), 5 * kA), x), 8 * kA), x), 4 * kA);
  };
  const Value s = e.sub(1, t);
  return {far(e.add(t, 1)), near(t), near(s), far(e.add(s, 1))};
}

std::vector<GridTap> taps_along(Emitter& e, const Call& call, const Axis& axis, const Value& coordinate) {
  const std::string& mode = call.text("mode");
  const Value position = axis.unnormalized(coordinate);
  if (mode == "nearest") return {axis.tap(e.round(axis.padded(position)), {})};
  if (mode == "bilinear") {
    const Value inside = axis.padded(position);
    const Value base = e.floor(inside);
    const Value t = e.sub(inside, base);
    return {axis.tap(base, e.sub(1, t)), axis.tap(e.add(base, 1), t)};
  }
  const Value base = e.floor(position);
  const auto weights = cubic_weights(e, e.sub(position, base));
  std::vector<GridTap> taps;
  for (int i = 0; i < 4; ++i)
    taps.push_back(axis.tap(axis.padded(e.add(base, i - 1)), weights[static_cast<size_t>(i)]));
  return taps;
}

Op grid_sample() {
  return {
      .signature =
          "grid_sample(x, grid, mode: str = 'bilinear', padding_mode: str = 'zeros', align_corners: bool = False)",
      .doc =
          R"(Samples the image `x` [batch, channels, height, width] at the positions `grid` [batch, h, w, 2], whose
last dimension holds the x and y coordinates, from -1 to 1 within the image. The result is [batch, channels, h, w].
With depth, `x` is [batch, channels, depth, height, width] and `grid` [batch, d, h, w, 3]. `mode` is "bilinear",
"nearest" or, without depth, "bicubic". `padding_mode` selects the values outside the image: "zeros", "border" for
the nearest element, or "reflection" for the mirrored image. `align_corners` is that of `affine_grid`. `x` and
`grid` must have the same dtype.

>>> x = lucid.tensor([[[[1., 3.]]]])
>>> lucid.grid_sample(x, lucid.tensor([[[[0., 0.], [0.5, 0.]]]]))
tensor([[[[2., 3.]]]]))",
      .dtypes = kFloats,
      .infer = [](const Call& call) -> Types {
        padding_of(call);
        const Dims& x = call.shape(0);
        const Dims& grid = call.shape(1);
        const int64_t spatial = x.rank() - 2;
        const std::string& mode = call.text("mode");
        if (mode != "bilinear" && mode != "nearest" && mode != "bicubic")
          throw ValueError("grid_sample: mode must be bilinear, nearest or bicubic, got '{}'", mode);
        if ((spatial != 2 && spatial != 3) || grid.rank() != x.rank() || grid[0] != x[0] || grid.back() != spatial ||
            (spatial == 3 && mode == "bicubic"))
          throw ValueError(
              "grid_sample: expected x [n, c, h, w] and grid [n, ..., ..., 2], or, for bilinear and nearest, x "
              "[n, c, d, h, w] and grid [n, ..., ..., ..., 3], got {} and {}",
              to_string(call.operand(0).type()), to_string(call.operand(1).type()));
        for (size_t d = 2; d < x.size(); ++d)
          if (x[d] == 0)
            throw ValueError("grid_sample: x {} has an empty spatial dimension", to_string(call.operand(0).type()));
        if (call.dtype(0) != call.dtype(1))
          throw TypeError("grid_sample: x {} and grid {} must have the same dtype", to_string(call.operand(0).type()),
                          to_string(call.operand(1).type()));
        Dims shape{x[0], x[1]};
        for (size_t d = 1; d + 1 < grid.size(); ++d) shape.push_back(grid[d]);
        return {{call.dtype(0), shape}};
      },
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const Value& x = in[0];
        const int64_t spatial = x.rank() - 2;
        const Dims shape = infer_types(call).front().shape;
        const SymInt positions = numel(Dims(shape.begin() + 2, shape.end()));
        const Value grid = e.reshape(in[1], Dims{x.size(0), positions, spatial});
        const Value flat =
            e.reshape(x, Dims{x.size(0), x.size(1), numel(Dims(x.shape().begin() + 2, x.shape().end()))});
        // All combinations of taps of all dimensions, the first dimension first.
        std::vector<GridTap> taps{{}};
        for (int64_t d = 0; d < spatial; ++d) {
          const SymInt size = x.size(d + 2);
          const Axis axis(e, call, size);
          std::vector<GridTap> combined;
          for (const GridTap& next : taps_along(e, call, axis, e.select(grid, 2, spatial - 1 - d)))
            for (const GridTap& tap : taps) {
              combined.push_back({tap.position ? e.add(e.mul(tap.position, size), next.position) : next.position,
                                  tap.weight ? e.mul(tap.weight, next.weight) : next.weight,
                                  tap.exists ? e.logical_and(tap.exists, next.exists) : next.exists});
            }
          taps = std::move(combined);
        }
        const Dims picked{x.size(0), x.size(1), positions};
        Value result;
        for (const GridTap& tap : taps) {
          const Value index = e.expand(e.unsqueeze(tap.position, 1), picked);
          Value part = e.where(e.unsqueeze(tap.exists, 1), e.gather(flat, 2, index), 0);
          if (tap.weight) part = e.mul(part, e.unsqueeze(tap.weight, 1));
          result = result ? e.add(result, part) : part;
        }
        return {e.reshape(result, shape)};
      },
      .samples =
          [] {
            std::vector<Sample> samples;
            for (const char* mode : {"bilinear", "nearest", "bicubic"})
              for (const char* padding : {"zeros", "border", "reflection"})
                for (const bool aligned : {false, true})
                  samples = std::move(samples) + with({{{normal({2, 2, 3, 5}), normal({2, 4, 3, 2})}}},
                                                      {{"mode", std::string(mode)},
                                                       {"padding_mode", std::string(padding)},
                                                       {"align_corners", aligned}});
            return samples + std::vector<Sample>{{{normal({1, 2, 3, 4, 2}), normal({1, 2, 2, 3, 3})}}};
          }(),
  };
}

}  // namespace

void add_grid_ops(std::vector<Op>& ops) {
  for (auto make : {affine_grid, grid_sample}) ops.push_back(make());
}

}  // namespace lucid
