#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/shape.h"
#include "codegen/code_generator.h"
#include "runtime/packed_forms.h"

namespace lucid {

/// Where a step finds a buffer when the plan runs.
struct Slot {
  enum class Area : uint8_t { kInput, kOutput, kArena, kPacked, kError };
  Area area = Area::kInput;
  int32_t index = 0;        // of kInput, kOutput and kPacked; the others have one start each
  int64_t byte_offset = 0;  // from the area's or buffer's start
};

/// One kernel launch, or one call of a host function, ready to run.
struct PlanStep {
  using HostFunction = std::function<void(void* const* buffers)>;

  /// What one launch passes. Those of a step may run at the same time.
  struct Part {
    std::vector<Slot> slots;
    std::vector<int64_t> params;
    int64_t items = 0;
  };

  /// A kernel among those that the step's kernel takes its work through; buffers are numbered as slots, then locals.
  struct Turn {
    std::string name;
    std::vector<uint32_t> reads;
    std::vector<uint32_t> writes;
  };

  /// What it computes, for people.
  std::string name;
  std::vector<Turn> turns;
  Ref<codegen::LoadedCode> code;
  /// At least one; exactly one of a step that packs or is no kernel.
  std::vector<Part> parts;
  int64_t grain = 1;
  /// Of all parts.
  int64_t items() const;
  /// When set, the step makes a packed form of input `packs`, and nothing else: its last slot says which.
  int32_t packs = -1;
  /// When set, it is called with the addresses of the slots, in the caller's floating-point environment, and there is
  /// no code. If it throws an Error, that is a failed check.
  HostFunction host;
};

/// A compiled computation: a flat list of steps over inputs, outputs and one arena. Immutable, so that many threads may
/// run it at once, each with a frame of its own.
class Plan : public RefCounted {
 public:
  struct Output {
    TensorType type;
    Dims strides;
  };

  std::vector<Output> outputs;
  std::vector<PlanStep> steps;
  size_t arena_bytes = 0;
  /// Memory for scratch that each thread needs that runs a kernel.
  size_t scratch_bytes = 0;
  /// The size of each packed form. Forms have memory of their own, because they may be kept.
  std::vector<size_t> packed_bytes;
  /// Whether a run takes so long that it pays to let other threads of the caller go on meanwhile.
  bool is_long = false;
  /// For each output, the input whose memory it may be given, or -1. Such outputs are safe.
  std::vector<int32_t> overwrites;
  /// For each output, whether whatever fails, fails before it is written.
  std::vector<bool> is_safe;
  /// Of a plan that writes to memory which the caller chose: for each output, the inputs that may lie in its place.
  std::vector<std::vector<bool>> sharers;

  /// The steps of every run: those that pack an input run again only when it has changed.
  size_t kernel_count() const;
  /// The names of those, or of the steps that pack an input.
  std::vector<std::string> kernel_names(bool packing = false) const;

  /// Whether an output may lie exactly where an input does: nothing reads the input after its element was written.
  bool may_share(size_t input, size_t output) const { return !sharers.empty() && sharers[output][input]; }

  /// The error word of a host function that threw.
  static constexpr int64_t kHostError = -1;

  /// Runs all steps; a long run gives up the caller's lock meanwhile, so that no lock of ours may be held, and the
  /// caller keeps all memory alive. Pointers are to the first element of each input and output. `forms` gives for each
  /// input where its packed forms are kept, or null; it may be empty. Returns the error word: 0, or the code of a check
  /// that failed, in which case the outputs are meaningless.
  int64_t run(std::span<void* const> inputs, std::span<void* const> outputs,
              std::span<PackedForms* const> forms = {}) const;
};

/// The steps, what each is made of, and which memory they read and write; for people.
std::string to_text(const Plan& plan);

}  // namespace lucid
