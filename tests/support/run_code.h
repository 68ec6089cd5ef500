#pragma once

#include <cstdlib>
#include <memory>

#include "code/code_generator.h"

namespace lucid {

/// Calls a kernel's code with newly allocated scratch.
inline void run_code(const LoadedCode& code, void* const* buffers, const int64_t* params, int64_t begin, int64_t end) {
  constexpr size_t kAlignment = 64;
  const size_t bytes = (code.scratch_bytes() + kAlignment - 1) / kAlignment * kAlignment;
  const std::unique_ptr<void, decltype(&std::free)> scratch(bytes ? std::aligned_alloc(kAlignment, bytes) : nullptr,
                                                            &std::free);
  code.function()(buffers, params, begin, end, scratch.get());
}

}  // namespace lucid
