#include "schedule/hazards.h"

namespace lucid {

std::vector<bool> writes_of(const KernelStep& step) {
  if (step.host >= 0) return std::vector<bool>(step.buffers.size(), true);
  std::vector<bool> writes(step.kernel.buffers.size());
  for (const loop::Instruction& instruction : step.kernel.instructions)
    if (instruction.code == loop::Code::kStore || instruction.code == loop::Code::kScatter)
      writes[instruction.buffer] = true;
  return writes;
}

void Accesses::add(const KernelStep& step, const std::vector<bool>& writes) {
  for (size_t i = 0; i < step.buffers.size(); ++i) (writes[i] ? written_ : read_).insert(key_of(step.buffers[i]));
}

bool Accesses::allows(const KernelStep& step, const std::vector<bool>& writes) const {
  for (size_t i = 0; i < step.buffers.size(); ++i) {
    const MemoryKey key = key_of(step.buffers[i]);
    if (written_.contains(key) || (writes[i] && read_.contains(key))) return false;
  }
  return true;
}

}  // namespace lucid
