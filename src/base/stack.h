#pragma once

#include <cstddef>
#include <functional>

namespace lucid {

/// How much of this thread's stack is left, in bytes.
size_t stack_left();

/// What generating code may take of the stack. LLVM recurses as deep as its input is; it took 60 KiB for the largest
/// kernels of the tests.
inline constexpr size_t kLargeStack = size_t{512} << 10;

/// Runs `work`: here if kLargeStack bytes are left on the stack, else on a thread that has them, while this one waits.
/// Throws what the work throws, and MemoryError when there is no such thread to be had. That thread has the caller's
/// floating-point environment and cancellation flag, and nothing else of its thread-local state.
void with_large_stack(const std::function<void()>& work);

}  // namespace lucid
