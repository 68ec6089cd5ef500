#pragma once

#include "loop/kernel.h"

namespace lucid::loop {

/// Runs a kernel lane by lane, slowly. Generated code must reproduce the results bit for bit, except for the payload of
/// NaNs. Takes the arguments of a KernelFunction. Throws InternalError on undefined behavior: division by zero, a shift
/// out of range, or an index outside of scratch or tables.
void interpret(const Kernel& kernel, void* const* buffers, const int64_t* params, int64_t begin, int64_t end);

}  // namespace lucid::loop
