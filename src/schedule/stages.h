#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedule/hazards.h"
#include "schedule/schedule.h"

namespace lucid {

/// A stage of a step's kernel, or the kernel itself if it has no stages. Buffer indices are those of the step; higher
/// indices are locals of the kernel.
struct KernelStage {
  std::string name;
  std::vector<uint32_t> reads;
  std::vector<uint32_t> writes;
};

/// The stages of a step, in order. A host function has one, which reads its operands and writes its results.
std::vector<KernelStage> stages_of(const IRGraph& graph, const KernelStep& step);

/// The schedule as text: the name and items of each step, and what each of its stages reads and writes. %3 is the
/// memory of value 3, scratch0 a scratch area, local0 a local buffer of a kernel, "checks" the error word.
std::string to_text(const IRGraph& graph, const Schedule& schedule);

/// The name of a buffer in the text.
std::string name_of(const BufferUse& use);
std::string name_of(const MemoryKey& key);

}  // namespace lucid
