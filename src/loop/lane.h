#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "loop/kernel.h"

namespace lucid::loop {

/// The bits of one element, zero-extended. Each lane of a register holds one.
using Bits = uint64_t;

/// Computes one lane of an arithmetic instruction or comparison on operands of `dtype`. Defines the meaning of Code in
/// plain C++. Operands that the instruction does not have are ignored. Throws InternalError on undefined behavior.
Bits compute_lane(Code code, Dtype dtype, Bits a, Bits b, Bits c);
Bits convert_lane(Dtype from, Dtype to, Bits value);
/// The bits of a kConst.
Bits constant_bits(const Instruction& constant);

}  // namespace lucid::loop
