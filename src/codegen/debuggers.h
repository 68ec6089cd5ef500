#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace lucid::codegen {

/// Which tools are to be told of loaded kernels: LUCID_PERF=1 writes /tmp/perf-<pid>.map, where perf looks for names;
/// LUCID_GDB=1 hands the object code to gdb, for break points and stack traces.
struct DebuggerOptions {
  bool perf = false;
  bool gdb = false;
};

DebuggerOptions debugger_options_from_environment();

/// Appends one kernel to perf's map. If what lies there is not a file of this user's, leaves it alone and says so once.
void tell_perf(const std::string& symbol, const void* address, size_t bytes);

/// Object code that gdb knows of while this lives.
class GdbRegistration {
 public:
  /// `symbol` of the object code was loaded at `address`. The object code must have been loaded from, so it is well
  /// formed.
  GdbRegistration(std::string_view object, const std::string& symbol, const void* address);
  GdbRegistration(const GdbRegistration&) = delete;
  GdbRegistration& operator=(const GdbRegistration&) = delete;
  ~GdbRegistration();

 private:
  struct Entry;
  std::unique_ptr<Entry> entry_;
};

}  // namespace lucid::codegen
