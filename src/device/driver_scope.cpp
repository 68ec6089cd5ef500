#include "device/driver_scope.h"

#include <unistd.h>

#include <atomic>

#include "base/error.h"

namespace lucid {
namespace {

constexpr int kMicroseconds = 1000;

constinit std::atomic<int> g_scopes = 0;
constinit std::atomic<bool> g_is_closed = false;

}  // namespace

DriverScope::DriverScope() {
  ++g_scopes;
  if (!g_is_closed) return;
  --g_scopes;
  throw RuntimeError("gpus cannot be used while the process exits");
}

DriverScope::~DriverScope() { --g_scopes; }

bool close_drivers(std::chrono::steady_clock::time_point end) noexcept {
  g_is_closed = true;
  while (g_scopes > 0) {
    if (std::chrono::steady_clock::now() >= end) return false;
    ::usleep(kMicroseconds);
  }
  return true;
}

}  // namespace lucid
