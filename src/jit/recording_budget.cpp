#include "jit/recording_budget.h"

namespace lucid::jit {

bool RecordingBudget::take(int64_t hits) {
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
