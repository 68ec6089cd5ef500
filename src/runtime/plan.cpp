#include "runtime/plan.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <optional>

#include "base/blocking.h"
#include "base/error.h"
#include "base/small_vector.h"
#include "runtime/allocator.h"
#include "runtime/float_mode.h"
#include "runtime/gpu_plan.h"
#include "runtime/storage.h"
#include "runtime/thread_pool.h"

namespace lucid {
namespace {

/// Scratch memory for kernels, one area for each thread that may run one. It is allocated before the first kernel runs,
/// since nothing may fail between kernels.
class Scratch {
 public:
  explicit Scratch(const Plan& plan) : bytes_(plan.scratch_bytes) {
    if (!bytes_) return;
    int64_t max_threads = 1;
    for (const PlanStep& step : plan.steps)
      if (!step.host) max_threads = std::max(max_threads, step.items() / std::max<int64_t>(step.grain, 1));
    area_count_ = static_cast<size_t>(std::min<int64_t>(max_threads, num_threads()));
    bytes_ = (bytes_ + kAllocationAlignment - 1) / kAllocationAlignment * kAllocationAlignment;
    memory_ = Storage::allocate(area_count_ * bytes_);
    if (area_count_ > 1) is_taken_ = std::make_unique<std::atomic_flag[]>(area_count_);
  }

  void call(const LoadedCode& code, void* const* buffers, const int64_t* params, int64_t begin, int64_t end) {
    if (!bytes_) return code.function()(buffers, params, begin, end, nullptr);
    const size_t area = acquire();
    code.function()(buffers, params, begin, end, static_cast<char*>(memory_->data()) + area * bytes_);
    if (is_taken_) is_taken_[area].clear(std::memory_order_release);
  }

 private:
  size_t acquire() {
    if (!is_taken_) return 0;
    // There is an area for each thread, unless the number of threads was just raised: then a thread waits for another.
    for (size_t area = 0;; area = (area + 1) % area_count_)
      if (!is_taken_[area].test_and_set(std::memory_order_acquire)) return area;
  }

  size_t bytes_;
  size_t area_count_ = 0;
  Ref<Storage> memory_;
  std::unique_ptr<std::atomic_flag[]> is_taken_;
};

/// The state of one run.
class Frame {
 public:
  Frame(const Plan& plan, std::span<void* const> inputs, std::span<void* const> outputs,
        std::span<PackedForms* const> forms)
      : plan_(plan),
        forms_(forms),
        arena_(plan.arena_bytes ? Storage::allocate(plan.arena_bytes) : nullptr),
        arena_start_(arena_ ? arena_->data() : nullptr),
        scratch_(plan),
        packed_(plan.packed_bytes.size()),
        packed_starts_(plan.packed_bytes.size()),
        areas_{inputs.data(), outputs.data(), &arena_start_, packed_starts_.data(), &error_word_},
        callers_mode_(current_float_mode()) {}
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  /// Must be called before the first kernel, which may write to memory that the caller sees: no allocation may follow.
  void find_packed_forms() {
    for (const PlanStep& step : plan_.steps) {
      if (!step.packs) continue;
      Packed& packed = packed_[packed_index(step)];
      PackedForms* const forms = forms_of(step);
      if (forms) packed.answer = forms->ask(maker_of(step));
      packed.form = packed.answer.form ? packed.answer.form : Storage::allocate(plan_.packed_bytes[packed_index(step)]);
      packed_starts_[packed_index(step)] = packed.form->data();
    }
  }

  void run(const PlanStep& step) {
    if (step.host) return call_host(step);
    if (!step.packs) return run_kernel(step);
    const Packed& packed = packed_[packed_index(step)];
    if (packed.answer.form) return;
    run_kernel(step);
    if (packed.answer.keep_it) forms_of(step)->keep(maker_of(step), packed.answer, packed.form);
  }

  int64_t error() const { return error_; }

 private:
  struct Packed {
    /// Has a form if an earlier run computed it.
    PackedForms::Answer answer;
    Ref<Storage> form;
  };

  static size_t packed_index(const PlanStep& step) {
    return static_cast<size_t>(step.launches.front().slots.back().index);
  }
  PackedForms* forms_of(const PlanStep& step) const { return forms_.empty() ? nullptr : forms_[*step.packs]; }
  PackedForms::Maker maker_of(const PlanStep& step) const {
    const PlanStep::Launch& launch = step.launches.front();
    return {step.code, launch.params, address(launch.slots.front())};
  }

