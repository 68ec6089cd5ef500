#include <algorithm>

#include "schedule/schedule.h"

namespace lucid {
namespace {

/// The only use that a step makes of a value's memory; `many` if there are several.
struct OnlyUse {
  const BufferUse* use = nullptr;
  size_t launch = 0;
  bool many = false;
};

OnlyUse use_of(const KernelStep& step, ValueId memory) {
  OnlyUse found;
  const auto look = [&](const std::vector<BufferUse>& buffers, size_t launch) {
    for (const BufferUse& use : buffers)
      if (use.kind == BufferUse::Kind::kValue && use.index == memory)
        found = {.use = &use, .launch = launch, .many = found.use != nullptr};
  };
  look(step.buffers, 0);
  for (size_t i = 0; i < step.beside.size(); ++i) look(step.beside[i].buffers, i + 1);
  return found;
}

bool may_fail(const KernelStep& step) {
  return step.host >= 0 || std::any_of(step.buffers.begin(), step.buffers.end(),
                                       [](const BufferUse& use) { return use.kind == BufferUse::Kind::kError; });
}

/// Whether a kernel that uses both reads every element before it writes to its place.
bool reads_before_writing(const KernelStep& step, const BufferUse& read, const BufferUse& written) {
  if (read.byte_offset != written.byte_offset || read.last_turn > written.first_turn) return false;
  // In the turn that does both, each element is read for itself alone.
  if (read.last_turn == written.first_turn && !(read.by_element && written.by_element)) return false;
  const bool is_one_turn = read.first_turn == written.last_turn;
  return is_one_turn || step.items == 1 || (read.unit == written.unit && read.unit.is_disjoint());
}

}  // namespace

bool may_overwrite(const Schedule& schedule, ValueId read, ValueId result) {
  const ValueId memory = schedule.layouts.at(result).storage;
  bool is_written = false;
  for (const KernelStep& step : schedule.steps) {
    const OnlyUse reading = use_of(step, read);
    const OnlyUse writing = use_of(step, memory);
    if (is_written && reading.use) return false;
    is_written = is_written || writing.use;
    if (!is_written) continue;
    if (may_fail(step) || reading.many || writing.many) return false;
    if (!reading.use) continue;
    if (!writing.use || reading.launch != writing.launch) return false;
    if (!reads_before_writing(step, *reading.use, *writing.use)) return false;
  }
  return is_written;
}

}  // namespace lucid
