#pragma once

#include <chrono>

namespace lucid {

/// Surrounds calls of drivers that take long: starting them and compiling shaders. The exit of the process waits for
/// them, because it destroys what drivers use.
class DriverScope {
 public:
  /// Throws RuntimeError if the process exits already.
  DriverScope();
  DriverScope(const DriverScope&) = delete;
  DriverScope& operator=(const DriverScope&) = delete;
  ~DriverScope();
};

/// Prevents new scopes and waits for the others, until `end` at most. Returns whether all have ended.
bool close_drivers(std::chrono::steady_clock::time_point end) noexcept;

}  // namespace lucid
