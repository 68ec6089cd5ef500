#include "ops/pool_windows.h"

namespace lucid {

Dims resized(const Call& call) {
  const Dims& size = call.ints("size");
  Dims shape = call.shape(0);
  if (size.size() > shape.size())
    throw ValueError("{}: size has {} elements, but the operand has only {} dimensions", call.name(), size.size(),
                     shape.size());
  for (const char* name : {"kernel", "stride", "padding", "dilation"})
    if (!call.ints("kernel").empty() && call.ints(name).size() != size.size())
      throw ValueError("{}: {} has {} elements, but size has {}", call.name(), name, call.ints(name).size(),
                       size.size());
  for (size_t d = 0; d < size.size(); ++d) shape[shape.size() - size.size() + d] = size[d];
  return shape;
}

std::vector<TensorType> infer_pool(const Call& call) {
  checked_numel(call.name(), resized(call), size_of(call.dtype(0)));
  return {{call.dtype(0), resized(call)}};
}

Dims pooled_sizes(const Call& call) {
  const Dims& shape = call.shape(0);
  return {shape.end() - call.ints("size").rank(), shape.end()};
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

}  // namespace lucid
