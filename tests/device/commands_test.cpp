#include <random>
#include <thread>

#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "support.h"

namespace lucid {
namespace {

constexpr size_t kCount = 100;
#ifdef LUCID_SANITIZED
constexpr bool kIsSanitized = true;
#else
constexpr bool kIsSanitized = false;
#endif

class GpuModes : public testing::TestWithParam<GpuRunMode> {};
INSTANTIATE_TEST_SUITE_P(Modes, GpuModes, testing::Values(GpuRunMode::kBatched, GpuRunMode::kRecorded),
                         [](const auto& info) { return info.param == GpuRunMode::kBatched ? "Batched" : "Recorded"; });

std::vector<int64_t> iota(int64_t first = 0) {
  std::vector<int64_t> values(kCount);
  for (int64_t& value : values) value = first++;
  return values;
}

TEST_P(GpuModes, RunsHaveTheirOwnArguments) {
  const Ref<LoadedCode> code = load(add_kernel());
  const Array<int64_t> x(iota());
  std::vector<std::unique_ptr<Array<int64_t>>> outputs;
  Program program;
  program.add(code, kCount, {nullptr, x.address()}, {0});
  const Ref<GpuCommands> commands = program.make(GetParam());
  for (int64_t i = 0; i < 20; ++i) {
    outputs.push_back(std::make_unique<Array<int64_t>>(kCount));
    program.words[1] = reinterpret_cast<uint64_t>(outputs.back()->address());
    program.words[3] = static_cast<uint64_t>(i);
    program.run(*commands);
  }
  for (int64_t i = 0; i < 20; ++i) EXPECT_EQ(outputs[static_cast<size_t>(i)]->read(), iota(i));
}

TEST_P(GpuModes, BlocksBeginWithTheWordsOfTheCommandsAndAreReadable) {
  // The launch writes to the first word of its own block.
  loop::Builder b("flag");
  const loop::BufferRef x = b.argument(Dtype::kI64);
  b.if_then(b.begin() == b.index(0), [&] { b.store(x, b.index(0), b.index(42)); });
  const Ref<LoadedCode> code = load(b.finish());
  Program program;
  program.add(code, 1, {nullptr});
  const Ref<GpuCommands> commands = program.make(GetParam());
  for (int i = 0; i < 3; ++i) {
    const auto run = commands->start();
    for (size_t k = 0; k < program.bytes(); ++k) EXPECT_EQ(run->data()[k], 0);
    const uint64_t address = run->address();
    std::memcpy(run->data() + 8, &address, 8);
    run->submit();
    run->wait();
    int64_t flag = 0;
    std::memcpy(&flag, run->data(), 8);
    EXPECT_EQ(flag, 42);
  }
}

TEST_P(GpuModes, RunsMayBeDropped) {
  Program program;
  const Array<int64_t> x(iota());
  program.add(load(affine_kernel()), kCount, {x.address()}, {2, 0});
  const Ref<GpuCommands> commands = program.make(GetParam());
  for (int i = 0; i < 100; ++i) commands->start();
  EXPECT_EQ(x.read(), iota());
}

TEST_P(GpuModes, CommandsWithoutWorkEnd) {
  Program program;
  const Ref<GpuCommands> commands = program.make(GetParam());
  EXPECT_EQ(commands->launches().size(), 0u);
  const auto run = commands->start();
  run->submit();
  run->wait();
  const Array<int64_t> x(iota());
  program.add(load(affine_kernel()), 0, {x.address()}, {2, 0});
  program.run(GetParam());
  EXPECT_EQ(x.read(), iota());
}

TEST_P(GpuModes, LaunchesSeeEarlierOnes) {
  const Ref<LoadedCode> affine_code = load(affine_kernel()), add_code = load(add_kernel());
  Options changed = options();
  for (int64_t seed : {0, 1, 2, 3}) {
    changed.gpu_shuffle = seed;
    const OptionsScope scope(changed);
    std::mt19937 random(static_cast<uint32_t>(seed));
    // Random launches over a few buffers, with barriers only where one is needed.
    constexpr size_t kBuffers = 6;
    std::vector<std::unique_ptr<Array<int64_t>>> arrays;
    std::vector<std::vector<int64_t>> expected;
    for (size_t i = 0; i < kBuffers; ++i) {
      expected.push_back(iota(static_cast<int64_t>(1000 * i)));
      arrays.push_back(std::make_unique<Array<int64_t>>(expected.back()));
    }
    Program program;
    bool is_read[kBuffers] = {}, is_written[kBuffers] = {};
    for (int64_t k = 0; k < 60; ++k) {
      const size_t to = random() % kBuffers, from = random() % kBuffers;
      const bool is_affine = to == from;
      const bool needs_barrier = is_written[to] || is_read[to] || is_written[from];
      if (needs_barrier) {
        std::fill(std::begin(is_read), std::end(is_read), false);
        std::fill(std::begin(is_written), std::end(is_written), false);
      }
      is_read[from] = is_written[to] = true;
      if (is_affine) {
        program.add(affine_code, kCount, {arrays[to]->address()}, {3, k}, needs_barrier);
      } else {
        program.add(add_code, kCount, {arrays[to]->address(), arrays[from]->address()}, {k}, needs_barrier);
      }
      for (size_t i = 0; i < kCount; ++i)
        expected[to][i] = is_affine ? affine(expected[to][i], 3, k) : affine(expected[from][i], 1, k);
    }
    const Ref<GpuCommands> commands = program.make(GetParam());
    EXPECT_LT(commands->barrier_count(), 59u);
    program.run(*commands);
    for (size_t i = 0; i < kBuffers; ++i) EXPECT_EQ(arrays[i]->read(), expected[i]) << seed;
  }
}

TEST_P(GpuModes, ShufflingFindsMissingBarriers) {
  const Ref<LoadedCode> affine_code = load(affine_kernel());
  Options changed = options();
  changed.gpu_shuffle = 5;
  const OptionsScope scope(changed);
  const Array<int64_t> x(iota());
  Program program;
  std::vector<int64_t> expected = iota();
  for (int64_t k = 0; k < 20; ++k) {
    program.add(affine_code, kCount, {x.address()}, {3, k}, false);
    for (int64_t& value : expected) value = affine(value, 3, k);
  }
  const Ref<GpuCommands> commands = program.make(GetParam());
  EXPECT_EQ(commands->barrier_count(), 0u);
  program.run(*commands);
  EXPECT_NE(x.read(), expected);
}

TEST_P(GpuModes, MayBeDestroyedWhileTheyRun) {
  const Array<int64_t> x(std::vector<int64_t>(16, 1));
  int64_t expected = 1;
  for (int i = 0; i < 6; ++i) {
    {
      Program program;
      program.add(load(long_kernel()), 16, {x.address()}, {kMaxIterations + i});
      program.run(GetParam());
      if (i % 2) gpu().flush();
    }
    for (int k = 0; k < kMaxIterations + i; ++k) expected = affine(expected, 3, 1);
  }
  EXPECT_EQ(x.read(), std::vector<int64_t>(16, expected));
}

TEST(GpuCommands, ARecordedRunIsOneSubmission) {
  const Ref<LoadedCode> code = load(affine_kernel());
  const Array<int64_t> x(iota());
  Program program;
  for (int i = 0; i < 50; ++i) program.add(code, kCount, {x.address()}, {3, 1});
  const Ref<GpuCommands> commands = program.make(GpuRunMode::kRecorded);
  EXPECT_EQ(commands->barrier_count(), 49u);
  EXPECT_EQ(commands->launches().size(), 50u);
  gpu().synchronize();
  const GpuWorkStats before = gpu().work_stats();
  for (int i = 0; i < 10; ++i) program.run(*commands);
  gpu().synchronize();
  const GpuWorkStats after = gpu().work_stats();
  EXPECT_EQ(after.submissions - before.submissions, 10u);
  EXPECT_EQ(after.dispatches - before.dispatches, 500u);
  EXPECT_EQ(after.barriers - before.barriers, 490u);
  EXPECT_LE(after.recordings - before.recordings, 4u);
}

TEST(GpuCommands, ARecordedRunTakesTheBatchWithIt) {
  const Ref<LoadedCode> code = load(affine_kernel());
  const Array<int64_t> x(iota());
  Program program;
  program.add(code, kCount, {x.address()}, {3, 1});
  gpu().synchronize();
  const GpuWorkStats before = gpu().work_stats();
  program.run(GpuRunMode::kBatched);
  gpu().copy(x.address(), static_cast<char*>(x.address()) + 80, 80);
  program.run(GpuRunMode::kRecorded);
  EXPECT_EQ(gpu().work_stats().submissions - before.submissions, 1u);
  std::vector<int64_t> expected = iota();
  for (int64_t& value : expected) value = affine(value, 3, 1);
  std::copy_n(expected.begin() + 10, 10, expected.begin());
  for (int64_t& value : expected) value = affine(value, 3, 1);
  EXPECT_EQ(x.read(), expected);
}

TEST(GpuCommands, BatchedRunsShareSubmissions) {
  const Ref<LoadedCode> code = load(affine_kernel());
  const Array<int64_t> x(iota());
  gpu().synchronize();
  const GpuWorkStats before = gpu().work_stats();
  std::vector<int64_t> expected = iota();
  for (int64_t i = 0; i < 50; ++i) {
    Program program;
    program.add(code, kCount, {x.address()}, {3, i});
    program.run();
    for (int64_t& value : expected) value = affine(value, 3, i);
  }
  EXPECT_EQ(x.read(), expected);
  const GpuWorkStats after = gpu().work_stats();
  EXPECT_LE(after.submissions - before.submissions, 3u);
  EXPECT_EQ(after.dispatches - before.dispatches, 50u);
  EXPECT_EQ(after.downloads - before.downloads, 1u);
}

TEST(GpuCommands, ManyRunsNeedNoMoreMemory) {
  const char* const text = std::getenv("LUCID_TEST_DISPATCHES");
  const int dispatches = text ? std::atoi(text) : 5000;
  const Ref<LoadedCode> code = load(affine_kernel());
  const Array<int64_t> x(iota());
  Program program;
  program.add(code, kCount, {x.address()}, {1, 1});
  const Ref<GpuCommands> recorded = program.make(GpuRunMode::kRecorded), batched = program.make(GpuRunMode::kBatched);
  const auto resident_kib = [] {
    FILE* const file = std::fopen("/proc/self/statm", "r");
    long pages = 0, resident = 0;
    EXPECT_EQ(std::fscanf(file, "%ld %ld", &pages, &resident), 2);
    std::fclose(file);
    return resident * 4;
  };
  long before = 0;
  for (int i = 0; i < dispatches; ++i) {
    program.run(i % 3 ? *batched : *recorded);
    if (i == dispatches / 2) before = resident_kib();
  }
  EXPECT_EQ(x.read(), iota(dispatches));
  // The address sanitizer keeps freed memory.
  if (!kIsSanitized) EXPECT_LT(resident_kib() - before, 4096);
}

TEST(GpuCommands, WrongLaunchesAreRejected) {
  const Ref<LoadedCode> code = load(affine_kernel());
  const auto make = [&](GpuLaunch launch, size_t bytes) {
    gpu().make_commands({std::move(launch)}, {}, bytes, GpuRunMode::kBatched);
  };
  EXPECT_NO_THROW(make({.code = code, .items = 1, .arguments = 8}, 32));
  EXPECT_THROW(make({.code = code, .items = 1, .arguments = 16}, 32), InternalError);
  EXPECT_THROW(make({.code = code, .items = 1, .arguments = 4}, 32), InternalError);
  EXPECT_THROW(make({.code = code, .items = 1, .arguments = 800}, 32), InternalError);
  EXPECT_THROW(make({.code = code, .items = -1, .arguments = 8}, 32), InternalError);
  EXPECT_THROW(make({.code = nullptr, .items = 1, .arguments = 8}, 32), InternalError);
  EXPECT_THROW(make({.code = make_ref<LoadedCode>(), .items = 1, .arguments = 8}, 32), InternalError);
}

TEST(GpuCommands, TimedRunsMeasureEachLaunch) {
  const Ref<LoadedCode> code = load(long_kernel());
  const Array<int64_t> x(iota());
  Program program;
  program.add(code, kCount, {x.address()}, {1});
  program.add(code, 0, {x.address()}, {1});
  program.add(code, kCount, {x.address()}, {20000});
  for (GpuRunMode mode : {GpuRunMode::kBatched, GpuRunMode::kRecorded}) {
    const Ref<GpuCommands> commands = program.make(mode);
    const std::vector<double> times = commands->start()->run_timed();
    ASSERT_EQ(times.size(), 3u);
    EXPECT_GE(times[0], 0);
    EXPECT_EQ(times[1], 0);
    EXPECT_GT(times[2], 0);
  }
}

TEST(GpuCommands, RunsAreSubmittedOnce) {
  Program program;
  const Ref<GpuCommands> commands = program.make(GpuRunMode::kBatched);
  const auto run = commands->start();
  EXPECT_THROW(run->wait(), InternalError);
  run->submit();
  EXPECT_THROW(run->submit(), InternalError);
}

TEST(GpuCommands, AreLogged) {
  const Ref<LoadedCode> code = load(affine_kernel());
  const Array<int64_t> x(iota());
  Program program;
  for (int i = 0; i < 3; ++i) program.add(code, kCount, {x.address()}, {1, 1});
  Options changed = options();
  changed.log = "gpu";
  const OptionsScope scope(changed);
  std::string text;
  const LogScope sink([&](std::string_view, std::string_view line) { text.append(line).push_back('\n'); });
  program.run(GpuRunMode::kRecorded);
  EXPECT_NE(text.find("recording: 3 launches, 2 barriers, 80 bytes of arguments"), std::string::npos) << text;
  EXPECT_NE(text.find("3 recorded launches"), std::string::npos) << text;
}

TEST(GpuCommands, WaitingEndsAfterTheTimeout) {
  // A core takes about two seconds.
  const size_t count = size_t{16} * 2000 * std::thread::hardware_concurrency();
  const Array<int64_t> x(std::vector<int64_t>(count, 1));
  Program program;
  program.add(load(long_kernel()), static_cast<int64_t>(count), {x.address()}, {kMaxIterations});
  Options changed = options();
  changed.gpu_timeout = 1;
  {
    const OptionsScope scope(changed);
    program.run();
    try {
      x.read();
      ADD_FAILURE() << "the work takes too little time";
    } catch (const RuntimeError& error) {
      EXPECT_NE(std::string(error.what()).find("has not answered for 1 seconds"), std::string::npos) << error.what();
    }
  }
  const std::vector<int64_t> result = x.read();
  EXPECT_EQ(result, std::vector<int64_t>(count, result[0])) << "the work went on";
}

}  // namespace
}  // namespace lucid
