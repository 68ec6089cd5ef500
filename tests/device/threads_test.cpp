#include <atomic>
#include <random>
#include <thread>

#include "base/error.h"
#include "support.h"

namespace lucid {
namespace {

template <typename Body>
void run_threads(int count, const Body& body) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) threads.emplace_back([&, i] { body(i); });
  for (std::thread& thread : threads) thread.join();
}

TEST(GpuThreads, OpenOneGpu) {
  Gpu* found[8] = {};
  run_threads(8, [&](int i) { found[i] = &gpu(); });
  for (const Gpu* one : found) EXPECT_EQ(one, &gpu());
}

TEST(GpuThreads, DoEverythingAtOnce) {
  const Ref<LoadedCode> code = load(affine_kernel());
  run_threads(8, [&](int thread) {
    std::mt19937 random(static_cast<uint32_t>(thread));
    for (int round = 0; round < 30; ++round) {
      const size_t count = 1 + random() % 5000;
      std::vector<int64_t> expected(count, thread);
      const Array<int64_t> x(expected), y(count);
      Program program;
      const int launches = 1 + static_cast<int>(random() % 5);
      for (int64_t i = 0; i < launches; ++i) {
        program.add(code, static_cast<int64_t>(count), {x.address()}, {3, i});
        for (int64_t& value : expected) value = affine(value, 3, i);
      }
      program.run(random() % 2 ? GpuRunMode::kBatched : GpuRunMode::kRecorded);
      switch (random() % 8) {
        case 0:
          gpu().flush();
          break;
        case 1:
          gpu().synchronize();
          break;
        case 2:
          gpu().empty_cache();
          break;
        case 3:
          load(add_kernel());
          break;
        default:
          break;
      }
      gpu().copy(y.address(), x.address(), count * 8);
      EXPECT_EQ(x.read(), expected);
      EXPECT_EQ(y.read(), expected);
    }
  });
}

TEST(GpuThreads, ShareCommands) {
  const Ref<LoadedCode> code = load(add_kernel());
  for (GpuRunMode mode : {GpuRunMode::kBatched, GpuRunMode::kRecorded}) {
    Program program;
    program.add(code, 64, {nullptr, nullptr}, {0});
    const Ref<GpuCommands> commands = program.make(mode);
    run_threads(8, [&](int thread) {
      const Array<int64_t> x(std::vector<int64_t>(64, thread)), y(64);
      for (int64_t i = 0; i < 50; ++i) {
        const auto run = commands->start();
        std::vector<uint64_t> words = program.words;
        words[1] = reinterpret_cast<uint64_t>(y.address());
        words[2] = reinterpret_cast<uint64_t>(x.address());
        words[3] = static_cast<uint64_t>(i);
        std::memcpy(run->data(), words.data(), program.bytes());
        run->submit();
        if (i % 7 == 0) run->wait();
        if (i % 10 == 0) EXPECT_EQ(y.read(), std::vector<int64_t>(64, thread + i));
      }
    });
  }
}

TEST(GpuThreads, DropCommandsWhileOthersRun) {
  const Ref<LoadedCode> code = load(affine_kernel());
  run_threads(8, [&](int thread) {
    const Array<int64_t> x(std::vector<int64_t>(64, thread));
    int64_t expected = thread;
    for (int i = 0; i < 100; ++i) {
      Program program;
      program.add(i % 10 ? code : load(affine_kernel()), 64, {x.address()}, {1, i});
      program.run(i % 2 ? GpuRunMode::kBatched : GpuRunMode::kRecorded);
      expected += i;
    }
    EXPECT_EQ(x.read(), std::vector<int64_t>(64, expected));
  });
}

}  // namespace
}  // namespace lucid
