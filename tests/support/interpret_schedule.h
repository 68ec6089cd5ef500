#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <vector>

#include "float_elements.h"
#include "loop/interpret.h"
#include "loop/verify.h"
#include "schedule/schedule.h"

namespace lucid::test {

using Bytes = std::vector<std::byte>;

/// Random numbers of a dtype that is not bool.
inline Bytes random_elements(Dtype dtype, int64_t count, std::mt19937& random) {
  Bytes bytes(static_cast<size_t>(count) * size_of(dtype));
  std::normal_distribution<double> normal;
  for (int64_t i = 0; i < count; ++i) {
    const double number = normal(random);
    if (is_float(dtype)) {
      write_float(dtype, bytes.data(), i, number);
    } else {
      const auto integer = static_cast<int64_t>(number * 50);
      // The low bytes come first.
      std::memcpy(bytes.data() + static_cast<size_t>(i) * size_of(dtype), &integer, size_of(dtype));
    }
  }
  return bytes;
}

/// The outputs of a graph whose inputs have these contents, computed by interpreting its schedule for a target.
inline std::vector<Bytes> interpret_schedule(IRGraph graph, const std::map<ValueId, Geometry>& geometries,
                                             const std::map<ValueId, Bytes>& contents, const TargetTraits& target) {
  auto layouts = assign_layouts(graph, geometries);
  const Schedule schedule = schedule_graph(graph, std::move(layouts), target);
  constexpr std::byte kFiller{0xA5};
  std::map<ValueId, Bytes> memory = contents;
  for (const auto& [id, layout] : schedule.layouts) {
    if (layout.storage != id || memory.contains(id)) continue;
    const TensorType& type = graph.values.at(id).type;
    memory[id].assign(static_cast<size_t>(numel(type.shape)) * size_of(type.dtype), kFiller);
  }
  std::vector<Bytes> scratch;
  for (int64_t bytes : schedule.scratch_bytes) scratch.emplace_back(static_cast<size_t>(bytes), kFiller);
  for (const KernelStep& step : schedule.steps) {
    std::vector<void*> buffers;
    for (const BufferUse& use : step.buffers) {
      Bytes& bytes =
          use.kind == BufferUse::Kind::kScratch ? scratch[static_cast<size_t>(use.index)] : memory.at(use.index);
      buffers.push_back(bytes.data() + use.byte_offset);
    }
    loop::verify(*step.kernel);
    const std::vector<int64_t> params(step.params.begin(), step.params.end());
    loop::interpret(*step.kernel, buffers.data(), params.data(), 0, step.items);
  }
  std::vector<Bytes> outputs;
  for (const ValueId id : graph.output_ids) outputs.push_back(memory.at(schedule.layouts.at(id).storage));
  return outputs;
}

}  // namespace lucid::test
