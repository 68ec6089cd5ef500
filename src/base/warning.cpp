#include "base/warning.h"

#include <cstdio>
#include <mutex>
#include <unordered_set>

namespace lucid {
namespace {

void write_once(const std::string& message) {
  // Never destroyed: other threads may still run at exit.
  static auto* const mutex = new std::mutex;
  static auto* const written = new std::unordered_set<std::string>;
  {
    const std::lock_guard lock(*mutex);
    if (!written->insert(message).second) return;
  }
  std::fputs(("lucid: warning: " + message + "\n").c_str(), stderr);
}

constinit WarningHandler g_handler = write_once;

}  // namespace

void warn(const std::string& message) { g_handler(message); }

void set_warning_handler(WarningHandler handler) { g_handler = handler; }

}  // namespace lucid
