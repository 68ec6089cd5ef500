#include "base/blocking.h"

namespace lucid {
namespace {

constinit BlockingHooks g_hooks;

}  // namespace

void set_blocking_hooks(BlockingHooks hooks) { g_hooks = hooks; }

BlockingScope::BlockingScope() {
  if (g_hooks.begin) state_ = g_hooks.begin();
}

BlockingScope::~BlockingScope() {
  if (state_) g_hooks.end(state_);
}

}  // namespace lucid
