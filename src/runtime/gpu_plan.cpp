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
constexpr size_t kWord = 8;
/// The most work of a list, in nanoseconds of one core of a CPU: half a second for a gpu that is twice as fast.
constexpr double kMaxWork = 1e9;
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

// Areas of memory (GpuPlan::Address).
constexpr uint32_t kArena = 0;
constexpr uint32_t kError = 1;
constexpr uint32_t kFirstOutput = 2;
uint32_t first_packed(const Plan& plan) { return kFirstOutput + static_cast<uint32_t>(plan.outputs.size()); }
uint32_t first_input(const Plan& plan) { return first_packed(plan) + static_cast<uint32_t>(plan.packed_bytes.size()); }

uint32_t area_of(const Plan& plan, const Slot& slot) {
  const auto index = static_cast<uint32_t>(slot.index);
  switch (slot.area) {
    case Slot::Area::kInput:
      return first_input(plan) + index;
    case Slot::Area::kOutput:
      return kFirstOutput + index;
    case Slot::Area::kPacked:
      return first_packed(plan) + index;
    case Slot::Area::kArena:
      return kArena;
    case Slot::Area::kError:
      break;
  }
  return kError;
}

/// Places the arguments of the segment's kernels in the block.
void make_commands(Gpu& gpu, const Plan& plan, GpuPlan::Segment& segment) {
  if (segment.kernels.empty()) return;
  std::vector<GpuLaunch> launches;
  std::vector<uint64_t> words{0};  // the error word
  for (const size_t i : segment.kernels) {
    const PlanStep& step = plan.steps[i];
    for (const PlanStep::Launch& launch : step.launches) {
      const bool is_first = &launch == &step.launches.front();
      launches.push_back({step.code, launch.items, kWord * words.size(), is_first && step.needs_barrier});
      for (const Slot& slot : launch.slots) {
        segment.addresses.push_back({static_cast<uint32_t>(words.size()), area_of(plan, slot), slot.byte_offset});
        words.push_back(0);
      }
      for (const int64_t param : launch.params) words.push_back(static_cast<uint64_t>(param));
      words.push_back(0);  // for scratch memory
    }
  }
  size_t block_bytes = kWord * words.size();
  for (const Plan::HostBuffer& input : plan.host_inputs) {
    block_bytes = (block_bytes + kInputAlignment - 1) / kInputAlignment * kInputAlignment;
    segment.host_inputs.push_back(block_bytes);
    if (is_in_block(input)) block_bytes += input.bytes;
  }
  const GpuRunMode mode = launches.size() <= kMaxBatchedLaunches ? GpuRunMode::kBatched : GpuRunMode::kRecorded;
  segment.block_bytes = block_bytes;
  segment.commands = gpu.make_commands(std::move(launches), std::move(words), block_bytes, mode);
}

}  // namespace

std::vector<GpuPlan::Segment> GpuPlan::segments_of(const Plan& plan) {
  std::vector<Segment> segments;
  size_t first_safe = plan.steps.size();
  while (first_safe > 0 && !may_fail(plan.steps[first_safe - 1])) --first_safe;
  double work = 0;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const PlanStep& step = plan.steps[i];
    const PlanStep* const before = i > 0 ? &plan.steps[i - 1] : nullptr;
    const bool is_kernel = !step.host && !step.packs;
    const bool is_too_long = is_kernel && work > 0 && work + step.nanoseconds > kMaxWork;
    if (!before || before->host || !before->checks.empty() || i == first_safe || is_too_long) {
      segments.push_back({.first = i, .end = i});
      work = 0;
    }
    Segment& segment = segments.back();
    segment.end = i + 1;
    segment.may_fail |= may_fail(step);
    if (!is_kernel) continue;
    segment.kernels.push_back(i);
    work += step.nanoseconds;
  }
  return segments;
}

