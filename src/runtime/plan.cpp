#include "runtime/plan.h"

#include "base/small_vector.h"
#include "runtime/float_mode.h"
#include "runtime/storage.h"
#include "runtime/thread_pool.h"

namespace lucid {
namespace {

/// The memory of one run.
class Frame {
 public:
  Frame(const Plan& plan, std::span<void* const> inputs, std::span<void* const> outputs,
        std::span<PackedForms* const> forms)
      : plan_(plan),
        inputs_(inputs),
        outputs_(outputs),
        forms_(forms),
        arena_(plan.arena_bytes ? Storage::allocate(plan.arena_bytes) : nullptr),
        packed_(plan.packed_bytes.size()) {}

  void run(const PlanStep& step) {
    if (step.packs < 0) return launch(step);
    const auto input = static_cast<size_t>(step.packs);
    const auto index = static_cast<size_t>(step.slots.back().index);
    PackedForms* const forms = forms_.empty() ? nullptr : forms_[input];
    const PackedForms::Maker maker{step.code, step.params, address(step.slots.front())};
    PackedForms::Answer answer = forms ? forms->ask(maker) : PackedForms::Answer();
    packed_[index] = std::move(answer.form);
    if (packed_[index]) return;
    packed_[index] = Storage::allocate(plan_.packed_bytes[index]);
    launch(step);
    if (answer.keep_it) forms->keep(maker, packed_[index]);
  }

  int64_t error() const { return error_; }

 private:
  void launch(const PlanStep& step) {
    SmallVector<void*, 16> buffers;
    for (const Slot& slot : step.slots) buffers.push_back(address(slot));
    const loop::KernelFunction function = step.code->function();
    parallel_for(step.items, step.grain,
                 [&](int64_t begin, int64_t end) { function(buffers.data(), step.params.data(), begin, end); });
  }

  void* address(const Slot& slot) {
    const auto index = static_cast<size_t>(slot.index);
    void* start = nullptr;
    switch (slot.area) {
      case Slot::Area::kInput:
        start = inputs_[index];
        break;
      case Slot::Area::kOutput:
        start = outputs_[index];
        break;
      case Slot::Area::kArena:
        // Areas for empty results need no arena.
        start = arena_ ? arena_->data() : nullptr;
        break;
      case Slot::Area::kPacked:
        start = packed_[index]->data();
        break;
      case Slot::Area::kError:
        start = &error_;
        break;
    }
    return static_cast<char*>(start) + slot.byte_offset;
  }

  const Plan& plan_;
  std::span<void* const> inputs_;
  std::span<void* const> outputs_;
  std::span<PackedForms* const> forms_;
  Ref<Storage> arena_;
  std::vector<Ref<Storage>> packed_;
  int64_t error_ = 0;
};

}  // namespace

int64_t Plan::run(std::span<void* const> inputs, std::span<void* const> outputs,
                  std::span<PackedForms* const> forms) const {
  Frame frame(*this, inputs, outputs, forms);
  const FloatModeScope float_mode;
  for (const PlanStep& step : steps) {
    frame.run(step);
    if (frame.error()) return frame.error();
  }
  return 0;
}

}  // namespace lucid
