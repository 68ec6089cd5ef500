#include "jit/traced_sizes.h"

namespace lucid::jit {

TensorRef TracedSizes::add(const TensorImpl& tensor, size_t argument, std::span<const Dimension> dims) {
  Geometry geometry = tensor.geometry();
  const bool is_contiguous = geometry.strides == contiguous_strides(geometry.sizes);
  for (const auto& [dim, range] : dims) {
    if (!SizeTrace::is_traceable(geometry.sizes[dim])) continue;
    const Dim size = trace.add_symbol(geometry.sizes[dim], range);
    symbols.push_back({argument, dim});
    geometry.sizes[dim] = size;
  }
  const SizeTrace::Scope scope(&trace);
  if (is_contiguous) geometry.strides = contiguous_strides(geometry.sizes);
  TensorRef traced = alias_of(tensor);
  traced->trace_sizes(geometry);
  return traced;
}

std::vector<int64_t> TracedSizes::sizes_in(std::span<TensorImpl* const> arguments) const {
  std::vector<int64_t> sizes;
  for (const Symbol& symbol : symbols) sizes.push_back(arguments[symbol.argument]->sizes()[symbol.dim].unnoted());
  return sizes;
}

}  // namespace lucid::jit
