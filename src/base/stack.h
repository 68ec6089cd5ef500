#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/error.h"

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

/// RecursionError in Python.
class RecursionError : public RuntimeError {
 public:
  using RuntimeError::RuntimeError;
};

namespace stack_detail {

/// The lowest address that this thread's stack may reach; the highest of all before the thread has asked.
extern constinit thread_local uintptr_t t_lowest;

bool is_low_at(uintptr_t address);

}  // namespace stack_detail

/// Whether most of this thread's stack is in use. What is left is for code that does not recurse.
inline bool stack_is_low() {
  const auto address = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  return address < stack_detail::t_lowest && stack_detail::is_low_at(address);
}

/// For functions that recurse as deep as a user's data is nested: throws RecursionError when the stack is low, however
/// large it is. Python's own limit counts calls, and users raise it.
inline void check_stack(const char* doing) {
  if (stack_is_low()) [[unlikely]]
    throw RecursionError("{}: nested too deep for the stack of this thread; does something contain itself?", doing);
}

}  // namespace lucid
