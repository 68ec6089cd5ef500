#pragma once

#include <atomic>

namespace lucid {

/// Thrown when long work is cancelled. Not a std::exception, so that handlers do not treat it as a failure.
struct Cancelled {};

/// Makes the work of this thread cancellable until the end of the scope: it stops soon after the flag is set.
class CancellationScope {
 public:
  explicit CancellationScope(const std::atomic<bool>& flag);
  CancellationScope(const CancellationScope&) = delete;
  CancellationScope& operator=(const CancellationScope&) = delete;
  ~CancellationScope();

 private:
  const std::atomic<bool>* saved_;
};

/// The flag of this thread's work, for helper threads; null if the work cannot be cancelled.
const std::atomic<bool>* cancellation_flag();

/// Throws Cancelled if the flag is set. Called every few milliseconds.
void check_cancelled(const std::atomic<bool>* flag = cancellation_flag());

}  // namespace lucid
