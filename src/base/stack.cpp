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

/// Beyond what is needed: only what is touched becomes memory.
constexpr size_t kThreadStack = size_t{4} << 20;

/// Of the stack, what check_stack() leaves, and at most how much: eager ops generate code at times.
constexpr uintptr_t kReservedPart = 4;
constexpr uintptr_t kMostReserved = uintptr_t{1} << 20;

/// The stack of this thread, once it was asked for.
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
  // Whether the guard is part of the stack is not said.
  return {low + guard, low + bytes};
}

/// Work on its way to another thread.
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
  // Elsewhere than on the thread's own stack nothing is known.
  return here > t_bounds.low && here <= t_bounds.high ? here - t_bounds.low : 0;
}

bool stack_detail::is_low_at(uintptr_t address) {
  if (t_lowest == UINTPTR_MAX) {
    if (t_bounds.high == 0) t_bounds = find_bounds();
    if (t_bounds.high == 0) return false;
    t_lowest = t_bounds.low + std::min<uintptr_t>((t_bounds.high - t_bounds.low) / kReservedPart, kMostReserved);
  }
  // Far below: the thread runs on a stack that it was given later, of which we know nothing.
  return address < t_lowest && t_lowest - address <= kMostReserved;
}

void with_large_stack(const std::function<void()>& work) {
  if (stack_left() >= kLargeStack) return work();
  Handover handover{work, cancellation_flag(), nullptr};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, kThreadStack);
  // Signals are for the threads of the program; this one inherits the mask.
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
        "no thread with a stack of {} bytes to be had, and {} bytes of this one's are left, too few to compile: "
        "call from a thread with a larger stack",
        kThreadStack, stack_left());
  }
  pthread_join(thread, nullptr);
  if (handover.error) std::rethrow_exception(handover.error);
}

}  // namespace lucid
