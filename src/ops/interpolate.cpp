// Resizing of images and signals, and rearrangement of channels and pixels.

#include <algorithm>
#include <cmath>

#include "ops/rules.h"

namespace lucid {
namespace {

using Types = std::vector<TensorType>;

enum class Kernel : uint8_t { kNearest, kNearestExact, kLinear, kCubic, kArea };

Kernel kernel_of(const Call& call) {
  const std::string& mode = call.text("mode");
  if (mode == "nearest") return Kernel::kNearest;
  if (mode == "nearest-exact") return Kernel::kNearestExact;
  if (mode == "linear" || mode == "bilinear" || mode == "trilinear") return Kernel::kLinear;
  if (mode == "bicubic") return Kernel::kCubic;
  if (mode == "area") return Kernel::kArea;
  throw ValueError("{}: mode must be nearest, nearest-exact, linear, bilinear, trilinear, bicubic or area, got '{}'",
                   call.name(), mode);
}

/// One of the elements that each result along the dimension is computed from: its index and its weight (empty means 1).
struct Tap {
  Value index;
  Value weight;
};

/// Keys' cubic with a = -3/4: the weight of an element at distance x, for x below 1 and for x from 1 to 2.
Value near_cubic(Emitter& e, const Value& x) {
  constexpr double kA = -0.75;
  return e.add(e.mul(e.mul(e.sub(e.mul(x, kA + 2), kA + 3), x), x), 1);
}
Value far_cubic(Emitter& e, const Value& x) {
  constexpr double kA = -0.75;
  return e.sub(e.mul(e.add(e.mul(e.sub(e.mul(x, kA), 5 * kA), x), 8 * kA), x), 4 * kA);
}

std::vector<Tap> taps_of(Emitter& e, const Call& call, Kernel kernel, Dtype dtype, int64_t from, int64_t to) {
  // A given scale is used exactly, even if the size was rounded.
  const double step =
      call.is_none("scale") ? static_cast<double>(from) / static_cast<double>(to) : 1 / call.real("scale");
  const auto position = [&](Dtype as) { return e.cast(e.iota(Dims{to}), as); };
  const auto at = [&](const Value& place) { return e.clamp(e.cast(place, Dtype::kI64), 0, from - 1); };
  if (kernel == Kernel::kNearest) return {{at(e.floor(e.mul(position(Dtype::kF32), step))), {}}};
  if (kernel == Kernel::kNearestExact) return {{at(e.floor(e.mul(e.add(position(Dtype::kF32), 0.5), step))), {}}};
  Value source;
  if (call.flag("align_corners"))
    source = e.mul(position(dtype), to > 1 ? static_cast<double>(from - 1) / static_cast<double>(to - 1) : 0.0);
  else
    source = e.sub(e.mul(e.add(position(dtype), 0.5), step), 0.5);
  if (kernel == Kernel::kLinear && !call.flag("align_corners")) source = e.maximum(source, 0);
  const Value base = e.floor(source);
  const Value beyond = e.sub(source, base);
  if (kernel == Kernel::kLinear) {
    // Past the end, both taps are the last element.
    return {{at(base), e.sub(1, beyond)}, {at(e.add(base, 1)), beyond}};
  }
  const Value before = e.sub(1, beyond);
  return {{at(e.sub(base, 1)), far_cubic(e, e.add(beyond, 1))},
          {at(base), near_cubic(e, beyond)},
          {at(e.add(base, 1)), near_cubic(e, before)},
          {at(e.add(base, 2)), far_cubic(e, e.add(before, 1))}};
}

/// The mean of the elements that each result covers, computed as a matrix product.
Value area_means(Emitter& e, const Value& x, int64_t axis, int64_t to) {
  const SymInt from = x.size(axis);
  const Dims shape{from, to};
  const Value column = e.iota(shape, 1);
  const Value start = e.floor_divide(e.mul(column, from), to);
  const Value end = e.floor_divide(e.add(e.mul(e.add(column, 1), from), to - 1), to);
  const Value row = e.iota(shape, 0);
  const Value covered = e.logical_and(e.ge(row, start), e.lt(row, end));
  const Value share = e.div(e.cast(covered, x.dtype()), e.cast(e.sub(end, start), x.dtype()));
  return e.transpose(e.matmul(e.transpose(x, axis, -1), share), axis, -1);
}

Op resample() {
  return {
      .signature =
          "resample(x, dim: axis, size: int, mode: str = 'nearest', align_corners: bool = False, scale: float? = None)",
      .doc = R"(Returns `x` resized to `size` elements along `dim`, with the interpolation `mode` and `align_corners`
of `interpolate`. `scale` is the ratio of the new size to the old; by default it is computed from the sizes.

>>> lucid.resample(lucid.tensor([0., 4.]), 0, 4, "linear")
tensor([0., 1., 3., 4.]))",
      .names = {.audience = Audience::kOps},
      .dtypes = kFloats,
      .infer = [](const Call& call) -> Types {
        kernel_of(call);
        const auto axis = static_cast<size_t>(call.axis("dim"));
        Dims shape = call.shape(0);
        if (shape.empty() || shape[axis] == 0 || call.integer("size") <= 0)
          throw ValueError("{}: cannot resize to {} elements along dimension {} of {}", call.name(),
                           call.integer("size"), axis, to_string(call.operand(0).type()));
        if (!call.is_none("scale") && !(call.real("scale") > 0))
          throw ValueError("{}: scale must be positive, got {}", call.name(), call.real("scale"));
        shape[axis] = call.integer("size");
        return {{call.dtype(0), shape}};
      },
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const Value& x = in[0];
        const int64_t axis = call.axis("dim");
        const int64_t size = call.integer("size");
        const Kernel kernel = kernel_of(call);
        if (kernel == Kernel::kArea) return {area_means(e, x, axis, size)};
        Dims weight_shape(static_cast<size_t>(x.rank()), 1);
        weight_shape[static_cast<size_t>(axis)] = size;
        Value result;
        for (const Tap& tap : taps_of(e, call, kernel, compute_dtype(x.dtype()), x.size(axis), size)) {
          Value part = e.index_select(x, axis, tap.index);
          if (tap.weight) part = e.cast(e.mul(part, e.reshape(tap.weight, weight_shape)), x.dtype());
          result = result ? e.add(result, part) : part;
        }
        return {result};
      },
      .samples =
          [] {
            std::vector<Sample> samples;
            for (const char* mode : {"nearest", "nearest-exact", "linear", "bicubic", "area"})
              for (const int64_t size : {3, 5, 19})
                samples = std::move(samples) + with({{{normal({2, 5, 3})}}},
                                                    {{"dim", int64_t{1}}, {"size", size}, {"mode", std::string(mode)}});
            return samples +
                   with({{{normal({2, 5})}}, {{strided({2, 5}, {1, 2})}}}, {{"dim", int64_t{-1}},
                                                                            {"size", int64_t{9}},
                                                                            {"mode", std::string("linear")},
                                                                            {"align_corners", true}}) +
                   with({{{normal({2, 5})}}},
                        {{"dim", int64_t{-1}}, {"size", int64_t{7}}, {"mode", std::string("linear")}, {"scale", 1.5}});
          }(),
  };
}

