#pragma once

#include <algorithm>
#include <cstdint>

namespace lucid::jit {

/// Decides whether calls try the branches of their key. A branch that turns out not to match costs the time of its
/// plan, so branches are tried rarely while they do not match.
class BranchScore {
 public:
  /// Whether the next call tries them.
  bool take() {
    if (failed_ < kFree) return true;
    if (++skipped_ < interval_) return false;
    skipped_ = 0;
    interval_ = std::min(kMaxInterval, 2 * interval_);
    return true;
  }
  void succeeded() { *this = BranchScore(); }
  /// No branch matched.
  void failed() { ++failed_; }

 private:
  /// How many calls in a row try branches in vain before calls are sampled.
  static constexpr uint32_t kFree = 16;
  static constexpr uint32_t kMaxInterval = 4096;

  uint32_t failed_ = 0;
  uint32_t skipped_ = 0;
  uint32_t interval_ = 2;
};

}  // namespace lucid::jit
