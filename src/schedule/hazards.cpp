#include "schedule/hazards.h"

namespace lucid {
namespace {

constexpr size_t kNearSteps = 4;
constexpr int64_t kSmallBytes = 16 << 10;

std::set<MemoryKey> keys_of(const KernelStep& step) {
  std::set<MemoryKey> keys;
  for (const BufferUse& use : step.buffers) keys.insert(key_of(use));
  return keys;
}

}  // namespace

SymInt bytes_of(const Schedule& schedule, const MemoryKey& key, Dtype dtype) {
  if (key.first == BufferUse::Kind::kScratch) return schedule.scratch_bytes[static_cast<size_t>(key.second)];
  if (key.first == BufferUse::Kind::kError) return 0;
  return numel(schedule.layouts.at(key.second).geometry.sizes) * size_of(dtype);
}

Users::Users(std::span<const KernelStep> steps) {
  for (const KernelStep& step : steps)
    for (const MemoryKey& key : keys_of(step)) ++all_[key];
  remaining_ = all_;
}

void Users::remove(const KernelStep& step) {
  for (const MemoryKey& key : keys_of(step)) --remaining_.at(key);
}

bool Users::may_come_early(const Schedule& schedule, const KernelStep& step, const std::vector<bool>& writes,
                           const std::set<ValueId>& outside, size_t skipped) const {
  if (skipped <= kNearSteps) return true;
  int64_t added_bytes = 0;
  for (size_t i = 0; i < step.buffers.size(); ++i) {
    const MemoryKey key = key_of(step.buffers[i]);
    if (key.first == BufferUse::Kind::kValue && outside.contains(key.second)) continue;
    const int64_t bytes = bytes_of(schedule, key, step.kernel->buffers[i].dtype).unguarded();
    if (writes[i])
      added_bytes += bytes;
    else if (remaining_.at(key) == 1)
      added_bytes -= bytes;
  }
  return added_bytes <= kSmallBytes;
}

std::vector<bool> writes_of(const KernelStep& step) {
  if (step.host) return std::vector<bool>(step.buffers.size(), true);
  std::vector<bool> writes;
  for (const loop::BufferAccess& access : loop::accesses_of(*step.kernel)) writes.push_back(access.is_written);
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
