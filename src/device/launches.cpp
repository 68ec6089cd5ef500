#include "device/launches.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <utility>

#include "base/error.h"
#include "base/options.h"
#include "device/command_buffer.h"

namespace lucid {
namespace {

int64_t ceil_div(int64_t a, int64_t b) { return (a - 1) / b + 1; }

}  // namespace

GpuLaunchList::GpuLaunchList(const GpuDevice& device, std::vector<GpuLaunch> launches, size_t block_bytes)
    : device_(device), launches_(std::move(launches)), shuffle_seed_(static_cast<uint64_t>(options().gpu_shuffle)) {
  bool needs_barrier = false;
  bool is_scratch_used = false;
  for (size_t i = 0; i < launches_.size(); ++i) {
    const GpuLaunch& launch = launches_[i];
    Step step = plan(launch, block_bytes);
    step.index = i;
    // Later launches count on the barrier of a launch without items too.
    needs_barrier |= launch.needs_barrier;
    if (step.items == 0) continue;
    const size_t scratch = step.code->scratch_bytes();
    step.has_barrier = !steps_.empty() && (needs_barrier || (scratch && is_scratch_used));
    if (step.has_barrier) is_scratch_used = false;
    is_scratch_used |= scratch != 0;
    needs_barrier = false;
    cost_.barriers += step.has_barrier;
    cost_.scratch_bytes =
        std::max(cost_.scratch_bytes, static_cast<size_t>(ceil_div(step.items, step.grain)) * scratch);
    if (scratch) scratch_words_.push_back(step.arguments + sizeof(uint64_t) * step.code->argument_words());
    steps_.push_back(step);
  }
  cost_.launches = static_cast<uint32_t>(steps_.size());
}

GpuLaunchList::Step GpuLaunchList::plan(const GpuLaunch& launch, size_t block_bytes) const {
  const auto* const code = dynamic_cast<const GpuCode*>(launch.code.get());
  LUCID_CHECK(code && &code->device() == &device_, "a launch needs code for this gpu");
  LUCID_CHECK(launch.items >= 0 && launch.grain >= 1, "{} items in grains of {}", launch.items, launch.grain);
  const size_t scratch = code->scratch_bytes();
  const size_t words = code->argument_words() + (scratch ? 1 : 0);
  LUCID_CHECK(
      launch.arguments % 8 == 0 && launch.arguments <= block_bytes && words <= (block_bytes - launch.arguments) / 8,
      "arguments at {} + {} words of {} bytes", launch.arguments, words, block_bytes);
  Step step{.code = code, .items = launch.items, .grain = launch.grain, .arguments = launch.arguments};
  if (step.items == 0) return step;
  const auto& limits = device_.gpu.properties.limits;
  int64_t clusters = int64_t{limits.maxComputeWorkGroupCount[0]} * limits.maxComputeWorkGroupCount[1];
  if (scratch) {
    LUCID_CHECK(scratch <= kMaxGpuScratch, "{} bytes of scratch memory", scratch);
    clusters = std::min(clusters, static_cast<int64_t>(kMaxGpuScratch / scratch));
  }
  if (ceil_div(step.items, step.grain) > clusters)
    step.grain = ceil_div(ceil_div(step.items, clusters), launch.grain) * launch.grain;
  return step;
}

void GpuLaunchList::record_step(VkCommandBuffer commands, uint64_t block, const Step& step) const {
  const spirv::PushConstants constants{block + step.arguments, step.items, step.grain, device_.fault_address};
  device_.vk.CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, step.code->pipeline());
  device_.vk.CmdPushConstants(commands, device_.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, sizeof constants, &constants);
  const int64_t groups = ceil_div(ceil_div(step.items, step.grain), step.code->groups());
  // Rows of workgroups, if there are too many for one. Those beyond the end have no items.
  const int64_t across = std::min<int64_t>(groups, device_.gpu.properties.limits.maxComputeWorkGroupCount[0]);
  device_.vk.CmdDispatch(commands, static_cast<uint32_t>(across), static_cast<uint32_t>(ceil_div(groups, across)), 1);
}

void GpuLaunchList::record(VkCommandBuffer commands, uint64_t block, const GpuTimestamps* times) const {
  if (times) times->record_start(commands);
  if (shuffle_seed_ && !times) return record_shuffled(commands, block);
  for (uint32_t i = 0; i < steps_.size(); ++i) {
    if (steps_[i].has_barrier) record_launch_barrier(device_, commands);
    record_step(commands, block, steps_[i]);
    if (times) times->record_end(commands, i);
  }
}

std::vector<double> GpuLaunchList::nanoseconds(const GpuTimestamps& times) const {
  std::vector<double> result(launches_.size());
  const std::vector<double> measured = times.nanoseconds();
  for (size_t i = 0; i < steps_.size(); ++i) result[steps_[i].index] = measured[i];
  return result;
}

void GpuLaunchList::record_shuffled(VkCommandBuffer commands, uint64_t block) const {
  static std::atomic<uint64_t> shuffles = 0;
  std::mt19937_64 random(shuffle_seed_ + shuffles++);
  for (auto begin = steps_.begin(); begin != steps_.end();) {
    const auto end = std::find_if(begin + 1, steps_.end(), [](const Step& step) { return step.has_barrier; });
    if (begin->has_barrier) record_launch_barrier(device_, commands);
    std::vector<Step> group(begin, end);
    std::shuffle(group.begin(), group.end(), random);
    for (const Step& step : group) record_step(commands, block, step);
    begin = end;
  }
}

void GpuLaunchList::write_scratch(char* block, uint64_t scratch) const {
  for (const size_t word : scratch_words_) std::memcpy(block + word, &scratch, sizeof scratch);
}

}  // namespace lucid
