#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace lucid::jit {

/// Decides whether calls that no plan serves run in pieces: deferring ops and compiling parts takes time itself. Once
/// their pieces have plans, some calls run in pieces and some as they are, and the median times decide. The trial is
/// repeated ever more rarely.
class PieceScore {
 public:
  /// How a call runs. A timed one reports its time.
  struct Mode {
    bool in_pieces = true;
    bool is_timed = false;
  };

  Mode next();
  /// A call has run in pieces; `is_planned` if all of them had plans.
  void ran_in_pieces(bool is_planned);
  /// A timed call took this time, in nanoseconds. At the end of a trial, returns how much longer calls in pieces take.
  std::optional<double> took(Mode mode, int64_t time);
  /// Whether calls run in pieces now.
  bool in_pieces() const { return in_pieces_; }

 private:
  /// Calls of each kind in a trial.
  static constexpr size_t kSamples = 8;
  /// Trials alternate between blocks of calls.
  static constexpr uint32_t kBlock = 5;
  /// Calls in pieces before the first trial: at most this many if they have no plans, and this many with plans.
  static constexpr uint32_t kMaxCold = 64;
  static constexpr uint32_t kWarm = 8;
  /// Calls between two trials: at first, and at most.
  static constexpr uint32_t kMinInterval = 64;
  static constexpr uint32_t kMaxInterval = 8192;

  /// How much longer calls in pieces may take: about as much as the medians vary.
  static constexpr double kBreakEven = 1.03;

  void begin_trial();
  double end_trial();

  bool in_pieces_ = true;
  bool in_trial_ = false;
  uint32_t cold_ = 0;
  uint32_t warm_ = 0;
  /// Calls until the next trial, and between the last two. Zero before the first one.
  uint32_t left_ = 0;
  uint32_t interval_ = 0;
  uint32_t trial_calls_ = 0;
  std::array<std::array<int64_t, kSamples>, 2> times_{};
  std::array<size_t, 2> counts_{};
};

}  // namespace lucid::jit
