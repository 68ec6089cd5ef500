#include "base/blocking.h"

#include "base/lock.h"

namespace lucid {
namespace {

constinit BlockingHooks g_hooks;

}  // namespace

void set_blocking_hooks(BlockingHooks hooks) { g_hooks = hooks; }

BlockingScope::BlockingScope() {
  check_no_lock_is_held("the caller's lock is released");
  if (g_hooks.begin) state_ = g_hooks.begin();
}

BlockingScope::~BlockingScope() {
  if (state_) g_hooks.end(state_);
}

void check_interrupts() {
  if (g_hooks.check_interrupts) g_hooks.check_interrupts();
}

}  // namespace lucid
