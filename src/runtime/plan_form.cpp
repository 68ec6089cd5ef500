#include "runtime/plan_form.h"

#include <algorithm>

#include "base/checked_int.h"
#include "base/error.h"

namespace lucid {
namespace {

/// The numbers of a form for certain sizes.
class Numbers {
 public:
  explicit Numbers(std::span<const int64_t> sizes) : sizes_(sizes) {}

  int64_t operator()(const SizeFormula& formula) const {
    const std::optional<int64_t> value = formula.evaluate(sizes_);
    if (!value) throw ValueError("a number of the plan is too large for these sizes");
    return *value;
  }
  int64_t positive(const SizeFormula& formula) const {
    const int64_t value = (*this)(formula);
    // Sums of such numbers fit too.
    constexpr int64_t kMax = int64_t{1} << 48;
    if (value < 0 || value > kMax) throw ValueError("a size of the plan is {}", value);
    return value;
  }

 private:
  std::span<const int64_t> sizes_;
};

/// Where the blocks of a form are.
std::vector<Slot> place(const PlanForm& form, const Numbers& numbers, size_t& arena_bytes) {
  std::vector<ArenaBlock> blocks;
  for (const PlanForm::Block& block : form.blocks)
    blocks.push_back(
        {.bytes = numbers.positive(block.bytes), .first_step = block.first_step, .last_step = block.last_step});
  std::vector<FreeRegion> regions;
  for (const PlanForm::Region& region : form.regions)
    regions.push_back({numbers.positive(region.bytes), region.first_step, region.last_step});
  arena_bytes = static_cast<size_t>(place_blocks(blocks, form.reuses, regions));
  std::vector<Slot> slots;
  for (const ArenaBlock& block : blocks) {
    if (block.region < 0)
      slots.push_back({Slot::Area::kArena, 0, block.offset});
    else
      slots.push_back({Slot::Area::kOutput,
                       static_cast<int32_t>(form.regions[static_cast<size_t>(block.region)].output), block.offset});
  }
  return slots;
}

Slot slot_of(const PlanForm::Place& place, std::span<const Slot> blocks, const Numbers& numbers) {
  const bool is_block = place.area == Slot::Area::kArena;
  Slot slot = is_block ? blocks[place.index] : Slot{place.area, static_cast<int32_t>(place.index), 0};
  const std::optional<int64_t> offset = (CheckedInt(slot.byte_offset) + numbers(place.byte_offset)).value();
  if (!offset) throw ValueError("an offset of the plan is too large for these sizes");
  slot.byte_offset = *offset;
  return slot;
}

}  // namespace

bool PlanForm::serves(std::span<const int64_t> sizes) const { return all_hold(conditions, sizes); }

Ref<Plan> make_plan(const PlanForm& form, std::span<const int64_t> sizes, std::span<const Ref<LoadedCode>> codes) {
  const Numbers numbers(sizes);
  auto plan = make_ref<Plan>();
  const std::vector<Slot> blocks = place(form, numbers, plan->arena_bytes);
  for (const PlanForm::Output& output : form.outputs) {
    plan->donors.push_back(output.donor);
    plan->is_safe.push_back(output.is_safe);
  }
  for (const SizeFormula& bytes : form.packed_bytes)
    plan->packed_bytes.push_back(static_cast<size_t>(numbers.positive(bytes)));
  for (const PlanForm::Step& step : form.steps) {
    PlanStep& ready = plan->steps.emplace_back();
    ready.name = step.name;
    ready.code = codes[step.kernel];
    ready.checks = step.checks;
    ready.is_copy = step.is_copy;
    ready.grain = step.grain;
    ready.packs = step.packs;
    for (const PlanForm::Launch& launch : step.launches) {
      PlanStep::Launch& made = ready.launches.emplace_back();
      for (const PlanForm::Place& place : launch.places) made.slots.push_back(slot_of(place, blocks, numbers));
      for (const SizeFormula& param : launch.params) made.params.push_back(numbers(param));
      made.items = numbers.positive(launch.items);
    }
    ready.nanoseconds = step.nanoseconds * static_cast<double>(ready.items());
    plan->scratch_bytes = std::max(plan->scratch_bytes, ready.code->scratch_bytes());
  }
  plan->is_long = takes_long(*plan);
  plan->finish();
  return plan;
}

}  // namespace lucid
