#pragma once

#include <atomic>

namespace lucid {

/// Thrown where long work notices that it should stop. No std::exception: nobody takes it for a failure.
struct Cancelled {};

/// Says that what this thread does until the end of the scope should stop soon after the flag is set.
class CancellationScope {
 public:
  explicit CancellationScope(const std::atomic<bool>& flag);
  CancellationScope(const CancellationScope&) = delete;
  CancellationScope& operator=(const CancellationScope&) = delete;
  ~CancellationScope();

 private:
  const std::atomic<bool>* saved_;
};

/// The flag of this thread's work, for other threads that take part in it; null if nobody may stop it.
const std::atomic<bool>* cancellation_flag();

/// Throws Cancelled if the flag is set. Called between pieces of work of some milliseconds.
void check_cancelled(const std::atomic<bool>* flag = cancellation_flag());

}  // namespace lucid
