#pragma once

#include <cstdint>
#include <utility>

#include "base/error.h"

/// What both the reader and the writer of the JSON in program files must know.
namespace lucid::program {

inline constexpr int64_t kVersion = 1;

/// By Slot::Area.
inline constexpr const char* kAreas[] = {"input", "output", "block", "packed", "error"};

/// The classes of errors that values cause.
inline constexpr std::pair<const char*, ErrorClass> kErrorClasses[] = {
    {"index", ErrorClass::kIndex}, {"runtime", ErrorClass::kRuntime}, {"value", ErrorClass::kValue}};

}  // namespace lucid::program
