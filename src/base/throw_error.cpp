#include "base/throw_error.h"

namespace lucid {

void throw_error(ErrorClass error_class, const std::string& message) {
  switch (error_class) {
    case ErrorClass::kValue:
      throw ValueError(message);
    case ErrorClass::kType:
      throw TypeError(message);
    case ErrorClass::kIndex:
      throw IndexError(message);
    case ErrorClass::kRuntime:
      throw RuntimeError(message);
    case ErrorClass::kMemory:
      throw MemoryError(message);
    case ErrorClass::kNotImplemented:
      throw NotImplementedError(message);
    case ErrorClass::kInternal:
      break;
  }
  throw InternalError(message);
}

}  // namespace lucid
