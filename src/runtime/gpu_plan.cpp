#include "runtime/gpu_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/error.h"
#include "base/small_vector.h"
#include "runtime/storage.h"

namespace lucid {
namespace {

/// Lists with at most this many launches are added to the batch of pending work, where they wait for more.
constexpr size_t kMaxBatchedLaunches = 4;
/// The argument block begins with the error word.
constexpr size_t kErrorWord = 0;
constexpr size_t kWord = 8;
/// Host inputs are aligned like memory of the allocator.
constexpr size_t kInputAlignment = 64;

/// Larger host inputs are uploaded to memory of their own.
constexpr size_t kMaxInputInBlock = size_t{64} << 10;

/// An address on the gpu as the pointer that the interface of the gpu takes.
void* pointer_to(uint64_t address) { return std::bit_cast<void*>(address); }

bool may_fail(const PlanStep& step) {
  return !step.host && std::ranges::any_of(step.launches, [](const PlanStep::Launch& launch) {
    return std::ranges::any_of(launch.slots, [](const Slot& slot) { return slot.area == Slot::Area::kError; });
  });
}

bool is_in_block(const Plan::HostBuffer& input) { return input.bytes <= kMaxInputInBlock; }

/// Places the arguments of the segment's kernels in the block.
void make_commands(Gpu& gpu, const Plan& plan, GpuPlan::Segment& segment) {
  if (segment.kernels.empty()) return;
  std::vector<GpuLaunch> launches;
  size_t block_bytes = kErrorWord + kWord;
  for (const size_t i : segment.kernels) {
    const PlanStep& step = plan.steps[i];
    for (const PlanStep::Launch& launch : step.launches) {
      const bool is_first = &launch == &step.launches.front();
      launches.push_back({step.code, launch.items, block_bytes, is_first && step.needs_barrier});
      // One more word for scratch memory.
      block_bytes += kWord * (launch.slots.size() + launch.params.size() + 1);
    }
  }
  for (const Plan::HostBuffer& input : plan.host_inputs) {
    block_bytes = (block_bytes + kInputAlignment - 1) / kInputAlignment * kInputAlignment;
    segment.host_inputs.push_back(block_bytes);
    if (is_in_block(input)) block_bytes += input.bytes;
  }
  const GpuRunMode mode = launches.size() <= kMaxBatchedLaunches ? GpuRunMode::kBatched : GpuRunMode::kRecorded;
  segment.block_bytes = block_bytes;
  segment.commands = make_ref<GpuCommands>(gpu, std::move(launches), block_bytes, mode);
}

}  // namespace

GpuPlan::GpuPlan(const Plan& plan) : gpu_(Gpu::at(plan.device.index)) {
  size_t first_safe = plan.steps.size();
  while (first_safe > 0 && !may_fail(plan.steps[first_safe - 1])) --first_safe;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const PlanStep& step = plan.steps[i];
    if (step.packs >= 0) packing_.push_back({.first = i, .end = i + 1, .kernels = {i}});
    const PlanStep* const before = i > 0 ? &plan.steps[i - 1] : nullptr;
    if (!before || before->host || !before->checks.empty() || i == first_safe)
      segments_.push_back({.first = i, .end = i});
    Segment& segment = segments_.back();
    segment.end = i + 1;
    segment.may_fail |= may_fail(step);
    if (!step.host && step.packs < 0) segment.kernels.push_back(i);
  }
  for (Segment& segment : packing_) make_commands(gpu_, plan, segment);
  for (Segment& segment : segments_) make_commands(gpu_, plan, segment);
}

std::string GpuPlan::to_text() const {
  size_t buffers = 0, dispatches = 0, barriers = 0, bytes = 0;
  for (const Segment& segment : segments_) {
    if (!segment.commands) continue;
    ++buffers;
    dispatches += segment.commands->launches().size();
    barriers += segment.commands->barrier_count();
    bytes += segment.block_bytes;
  }
  const auto count = [](size_t number, const char* word) {
    return fmt::format("{} {}{}", number, word, number == 1 ? "" : "s");
  };
  return fmt::format("{}, {}, {}, {} of arguments", count(buffers, "command buffer"),
                     fmt::format("{} {}", dispatches, dispatches == 1 ? "dispatch" : "dispatches"),
                     count(barriers, "barrier"), count(bytes, "byte"));
}

/// The state of one run.
class GpuPlan::Frame {
 public:
  Frame(const GpuPlan& owner, const Plan& plan, std::span<void* const> inputs, std::span<void* const> outputs,
        std::span<PackedForms* const> forms)
      : owner_(owner),
        plan_(plan),
        forms_(forms),
        host_inputs_(inputs),
        host_outputs_(outputs),
        inputs_(inputs.begin(), inputs.end()),
        outputs_(outputs.begin(), outputs.end()) {
    if (plan.arena_bytes) arena_start_ = hold(plan.arena_bytes);
    for (const Plan::HostBuffer& output : plan.host_outputs)
      outputs_[output.index] = static_cast<char*>(hold(output.bytes)) - output.first_byte;
    for (const Plan::HostBuffer& input : plan.host_inputs) {
      if (is_in_block(input)) continue;
      void* const copy = hold(input.bytes);
      owner.gpu_.upload(copy, static_cast<const char*>(inputs[input.index]) + input.first_byte, input.bytes);
      inputs_[input.index] = static_cast<char*>(copy) - input.first_byte;
    }
  }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  int64_t run() {
    for (const Segment& segment : owner_.packing_) pack(segment);
    for (const Segment& segment : owner_.segments_)
      if (const int64_t error = run(segment)) return error;
    for (const Plan::HostBuffer& output : plan_.host_outputs)
      owner_.gpu_.download(static_cast<char*>(host_outputs_[output.index]) + output.first_byte,
                           static_cast<char*>(outputs_[output.index]) + output.first_byte, output.bytes);
    return 0;
  }

