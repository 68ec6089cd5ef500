#pragma once

#include <string_view>

namespace lucid {

/// Returns the address of a C library function that generated code may call, or null. Generated code can link to these
/// names only, so no other symbol that the process exports can change a kernel.
void* library_function(std::string_view name);

}  // namespace lucid
