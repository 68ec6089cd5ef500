#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/options.h"
#include "device/command_buffer.h"
#include "device/gpu_state.h"
#include "device/launches.h"
#include "device/timestamps.h"

namespace lucid {
namespace {

/// How many runs of recorded commands may be pending before another run waits for the first of them.
constexpr size_t kMaxRecordings = 4;

}  // namespace

/// Launches recorded for one block of arguments.
struct GpuRecording {
  GpuRecording(GpuDevice& device, GpuHostMemory& host_memory, const GpuLaunchList& list, size_t block_bytes);
  GpuRecording(const GpuRecording&) = delete;
  GpuRecording& operator=(const GpuRecording&) = delete;
  ~GpuRecording() { memory.give(block, last_use); }

  GpuHostMemory& memory;
  GpuCommandBuffer commands;
  HostBlock* const block;
  /// The last submission; 0 if there is none.
  uint64_t last_use = 0;
  /// Whether a GpuRun has it.
  bool is_taken = true;
};

class VulkanCommands : public GpuCommands {
 public:
  /// A resource, because it is kept until the last run has ended.
  struct State;

  explicit VulkanCommands(std::unique_ptr<State> state) : state_(std::move(state)) {}
  ~VulkanCommands() override;

  std::span<const GpuLaunch> launches() const override;
  size_t barrier_count() const override;
  std::unique_ptr<GpuRun> start() override;
  State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

struct VulkanCommands::State : GpuResource {
  State(VulkanGpu::State& owner, std::vector<GpuLaunch> launches, std::vector<uint64_t> first_words, size_t bytes,
        GpuRunMode how)
      : gpu(owner),
        list(owner.device, std::move(launches), bytes),
        words(std::move(first_words)),
        block_bytes(bytes),
        mode(how) {
    LUCID_CHECK(words.size() * sizeof(uint64_t) <= block_bytes, "{} words of {} bytes", words.size(), block_bytes);
  }

  Mutex& mutex() const { return mutex_of(LockRank::kGpuCommands, this); }
  /// A recording that is not in use. Waits if many are pending.
  GpuRecording* take_recording();
  GpuRecording* add_recording();
  void add_use(uint64_t value);

  VulkanGpu::State& gpu;
  const GpuLaunchList list;
  const std::vector<uint64_t> words;
  const size_t block_bytes;
  const GpuRunMode mode;
  std::atomic<uint64_t> last_use = 0;
  std::vector<std::unique_ptr<GpuRecording>> recordings;
};

class VulkanRun : public GpuRun {
 public:
  explicit VulkanRun(VulkanCommands& commands);
  ~VulkanRun() override;

  char* data() const override { return block_->data; }
  uint64_t address() const override { return block_->address; }
  void submit() override;
  std::vector<double> run_timed() override;
  void wait() override;

