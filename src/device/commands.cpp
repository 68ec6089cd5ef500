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

/// A resource, because it is kept until the last run has ended.
struct GpuCommands::State : GpuResource {
  State(Gpu::State& owner, std::vector<GpuLaunch> launches, std::vector<uint64_t> first_words, size_t bytes,
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
  void note_use(uint64_t value);

  Gpu::State& gpu;
  const GpuLaunchList list;
  const std::vector<uint64_t> words;
  const size_t block_bytes;
  const GpuRunMode mode;
  std::atomic<uint64_t> last_use = 0;
  std::vector<std::unique_ptr<GpuRecording>> recordings;
};

struct GpuRun::State {
  Ref<GpuCommands> commands;
  HostBlock* block = nullptr;
  /// Null if the commands are batched.
  GpuRecording* recording = nullptr;
  /// The submission; 0 before.
  uint64_t value = 0;
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

void GpuCommands::State::note_use(uint64_t value) {
  uint64_t known = last_use.load(std::memory_order_relaxed);
  while (known < value && !last_use.compare_exchange_weak(known, value, std::memory_order_acq_rel)) {
  }
}

GpuRecording* GpuCommands::State::take_recording() {
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

GpuRecording* GpuCommands::State::add_recording() {
  auto recording = std::make_unique<GpuRecording>(gpu.device, gpu.host_memory, list, block_bytes);
  gpu.queue.count_recording();
  if (options().logs("gpu"))
    log("gpu", fmt::format("recording: {} launches, {} barriers, {} bytes of arguments", list.cost().launches,
                           list.cost().barriers, block_bytes));
  const std::lock_guard lock(mutex());
  recordings.push_back(std::move(recording));
  return recordings.back().get();
}

GpuCommands::GpuCommands(Gpu& gpu, std::vector<GpuLaunch> launches, std::vector<uint64_t> words, size_t block_bytes,
                         GpuRunMode mode)
    : state_(std::make_unique<State>(*gpu.state_, std::move(launches), std::move(words), block_bytes, mode)) {}

GpuCommands::~GpuCommands() {
  GpuQueue& queue = state_->gpu.queue;
  const uint64_t last_use = state_->last_use;
  queue.retire(last_use, std::move(state_));
}

size_t GpuCommands::barrier_count() const { return state_->list.cost().barriers; }

std::span<const GpuLaunch> GpuCommands::launches() const { return state_->list.launches(); }

GpuRun::GpuRun(GpuCommands& commands) : state_(std::make_unique<State>()) {
  GpuCommands::State& of = *commands.state_;
  of.gpu.device.ensure_usable();
  of.gpu.queue.limit_pending();
  state_->commands = Ref<GpuCommands>(&commands);
  if (of.mode == GpuRunMode::kRecorded) {
    state_->recording = of.take_recording();
    state_->block = state_->recording->block;
  } else {
    state_->block = of.gpu.host_memory.take(of.block_bytes);
  }
  std::ranges::copy(of.words, reinterpret_cast<uint64_t*>(state_->block->data));
}

GpuRun::~GpuRun() {
  GpuCommands::State& of = *state_->commands->state_;
  if (!of.gpu.device.may_destroy()) return;
  if (!state_->recording) {
    of.gpu.host_memory.give(state_->block, state_->value);
    return;
  }
  const std::lock_guard lock(of.mutex());
  state_->recording->last_use = std::max(state_->recording->last_use, state_->value);
  state_->recording->is_taken = false;
}

char* GpuRun::data() const { return state_->block->data; }

uint64_t GpuRun::address() const { return state_->block->address; }

void GpuRun::submit() {
  GpuCommands::State& of = *state_->commands->state_;
  LUCID_CHECK(state_->value == 0, "a run is submitted twice");
  GpuQueue& queue = of.gpu.queue;
  HostBlock* const block = state_->block;
  if (state_->recording) {
    state_->value = queue.submit(state_->recording->commands.handle(), of.list.cost(),
                                 [&](uint64_t scratch) { of.list.write_scratch(block->data, scratch); });
  } else {
    state_->value = queue.append(of.list.cost(), [&](VkCommandBuffer commands, uint64_t scratch) {
      of.list.write_scratch(block->data, scratch);
      of.list.record(commands, block->address);
    });
  }
  of.note_use(state_->value);
}

namespace {

struct TimedRecording : GpuResource {
  TimedRecording(GpuDevice& device, uint32_t launches) : commands(device), times(device, launches) {}
  GpuCommandBuffer commands;
  GpuTimestamps times;
};

}  // namespace

std::vector<double> GpuRun::run_timed() {
  GpuCommands::State& of = *state_->commands->state_;
  LUCID_CHECK(state_->value == 0, "a run is submitted twice");
  HostBlock* const block = state_->block;
  auto timed = std::make_unique<TimedRecording>(of.gpu.device, of.list.cost().launches);
  timed->commands.begin(VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
  of.list.record(timed->commands.handle(), block->address, &timed->times);
  timed->commands.end();
  state_->value = of.gpu.queue.submit(timed->commands.handle(), of.list.cost(),
                                      [&](uint64_t scratch) { of.list.write_scratch(block->data, scratch); });
  of.note_use(state_->value);
  try {
    wait();
    return of.list.nanoseconds(timed->times);
  } catch (...) {
    of.gpu.queue.retire(state_->value, std::move(timed));
    throw;
  }
}

void GpuRun::wait() {
  LUCID_CHECK(state_->value != 0, "a run is waited for that was not submitted");
  GpuCommands::State& of = *state_->commands->state_;
  of.gpu.queue.wait(state_->value);
}

}  // namespace lucid
