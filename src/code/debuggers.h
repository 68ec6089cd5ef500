#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace lucid {

/// The tools that loaded kernels are registered with. LUCID_PERF=1 writes /tmp/perf-<pid>.map, where perf looks for
/// names. LUCID_GDB=1 passes the object code to gdb, for breakpoints and stack traces.
struct DebuggerOptions {
  bool perf = false;
  bool gdb = false;
};

DebuggerOptions debugger_options_from_environment();

/// Appends one kernel to perf's map. If the path is not a file of this user, leaves it alone and logs a warning once.
void register_with_perf(const std::string& symbol, const void* address, size_t bytes);

/// Registers object code with gdb while this object exists.
class GdbRegistration {
 public:
  /// `symbol` of the object code was loaded at `address`. The object code must be well formed; successful loading
  /// implies that.
  GdbRegistration(std::string_view object, const std::string& symbol, const void* address);
  GdbRegistration(const GdbRegistration&) = delete;
  GdbRegistration& operator=(const GdbRegistration&) = delete;
  ~GdbRegistration();

 private:
  struct Entry;
  std::unique_ptr<Entry> entry_;
};

}  // namespace lucid
