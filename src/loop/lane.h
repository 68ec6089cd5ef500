#pragma once

#include <cstdint>

#include "base/dtype.h"
#include "loop/kernel.h"

namespace lucid::loop {

/// One element as its bits, zero-extended; what each lane of a register holds.
using Bits = uint64_t;

/// What one lane of an arithmetic instruction or comparison computes on operands of `dtype`: the meaning of Code in
/// plain C++. Operands that the instruction does not have are ignored. Throws InternalError where the meaning is
/// undefined.
Bits compute_lane(Code code, Dtype dtype, Bits a, Bits b, Bits c);
Bits convert_lane(Dtype from, Dtype to, Bits value);
/// The bits of a kConst.
Bits constant_bits(const Instruction& constant);

}  // namespace lucid::loop
