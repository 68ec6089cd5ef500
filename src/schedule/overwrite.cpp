#include <algorithm>

#include "schedule/schedule.h"

namespace lucid {
namespace {

/// The only use that a step makes of a value's memory; `many` if there are several.
struct OnlyUse {
  const BufferUse* use = nullptr;
  bool many = false;
};

OnlyUse use_of(const KernelStep& step, ValueId memory) {
  OnlyUse found;
  for (const BufferUse& use : step.buffers) {
    if (use.kind != BufferUse::Kind::kValue || use.index != memory) continue;
    found.many = found.many || found.use;
    found.use = &use;
  }
  return found;
}

bool may_fail(const KernelStep& step) {
  return std::any_of(step.buffers.begin(), step.buffers.end(),
                     [](const BufferUse& use) { return use.kind == BufferUse::Kind::kError; });
}

/// Whether a kernel that uses both reads every element before it writes to its place.
bool reads_before_writing(const KernelStep& step, const BufferUse& read, const BufferUse& written) {
  if (!read.by_element || !written.by_element || read.byte_offset != written.byte_offset) return false;
  if (read.last_turn > written.first_turn) return false;
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
    if (reading.use && !reads_before_writing(step, *reading.use, *writing.use)) return false;
  }
  return is_written;
}

}  // namespace lucid
