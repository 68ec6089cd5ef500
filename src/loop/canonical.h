#pragma once

#include "loop/kernel.h"

namespace lucid::loop {

/// Equality and hash of instructions of one kernel, by code, type, operands and attributes. All NaNs are equal.
bool equal(const Instruction& a, const Instruction& b);
size_t hash_of(const Instruction& instruction);

/// Returns the kernel without unused pure instructions, and with instructions and blocks numbered in the order of the
/// text.
Kernel canonical(const Kernel& kernel);

}  // namespace lucid::loop
