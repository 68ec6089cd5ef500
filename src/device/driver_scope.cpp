#include "device/driver_scope.h"

#include <unistd.h>

#include <atomic>

#include "base/error.h"

namespace lucid {
namespace {

constexpr int kMaxWaits = 20'000;
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

void close_drivers() noexcept {
  g_is_closed = true;
  for (int i = 0; i < kMaxWaits && g_scopes > 0; ++i) ::usleep(kMicroseconds);
}

}  // namespace lucid
