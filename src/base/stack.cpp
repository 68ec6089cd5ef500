#include "base/stack.h"

#include <pthread.h>

#include <algorithm>

namespace lucid::stack_detail {
namespace {

/// Of the stack, what check_stack() leaves, and at most how much: eager ops generate code at times.
constexpr size_t kReservedPart = 4;
constexpr size_t kMostReserved = size_t{1} << 20;

}  // namespace

constinit thread_local uintptr_t t_lowest = UINTPTR_MAX;

bool is_low_at(uintptr_t address) {
  pthread_attr_t attributes;
  void* low = nullptr;
  size_t size = 0;
  if (t_lowest == UINTPTR_MAX && pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &low, &size);
    pthread_attr_destroy(&attributes);
    t_lowest = reinterpret_cast<uintptr_t>(low) + std::min(size / kReservedPart, kMostReserved);
  }
  // Far below: the thread runs on a stack that it was given later, of which we know nothing.
  return t_lowest != UINTPTR_MAX && address < t_lowest && t_lowest - address <= kMostReserved;
}

}  // namespace lucid::stack_detail
