#pragma once

#include <set>
#include <utility>
#include <vector>

#include "schedule/schedule.h"

namespace lucid {

/// Which memory a use is of.
using MemoryKey = std::pair<BufferUse::Kind, int32_t>;
inline MemoryKey key_of(const BufferUse& use) { return {use.kind, use.index}; }

/// For each buffer of a step, whether it writes there. A host function does not say, so it writes everywhere.
std::vector<bool> writes_of(const KernelStep& step);

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
