#pragma once

#include <cstdint>

#include "spirv/module.h"

namespace lucid::spirv {

/// The bits of a float.
struct Format {
  uint64_t fraction_bits;
  uint64_t bias;

  /// The bit above the fraction, which normal numbers imply. As a number, the smallest normal one.
  constexpr uint64_t implicit_bit() const { return uint64_t{1} << fraction_bits; }
  constexpr uint64_t fraction_mask() const { return implicit_bit() - 1; }
  constexpr uint64_t infinity() const { return (2 * bias + 1) << fraction_bits; }
  constexpr uint64_t nan() const { return infinity() | implicit_bit() >> 1; }
  constexpr uint64_t sign_bit() const { return infinity() + implicit_bit(); }
  constexpr uint64_t magnitude_mask() const { return sign_bit() - 1; }
};

constexpr Format format_of(Kind kind) { return kind == Kind::kF64 ? Format{52, 1023} : Format{23, 127}; }

}  // namespace lucid::spirv
