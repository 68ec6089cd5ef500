#pragma once

#include <new>

#include "base/error.h"

namespace lucid {

/// Whether an exception means that memory is exhausted: a MemoryError of this library or a std::bad_alloc.
inline bool is_out_of_memory(const std::exception& exception) {
  if (const auto* error = dynamic_cast<const Error*>(&exception)) return error->error_class() == ErrorClass::kMemory;
  return dynamic_cast<const std::bad_alloc*>(&exception) != nullptr;
}

/// Runs `step` and returns whether there was enough memory for it. Other exceptions propagate. For work that only makes
/// later calls faster: without memory, it is skipped.
template <typename Step>
bool has_memory_for(const Step& step) {
  try {
    step();
    return true;
  } catch (const std::exception& exception) {
    if (!is_out_of_memory(exception)) throw;
    return false;
  }
}

}  // namespace lucid
