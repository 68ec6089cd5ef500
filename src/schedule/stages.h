#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedule/schedule.h"

namespace lucid {

/// A kernel among those that a step's kernel calls in order, or that kernel itself. Buffers are numbered as the step's;
/// numbers beyond those are locals of the kernel.
struct KernelStage {
  std::string name;
  std::vector<uint32_t> reads;
  std::vector<uint32_t> writes;
};

/// The stages of a step in order. A host function has one, which reads its operands and writes its results.
std::vector<KernelStage> stages_of(const IRGraph& graph, const KernelStep& step);

/// The schedule as text: for each step its name and items, and for each of its stages what it reads and writes. %3 is
/// the memory of value 3, scratch0 a scratch area, local0 memory inside a kernel, "checks" the error word.
std::string to_text(const IRGraph& graph, const Schedule& schedule);

/// The name that the text has for a buffer.
std::string name_of(const BufferUse& use);

}  // namespace lucid