/// The new size of each dimension after the first two, and the scale it was computed from, if any.
struct Sizes {
  Dims sizes;
  std::optional<double> scale;
};

Sizes sizes_of(const Call& call) {
  const int64_t spatial = call.rank(0) - 2;
  if (spatial < 1 || spatial > 3)
    throw ValueError("interpolate: x must be [batch, channels, ...] with 1 to 3 spatial dimensions, got {}",
                     to_string(call.operand(0).type()));
  if (call.is_none("size") == call.is_none("scale_factor"))
    throw ValueError("interpolate: pass exactly one of size and scale_factor");
  Sizes result;
  if (call.is_none("size")) {
    result.scale = call.real("scale_factor");
    if (!(*result.scale > 0 && *result.scale < 1e9))
      throw ValueError("interpolate: scale_factor must be positive and below 1e9, got {}", *result.scale);
    for (int64_t d = 0; d < spatial; ++d)
      result.sizes.push_back(static_cast<int64_t>(
          std::floor(static_cast<double>(call.shape(0)[static_cast<size_t>(d + 2)]) * *result.scale)));
    return result;
  }
  result.sizes = call.ints("size");
  if (result.sizes.size() == 1) result.sizes = Dims(static_cast<size_t>(spatial), result.sizes[0]);
  if (result.sizes.rank() != spatial)
    throw ValueError("interpolate: size must be one number or {} for {}, got {}", spatial,
                     to_string(call.operand(0).type()), to_string(result.sizes));
  return result;
}

