#include "runtime/plan.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>

#include "base/blocking.h"
#include "base/error.h"
#include "base/small_vector.h"
#include "runtime/allocator.h"
#include "runtime/float_mode.h"
#include "runtime/storage.h"
#include "runtime/thread_pool.h"

namespace lucid {
namespace {

/// Memory for the scratch of kernels, for as many calls at once as threads may run one. It is allocated before the
/// first kernel runs: there must be no failure between them.
class Scratch {
 public:
  explicit Scratch(const Plan& plan) : bytes_(plan.scratch_bytes) {
    if (!bytes_) return;
    int64_t most = 1;
    for (const PlanStep& step : plan.steps)
      if (!step.host) most = std::max(most, step.items() / std::max<int64_t>(step.grain, 1));
    places_ = static_cast<size_t>(std::min<int64_t>(most, num_threads()));
    bytes_ = (bytes_ + kAllocationAlignment - 1) / kAllocationAlignment * kAllocationAlignment;
    memory_ = Storage::allocate(places_ * bytes_);
    if (places_ > 1) is_taken_ = std::make_unique<std::atomic_flag[]>(places_);
  }

  void call(const codegen::LoadedCode& code, void* const* buffers, const int64_t* params, int64_t begin, int64_t end) {
    if (!bytes_) return code.function()(buffers, params, begin, end, nullptr);
    const size_t place = take();
    code.function()(buffers, params, begin, end, static_cast<char*>(memory_->data()) + place * bytes_);
    if (is_taken_) is_taken_[place].clear(std::memory_order_release);
  }

 private:
  size_t take() {
    if (!is_taken_) return 0;
    // There are enough for all threads, unless the number of threads has just been raised: then one waits for another.
    for (size_t place = 0;; place = (place + 1) % places_)
      if (!is_taken_[place].test_and_set(std::memory_order_acquire)) return place;
  }

  size_t bytes_;
  size_t places_ = 0;
  Ref<Storage> memory_;
  std::unique_ptr<std::atomic_flag[]> is_taken_;
};

/// The memory of one run.
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

  /// Must precede the first kernel, which may write to what the caller sees: from then on no memory is asked for.
  void find_packed_forms() {
    for (const PlanStep& step : plan_.steps) {
      if (step.packs < 0) continue;
      Packed& packed = packed_[packed_index(step)];
      PackedForms* const forms = forms_of(step);
      if (forms) packed.answer = forms->ask(maker_of(step));
      packed.form = packed.answer.form ? packed.answer.form : Storage::allocate(plan_.packed_bytes[packed_index(step)]);
      packed_starts_[packed_index(step)] = packed.form->data();
    }
  }

  void run(const PlanStep& step) {
    if (step.host) return call_host(step);
    if (step.packs < 0) return launch(step);
    const Packed& packed = packed_[packed_index(step)];
    if (packed.answer.form) return;
    launch(step);
    if (packed.answer.keep_it) forms_of(step)->keep(maker_of(step), packed.answer, packed.form);
  }

  int64_t error() const { return error_; }

 private:
  struct Packed {
    /// Has a form if an earlier run made it.
    PackedForms::Answer answer;
    Ref<Storage> form;
  };

  static size_t packed_index(const PlanStep& step) {
    return static_cast<size_t>(step.parts.front().slots.back().index);
  }
  PackedForms* forms_of(const PlanStep& step) const {
    return forms_.empty() ? nullptr : forms_[static_cast<size_t>(step.packs)];
  }
  PackedForms::Maker maker_of(const PlanStep& step) const {
    const PlanStep::Part& part = step.parts.front();
    return {step.code, part.params, address(part.slots.front())};
  }

  void call_host(const PlanStep& step) {
    SmallVector<void*, 8> buffers;
    for (const Slot& slot : step.parts.front().slots) buffers.push_back(address(slot));
    const FloatModeScope callers(callers_mode_);
    try {
      step.host(buffers.data());
    } catch (const Error&) {
      error_ = Plan::kHostError;
    }
  }

  void launch(const PlanStep& step) {
    if (step.parts.size() > 1) return launch_parts(step);
    const PlanStep::Part& part = step.parts.front();
    SmallVector<void*, 16> buffers;
    void** buffer = buffers.extend(part.slots.size());
    for (const Slot& slot : part.slots) *buffer++ = address(slot);
    parallel_for(part.items, step.grain, [&](int64_t begin, int64_t end) {
      scratch_.call(*step.code, buffers.data(), part.params.data(), begin, end);
    });
  }

  /// The items of all parts, one part after the other, are handed out together.
  void launch_parts(const PlanStep& step) {
    const size_t width = step.parts.front().slots.size();
    SmallVector<void*, 64> buffers;
    void** buffer = buffers.extend(step.parts.size() * width);
    for (const PlanStep::Part& part : step.parts)
      for (const Slot& slot : part.slots) *buffer++ = address(slot);
    parallel_for(step.items(), step.grain, [&](int64_t begin, int64_t end) {
      int64_t first = 0;  // item of the part
      for (size_t i = 0; i < step.parts.size() && first < end; ++i) {
        const PlanStep::Part& part = step.parts[i];
        const int64_t from = std::max(begin - first, int64_t{0});
        const int64_t to = std::min(end - first, part.items);
        if (from < to) scratch_.call(*step.code, buffers.data() + i * width, part.params.data(), from, to);
        first += part.items;
      }
    });
  }

  void* address(const Slot& slot) const {
    return static_cast<char*>(areas_[static_cast<size_t>(slot.area)][slot.index]) + slot.byte_offset;
  }

  const Plan& plan_;
  std::span<PackedForms* const> forms_;
  Ref<Storage> arena_;
  void* const arena_start_;  // null when all that lies there is empty
  Scratch scratch_;
  std::vector<Packed> packed_;
  SmallVector<void*, 4> packed_starts_;
  int64_t error_ = 0;
  void* const error_word_ = &error_;
  void* const* const areas_[5];  // the starts in each Slot::Area, in that order
  const uint32_t callers_mode_;
};

}  // namespace

int64_t PlanStep::items() const {
  int64_t items = 0;
  for (const Part& part : parts) items += part.items;
  return items;
}

size_t Plan::kernel_count() const {
  return static_cast<size_t>(
      std::count_if(steps.begin(), steps.end(), [](const PlanStep& step) { return step.packs < 0; }));
}

std::vector<std::string> Plan::kernel_names(bool packing) const {
  std::vector<std::string> names;
  for (const PlanStep& step : steps)
    if ((step.packs >= 0) == packing) names.push_back(step.name);
  return names;
}

int64_t Plan::run(std::span<void* const> inputs, std::span<void* const> outputs,
                  std::span<PackedForms* const> forms) const {
  std::optional<BlockingScope> running;
  if (is_long) running.emplace();
  Frame frame(*this, inputs, outputs, forms);
  if (!packed_bytes.empty()) frame.find_packed_forms();
  const FloatModeScope float_mode;
  for (const PlanStep& step : steps) {
    frame.run(step);
    if (frame.error()) return frame.error();
  }
  return 0;
}

}  // namespace lucid
