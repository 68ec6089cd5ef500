#pragma once

#include <string>

#include "ir/op.h"

namespace lucid {

/// Throws an error about the values of operands, which only kernels notice: the operands are valid but for these
/// values.
[[noreturn]] void throw_refused(ErrorClass error_class, const std::string& message);
/// Whether an error that this thread has caught was thrown by throw_refused().
bool is_refused(const Error& error);

/// If elements of the operands are outside of Op::bounds, throws an error that names the first: by operands,
/// then in row-major order. Values that another thread has changed meanwhile may be inside.
void throw_if_out_of_bounds(const Call& call);

}  // namespace lucid
