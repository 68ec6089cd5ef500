#include "base/stack.h"

#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <optional>

#include "base/cancellation.h"
#include "base/error.h"

namespace lucid {

constinit thread_local uintptr_t stack_detail::t_lowest = UINTPTR_MAX;

namespace {

/// More than needed: only touched pages use memory.
constexpr size_t kThreadStack = size_t{4} << 20;

/// check_stack() reserves this fraction of the stack, up to a maximum: eager ops may generate code.
constexpr uintptr_t kReservedDivisor = 4;
constexpr uintptr_t kMaxReserved = uintptr_t{1} << 20;

/// The bounds of this thread's stack. `high` is 0 until they are computed.
struct Bounds {
  uintptr_t low = 0;
  uintptr_t high = 0;
};
constinit thread_local Bounds t_bounds;

Bounds find_bounds() {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) return {};
  void* start = nullptr;
  size_t bytes = 0, guard = 0;
  pthread_attr_getstack(&attributes, &start, &bytes);
  pthread_attr_getguardsize(&attributes, &guard);
  pthread_attr_destroy(&attributes);
  const auto low = reinterpret_cast<uintptr_t>(start);
  // It is unspecified whether the guard is part of the stack, so assume that it is.
  return {low + guard, low + bytes};
}

/// Work passed to another thread.
struct Handover {
  const std::function<void()>& work;
  const std::atomic<bool>* cancelled;
  std::exception_ptr error;

  void run() {
    try {
      std::optional<CancellationScope> scope;
      if (cancelled) scope.emplace(*cancelled);
      work();
    } catch (...) {
      error = std::current_exception();
    }
  }
};

}  // namespace

size_t stack_left() {
  if (t_bounds.high == 0) t_bounds = find_bounds();
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  // Nothing is known about stacks other than the thread's own.
  return here > t_bounds.low && here <= t_bounds.high ? here - t_bounds.low : 0;
}

bool stack_detail::is_low_at(uintptr_t address) {
  if (t_lowest == UINTPTR_MAX) {
    if (t_bounds.high == 0) t_bounds = find_bounds();
    if (t_bounds.high == 0) return false;
    t_lowest = t_bounds.low + std::min<uintptr_t>((t_bounds.high - t_bounds.low) / kReservedDivisor, kMaxReserved);
  }
  // An address far below means that the thread switched to another stack, whose bounds are unknown.
  return address < t_lowest && t_lowest - address <= kMaxReserved;
}

void with_large_stack(const std::function<void()>& work) {
  if (stack_left() >= kLargeStack) return work();
  Handover handover{work, cancellation_flag(), nullptr};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kThreadStack);
  // The program's own threads handle signals; the new thread inherits this mask.
  sigset_t all, saved;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &saved);
  pthread_t thread;
  const int failure = pthread_create(
      &thread, &attributes,
      [](void* argument) -> void* {
        pthread_setname_np(pthread_self(), "lucid-stack");
        static_cast<Handover*>(argument)->run();
        return nullptr;
      },
      &handover);
  pthread_sigmask(SIG_SETMASK, &saved, nullptr);
  pthread_attr_destroy(&attributes);
  if (failure != 0) {
    throw MemoryError(
        "cannot create a thread with a stack of {} bytes, and this thread has {} bytes of stack left, too few to "
        "compile: call from a thread with a larger stack",
        kThreadStack, stack_left());
  }
  pthread_join(thread, nullptr);
  if (handover.error) std::rethrow_exception(handover.error);
}

}  // namespace lucid
