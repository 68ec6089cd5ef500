// Fuzzes parse_idx() with arbitrary bytes. It must return a tensor or throw ValueError.

#include <lucid/data.h>

#include <cstdint>
#include <cstdlib>

#include "base/error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    lucid::parse_idx({reinterpret_cast<const char*>(data), size});
  } catch (const lucid::Error& error) {
    if (error.error_class() != lucid::ErrorClass::kValue) std::abort();
  }
  return 0;
}
