#pragma once

#include "loop/kernel.h"

namespace lucid::loop {

/// Runs a kernel lane by lane, slowly: the meaning that generated code must reproduce bit for bit (except which NaN a
/// NaN is). Takes what a KernelFunction takes. Throws InternalError when the kernel does what the language leaves
/// undefined: divides by zero, shifts too far, or leaves its scratch or tables.
void interpret(const Kernel& kernel, void* const* buffers, const int64_t* params, int64_t begin, int64_t end);

}  // namespace lucid::loop
