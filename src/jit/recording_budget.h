#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace lucid::jit {

/// Decides which of the calls that no plan matches are recorded. Recording pays only if the plan is used often. Some
/// recordings are free, and hits earn more. Without either, calls are sampled, ever more rarely.
class RecordingBudget {
 public:
  /// `hits` is how often plans have run so far.
  explicit RecordingBudget(size_t max_plans, int64_t hits = 0)
      : max_(kFree + static_cast<int64_t>(std::min(max_plans, kMaxPlans))), spent_hits_(hits) {}

  /// Whether to record a call that no plan matches.
  bool take(int64_t hits);
  /// How many calls were not recorded since the last recording.
  uint32_t skipped() const { return skipped_; }

 private:
  /// Recordings that are free, in addition to one for each plan that the cache holds.
  static constexpr int64_t kFree = 8;
  static constexpr size_t kMaxPlans = 1 << 20;
  /// How many hits pay for a recording.
  static constexpr int64_t kHitsPerRecording = 32;
  static constexpr uint32_t kMaxInterval = 4096;

  int64_t max_;
  int64_t left_ = max_;
  /// Hits that have paid for recordings.
  int64_t spent_hits_;
  uint32_t interval_ = 2;
  uint32_t skipped_ = 0;
};

}  // namespace lucid::jit
