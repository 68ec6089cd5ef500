#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "schedule/group.h"
#include "schedule/schedule.h"

namespace lucid {

/// Finds groups that are the same as earlier ones except for the values that they read and write, as in networks of
/// equal layers. Their steps are copied instead of written again.
class RepeatedGroups {
 public:
  RepeatedGroups(const IRGraph& graph, Schedule& schedule) : graph_(graph), schedule_(schedule) {}

  /// Schedules a group by `write`, which appends its steps, or by a copy.
  template <typename Write>
  void schedule(const Group& group, const Write& write) {
    Signature signature = signature_of(group);
    if (const auto found = written_.find(signature.text); found != written_.end())
      return copy(found->second, signature.storages);
    const size_t step = schedule_.steps.size(), scratch = schedule_.scratch_bytes.size();
    write();
    written_.emplace(std::move(signature.text), Written{step, schedule_.steps.size(), scratch,
                                                        schedule_.scratch_bytes.size(), std::move(signature.storages)});
  }

 private:
  struct Signature {
    /// Everything that the steps depend on: ops, attributes, and the types and layouts of values, which are numbered.
    std::string text;
    /// The values that own memory, by their number.
    std::vector<ValueId> storages;
  };
  /// The range of steps and scratch areas of a group.
  struct Written {
    size_t first_step, last_step;
    size_t first_scratch, last_scratch;
    std::vector<ValueId> storages;
  };

  class Signer;

  Signature signature_of(const Group& group) const;
  void copy(const Written& source, const std::vector<ValueId>& storages);

  const IRGraph& graph_;
  Schedule& schedule_;
  std::unordered_map<std::string, Written> written_;
};

}  // namespace lucid
