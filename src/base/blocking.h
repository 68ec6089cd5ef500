#pragma once

namespace lucid {

/// Hooks around work that takes milliseconds, such as code generation. A caller that holds a lock which other threads
/// wait for, such as Python's GIL, releases it during this work.
struct BlockingHooks {
  /// Called before the work; its result is passed to `end`.
  void* (*begin)() = nullptr;
  void (*end)(void* state) = nullptr;
  /// Called periodically by waiting threads; throws to stop waiting.
  void (*check_interrupts)() = nullptr;
};

/// Sets the hooks of the process. Must be called before any other thread uses the library.
void set_blocking_hooks(BlockingHooks hooks);

/// Marks the rest of the scope as blocking work. No mutex may be held: another thread may need it while holding the
/// caller's lock.
class BlockingScope {
 public:
  BlockingScope();
  BlockingScope(const BlockingScope&) = delete;
  BlockingScope& operator=(const BlockingScope&) = delete;
  ~BlockingScope();

 private:
  void* state_ = nullptr;
};

/// Waiting threads call this periodically and after a signal, without holding a mutex.
void check_interrupts();

}  // namespace lucid
