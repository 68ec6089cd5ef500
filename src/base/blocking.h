#pragma once

namespace lucid {

/// What to do around work that takes milliseconds, such as generating code. Whoever calls the library while holding a
/// lock that others wait for (Python's) gives it up meanwhile.
struct BlockingHooks {
  /// Called before; what it returns is given to `end`.
  void* (*begin)() = nullptr;
  void (*end)(void* state) = nullptr;
  /// Called now and then by those who wait; throws to end the waiting.
  void (*check_interrupts)() = nullptr;
};

/// Sets the hooks of the process. Before any other thread uses the library.
void set_blocking_hooks(BlockingHooks hooks);

/// Such work, until the end of the scope. No mutex may be held: others may need it while they hold the caller's lock.
class BlockingScope {
 public:
  BlockingScope();
  BlockingScope(const BlockingScope&) = delete;
  BlockingScope& operator=(const BlockingScope&) = delete;
  ~BlockingScope();

 private:
  void* state_ = nullptr;
};

/// To be called by those who wait, now and then and after a signal; without a mutex.
void check_interrupts();

}  // namespace lucid
