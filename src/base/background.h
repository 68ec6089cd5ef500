#pragma once

#include <atomic>

namespace lucid {

/// Marks the work of this thread until the end of the scope as work in the background, unless `is_awaited` is set.
class BackgroundScope {
 public:
  explicit BackgroundScope(const std::atomic<bool>& is_awaited);
  BackgroundScope(const BackgroundScope&) = delete;
  BackgroundScope& operator=(const BackgroundScope&) = delete;
  ~BackgroundScope();

 private:
  const std::atomic<bool>* saved_;
};

/// Whether nobody waits for the work of this thread. Work in the background leaves the other CPUs to the program.
bool is_in_background();

}  // namespace lucid
