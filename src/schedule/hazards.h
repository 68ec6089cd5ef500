#pragma once

#include <map>
#include <set>
#include <span>
#include <unordered_set>
#include <utility>
#include <vector>

#include "schedule/schedule.h"

namespace lucid {

/// Identifies the memory of a buffer use.
using MemoryKey = std::pair<BufferUse::Kind, int32_t>;
inline MemoryKey key_of(const BufferUse& use) { return {use.kind, use.index}; }

/// For each buffer of a step, whether the step writes to it. Host functions do not declare this, so they count as
/// writing to all.
std::vector<bool> writes_of(const KernelStep& step);

/// Size in bytes of the buffer that `key` names, assuming elements of `dtype`.
SymInt bytes_of(const Schedule& schedule, const MemoryKey& key, Dtype dtype);

/// For each memory, the number of steps that use it.
class Users {
 public:
  explicit Users(std::span<const KernelStep> steps);
  /// Users among all steps, including those that were removed.
  size_t total(const MemoryKey& key) const { return all_.at(key); }
  /// Removes a step that has been scheduled.
  void remove(const KernelStep& step);
  /// Whether moving a step forward past `skipped` others keeps the plan's memory low: the distance is small, or the
  /// caller provides the memory that it writes, or it writes not much more than the memory whose last user it is.
  /// `outside` are the values whose memory the caller passes.
  bool may_come_early(const Schedule& schedule, const KernelStep& step, const std::vector<bool>& writes,
                      const std::set<ValueId>& outside, size_t skipped) const;

 private:
  std::map<MemoryKey, size_t> all_;
  std::map<MemoryKey, size_t> remaining_;
};

/// The reads and writes of a set of steps. A step that is reordered with them must not conflict with these accesses.
class Accesses {
 public:
  void add(const KernelStep& step, const std::vector<bool>& writes);
  /// Whether the step may run before the steps of the set, or at the same time.
  bool allows(const KernelStep& step, const std::vector<bool>& writes) const;

 private:
  struct Hash {
    size_t operator()(const MemoryKey& key) const {
      return std::hash<uint64_t>()(static_cast<uint64_t>(key.first) << 32 | static_cast<uint32_t>(key.second));
    }
  };
  std::unordered_set<MemoryKey, Hash> read_;
  std::unordered_set<MemoryKey, Hash> written_;
};

}  // namespace lucid
