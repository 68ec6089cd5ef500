// Sliding windows as columns and back, and the inverses of max pools.

#include "ops/convolution_rules.h"
#include "ops/reference.h"
#include "ops/reference_index.h"
#include "ops/rules.h"

namespace lucid {
namespace {

using Types = std::vector<TensorType>;

/// Sliding windows over the last two dimensions of an image.
struct FoldWindows {
  Dims kernel, stride, padding, dilation, image, count;
};

FoldWindows windows_of(const Call& call, const Dims& image) {
  FoldWindows w{numbers_for(call, "kernel_size", 2, 1),
                numbers_for(call, "stride", 2, 1),
                numbers_for(call, "padding", 2, 0),
                numbers_for(call, "dilation", 2, 1),
                image,
                {}};
  for (size_t d = 0; d < 2; ++d) {
    const int64_t last_start = image[d] + 2 * w.padding[d] - (w.kernel[d] - 1) * w.dilation[d] - 1;
    w.count.push_back(last_start < 0 ? SymInt(0) : last_start / w.stride[d] + 1);
    if (w.count[d] <= 0)
      throw ValueError("{}: windows of {} with dilation {} do not fit into an image of {} with padding {}", call.name(),
                       to_string(w.kernel), to_string(w.dilation), to_string(image), to_string(w.padding));
  }
  return w;
}

FoldWindows unfold_windows(const Call& call) {
  if (!call.operand(0).is_value() || (call.rank(0) != 4 && call.rank(0) != 3))
    throw ValueError("unfold: x must be [batch, channels, height, width] or [channels, height, width], got {}",
                     type_of(call, 0));
  return windows_of(call, Dims(call.shape(0).end() - 2, call.shape(0).end()));
}

FoldWindows fold_windows(const Call& call) {
  if (!call.operand(0).is_value() || (call.rank(0) != 3 && call.rank(0) != 2))
    throw ValueError("fold: x must be [batch, channels * window, windows] or [channels * window, windows], got {}",
                     type_of(call, 0));
  const FoldWindows w = windows_of(call, numbers_for(call, "output_size", 2, 1));
  const Dims& shape = call.shape(0);
  if (shape[shape.size() - 2] % numel(w.kernel) != 0 || shape.back() != numel(w.count))
    throw ValueError(
        "fold: x {} must have columns whose length is a multiple of {}, the window size, and {} of them, one for each "
        "window",
        type_of(call, 0), numel(w.kernel), numel(w.count));
  return w;
}

/// The index along dimension d of the image that `tap` of `window` reads, or -1 if it is outside.
int64_t image_index(const FoldWindows& w, size_t d, int64_t window, int64_t tap) {
  const int64_t at = window * w.stride[d] + tap * w.dilation[d] - w.padding[d];
  return at >= 0 && at < w.image[d] ? at : -1;
}

/// Calls f(row, column, y, x) for each row and column of one channel's columns that reads inside the image.
template <typename F>
void for_each_tap(const FoldWindows& w, F f) {
  for_each_index({w.kernel[0], w.kernel[1], w.count[0], w.count[1]}, [&](const Dims& i) {
    const int64_t y = image_index(w, 0, i[2], i[0]);
    const int64_t x = image_index(w, 1, i[3], i[1]);
    if (y >= 0 && x >= 0) f(i[0] * w.kernel[1] + i[1], i[2] * w.count[1] + i[3], y, x);
  });
}

Op unfold() {
  return {
      .signature = "unfold(x, kernel_size: ints, dilation: ints = [1], padding: ints = [0], stride: ints = [1])",
      .doc = R"(Returns the sliding windows of the images `x` [batch, channels, height, width] as the columns of a
tensor [batch, channels * window, windows], where window is the number of elements of a window and windows the
number of windows. The batch may be missing. `kernel_size` is the shape of a window; `dilation`, `padding` and
`stride` are those of `conv2d`. Each is one number, or one for each dimension.

>>> lucid.unfold(lucid.arange(9.).reshape(1, 3, 3), 2)
tensor([[0., 1., 3., 4.],
        [1., 2., 4., 5.],
        [3., 4., 6., 7.],
        [4., 5., 7., 8.]]))",
      .names = {.method = false},
      .infer = [](const Call& call) -> Types {
        const FoldWindows w = unfold_windows(call);
        Dims shape(call.shape(0).begin(), call.shape(0).end() - 2);
        shape.back() *= numel(w.kernel);
        shape.push_back(numel(w.count));
        checked_numel(call.name(), shape, size_of(call.dtype(0)));
        return {{call.dtype(0), shape}};
      },
      .lowering =
          IndexedLowering{
              .body =
                  [](ElementContext& element, const Call& call) {
                    loop::Builder& b = element.builder();
                    const FoldWindows w = unfold_windows(call);
                    const int64_t last = call.rank(0) - 2;
                    const loop::Value row = element.index(last - 1);
                    const loop::Value column = element.index(last);
                    const auto rest = [&](loop::Value x, int64_t y) { return x - x / b.index(y) * b.index(y); };
                    const loop::Value taps[] = {rest(row / b.index(w.kernel[1]), w.kernel[0]), rest(row, w.kernel[1])};
                    const loop::Value windows[] = {column / b.index(w.count[1]), rest(column, w.count[1])};
                    std::vector<loop::Value> index;
                    for (int64_t d = 0; d < last - 1; ++d) index.push_back(element.index(d));
                    index.push_back(row / b.index(numel(w.kernel)));
                    loop::Value valid;
                    for (size_t d = 0; d < 2; ++d) {
                      const loop::Value at = windows[d] * b.index(w.stride[d]) +
                                             (taps[d] * b.index(w.dilation[d]) - b.index(w.padding[d]));
                      index.push_back(at);
                      if (w.padding[d] == 0) continue;
                      const loop::Value inside = (at >= b.index(0)) & (at < b.index(w.image[d]));
                      valid = valid ? valid & inside : inside;
                    }
                    return element.load(0, index, valid);
                  }},
      .reference =
          [](HostCall& call) {
            const HostArray out = call.make_output(infer_types(call).front());
            std::memset(out.data, 0, static_cast<size_t>(out.size()) * size_of(out.type.dtype));
            const FoldWindows w = unfold_windows(call);
            const int64_t plane = numel(w.image);
            const int64_t channels = call.in(0).size() / plane;
            for (int64_t c = 0; c < channels; ++c)
              for_each_tap(w, [&](int64_t row, int64_t column, int64_t y, int64_t x) {
                const int64_t to = (c * numel(w.kernel) + row) * numel(w.count) + column;
                copy_element(call.in(0), c * plane + y * w.image[1] + x, out, to);
              });
          },
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
        const Dims image(call.shape(0).end() - 2, call.shape(0).end());
        return {e.fold(g[0], image, call.ints("kernel_size"), call.ints("dilation"), call.ints("padding"),
                       call.ints("stride"))};
      }},
      .samples = with({{{normal({2, 3, 5, 7})}}}, {{"kernel_size", Dims{2, 3}}}) +
                 with({{{normal({3, 6, 5})}}},
                      {{"kernel_size", Dims{3}}, {"dilation", Dims{2, 1}}, {"padding", Dims{1}}, {"stride", Dims{2}}}),
  };
}

