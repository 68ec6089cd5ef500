#include "jit/piece_score.h"

#include <algorithm>

namespace lucid::jit {

PieceScore::Mode PieceScore::next() {
  // The first call of a block finds the processor's caches full of what the other kind needs.
  if (in_trial_) {
    const uint32_t call = trial_calls_++;
    return {call / kBlock % 2 == 0, call % kBlock > 0};
  }
  if (interval_ > 0 && --left_ == 0) begin_trial();
  return {in_pieces_, false};
}

void PieceScore::ran_in_pieces(bool is_planned) {
  if (interval_ > 0 || in_trial_) return;
  if (is_planned ? ++warm_ == kWarm : ++cold_ == kMaxCold) begin_trial();
}

void PieceScore::begin_trial() {
  in_trial_ = true;
  trial_calls_ = 0;
  counts_ = {};
}

std::optional<double> PieceScore::took(Mode mode, int64_t time) {
  if (!in_trial_) return std::nullopt;
  if (size_t& count = counts_[mode.in_pieces]; count < kSamples) times_[mode.in_pieces][count++] = time;
  if (counts_[0] < kSamples || counts_[1] < kSamples) return std::nullopt;
  return end_trial();
}

double PieceScore::end_trial() {
  const auto median = [](std::array<int64_t, kSamples>& times) {
    std::ranges::nth_element(times, times.begin() + kSamples / 2);
    return static_cast<double>(times[kSamples / 2]);
  };
  in_trial_ = false;
  const double ratio = median(times_[1]) / median(times_[0]);
  in_pieces_ = ratio <= kBreakEven;
  interval_ = std::clamp(2 * interval_, kMinInterval, kMaxInterval);
  left_ = interval_;
  return ratio;
}

}  // namespace lucid::jit