 private:
  const Ref<VulkanCommands> commands_;
  VulkanCommands::State& of_;
  HostBlock* block_ = nullptr;
  /// Null if the commands are batched.
  GpuRecording* recording_ = nullptr;
  /// The submission; 0 before.
  uint64_t value_ = 0;
};

GpuRecording::GpuRecording(GpuDevice& device, GpuHostMemory& host_memory, const GpuLaunchList& list, size_t block_bytes)
    : memory(host_memory), commands(device), block(memory.take(block_bytes)) {
  try {
    commands.begin();
    list.record(commands.handle(), block->address);
    commands.end();
  } catch (...) {
    memory.give(block, 0);
    throw;
  }
}

void VulkanCommands::State::add_use(uint64_t value) {
  uint64_t known = last_use.load(std::memory_order_relaxed);
  while (known < value && !last_use.compare_exchange_weak(known, value, std::memory_order_acq_rel)) {
  }
}

GpuRecording* VulkanCommands::State::take_recording() {
  for (;;) {
    uint64_t oldest = 0;
    {
      const std::lock_guard lock(mutex());
      GpuRecording* first = nullptr;
      for (const auto& recording : recordings)
        if (!recording->is_taken && (!first || recording->last_use < first->last_use)) first = recording.get();
      if (first && gpu.timeline.has_ended(first->last_use)) {
        first->is_taken = true;
        return first;
      }
      if (first && recordings.size() >= kMaxRecordings) oldest = first->last_use;
    }
    if (!oldest) return add_recording();
    gpu.queue.wait(oldest);
  }
}

GpuRecording* VulkanCommands::State::add_recording() {
  auto recording = std::make_unique<GpuRecording>(gpu.device, gpu.host_memory, list, block_bytes);
  gpu.queue.count_recording();
  if (options().logs("gpu"))
    log("gpu", fmt::format("recording: {} launches, {} barriers, {} bytes of arguments", list.cost().launches,
                           list.cost().barriers, block_bytes));
  const std::lock_guard lock(mutex());
  recordings.push_back(std::move(recording));
  return recordings.back().get();
}

VulkanCommands::~VulkanCommands() {
  GpuQueue& queue = state_->gpu.queue;
  const uint64_t last_use = state_->last_use;
  queue.retire(last_use, std::move(state_));
}

size_t VulkanCommands::barrier_count() const { return state_->list.cost().barriers; }

std::span<const GpuLaunch> VulkanCommands::launches() const { return state_->list.launches(); }

std::unique_ptr<GpuRun> VulkanCommands::start() { return std::make_unique<VulkanRun>(*this); }

VulkanRun::VulkanRun(VulkanCommands& commands) : commands_(&commands), of_(commands.state()) {
  of_.gpu.device.ensure_usable();
  of_.gpu.queue.limit_pending();
  if (of_.mode == GpuRunMode::kRecorded) {
    recording_ = of_.take_recording();
    block_ = recording_->block;
  } else {
    block_ = of_.gpu.host_memory.take(of_.block_bytes);
  }
  std::ranges::copy(of_.words, reinterpret_cast<uint64_t*>(block_->data));
}

VulkanRun::~VulkanRun() {
  if (!of_.gpu.device.may_destroy()) return;
  if (!recording_) {
    of_.gpu.host_memory.give(block_, value_);
    return;
  }
  const std::lock_guard lock(of_.mutex());
  recording_->last_use = std::max(recording_->last_use, value_);
  recording_->is_taken = false;
}

void VulkanRun::submit() {
  LUCID_CHECK(value_ == 0, "a run is submitted twice");
  GpuQueue& queue = of_.gpu.queue;
  if (recording_) {
    value_ = queue.submit(recording_->commands.handle(), of_.list.cost(),
                          [&](uint64_t scratch) { of_.list.write_scratch(block_->data, scratch); });
  } else {
    value_ = queue.append(of_.list.cost(), [&](VkCommandBuffer commands, uint64_t scratch) {
      of_.list.write_scratch(block_->data, scratch);
      of_.list.record(commands, block_->address);
    });
  }
  of_.add_use(value_);
}

namespace {

struct TimedRecording : GpuResource {
  TimedRecording(GpuDevice& device, uint32_t launches) : commands(device), times(device, launches) {}
  GpuCommandBuffer commands;
  GpuTimestamps times;
};

}  // namespace

std::vector<double> VulkanRun::run_timed() {
  LUCID_CHECK(value_ == 0, "a run is submitted twice");
  auto timed = std::make_unique<TimedRecording>(of_.gpu.device, of_.list.cost().launches);
  timed->commands.begin(VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
  of_.list.record(timed->commands.handle(), block_->address, &timed->times);
  timed->commands.end();
  value_ = of_.gpu.queue.submit(timed->commands.handle(), of_.list.cost(),
                                [&](uint64_t scratch) { of_.list.write_scratch(block_->data, scratch); });
  of_.add_use(value_);
  try {
    wait();
    return of_.list.nanoseconds(timed->times);
  } catch (...) {
    of_.gpu.queue.retire(value_, std::move(timed));
    throw;
  }
}

void VulkanRun::wait() {
  LUCID_CHECK(value_ != 0, "a run is waited for that was not submitted");
  of_.gpu.queue.wait(value_);
}

Ref<GpuCommands> VulkanGpu::make_commands(std::vector<GpuLaunch> launches, std::vector<uint64_t> words,
                                          size_t block_bytes, GpuRunMode mode) {
  return make_ref<VulkanCommands>(
      std::make_unique<VulkanCommands::State>(*state_, std::move(launches), std::move(words), block_bytes, mode));
}

}  // namespace lucid