GpuPlan::GpuPlan(const Plan& plan) : gpu_(Gpu::at(plan.device.index())), segments_(segments_of(plan)) {
  for (size_t i = 0; i < plan.steps.size(); ++i)
    if (plan.steps[i].packs) packing_.push_back({.first = i, .end = i + 1, .kernels = {i}});
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
        std::span<PackedForms* const> forms, std::span<double> nanoseconds)
      : owner_(owner),
        plan_(plan),
        forms_(forms),
        nanoseconds_(nanoseconds),
        host_inputs_(inputs),
        host_outputs_(outputs) {
    areas_.resize(first_input(plan));
    std::ranges::transform(outputs, areas_.begin() + kFirstOutput, address_of);
    for (const void* input : inputs) areas_.push_back(address_of(input));
    if (plan.arena_bytes) areas_[kArena] = hold(plan.arena_bytes);
    for (const Plan::HostBuffer& output : plan.host_outputs)
      output_area(output.index) = hold(output.bytes) - static_cast<uint64_t>(output.first_byte);
    for (const Plan::HostBuffer& input : plan.host_inputs) {
      if (is_in_block(input)) continue;
      const uint64_t copy = hold(input.bytes);
      owner.gpu_.upload(pointer_to(copy), static_cast<const char*>(inputs[input.index]) + input.first_byte,
                        input.bytes);
      input_area(input.index) = copy - static_cast<uint64_t>(input.first_byte);
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
                           pointer_to(output_area(output.index) + static_cast<uint64_t>(output.first_byte)),
                           output.bytes);
    return 0;
  }

 private:
  static uint64_t address_of(const void* data) { return std::bit_cast<uint64_t>(data); }
  uint64_t hold(size_t bytes) {
    held_.push_back(Storage::allocate(bytes, plan_.device));
    return address_of(held_.back()->data());
  }
  uint64_t& output_area(size_t i) { return areas_[kFirstOutput + i]; }
  uint64_t& input_area(size_t i) { return areas_[first_input(plan_) + i]; }

  // ---- Kernels.

  /// Finds the packed form of an input, or computes it.
  void pack(const Segment& segment) {
    const PlanStep& step = plan_.steps[segment.first];
    const PlanStep::Launch& launch = step.launches.front();
    const auto index = static_cast<size_t>(launch.slots.back().index);
    PackedForms* const forms = forms_.empty() ? nullptr : forms_[*step.packs];
    const PackedForms::Maker maker{step.code, launch.params, pointer_to(address(launch.slots.front()))};
    PackedForms::Answer answer;
    if (forms) answer = forms->ask(maker);
    const bool is_known = static_cast<bool>(answer.form);
    held_.push_back(is_known ? answer.form : Storage::allocate(plan_.packed_bytes[index], plan_.device));
    areas_[first_packed(plan_) + index] = address_of(held_.back()->data());
    if (is_known) return;
    submit(segment);
    if (answer.keep_it) forms->keep(maker, answer, held_.back());
  }

  int64_t run(const Segment& segment) {
    if (segment.commands)
      if (const int64_t error = submit(segment)) return error;
    const PlanStep& last = plan_.steps[segment.end - 1];
    if (last.host) {
      const StepTimer timer(nanoseconds_, segment.end - 1);
      if (!call_host(last)) return Plan::kHostError;
    }
    for (const PlanStep::Check& check : last.checks) {
      std::string found(check.expected.size(), '\0');
      owner_.gpu_.download(found.data(), pointer_to(output_area(check.output)), found.size());
      if (found != check.expected) return Plan::kOtherOutput;
    }
    return 0;
  }

  /// Returns the error word, for which it waits if a check can fail.
  int64_t submit(const Segment& segment) {
    const std::unique_ptr<GpuRun> run = segment.commands->start();
    for (size_t i = 0; i < plan_.host_inputs.size(); ++i) {
      const Plan::HostBuffer& input = plan_.host_inputs[i];
      if (!is_in_block(input)) continue;
      std::memcpy(run->data() + segment.host_inputs[i],
                  static_cast<const char*>(host_inputs_[input.index]) + input.first_byte, input.bytes);
      input_area(input.index) = run->address() + segment.host_inputs[i] - static_cast<uint64_t>(input.first_byte);
    }
    areas_[kError] = run->address();
    auto* const words = reinterpret_cast<uint64_t*>(run->data());
    for (const Address& address : segment.addresses)
      words[address.word] = areas_[address.area] + static_cast<uint64_t>(address.offset);
    if (nanoseconds_.empty()) {
      run->submit();
      if (!segment.may_fail) return 0;
      run->wait();
    } else {
      const std::vector<double> times = run->run_timed();
      auto time = times.begin();
      for (const size_t i : segment.kernels)
        for (size_t n = plan_.steps[i].launches.size(); n > 0; --n) nanoseconds_[i] += *time++;
    }
    int64_t error = 0;
    std::memcpy(&error, run->data(), sizeof(error));
    return error;
  }

  uint64_t address(const Slot& slot) const {
    return areas_[area_of(plan_, slot)] + static_cast<uint64_t>(slot.byte_offset);
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
      if (i < step.host_operands) read(slots[i], buffers[i], step.host_bytes[i]);
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

  /// Inputs that a submission copies into its block are still in the caller's memory.
  void read(const Slot& slot, void* to, size_t bytes) const {
    const auto is_in_callers_memory = [&](const Plan::HostBuffer& input) {
      return slot.area == Slot::Area::kInput && input.index == static_cast<size_t>(slot.index) && is_in_block(input);
    };
    if (std::ranges::any_of(plan_.host_inputs, is_in_callers_memory)) {
      std::memcpy(to, static_cast<const char*>(host_inputs_[static_cast<size_t>(slot.index)]) + slot.byte_offset,
                  bytes);
    } else {
      owner_.gpu_.download(to, pointer_to(address(slot)), bytes);
    }
  }

  const GpuPlan& owner_;
  const Plan& plan_;
  std::span<PackedForms* const> forms_;
  std::span<double> nanoseconds_;
  std::span<void* const> host_inputs_;
  std::span<void* const> host_outputs_;
  /// The addresses of the areas on the gpu.
  SmallVector<uint64_t, 64> areas_;
  std::vector<Ref<Storage>> held_;
};

int64_t GpuPlan::run(const Plan& plan, std::span<void* const> inputs, std::span<void* const> outputs,
                     std::span<PackedForms* const> forms, std::span<double> nanoseconds) const {
  return Frame(*this, plan, inputs, outputs, forms, nanoseconds).run();
}

}  // namespace lucid
