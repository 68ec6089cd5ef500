#include "code/library_calls.h"

#include <cmath>
#include <cstring>

extern "C" {
// In glibc's math library since 2018, but declared only for C23.
float roundevenf(float) noexcept;
double roundeven(double) noexcept;
}

namespace lucid {

namespace {

struct Entry {
  std::string_view name;
  void* address;
};

template <typename Result, typename... Args>
void* address(Result (*function)(Args...)) {
  return reinterpret_cast<void*>(function);
}

template <typename Float>
using Unary = Float (*)(Float);
template <typename Float>
using Binary = Float (*)(Float, Float);
template <typename Float>
using Ternary = Float (*)(Float, Float, Float);

}  // namespace

void* library_function(std::string_view name) {
  static const Entry entries[] = {
      {"fmaf", address(static_cast<Ternary<float>>(::fmaf))},
      {"fma", address(static_cast<Ternary<double>>(::fma))},
      {"fmodf", address(static_cast<Binary<float>>(::fmodf))},
      {"fmod", address(static_cast<Binary<double>>(::fmod))},
      {"floorf", address(static_cast<Unary<float>>(::floorf))},
      {"floor", address(static_cast<Unary<double>>(::floor))},
      {"ceilf", address(static_cast<Unary<float>>(::ceilf))},
      {"ceil", address(static_cast<Unary<double>>(::ceil))},
      {"truncf", address(static_cast<Unary<float>>(::truncf))},
      {"trunc", address(static_cast<Unary<double>>(::trunc))},
      {"roundevenf", address(static_cast<Unary<float>>(::roundevenf))},
      {"roundeven", address(static_cast<Unary<double>>(::roundeven))},
      {"memcpy", address(static_cast<void* (*)(void*, const void*, size_t)>(::memcpy))},
      {"memmove", address(static_cast<void* (*)(void*, const void*, size_t)>(::memmove))},
      {"memset", address(static_cast<void* (*)(void*, int, size_t)>(::memset))},
  };
  for (const Entry& entry : entries) {
    if (entry.name == name) return entry.address;
  }
  return nullptr;
}

}  // namespace lucid
