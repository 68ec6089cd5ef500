#include "jit/recording_budget.h"

namespace lucid::jit {

bool RecordingBudget::take_by_time(int64_t hits, bool evicts) {
  const int64_t new_hits = hits - spent_hits_;
  const int64_t free = new_hits > 0 && spent_ <= kFreeTime ? kFreeWithHits : kFreeWithoutHits;
  const double share = evicts ? kHitShareIfEvicting : kHitShare;
  const double earned = kEagerShare * eager_ + share * eager_call() * static_cast<double>(new_hits);
  if (recordings_ >= free && spent_ > earned) {
    ++skipped_;
    return false;
  }
  ++recordings_;
  skipped_ = 0;
  return true;
}

bool RecordingBudget::take_by_count(int64_t hits) {
  if (const int64_t earned = (hits - spent_hits_) / kHitsPerRecording; earned > 0) {
    spent_hits_ += earned * kHitsPerRecording;
    left_ = std::min(max_, left_ + earned);
    interval_ = 2;
    skipped_ = 0;
  }
  if (left_ > 0) {
    --left_;
    return true;
  }
  if (++skipped_ < interval_) return false;
  skipped_ = 0;
  interval_ = std::min(kMaxInterval, 2 * interval_);
  return true;
}

}  // namespace lucid::jit
