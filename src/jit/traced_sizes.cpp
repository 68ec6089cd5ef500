#include "jit/traced_sizes.h"

namespace lucid::jit {

TensorRef TracedSizes::add(const TensorImpl& tensor, size_t argument, std::span<const Dimension> dims) {
  Geometry geometry = tensor.geometry();
  const bool is_contiguous = geometry.strides == contiguous_strides(geometry.sizes);
  for (const auto& [dim, range] : dims) {
    if (!SizeTrace::is_traceable(geometry.sizes[dim])) continue;
    const SymInt size = trace.add_symbol(geometry.sizes[dim], range);
    symbols.push_back({argument, dim});
    geometry.sizes[dim] = size;
  }
  const SizeTrace::Scope scope(&trace);
  if (is_contiguous) geometry.strides = contiguous_strides(geometry.sizes);
  TensorRef traced = alias_of(tensor);
  traced->trace_sizes(geometry);
  return traced;
}

SymInt TracedSizes::add_given(SymInt size, size_t index) {
  if (!SizeTrace::is_traceable(size.unguarded())) return size;
  symbols.push_back({kGiven, index});
  return trace.add_symbol(size.unguarded());
}

std::vector<int64_t> TracedSizes::sizes_in(std::span<TensorImpl* const> arguments,
                                           std::span<const SymInt> given) const {
  std::vector<int64_t> sizes;
  for (const auto& [argument, dim] : symbols)
    sizes.push_back((argument == kGiven ? given[dim] : arguments[argument]->sizes()[dim]).unguarded());
  return sizes;
}

}  // namespace lucid::jit
