#pragma once

#include "schedule/hazards.h"
#include "schedule/schedule.h"

/// Which results may take the place of what was read for them.
namespace lucid {

/// Whether a step makes checks.
bool may_fail(const KernelStep& step);

/// Whether a step that reads one memory and writes another may have them be the same: it reads each element before it
/// writes to its place.
bool may_take_place(const KernelStep& step, const MemoryKey& read, const MemoryKey& written);

/// Whether no check can fail once a result is being written.
bool is_written_safely(const Schedule& schedule, ValueId result);

/// Whether a result may lie exactly where the input `read` does: each element is read for the last time before its
/// place is written. If the input must survive a check that fails, is_written_safely() has to hold too.
bool may_overwrite(const Schedule& schedule, ValueId read, ValueId result);

}  // namespace lucid
