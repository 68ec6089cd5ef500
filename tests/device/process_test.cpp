#include <signal.h>

#include <chrono>
#include <thread>

#include "base/error.h"
#include "base/fork_count.h"
#include "message_of.h"
#include "support.h"

namespace lucid {
namespace {

using test::message_of;

/// Takes lavapipe about a second.
void start_long_work(const Array<int64_t>& x, size_t count) {
  static const Ref<LoadedCode> code = load(long_kernel());
  Program program;
  program.add(code, static_cast<int64_t>(count), {x.address()}, {kMaxIterations});
  program.run();
  gpu().flush();
}

constexpr size_t kLong = 16 * 1000;

/// Runs `body` in a forked child. Returns its exit status, or minus the signal that ended it.
template <typename Body>
int status_of_child(const Body& body) {
  fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    body();
    ::_exit(99);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

bool fails_as_forked(const std::function<void()>& use) {
  const std::string message = message_of<RuntimeError>(use);
  const bool is_right =
      message.find("forked process") != std::string::npos && message.find("'spawn'") != std::string::npos;
  if (!is_right) std::fprintf(stderr, "%s\n", message.c_str());
  return is_right;
}

TEST(GpuProcesses, ForkedChildrenGetAnError) {
  const Ref<LoadedCode> code = load(affine_kernel());
  auto x = std::make_unique<Array<int64_t>>(std::vector<int64_t>(100, 1));
  Program program;
  program.add(code, 100, {x->address()}, {3, 1});
  Ref<GpuCommands> commands = program.make(GpuRunMode::kRecorded);
  program.run(*commands);
  auto run = commands->start();
  int64_t value = 0;
  const int count = Gpu::count();
  for (bool with_exit : {false, true}) {
    const int status = status_of_child([&] {
      bool is_right = Gpu::count() == count && &Gpu::at(0) == &gpu() && !gpu().name().empty();
      is_right &= fails_as_forked([&] { gpu().allocate(100); });
      is_right &= fails_as_forked([&] { gpu().upload(x->address(), &value, 8); });
      is_right &= fails_as_forked([&] { gpu().download(&value, x->address(), 8); });
      is_right &= fails_as_forked([&] { gpu().copy(x->address(), x->address(), 8); });
      is_right &= fails_as_forked([&] { gpu().synchronize(); });
      is_right &= fails_as_forked([&] { gpu().flush(); });
      is_right &= fails_as_forked([&] { gpu().empty_cache(); });
      is_right &= fails_as_forked([&] { run->submit(); });
      is_right &= fails_as_forked([&] { commands->start(); });
      is_right &= fails_as_forked([&] { load(affine_kernel()); });
      gpu().memory_stats();
      gpu().work_stats();
      run.reset();
      commands.reset();
      program.launches.clear();
      x.reset();
      if (with_exit) std::exit(is_right ? 0 : 1);
      ::_exit(is_right ? 0 : 1);
    });
    EXPECT_EQ(status, 0) << with_exit;
  }
  // The parent goes on.
  run.reset();
  EXPECT_EQ(x->read(), std::vector<int64_t>(100, 4));
}

TEST(GpuProcesses, ForksWhileThreadsWork) {
  const Ref<LoadedCode> code = load(affine_kernel());
  std::atomic<bool> is_done = false;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      while (!is_done) {
        const Array<int64_t> x(std::vector<int64_t>(100, 1));
        Program program;
        program.add(code, 100, {x.address()}, {3, 1});
        program.run();
        EXPECT_EQ(x.read(), std::vector<int64_t>(100, 4));
      }
    });
  }
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(status_of_child([&] { ::_exit(fails_as_forked([&] { gpu().allocate(1); }) ? 0 : 1); }), 0);
  is_done = true;
  for (std::thread& thread : threads) thread.join();
}

TEST(GpuProcesses, DISABLED_ForkThenOpen) {
  // The parent has not opened a gpu: the child may.
  EXPECT_EQ(status_of_child([] {
              const Array<int64_t> x(std::vector<int64_t>(10, 7));
              ::_exit(x.read() == std::vector<int64_t>(10, 7) ? 0 : 1);
            }),
            0);
  EXPECT_GE(Gpu::count(), 1);
  // The parent has only counted: the child may not.
  EXPECT_EQ(status_of_child([] { ::_exit(fails_as_forked([] { Gpu::at(0); }) && Gpu::count() >= 1 ? 0 : 1); }), 0);
  EXPECT_FALSE(gpu().name().empty());
}
TEST(GpuProcesses, ChildrenMayOpenWhatTheParentDidNot) {
  EXPECT_EQ(status_of_test("GpuProcesses.DISABLED_ForkThenOpen"), 0);
}

TEST(GpuProcesses, DISABLED_ExitWithPendingWork) {
  static const Array<int64_t> x(kLong);
  start_long_work(x, kLong);
  start_long_work(x, kLong);
  Program program;
  program.add(load(affine_kernel()), 100, {x.address()}, {3, 1});
  program.run();  // stays in the batch
  std::exit(7);
}
TEST(GpuProcesses, DISABLED_ExitWhileThreadsWork) {
  for (int i = 0; i < 4; ++i)
    std::thread([] {
      try {
        const Ref<LoadedCode> code = load(affine_kernel());
        for (;;) {
          const Array<int64_t> x(std::vector<int64_t>(1000, 1));
          Program program;
          program.add(code, 1000, {x.address()}, {3, 1});
          program.run();
          x.read();
        }
      } catch (const RuntimeError&) {
        for (;;) ::pause();
      }
    }).detach();
  // Before, while and after the gpu is opened and the kernel is compiled.
  const char* const wait = std::getenv("LUCID_TEST_MILLISECONDS");
  std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(wait)));
  std::exit(7);
}
TEST(GpuProcesses, ExitWithPendingWork) {
  for (int i = 0; i < 3; ++i) EXPECT_EQ(status_of_test("GpuProcesses.DISABLED_ExitWithPendingWork"), 7);
  for (const char* wait : {"0", "10", "20", "50", "100", "200", "500"})
    EXPECT_EQ(status_of_test("GpuProcesses.DISABLED_ExitWhileThreadsWork", {{"LUCID_TEST_MILLISECONDS", wait}}), 7)
        << wait;
}

TEST(GpuProcesses, DISABLED_WorkUntilKilled) {
  const Array<int64_t> x(kLong);
  start_long_work(x, kLong);
  ::kill(::getpid(), SIGKILL);
}
TEST(GpuProcesses, KilledProcessesDoNotStopOthers) {
  EXPECT_EQ(status_of_test("GpuProcesses.DISABLED_WorkUntilKilled"), -SIGKILL);
  const Array<int64_t> x(std::vector<int64_t>(10, 7));
  EXPECT_EQ(x.read(), std::vector<int64_t>(10, 7));
}

}  // namespace
}  // namespace lucid
