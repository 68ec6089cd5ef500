#pragma once

#include <span>
#include <vector>

#include "base/size_trace.h"
#include "tensor/tensor_impl.h"

namespace lucid::jit {

/// The sizes of a call's arguments that are traced while it is recorded.
struct TracedSizes {
  /// What the symbol with the same index is: the size of an argument's dimension or, if `argument` is kGiven, the size
  /// with index `dim` among those that a call is given itself.
  struct Symbol {
    size_t argument = 0;
    size_t dim = 0;
  };
  static constexpr size_t kGiven = static_cast<size_t>(-1);

  /// A dimension to trace, and the sizes for which the call is recorded.
  struct Dimension {
    size_t dim = 0;
    SizeTrace::Range range = {};
  };

  /// A handle on the memory of a tensor, which is argument `argument` of the call. The sizes of `dims` are traced, as
  /// far as that is possible, and the strides if the tensor is contiguous.
  TensorRef add(const TensorImpl& tensor, size_t argument, std::span<const Dimension> dims);
  /// The size with this index among those that the call is given, traced if that is possible.
  SymInt add_given(SymInt size, size_t index);
  /// The sizes of the symbols in another call.
  std::vector<int64_t> sizes_in(std::span<TensorImpl* const> arguments, std::span<const SymInt> given) const;

  SizeTrace trace;
  std::vector<Symbol> symbols;
};

}  // namespace lucid::jit
