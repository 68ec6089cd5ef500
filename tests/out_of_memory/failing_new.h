#pragma once

#include <cstdint>

namespace lucid::testing {

/// Makes calls of operator new fail, in every thread, for the duration of the scope: the call after `successes`
/// successful ones, or that call and all later ones. Allocations of LLVM neither count nor fail: they have a reserve
/// with its own tests. Commits have a reserve for a single failure (base/memory_reserve.h). Only one scope at a time.
class FailingNew {
 public:
  enum class Mode { kOnce, kFromThenOn };
  FailingNew(int64_t successes, Mode mode);
  FailingNew(const FailingNew&) = delete;
  FailingNew& operator=(const FailingNew&) = delete;
  ~FailingNew();

  /// Whether an allocation has failed.
  bool has_failed() const;
};

}  // namespace lucid::testing