Op fold() {
  return {
      .signature =
          "fold(x, output_size: ints, kernel_size: ints, dilation: ints = [1], padding: ints = [0], "
          "stride: ints = [1])",
      .doc = R"(Returns the images [batch, channels, height, width] of size `output_size` that are the sums of the
windows in the columns of `x` [batch, channels * window, windows]: elements at the same position are added. It is
the transpose of `unfold` with the same `kernel_size`, `dilation`, `padding` and `stride`. The batch may be missing.

>>> lucid.fold(lucid.ones(4, 4), (3, 3), 2)
tensor([[[1., 2., 1.],
         [2., 4., 2.],
         [1., 2., 1.]]]))",
      .names = {.method = false},
      .dtypes = kFloats,
      .infer = [](const Call& call) -> Types {
        const FoldWindows w = fold_windows(call);
        Dims shape(call.shape(0).begin(), call.shape(0).end() - 2);
        shape.push_back(call.shape(0)[call.shape(0).size() - 2] / numel(w.kernel));
        shape.push_back(w.image[0]);
        shape.push_back(w.image[1]);
        checked_numel(call.name(), shape, size_of(call.dtype(0)));
        return {{call.dtype(0), shape}};
      },
      .lowering =
          IndexedLowering{
              .body =
                  [](ElementContext& element, const Call& call) {
                    loop::Builder& b = element.builder();
                    const FoldWindows w = fold_windows(call);
                    const int64_t rank = call.rank(0) + 1;
                    const loop::Value image[] = {element.index(rank - 2), element.index(rank - 1)};
                    const loop::Value channel = element.index(rank - 3);
                    const bool vector = image[0].is_vector() || image[1].is_vector() || channel.is_vector();
                    const loop::Value zero = b.constant(compute_dtype(call.dtype(0)), 0.0);
                    // The window whose `tap` is at the element along dimension d, and whether there is one.
                    const auto window = [&](size_t d, loop::Value tap) {
                      const loop::Value from = image[d] + (b.index(w.padding[d]) - tap * b.index(w.dilation[d]));
                      const loop::Value at = from / b.index(w.stride[d]);
                      loop::Value valid = (from >= b.index(0)) & (at < b.index(w.count[d]));
                      if (w.stride[d] > 1) valid = valid & (at * b.index(w.stride[d]) == from);
                      return std::pair(at, valid);
                    };
                    const std::vector<loop::Value> start{vector ? b.splat(zero) : zero};
                    return b.for_loop(
                        b.index(0), b.index(w.kernel[0]), 1, start,
                        [&](loop::Value ty, std::span<const loop::Value> outer) {
                          const auto [y, y_valid] = window(0, ty);
                          const std::vector<loop::Value> sums(outer.begin(), outer.end());
                          return b.for_loop(
                              b.index(0), b.index(w.kernel[1]), 1, sums,
                              [&](loop::Value tx, std::span<const loop::Value> inner) -> std::vector<loop::Value> {
                                const auto [x, x_valid] = window(1, tx);
                                std::vector<loop::Value> index;
                                for (int64_t d = 0; d < rank - 3; ++d) index.push_back(element.index(d));
                                index.push_back(channel * b.index(numel(w.kernel)) + (ty * b.index(w.kernel[1]) + tx));
                                index.push_back(y * b.index(w.count[1]) + x);
                                return {inner[0] + element.load(0, index, y_valid & x_valid)};
                              });
                        })[0];
                  }},
      .reference =
          [](HostCall& call) {
            const HostArray out = call.make_output(infer_types(call).front());
            const FoldWindows w = fold_windows(call);
            const int64_t plane = numel(w.image);
            dispatch<Domain::kFloats>(out.type.dtype, [&]<typename T>() {
              const auto columns = read_operand<T>(call, 0, out.type.dtype, call.shape(0));
              std::vector<T> sums(static_cast<size_t>(out.size()));
              for (int64_t c = 0; c < out.size() / plane; ++c)
                for_each_tap(w, [&](int64_t row, int64_t column, int64_t y, int64_t x) {
                  const int64_t from = (c * numel(w.kernel) + row) * numel(w.count) + column;
                  sums[static_cast<size_t>(c * plane + y * w.image[1] + x)] += columns[static_cast<size_t>(from)];
                });
              for (size_t i = 0; i < sums.size(); ++i) write_element(out, static_cast<int64_t>(i), sums[i]);
            });
          },
      .gradient = {.rule = [](Emitter& e, const GradientCall& call, std::span<const Value> g) -> Values {
        return {
            e.unfold(g[0], call.ints("kernel_size"), call.ints("dilation"), call.ints("padding"), call.ints("stride"))};
      }},
      .samples = with({{{normal({2, 6, 12})}}}, {{"output_size", Dims{4, 3}},
                                                 {"kernel_size", Dims{3, 2}},
                                                 {"stride", Dims{1, 1}},
                                                 {"dilation", Dims{1, 2}},
                                                 {"padding", Dims{1, 1}}}) +
                 with({{{normal({8, 20})}}}, {{"output_size", Dims{5, 6}}, {"kernel_size", Dims{2}}}),
  };
}

