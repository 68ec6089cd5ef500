#include "schedule/buffer_reuse.h"

#include <algorithm>

namespace lucid {
namespace {

/// A step's only use of a memory; `multiple` if there are several.
struct OnlyUse {
  const BufferUse* use = nullptr;
  size_t element_bytes = 0;
  size_t launch = 0;
  SymInt items = 0;
  bool multiple = false;
};

OnlyUse use_of(const KernelStep& step, const MemoryKey& memory) {
  OnlyUse found;
  const auto find = [&](const std::vector<BufferUse>& buffers, size_t launch, SymInt items) {
    for (size_t i = 0; i < buffers.size(); ++i) {
      if (key_of(buffers[i]) != memory) continue;
      const size_t element_bytes = !step.host ? size_of(step.kernel->buffers[i].dtype) : 0;
      found = {&buffers[i], element_bytes, launch, items, found.use != nullptr};
    }
  };
  find(step.buffers, 0, step.items);
  for (size_t i = 0; i < step.more_launches.size(); ++i)
    find(step.more_launches[i].buffers, i + 1, step.more_launches[i].items);
  return found;
}

/// Whether a launch that uses both reads every element before it writes at the same offset.
bool reads_before_writing(SymInt items, const BufferUse& read, const BufferUse& written) {
  if (read.byte_offset != written.byte_offset || read.last_stage > written.first_stage) return false;
  // In a stage that does both, each element must be read only for the element with the same index.
  if (read.last_stage == written.first_stage && (read.last_order == 0 || read.last_order != written.first_order))
    return false;
  const bool is_one_stage = read.first_stage == written.last_stage;
  return is_one_stage || items == 1 || (read.tile == written.tile && read.tile.is_disjoint());
}

}  // namespace

bool may_fail(const KernelStep& step) {
  return step.host || step.is_checked ||
         std::any_of(step.buffers.begin(), step.buffers.end(),
                     [](const BufferUse& use) { return use.kind == BufferUse::Kind::kError; });
}

bool may_reuse_in_place(const KernelStep& step, const MemoryKey& read, const MemoryKey& written) {
  const OnlyUse reading = use_of(step, read);
  const OnlyUse writing = use_of(step, written);
  if (!reading.use || !writing.use || reading.multiple || writing.multiple || reading.launch != writing.launch)
    return false;
  return !step.host && reading.element_bytes == writing.element_bytes &&
         reads_before_writing(reading.items, *reading.use, *writing.use);
}

bool is_written_safely(const Schedule& schedule, ValueId result) {
  const MemoryKey memory{BufferUse::Kind::kValue, schedule.layouts.at(result).storage};
  bool is_written = false;
  for (const KernelStep& step : schedule.steps) {
    is_written = is_written || use_of(step, memory).use;
    if (is_written && may_fail(step)) return false;
  }
  return true;
}

bool may_donate(const Schedule& schedule, ValueId read, ValueId result) {
  const MemoryKey source{BufferUse::Kind::kValue, read};
  const MemoryKey memory{BufferUse::Kind::kValue, schedule.layouts.at(result).storage};
  bool is_written = false;
  for (const KernelStep& step : schedule.steps) {
    const bool reads = use_of(step, source).use;
    if (is_written && reads) return false;
    is_written = is_written || use_of(step, memory).use;
    if (is_written && reads && !may_reuse_in_place(step, source, memory)) return false;
  }
  return is_written;
}

}  // namespace lucid