void check_mode(const Call& call) {
  const Kernel kernel = kernel_of(call);
  const std::string& mode = call.text("mode");
  const int64_t rank = call.rank(0);
  const bool fits = mode == "linear"                          ? rank == 3
                    : mode == "bilinear" || mode == "bicubic" ? rank == 4
                    : mode == "trilinear"                     ? rank == 5
                                                              : true;
  if (!fits) throw ValueError("interpolate: mode '{}' does not support {}", mode, to_string(call.operand(0).type()));
  if (!call.is_none("align_corners") && kernel != Kernel::kLinear && kernel != Kernel::kCubic)
    throw ValueError("interpolate: align_corners requires mode linear, bilinear, bicubic or trilinear, got '{}'", mode);
}

Op interpolate() {
  return {
      .signature =
          "interpolate(x, size: ints? = None, scale_factor: float? = None, mode: str = 'nearest', align_corners: "
          "bool? = None)",
      .doc =
          R"(Resizes the spatial dimensions of `x` [batch, channels, ...], 1 to 3 of them, to `size` or by
`scale_factor`; exactly one of the two must be given. `mode` is "nearest", "nearest-exact", "area", "linear" for 1
spatial dimension, "bilinear" or "bicubic" for 2, or "trilinear" for 3. `align_corners`, for the linear and cubic
modes only, aligns the centers of the corner elements of input and result; otherwise their outer edges are aligned.

>>> lucid.interpolate(lucid.tensor([[[0., 4.]]]), scale_factor=2.0, mode="linear")
tensor([[[0., 1., 3., 4.]]]))",
      .dtypes = kFloats,
      .infer = [](const Call& call) -> Types {
        check_mode(call);
        const Sizes target = sizes_of(call);
        Dims shape = call.shape(0);
        for (size_t d = 0; d < target.sizes.size(); ++d) {
          if (target.sizes[d] <= 0 || shape[d + 2] == 0)
            throw ValueError("interpolate: cannot resize to {} from {}", to_string(target.sizes),
                             to_string(call.operand(0).type()));
          shape[d + 2] = target.sizes[d];
        }
        return {{call.dtype(0), shape}};
      },
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const Sizes target = sizes_of(call);
        const bool aligned = !call.is_none("align_corners") && call.flag("align_corners");
        Value result = in[0];
        for (size_t d = 0; d < target.sizes.size(); ++d)
          result = e.resample(result, static_cast<int64_t>(d + 2), target.sizes[d], call.text("mode"), aligned,
                              target.scale);
        return {result};
      },
      .samples =
          [] {
            const auto mode = [](const char* name) {
              return std::pair<std::string, Attribute>("mode", std::string(name));
            };
            std::vector<Sample> samples = with({{{normal({1, 2, 5})}}}, {{"size", Dims{7}}, mode("linear")});
            for (const char* name : {"nearest", "nearest-exact", "area", "bilinear", "bicubic"})
              samples = std::move(samples) + with({{{normal({2, 1, 3, 5})}}}, {{"size", Dims{6, 4}}, mode(name)}) +
                        with({{{normal({1, 2, 4, 4})}}}, {{"scale_factor", 1.7}, mode(name)});
            return samples +
                   with({{{normal({1, 2, 4, 3})}}}, {{"size", Dims{5}}, mode("bicubic"), {"align_corners", true}}) +
                   with({{{normal({1, 2, 4, 3})}}},
                        {{"scale_factor", 2.0}, mode("bilinear"), {"align_corners", true}}) +
                   with({{{normal({1, 1, 2, 3, 2})}}}, {{"size", Dims{3, 2, 4}}, mode("trilinear")});
          }(),
  };
}

/// Its square does not overflow, and no tensor has that many channels.
constexpr int64_t kMaxFactor = int64_t{1} << 24;