  void call_host(const PlanStep& step) {
    SmallVector<void*, 8> buffers;
    for (const Slot& slot : step.launches.front().slots) buffers.push_back(address(slot));
    const FloatModeScope callers(callers_mode_);
    try {
      step.host(buffers.data());
    } catch (const Error&) {
      error_ = Plan::kHostError;
    }
  }

  /// Whether the step only copies memory to itself.
  bool is_done(const PlanStep& step) const {
    return step.is_copy && std::ranges::all_of(step.launches, [&](const PlanStep::Launch& launch) {
             return address(launch.slots[0]) == address(launch.slots[1]);
           });
  }

  void run_kernel(const PlanStep& step) {
    if (is_done(step)) return;
    if (step.launches.size() > 1) return run_launches(step);
    const PlanStep::Launch& launch = step.launches.front();
    SmallVector<void*, 16> buffers;
    void** buffer = buffers.extend(launch.slots.size());
    for (const Slot& slot : launch.slots) *buffer++ = address(slot);
    parallel_for(launch.items, step.grain, [&](int64_t begin, int64_t end) {
      scratch_.call(*step.code, buffers.data(), launch.params.data(), begin, end);
    });
  }

  /// Distributes the items of all launches together, one launch after the other.
  void run_launches(const PlanStep& step) {
    const size_t width = step.launches.front().slots.size();
    SmallVector<void*, 64> buffers;
    void** buffer = buffers.extend(step.launches.size() * width);
    for (const PlanStep::Launch& launch : step.launches)
      for (const Slot& slot : launch.slots) *buffer++ = address(slot);
    parallel_for(step.items(), step.grain, [&](int64_t begin, int64_t end) {
      int64_t first = 0;  // index of the launch's first item among all
      for (size_t i = 0; i < step.launches.size() && first < end; ++i) {
        const PlanStep::Launch& launch = step.launches[i];
        const int64_t from = std::max(begin - first, int64_t{0});
        const int64_t to = std::min(end - first, launch.items);
        if (from < to) scratch_.call(*step.code, buffers.data() + i * width, launch.params.data(), from, to);
        first += launch.items;
      }
    });
  }

  void* address(const Slot& slot) const {
    return static_cast<char*>(areas_[static_cast<size_t>(slot.area)][slot.index]) + slot.byte_offset;
  }

  const Plan& plan_;
  std::span<PackedForms* const> forms_;
  Ref<Storage> arena_;
  void* const arena_start_;  // null if the arena is empty
  Scratch scratch_;
  std::vector<Packed> packed_;
  SmallVector<void*, 4> packed_starts_;
  int64_t error_ = 0;
  void* const error_word_ = &error_;
  void* const* const areas_[5];  // the starts of each Slot::Area, in that order
  const uint32_t callers_mode_;
};

}  // namespace

int64_t PlanStep::items() const {
  int64_t items = 0;
  for (const Launch& launch : launches) items += launch.items;
  return items;
}

size_t Plan::kernel_count() const {
  return static_cast<size_t>(
      std::count_if(steps.begin(), steps.end(), [](const PlanStep& step) { return !step.packs; }));
}

std::vector<std::string> Plan::kernel_names(bool packing) const {
  std::vector<std::string> names;
  for (const PlanStep& step : steps)
    if (step.packs.has_value() == packing) names.push_back(step.name);
  return names;
}

bool takes_long(const Plan& plan) {
  constexpr size_t kMaxShortSteps = 16;
  return plan.steps.size() > kMaxShortSteps ||
         std::any_of(plan.steps.begin(), plan.steps.end(),
                     [](const PlanStep& step) { return step.host || step.items() > step.grain; });
}

Plan::Plan() = default;
Plan::~Plan() = default;

void Plan::finish() {
  if (device.is_gpu()) gpu_ = std::make_unique<const GpuPlan>(*this);
}

int64_t Plan::run(std::span<void* const> inputs, std::span<void* const> outputs, std::span<PackedForms* const> forms,
                  std::span<double> nanoseconds) const {
  if (gpu_) return gpu_->run(*this, inputs, outputs, forms, nanoseconds);
  std::optional<BlockingScope> running;
  if (is_long) running.emplace();
  Frame frame(*this, inputs, outputs, forms);
  if (!packed_bytes.empty()) frame.find_packed_forms();
  const FloatModeScope float_mode;
  for (size_t i = 0; i < steps.size(); ++i) {
    const PlanStep& step = steps[i];
    const StepTimer timer(nanoseconds, i);
    frame.run(step);
    if (frame.error()) return frame.error();
    for (const PlanStep::Check& check : step.checks)
      if (std::memcmp(outputs[check.output], check.expected.data(), check.expected.size()) != 0) return kOtherOutput;
  }
  return 0;
}

}  // namespace lucid
