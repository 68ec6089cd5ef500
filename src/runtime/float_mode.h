#pragma once

#include <xmmintrin.h>

#include <atomic>
#include <cstdint>

namespace lucid {

/// Whether subnormal results become zero. They do by default, because hardware takes a hundred times longer for them.
/// Subnormal operands are used unchanged in either case, so the flag affects results only.
bool flush_denormal();
void set_flush_denormal(bool flush);

namespace float_mode_detail {

inline constexpr uint32_t kStatusBits = 0x3f;
inline constexpr uint32_t kAllMaskedNearest = 0x1f80;
inline constexpr uint32_t kFlushToZero = 0x8000;

extern std::atomic<uint32_t> g_word;

}  // namespace float_mode_detail

/// The control part of this thread's MXCSR: rounding, exception masks, treatment of subnormal numbers.
inline uint32_t current_float_mode() { return _mm_getcsr() & ~float_mode_detail::kStatusBits; }

/// Sets the thread's floating-point environment until the end of the scope: round to nearest, no traps,
/// flush_denormal(). The whole control word is set, because any bit of the caller's could change results.
///
/// Compilers move arithmetic across changes of the control word. A scope is therefore only for calls of generated
/// kernels; the C++ code around them must not depend on it.
class FloatModeScope {
 public:
  FloatModeScope() : FloatModeScope(float_mode_detail::g_word.load(std::memory_order_relaxed)) {}
  /// Sets a word that current_float_mode() returned on this thread or another.
  explicit FloatModeScope(uint32_t word) : saved_(_mm_getcsr()) {
    changed_ = (saved_ & ~float_mode_detail::kStatusBits) != word;
    if (changed_) _mm_setcsr(word);
  }
  FloatModeScope(const FloatModeScope&) = delete;
  FloatModeScope& operator=(const FloatModeScope&) = delete;
  ~FloatModeScope() {
    if (changed_) _mm_setcsr(saved_);
  }

 private:
  uint32_t saved_;
  bool changed_;
};

}  // namespace lucid
