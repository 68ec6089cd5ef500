#pragma once

#include <cstddef>
#include <vector>

#include "base/ref.h"
#include "loop/kernel_function.h"

namespace lucid {

/// Machine code in memory, executable while referenced. Pages are never writable and executable at the same time.
class LoadedCode : public RefCounted {
 public:
  loop::KernelFunction function() const { return function_; }
  size_t code_bytes() const { return code_bytes_; }
  /// Memory in use, including constants.
  size_t memory_bytes() const { return memory_bytes_; }
  /// Size of the scratch memory that each call must be passed.
  size_t scratch_bytes() const { return scratch_bytes_; }

 protected:
  loop::KernelFunction function_ = nullptr;
  size_t code_bytes_ = 0;
  size_t memory_bytes_ = 0;
  size_t scratch_bytes_ = 0;
};

/// The code of a kernel's parts, in order.
using LoadedParts = std::vector<Ref<LoadedCode>>;

}  // namespace lucid
