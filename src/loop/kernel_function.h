#pragma once

#include <cstdint>

namespace lucid::loop {

/// Signature of a compiled kernel: buffers in argument order, run-time integers, the half-open range of work items, and
/// scratch memory that no concurrent call uses (LoadedCode::scratch_bytes bytes; null if that is 0). Work items are
/// independent: the contents of memory afterwards are the same for any split of the range, in any order, on any
/// threads.
using KernelFunction = void (*)(void* const* buffers, const int64_t* params, int64_t begin, int64_t end, void* scratch);

}  // namespace lucid::loop