Op pixel_shuffle() {
  return {
      .signature = "pixel_shuffle(x, upscale_factor: int)",
      .doc = R"(Rearranges `x` [..., channels * r * r, height, width] into [..., channels, height * r, width * r],
where r is `upscale_factor`.

>>> lucid.pixel_shuffle(lucid.arange(4).reshape(4, 1, 1), 2)
tensor([[[0, 1],
         [2, 3]]]))",
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const Value& x = in[0];
        const int64_t r = call.integer("upscale_factor");
        if (r <= 0 || r > kMaxFactor || x.rank() < 3 || x.size(x.rank() - 3) % (r * r) != 0)
          throw ValueError(
              "pixel_shuffle: the channels (dimension -3) of {} cannot be divided into blocks of {} by {} pixels",
              to_string(x.type()), r, r);
        const SymInt channels = x.size(x.rank() - 3) / (r * r);
        const SymInt height = x.size(x.rank() - 2);
        const SymInt width = x.size(x.rank() - 1);
        Dims result(x.shape().begin(), x.shape().end() - 3);
        const Value split = e.reshape(x, Dims{numel(result), channels, r, r, height, width});
        for (const int64_t size : {channels, height * r, width * r}) result.push_back(size);
        return {e.reshape(e.permute(split, Dims{0, 1, 4, 2, 5, 3}), result)};
      },
      .samples = with({{{normal({2, 8, 3, 2})}}, {{normal({4, 2, 2})}}}, {{"upscale_factor", int64_t{2}}}),
  };
}

Op pixel_unshuffle() {
  return {
      .signature = "pixel_unshuffle(x, downscale_factor: int)",
      .doc = R"(Rearranges `x` [..., channels, height * r, width * r] into [..., channels * r * r, height, width],
where r is `downscale_factor`. It is the inverse of `pixel_shuffle`.

>>> lucid.pixel_unshuffle(lucid.arange(4).reshape(1, 2, 2), 2).flatten()
tensor([0, 1, 2, 3]))",
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const Value& x = in[0];
        const int64_t r = call.integer("downscale_factor");
        if (r <= 0 || r > kMaxFactor || x.rank() < 3 || x.size(x.rank() - 2) % r != 0 || x.size(x.rank() - 1) % r != 0)
          throw ValueError(
              "pixel_unshuffle: the last two dimensions of {} cannot be divided into blocks of {} by {} pixels",
              to_string(x.type()), r, r);
        const SymInt channels = x.size(x.rank() - 3);
        const SymInt height = x.size(x.rank() - 2) / r;
        const SymInt width = x.size(x.rank() - 1) / r;
        Dims result(x.shape().begin(), x.shape().end() - 3);
        const Value split = e.reshape(x, Dims{numel(result), channels, height, r, width, r});
        for (const int64_t size : {channels * r * r, height, width}) result.push_back(size);
        return {e.reshape(e.permute(split, Dims{0, 1, 3, 5, 2, 4}), result)};
      },
      .samples = with({{{normal({2, 2, 6, 4})}}, {{normal({1, 2, 2})}}}, {{"downscale_factor", int64_t{2}}}),
  };
}

Op channel_shuffle() {
  return {
      .signature = "channel_shuffle(x, groups: int)",
      .doc =
          R"(Divides the channels (dimension 1) of `x` into `groups` groups and interleaves them: the first channel
of each group, then the second of each, and so on.

>>> lucid.channel_shuffle(lucid.arange(4).reshape(1, 4, 1), 2).flatten()
tensor([0, 2, 1, 3]))",
      .decompose = [](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
        const Value& x = in[0];
        const int64_t groups = call.integer("groups");
        if (x.rank() < 3 || groups <= 0 || x.size(1) % groups != 0)
          throw ValueError("channel_shuffle: the channels (dimension 1) of {} cannot be divided into {} groups",
                           to_string(x.type()), groups);
        const SymInt pixels = numel(Dims(x.shape().begin() + 2, x.shape().end()));
        const Value split = e.reshape(x, Dims{x.size(0), groups, x.size(1) / groups, pixels});
        return {e.reshape(e.transpose(split, 1, 2), x.shape())};
      },
      .samples = with({{{normal({2, 6, 3})}}, {{normal({1, 4, 2, 2})}}}, {{"groups", int64_t{2}}}),
  };
}

}  // namespace

void add_interpolate_ops(std::vector<Op>& ops) {
  for (auto make : {resample, interpolate, pixel_shuffle, pixel_unshuffle, channel_shuffle}) ops.push_back(make());
}

}  // namespace lucid
