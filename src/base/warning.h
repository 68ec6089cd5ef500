#pragma once

#include <string>

namespace lucid {

/// Tells the user about a likely mistake. A language with warnings of its own sets a handler, which may throw: the call
/// then fails. Otherwise each text is written to standard error, once.
void warn(const std::string& message);

using WarningHandler = void (*)(const std::string& message);
/// Must be called before any other thread uses the library.
void set_warning_handler(WarningHandler handler);

}  // namespace lucid
