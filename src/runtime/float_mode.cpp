#include "runtime/float_mode.h"

namespace lucid {
namespace float_mode_detail {

constinit std::atomic<uint32_t> g_word{kAllMaskedNearest | kFlushToZero};

}  // namespace float_mode_detail

using float_mode_detail::g_word;
using float_mode_detail::kAllMaskedNearest;
using float_mode_detail::kFlushToZero;

bool flush_denormal() { return g_word.load(std::memory_order_relaxed) & kFlushToZero; }

void set_flush_denormal(bool flush) {
  g_word.store(kAllMaskedNearest | (flush ? kFlushToZero : 0), std::memory_order_relaxed);
}

}  // namespace lucid
