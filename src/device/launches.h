#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "device/gpu.h"
#include "device/gpu_code.h"
#include "device/queue.h"
#include "device/timestamps.h"

namespace lucid {

/// A list of launches as it is recorded: where barriers are, and what the list costs.
class GpuLaunchList {
 public:
  GpuLaunchList(const GpuDevice& device, std::vector<GpuLaunch> launches, size_t block_bytes);

  std::span<const GpuLaunch> launches() const { return launches_; }
  const GpuCost& cost() const { return cost_; }

  /// Records the launches with the argument block at address `block`. With `times`, for cost().launches launches,
  /// records these too.
  void record(VkCommandBuffer commands, uint64_t block, const GpuTimestamps* times = nullptr) const;
  /// For each of launches(), the nanoseconds that were measured; 0 if it has no items.
  std::vector<double> nanoseconds(const GpuTimestamps& times) const;
  /// Writes the address of scratch memory to the argument words of each launch that needs it.
  void write_scratch(char* block, uint64_t scratch) const;

 private:
  struct Step {
    const GpuCode* code;
    int64_t items;
    int64_t grain;
    size_t arguments;
    size_t index = 0;  // among launches()
    bool has_barrier = false;
  };
  Step plan(const GpuLaunch& launch, size_t block_bytes) const;
  void record_step(VkCommandBuffer commands, uint64_t block, const Step& step) const;
  void record_shuffled(VkCommandBuffer commands, uint64_t block) const;

  const GpuDevice& device_;
  const std::vector<GpuLaunch> launches_;
  const uint64_t shuffle_seed_;
  std::vector<Step> steps_;
  /// The positions in the block of the words that hold the address of scratch memory.
  std::vector<size_t> scratch_words_;
  GpuCost cost_;
};

}  // namespace lucid
