#pragma once

#include <cstdint>

namespace lucid::testing {

/// Makes calls of operator new fail until the end of the scope, in every thread: the one after `successes` others, or
/// that and all that follow. What LLVM allocates is not counted, and does not fail: it has its reserve, which has tests
/// of its own; commits have one for a single failure (base/memory_reserve.h). Only one scope at a time.
class FailingNew {
 public:
  enum class Mode { kOnce, kFromThenOn };
  FailingNew(int64_t successes, Mode mode);
  FailingNew(const FailingNew&) = delete;
  FailingNew& operator=(const FailingNew&) = delete;
  ~FailingNew();

  /// Whether one has failed.
  bool has_failed() const;
};

}  // namespace lucid::testing
