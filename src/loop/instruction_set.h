#pragma once

#include <vector>

#include "loop/canonical.h"

namespace lucid::loop {

/// A set of instructions of one kernel, compared by equal(): an open-addressing hash table of their ids. Builders spend
/// much of their time here.
class InstructionSet {
 public:
  explicit InstructionSet(const std::vector<Instruction>& instructions)
      : instructions_(instructions), slots_(kInitialSlots) {}

  /// Inserts an instruction if the set has none that is equal. Returns the one that it has then.
  Id insert(Id id) {
    if (2 * (filled_ + 1) > slots_.size()) grow();
    const auto hash = static_cast<uint32_t>(hash_of(instructions_[id]));
    size_t at = hash & (slots_.size() - 1);
    for (; slots_[at].state != State::kEmpty; at = (at + 1) & (slots_.size() - 1)) {
      const Slot& slot = slots_[at];
      if (slot.state == State::kFilled && slot.hash == hash && equal(instructions_[slot.id], instructions_[id]))
        return slot.id;
    }
    slots_[at] = {hash, id, State::kFilled};
    ++filled_;
    return id;
  }

  void erase(Id id) {
    const auto hash = static_cast<uint32_t>(hash_of(instructions_[id]));
    size_t at = hash & (slots_.size() - 1);
    for (; slots_[at].state != State::kEmpty; at = (at + 1) & (slots_.size() - 1))
      if (slots_[at].state == State::kFilled && slots_[at].id == id) {
        slots_[at].state = State::kErased;
        return;
      }
  }

 private:
  static constexpr size_t kInitialSlots = 256;
  enum class State : uint8_t { kEmpty, kFilled, kErased };
  struct Slot {
    uint32_t hash = 0;
    Id id = 0;
    State state = State::kEmpty;
  };

  void grow() {
    const std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(2 * slots_.size()));
    filled_ = 0;
    for (const Slot& slot : before) {
      if (slot.state != State::kFilled) continue;
      size_t at = slot.hash & (slots_.size() - 1);
      while (slots_[at].state != State::kEmpty) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = slot;
      ++filled_;
    }
  }

  const std::vector<Instruction>& instructions_;
  std::vector<Slot> slots_;
  /// Slots that are not empty.
  size_t filled_ = 0;
};

}  // namespace lucid::loop