 private:
  void* hold(size_t bytes) {
    held_.push_back(Storage::allocate(bytes, plan_.device));
    return held_.back()->data();
  }

  // ---- Kernels.

  /// Finds the packed form of an input, or computes it.
  void pack(const Segment& segment) {
    const PlanStep& step = plan_.steps[segment.first];
    const PlanStep::Launch& launch = step.launches.front();
    const auto index = static_cast<size_t>(launch.slots.back().index);
    PackedForms* const forms = forms_.empty() ? nullptr : forms_[static_cast<size_t>(step.packs)];
    const PackedForms::Maker maker{step.code, launch.params, pointer_to(address(launch.slots.front()))};
    PackedForms::Answer answer;
    if (forms) answer = forms->ask(maker);
    const bool is_known = static_cast<bool>(answer.form);
    held_.push_back(is_known ? answer.form : Storage::allocate(plan_.packed_bytes[index], plan_.device));
    packed_starts_.resize(plan_.packed_bytes.size());
    packed_starts_[index] = held_.back()->data();
    if (is_known) return;
    submit(segment);
    if (answer.keep_it) forms->keep(maker, answer, held_.back());
  }

  int64_t run(const Segment& segment) {
    if (segment.commands)
      if (const int64_t error = submit(segment)) return error;
    const PlanStep& last = plan_.steps[segment.end - 1];
    if (last.host && !call_host(last)) return Plan::kHostError;
    for (const PlanStep::Check& check : last.checks) {
      std::string found(check.expected.size(), '\0');
      owner_.gpu_.download(found.data(), outputs_[check.output], found.size());
      if (found != check.expected) return Plan::kOtherOutput;
    }
    return 0;
  }

  /// Returns the error word, for which it waits if a check can fail.
  int64_t submit(const Segment& segment) {
    GpuRun run(*segment.commands);
    for (size_t i = 0; i < plan_.host_inputs.size(); ++i) {
      const Plan::HostBuffer& input = plan_.host_inputs[i];
      if (!is_in_block(input)) continue;
      std::memcpy(run.data() + segment.host_inputs[i],
                  static_cast<const char*>(host_inputs_[input.index]) + input.first_byte, input.bytes);
      inputs_[input.index] = static_cast<char*>(pointer_to(run.address() + segment.host_inputs[i])) - input.first_byte;
    }
    error_word_ = run.address() + kErrorWord;
    auto* word = reinterpret_cast<uint64_t*>(run.data() + kErrorWord + kWord);
    for (const size_t i : segment.kernels) {
      for (const PlanStep::Launch& launch : plan_.steps[i].launches) {
        for (const Slot& slot : launch.slots) *word++ = address(slot);
        for (const int64_t param : launch.params) *word++ = static_cast<uint64_t>(param);
        ++word;
      }
    }
    run.submit();
    if (!segment.may_fail) return 0;
    run.wait();
    int64_t error = 0;
    std::memcpy(&error, run.data() + kErrorWord, sizeof(error));
    return error;
  }

  uint64_t address(const Slot& slot) const {
    const auto index = static_cast<size_t>(slot.index);
    const auto start = [&]() -> const void* {
      switch (slot.area) {
        case Slot::Area::kInput:
          return inputs_[index];
        case Slot::Area::kOutput:
          return outputs_[index];
        case Slot::Area::kArena:
          return arena_start_;
        case Slot::Area::kPacked:
          return packed_starts_[index];
        case Slot::Area::kError:
          break;
      }
      return pointer_to(error_word_);
    };
    return reinterpret_cast<uint64_t>(start()) + static_cast<uint64_t>(slot.byte_offset);
  }

  // ---- Host functions.

  bool call_host(const PlanStep& step) {
    const std::vector<Slot>& slots = step.launches.front().slots;
    std::vector<std::vector<char>> arrays;
    std::vector<void*> buffers;
    for (size_t i = 0; i < slots.size(); ++i) {
      // One byte at least: an address is passed for empty arrays too.
      arrays.emplace_back(std::max<size_t>(step.host_bytes[i], 1));
      buffers.push_back(arrays.back().data());
      if (i < step.host_operands) owner_.gpu_.download(buffers[i], pointer_to(address(slots[i])), step.host_bytes[i]);
    }
    try {
      step.host(buffers.data());
    } catch (const Error&) {
      return false;
    }
    for (size_t i = step.host_operands; i < slots.size(); ++i)
      owner_.gpu_.upload(pointer_to(address(slots[i])), buffers[i], step.host_bytes[i]);
    return true;
  }

  const GpuPlan& owner_;
  const Plan& plan_;
  std::span<PackedForms* const> forms_;
  std::span<void* const> host_inputs_;
  std::span<void* const> host_outputs_;
  // Addresses on the gpu.
  SmallVector<void*, 32> inputs_;
  SmallVector<void*, 32> outputs_;
  void* arena_start_ = nullptr;
  std::vector<void*> packed_starts_;
  uint64_t error_word_ = 0;
  std::vector<Ref<Storage>> held_;
};

int64_t GpuPlan::run(const Plan& plan, std::span<void* const> inputs, std::span<void* const> outputs,
                     std::span<PackedForms* const> forms) const {
  return Frame(*this, plan, inputs, outputs, forms).run();
}

}  // namespace lucid
