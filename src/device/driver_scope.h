#pragma once

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

/// Prevents new scopes and waits for the others, but not for a driver that hangs.
void close_drivers() noexcept;

}  // namespace lucid