/// Inverse of max pooling: the elements of x at the positions where max_pool found them, zeros elsewhere.
Op unpool(Op op, int64_t dimensions) {
  op.names.method = false;
  op.dtypes = kFloats;
  op.decompose = [dimensions](Emitter& e, const Call& call, std::span<const Value> in) -> Values {
    if (!call.operand(0).is_value() || !call.operand(1).is_value() || call.shape(0) != call.shape(1) ||
        (call.rank(0) != dimensions + 2 && call.rank(0) != dimensions + 1))
      throw ValueError("{}: x and indices must be results of max_pool{}d_with_indices, got {} and {}", call.name(),
                       dimensions, type_of(call, 0), type_of(call, 1));
    const Dims kernel = numbers_for(call, "kernel_size", dimensions, 1);
    const Attribute& given = call.attribute("stride");
    const Dims stride = std::holds_alternative<Dims>(given) ? numbers_for(call, "stride", dimensions, 1) : kernel;
    const Dims padding = numbers_for(call, "padding", dimensions, 0);
    Dims size;
    for (int64_t d = 0; d < dimensions; ++d) {
      const auto i = static_cast<size_t>(d);
      size.push_back((in[0].size(in[0].rank() - dimensions + d) - 1) * stride[i] - 2 * padding[i] + kernel[i]);
    }
    if (!call.is_none("output_size")) {
      const Dims output_size = numbers_for(call, "output_size", dimensions, 1);
      for (size_t d = 0; d < size.size(); ++d)
        if (output_size[d] <= size[d] - stride[d] || output_size[d] >= size[d] + stride[d])
          throw ValueError("{}: output_size {} must be less than one stride {} away from {}", call.name(),
                           to_string(output_size), to_string(stride), to_string(size));
      size = output_size;
    }
    Dims windows(call.shape(0).begin(), call.shape(0).end() - dimensions);
    Dims planes = windows;
    Dims shape = windows;
    windows.push_back(numel(Dims(call.shape(0).end() - dimensions, call.shape(0).end())));
    planes.push_back(numel(size));
    for (const int64_t n : size) shape.push_back(n);
    const Value zeros = e.expand(e.full(Dims{}, 0, in[0].dtype()), planes);
    return {e.reshape(e.scatter_set(zeros, windows.rank() - 1, e.reshape(in[1], windows), e.reshape(in[0], windows)),
                      shape)};
  };
  return op;
}

