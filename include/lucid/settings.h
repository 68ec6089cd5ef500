#pragma once

#include <string>

#include "lucid/dtype.h"

#pragma GCC visibility push(default)
namespace lucid {

// Settings of the process. A compiled function has plans for each default dtype and device.

/// The dtype of floating-point tensors that are created without one. Initially float32.
Dtype get_default_dtype();
/// Throws TypeError for a dtype that is not floating point.
void set_default_dtype(Dtype dtype);

/// The device of tensors that are created without one, such as "cpu" or "gpu:0".
std::string get_default_device();
/// Throws ValueError if there is no such device.
void set_default_device(const std::string& device);

/// The largest number of threads that an op uses. Results do not depend on it.
int get_num_threads();
/// Throws ValueError for numbers below 1 or above 1024.
void set_num_threads(int threads);

}  // namespace lucid
#pragma GCC visibility pop
