#pragma once

#include "schedule/hazards.h"
#include "schedule/schedule.h"

/// Decides which results may reuse the memory of what their computation reads.
namespace lucid {

/// Whether a check in the step or after it may fail.
bool may_fail(const KernelStep& step);

/// Whether a step that reads `read` and writes `written` may use the same memory for both: it reads each element before
/// it writes at the same offset.
bool may_reuse_in_place(const KernelStep& step, const MemoryKey& read, const MemoryKey& written);

/// Whether no check can fail after the first write to `result`.
bool is_written_safely(const Schedule& schedule, ValueId result);

/// Whether the input `read` may donate its memory to `result`: the last read of each element precedes the write at the
/// same offset. If the input must survive a failed check, is_written_safely() must hold too.
bool may_donate(const Schedule& schedule, ValueId read, ValueId result);

}  // namespace lucid
