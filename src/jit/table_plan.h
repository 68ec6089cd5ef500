#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "base/ref.h"
#include "jit/call_key.h"
#include "jit/program.h"
#include "jit/shadow_run.h"

namespace lucid::jit {

/// A plan of a plan table. Fronts derive from it to add the data that they need to check guards and rebuild results. It
/// may be destroyed on any thread.
class TablePlan : public RefCounted {
 public:
  /// Serves calls with this key, whose numbers at the positions `varying` may have other values.
  TablePlan(Ref<Program> program, const CallKey& key, std::vector<uint32_t> varying = {})
      : program(std::move(program)), structure(key.structure()), pattern(key.numbers(), std::move(varying)) {}

  /// Whether it is one of the branches of its key: it serves only calls that read the recorded values.
  bool is_branch() const { return program->reads_values(); }
  /// What to call a tensor that a run uses: "argument 0", "the gradient of self.weight".
  std::string name_of(const ShadowRun::Difference& difference) const;
  /// How often it has run.
  int64_t hits() const { return hits_.load(std::memory_order_relaxed); }

  const Ref<Program> program;
  const std::string structure;
  const NumberPattern pattern;
  /// Where the call reads the captured tensors, such as `model.weight`; may be empty.
  std::vector<std::string> sources;
  /// The arguments whose values may vary.
  std::vector<std::string> varying;
  /// The calls with effects that the front replays after each run, such as "print (train.py:12)".
  std::vector<std::string> replayed;
  /// The number of values that the front guards.
  size_t guards = 0;

 private:
  friend class PlanTable;
  mutable std::atomic<int64_t> hits_ = 0;
  mutable std::atomic<bool> was_stale_ = false;
};

/// Why a plan does not match a call although all guards hold that can be checked before it runs.
inline constexpr const char* kReadsOtherValues = "it reads other values of tensors";

}  // namespace lucid::jit
