#pragma once

#include <string>
#include <utility>
#include <vector>

#include "spirv/shader.h"

namespace lucid::test {

/// Targets that use every way in which the translator adapts to a gpu.
inline std::vector<std::pair<std::string, spirv::Target>> shader_targets() {
  spirv::Target emulating;
  emulating.fused_fma32 = emulating.fused_fma64 = false;
  emulating.exact_divide32 = emulating.exact_divide64 = false;
  emulating.exact_sqrt32 = emulating.exact_sqrt64 = false;
  spirv::Target flushing;
  flushing.flush_results = true;
  spirv::Target both = emulating;
  both.flush_results = true;
  spirv::Target without_controls;
  without_controls.float_controls32 = without_controls.float_controls64 = false;
  spirv::Target subgroup16, subgroup32, subgroup64;
  subgroup16.subgroup_size = 16;
  subgroup32.subgroup_size = 32;
  subgroup64.subgroup_size = 64;
  spirv::Target little_memory;
  little_memory.shared_bytes = 512;
  spirv::Target little_memory16 = little_memory;
  little_memory16.subgroup_size = 16;
  return {{"Default", {}},
          {"Emulating", emulating},
          {"Flushing", flushing},
          {"EmulatingAndFlushing", both},
          {"WithoutControls", without_controls},
          {"Subgroup16", subgroup16},
          {"Subgroup32", subgroup32},
          {"Subgroup64", subgroup64},
          {"LittleMemory", little_memory},
          {"LittleMemorySubgroup16", little_memory16}};
}

}  // namespace lucid::test
