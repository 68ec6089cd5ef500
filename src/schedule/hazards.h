#pragma once

#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "schedule/schedule.h"

namespace lucid {

/// Which memory a use is of.
using MemoryKey = std::pair<BufferUse::Kind, int32_t>;
inline MemoryKey key_of(const BufferUse& use) { return {use.kind, use.index}; }

/// For each buffer of a step, whether it writes there. A host function does not say, so it writes everywhere.
std::vector<bool> writes_of(const KernelStep& step);

/// How large what a use is of is, if all its elements are of this dtype.
int64_t bytes_of(const Schedule& schedule, const MemoryKey& key, Dtype dtype);

/// How many steps that are still to come use each memory.
class Users {
 public:
  explicit Users(std::span<const KernelStep> steps);
  /// Of all steps, those that have run among them.
  size_t in_all(const MemoryKey& key) const { return all_.at(key); }
  /// The step has run.
  void remove(const KernelStep& step);
  /// Whether a step may be taken forward past so many others without the plan holding more for long: it is not far, or
  /// what it writes is the caller's, or not much more than what it is the last to use. `outside` are the values whose
  /// memory the caller knows.
  bool may_come_early(const Schedule& schedule, const KernelStep& step, const std::vector<bool>& writes,
                      const std::set<ValueId>& outside, size_t others) const;

 private:
  std::map<MemoryKey, size_t> all_;
  std::map<MemoryKey, size_t> left_;
};

/// What some steps read and write: whoever changes places with them must not change it, or depend on it.
class Accesses {
 public:
  void add(const KernelStep& step, const std::vector<bool>& writes);
  /// Whether the step may run before or beside the others.
  bool allows(const KernelStep& step, const std::vector<bool>& writes) const;

 private:
  std::set<MemoryKey> read_;
  std::set<MemoryKey> written_;
};

}  // namespace lucid
