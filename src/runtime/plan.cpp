#include "runtime/plan.h"

#include "base/small_vector.h"
#include "runtime/float_mode.h"
#include "runtime/storage.h"
#include "runtime/thread_pool.h"

namespace lucid {

int64_t Plan::run(std::span<void* const> inputs, std::span<void* const> outputs) const {
  int64_t error = 0;
  const Ref<Storage> arena = arena_bytes ? Storage::allocate(arena_bytes) : nullptr;
  char* const arena_start = arena ? static_cast<char*>(arena->data()) : nullptr;
  const FloatModeScope float_mode;
  for (const PlanStep& step : steps) {
    SmallVector<void*, 16> buffers;
    for (const Slot& slot : step.slots) {
      char* start = nullptr;
      switch (slot.area) {
        case Slot::Area::kInput:
          start = static_cast<char*>(inputs[static_cast<size_t>(slot.index)]);
          break;
        case Slot::Area::kOutput:
          start = static_cast<char*>(outputs[static_cast<size_t>(slot.index)]);
          break;
        case Slot::Area::kArena:
          start = arena_start;
          break;
        case Slot::Area::kError:
          start = reinterpret_cast<char*>(&error);
          break;
      }
      buffers.push_back(start + slot.byte_offset);
    }
    const loop::KernelFunction function = step.code->function();
    parallel_for(step.items, step.grain,
                 [&](int64_t begin, int64_t end) { function(buffers.data(), step.params.data(), begin, end); });
    if (error) return error;
  }
  return 0;
}

}  // namespace lucid
