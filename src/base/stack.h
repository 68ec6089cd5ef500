#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/error.h"

namespace lucid {

/// The bytes left on this thread's stack.
size_t stack_left();

/// The stack that code generation may use. LLVM recurses to the depth of its input; it used 60 KiB for the largest
/// kernels of the tests.
inline constexpr size_t kLargeStack = size_t{512} << 10;

/// Runs `work` on this thread if kLargeStack bytes are left on its stack, otherwise on a new thread while this one
/// waits. Rethrows exceptions of the work, and throws MemoryError if the thread cannot be created. The new thread
/// inherits the caller's floating-point environment and cancellation flag, but no other thread-local state.
void with_large_stack(const std::function<void()>& work);

/// RecursionError in Python.
class RecursionError : public RuntimeError {
 public:
  using RuntimeError::RuntimeError;
};

namespace stack_detail {

/// The lowest address that this thread's stack may reach; UINTPTR_MAX until it is computed.
extern constinit thread_local uintptr_t t_lowest;

bool is_low_at(uintptr_t address);

}  // namespace stack_detail

/// Whether most of this thread's stack is in use. The rest is reserved for code that does not recurse.
inline bool stack_is_low() {
  const auto address = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return address < stack_detail::t_lowest && stack_detail::is_low_at(address);
}

/// For functions that recurse to the depth of the user's data: throws RecursionError if the stack is low, for any stack
/// size. Python's own limit counts calls, and users raise it.
inline void check_stack(const char* doing) {
  if (stack_is_low()) [[unlikely]]
    throw RecursionError("{}: nested too deep for the stack of this thread; does something contain itself?", doing);
}

}  // namespace lucid
