#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace lucid::jit {

/// Decides which of the calls that no plan matches are recorded. Recording pays only if the plan is used often. Some
/// recordings are free; then they have to be earned.
///
/// If calls do not wait for plans, time decides: recording may take a small share of the time of eager calls, and a
/// larger one of the time that calls which ran a plan would have taken. Compiling, on another thread, does not count.
/// If calls wait, decisions do not depend on the clock: hits earn recordings, and without hits calls are sampled, ever
/// more rarely.
class RecordingBudget {
 public:
  /// `hits` is how often plans have run so far.
  RecordingBudget(size_t max_plans, bool is_timed, int64_t hits = 0)
      : max_(kFree + static_cast<int64_t>(std::min(max_plans, kMaxPlans))), is_timed_(is_timed), spent_hits_(hits) {}

  /// Whether to record a call that no plan matches. `evicts`: the plan will take the place of another one.
  bool take(int64_t hits, bool evicts) { return is_timed_ ? take_by_time(hits, evicts) : take_by_count(hits); }
  /// How many calls were not recorded since the last recording.
  uint32_t skipped() const { return skipped_; }

  // Times, in nanoseconds.
  /// A call was recorded, in this time.
  void recorded(int64_t time) { spent_ += std::max(0.0, static_cast<double>(time) - eager_call()); }
  void ran_eagerly(int64_t time) {
    eager_ += static_cast<double>(time);
    ++eager_calls_;
  }

 private:
  /// If time decides: how many recordings are free once plans have run, if they took less than kFreeTime, and how many
  /// are anyway.
  static constexpr int64_t kFreeWithHits = 12;
  static constexpr int64_t kFreeWithoutHits = 4;
  static constexpr double kFreeTime = 100e6;
  /// The shares of the time of eager calls, and of the time that hits would have taken. Plans that evict others may
  /// save no time at all.
  static constexpr double kEagerShare = 0.03;
  static constexpr double kHitShare = 0.25;
  static constexpr double kHitShareIfEvicting = 0.03;
  /// Otherwise: recordings that are free, in addition to one for each plan that the cache holds.
  static constexpr int64_t kFree = 8;
  static constexpr size_t kMaxPlans = 1 << 20;
  /// How many hits pay for a recording.
  static constexpr int64_t kHitsPerRecording = 32;
  static constexpr uint32_t kMaxInterval = 4096;

  bool take_by_time(int64_t hits, bool evicts);
  bool take_by_count(int64_t hits);
  double eager_call() const { return eager_calls_ > 0 ? eager_ / static_cast<double>(eager_calls_) : 0; }

  int64_t max_;
  bool is_timed_;
  int64_t left_ = max_;
  /// Hits that have paid for recordings, or that there were at first.
  int64_t spent_hits_;
  uint32_t interval_ = 2;
  uint32_t skipped_ = 0;
  int64_t recordings_ = 0;
  double spent_ = 0;
  double eager_ = 0;
  int64_t eager_calls_ = 0;
};

}  // namespace lucid::jit
