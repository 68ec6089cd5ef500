#include "base/blocking.h"

#include <cstdio>
#include <cstdlib>

namespace lucid {
namespace {

constinit BlockingHooks g_hooks;
/// How many BorrowScopes this thread is in; counted in debug builds only.
constinit thread_local int t_borrows = 0;

}  // namespace

void set_blocking_hooks(BlockingHooks hooks) { g_hooks = hooks; }

BlockingScope::BlockingScope() {
  check_may_block("the caller's lock is released");
  if (g_hooks.begin) state_ = g_hooks.begin();
}

BlockingScope::~BlockingScope() {
  if (state_) g_hooks.end(state_);
}

void BorrowScope::count(int change) { t_borrows += change; }

void check_may_block(const char* what) {
  check_no_lock_is_held(what);
  if (!LUCID_CHECKS_LOCKS || t_borrows == 0) return;
  std::fprintf(stderr, "lucid: %s in a BorrowScope; see src/base/blocking.h\n", what);
  std::abort();
}

void check_interrupts() {
  if (g_hooks.check_interrupts) g_hooks.check_interrupts();
}

}  // namespace lucid
