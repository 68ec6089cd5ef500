#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/shape.h"
#include "code/loaded_code.h"
#include "runtime/packed_forms.h"

namespace lucid {

class GpuPlan;

/// The location of a buffer when the plan runs.
struct Slot {
  enum class Area : uint8_t { kInput, kOutput, kArena, kPacked, kError };
  Area area = Area::kInput;
  int32_t index = 0;        // for kInput, kOutput and kPacked; the others have one start each
  int64_t byte_offset = 0;  // from the start of the area or buffer
};

/// Launches of one kernel, or one call of a host function, ready to run.
struct PlanStep {
  using HostFunction = std::function<void(void* const* buffers)>;

  /// The arguments of one launch. The launches of a step may run at the same time.
  struct Launch {
    std::vector<Slot> slots;
    std::vector<int64_t> params;
    int64_t items = 0;
  };

  /// A stage of the step's kernel. Buffers are indices of slots, then of locals.
  struct Stage {
    std::string name;
    std::vector<uint32_t> reads;
    std::vector<uint32_t> writes;
  };

  /// An output that is complete after the step and must have these bytes.
  struct Check {
    size_t output = 0;
    std::string expected;
  };

  /// Human-readable description.
  std::string name;
  std::vector<Stage> stages;
  std::vector<Check> checks;
  Ref<LoadedCode> code;
  /// At least one. Exactly one if the step packs or calls a host function.
  std::vector<Launch> launches;
  /// Whether each launch copies its first slot to the second: it does not run if they have the same address.
  bool is_copy = false;
  int64_t grain = 1;
  /// Estimated time of one core of a CPU.
  double nanoseconds = 0;
  /// Total number of items of all launches.
  int64_t items() const;
  /// If set, the step only computes a packed form of input `packs`: its last slot is the form.
  std::optional<uint32_t> packs = {};
  /// If set, the step has no code. The function is called with the addresses of the slots, in the caller's
  /// floating-point environment. If it throws an Error, that counts as a failed check.
  HostFunction host;
  /// For host functions in plans for a gpu: the size in bytes of each slot, and how many of them are operands.
  std::vector<size_t> host_bytes;
  size_t host_operands = 0;
  /// On a gpu: whether the step uses memory that steps since the last barrier write, or writes memory that they use.
  bool needs_barrier = true;
};

/// A compiled computation: a flat list of steps over inputs, outputs and one arena. Immutable, so that many threads may
/// run it at the same time, each with its own frame.
class Plan : public RefCounted {
 public:
  struct Output {
    TensorType type;
    Dims strides;
  };

  /// An input or output of a plan for a gpu that is in host memory: its bytes, relative to the first element.
  struct HostBuffer {
    size_t index = 0;
    int64_t first_byte = 0;
    size_t bytes = 0;
  };

  Plan();
  ~Plan() override;

  /// Where the kernels run, and where inputs and outputs are but for `host_inputs` and `host_outputs`.
  Device device;
  std::vector<HostBuffer> host_inputs;
  std::vector<HostBuffer> host_outputs;
  std::vector<Output> outputs;
  std::vector<PlanStep> steps;
  size_t arena_bytes = 0;
  /// Scratch memory for each thread that runs a kernel.
  size_t scratch_bytes = 0;
  /// The size of each packed form. Forms have their own memory, because they may be kept between runs.
  std::vector<size_t> packed_bytes;
  /// Whether a run takes long enough that other threads of the caller should run meanwhile.
  bool is_long = false;
  /// For each output, the input that may donate its memory to it, or -1. Such outputs are safe.
  std::vector<int32_t> donors;
  /// For each output, whether no check can fail after the first write to it.
  std::vector<bool> is_safe;
  /// If the caller chose the memory of the outputs: for each output, whether each input may share its memory.
  std::vector<std::vector<bool>> in_place_inputs;

  /// Number of steps of every run. Steps that pack an input run again only if it has changed, and do not count.
  size_t kernel_count() const;
  /// The names of these steps, or of the steps that pack an input.
  std::vector<std::string> kernel_names(bool packing = false) const;

  /// Whether an output may have exactly the same memory as an input: nothing reads an element of the input after the
  /// output's element was written.
  bool may_share(size_t input, size_t output) const {
    return !in_place_inputs.empty() && in_place_inputs[output][input];
  }

  /// The error words for a host function that threw, and for an output that differs (PlanStep::checks).
  static constexpr int64_t kHostError = -1;
  static constexpr int64_t kOtherOutput = -2;

  /// Must be called once the other members are set.
  void finish();
  /// The commands of a plan for a gpu, otherwise null.
  const GpuPlan* gpu() const { return gpu_.get(); }

  /// Runs all steps. On a gpu it returns once the steps are submitted, unless a check can fail. A long run releases the
  /// caller's lock meanwhile, so none of our locks may be held, and the caller must keep all memory alive. Pointers are
  /// to the first element of each input and output. `forms` has for each input where its packed forms are kept, or
  /// null; it may be empty. Returns the error word: 0, or the code of a failed check, in which case the outputs are
  /// meaningless. If it is kOtherOutput, outputs that were compared are complete, up to the first that differs. Adds
  /// the time of each step to `nanoseconds`, unless it is empty.
  int64_t run(std::span<void* const> inputs, std::span<void* const> outputs, std::span<PackedForms* const> forms = {},
              std::span<double> nanoseconds = {}) const;

 private:
  std::unique_ptr<const GpuPlan> gpu_;
};

/// Whether a run takes more than some tens of microseconds, so that other threads should be able to run.
bool takes_long(const Plan& plan);

/// Adds the time until its end to that of a step, if times are measured.
class StepTimer {
 public:
  StepTimer(std::span<double> nanoseconds, size_t step) : time_(nanoseconds.empty() ? nullptr : &nanoseconds[step]) {
    if (time_) start_ = std::chrono::steady_clock::now();
  }
  StepTimer(const StepTimer&) = delete;
  StepTimer& operator=(const StepTimer&) = delete;
  ~StepTimer() {
    if (time_) *time_ += std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  double* const time_;
  std::chrono::steady_clock::time_point start_;
};

/// Human-readable text: the steps, their stages, the memory that they read and write, and their times unless
/// `nanoseconds` is empty.
std::string to_text(const Plan& plan, std::span<const double> nanoseconds = {});

}  // namespace lucid
