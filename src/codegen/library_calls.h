#pragma once

#include <string_view>

namespace lucid::codegen {

/// The address of a C library function that generated code may call, or null. Generated code sees these names and no
/// others, so nothing that the process happens to export can change a kernel.
void* library_function(std::string_view name);

}  // namespace lucid::codegen