Op max_unpool1d() {
  return unpool(
      {.signature = "max_unpool1d(x, indices, kernel_size: ints, stride: ints? = None, padding: ints = [0], "
                    "output_size: ints? = None)",
       .doc = R"(Returns a tensor with the elements of `x` at the positions `indices` where max_pool1d found them, and
zeros elsewhere. `x` and `indices` are results of max_pool1d_with_indices, and `kernel_size`, `stride` (default
`kernel_size`) and `padding` are its arguments. Each spatial size n becomes
(n - 1) * stride - 2 * padding + kernel_size, unless `output_size` gives another size less than one stride away.

>>> lucid.max_unpool1d(lucid.tensor([[5., 4.]]), lucid.tensor([[1, 3]]), 2)
tensor([[0., 5., 0., 4.]]))",
       .samples = with({{{normal({2, 3, 1}), offsets({2, 3, 1}, 2)}}}, {{"kernel_size", Dims{2}}})},
      1);
}

Op max_unpool2d() {
  return unpool(
      {.signature = "max_unpool2d(x, indices, kernel_size: ints, stride: ints? = None, padding: ints = [0], "
                    "output_size: ints? = None)",
       .doc = R"(Returns a tensor with the elements of `x` at the positions `indices` where max_pool2d found them, and
zeros elsewhere. `x` and `indices` are results of max_pool2d_with_indices, and `kernel_size`, `stride` (default
`kernel_size`) and `padding` are its arguments. Each spatial size n becomes
(n - 1) * stride - 2 * padding + kernel_size, unless `output_size` gives another size less than one stride away.

>>> lucid.max_unpool2d(lucid.tensor([[[5.]]]), lucid.tensor([[[3]]]), 2)
tensor([[[0., 0.],
         [0., 5.]]]))",
       .samples = with({{{normal({2, 3, 1, 1}), offsets({2, 3, 1, 1}, 4)}}}, {{"kernel_size", Dims{2}}}) +
                  with({{{normal({3, 1, 1}), offsets({3, 1, 1}, 9)}}},
                       {{"kernel_size", Dims{2}}, {"output_size", Dims{3, 3}}})},
      2);
}

Op max_unpool3d() {
  return unpool(
      {.signature = "max_unpool3d(x, indices, kernel_size: ints, stride: ints? = None, padding: ints = [0], "
                    "output_size: ints? = None)",
       .doc = R"(Returns a tensor with the elements of `x` at the positions `indices` where max_pool3d found them, and
zeros elsewhere. `x` and `indices` are results of max_pool3d_with_indices, and `kernel_size`, `stride` (default
`kernel_size`) and `padding` are its arguments. Each spatial size n becomes
(n - 1) * stride - 2 * padding + kernel_size, unless `output_size` gives another size less than one stride away.

>>> lucid.max_unpool3d(lucid.tensor([[[[5.]]]]), lucid.tensor([[[[7]]]]), 2).sum().item()
5.0)",
       .samples = with({{{normal({2, 3, 1, 1, 1}), offsets({2, 3, 1, 1, 1}, 8)}}}, {{"kernel_size", Dims{2}}})},
      3);
}

}  // namespace

void add_fold_ops(std::vector<Op>& ops) {
  for (auto make : {unfold, fold, max_unpool1d, max_unpool2d, max_unpool3d}) ops.push_back(make());
}

}  // namespace lucid
