#include "codegen/llvm_generator.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "code/object_file.h"
#include "cpu_levels.h"
#include "loop/builder.h"
#include "loop/staged_kernel.h"
#include "run_code.h"

extern "C" {
struct jit_code_entry {
  jit_code_entry* next_entry;
  jit_code_entry* prev_entry;
  const char* symfile_addr;
  uint64_t symfile_size;
};
struct jit_descriptor {
  uint32_t version;
  uint32_t action_flag;
  jit_code_entry* relevant_entry;
  jit_code_entry* first_entry;
};
extern jit_descriptor __jit_debug_descriptor;
}

namespace lucid::codegen {
namespace {

loop::Kernel add_kernel(const std::string& name = "add") {
  loop::Builder b(name);
  const auto x = b.argument(Dtype::kF32), y = b.argument(Dtype::kF32), out = b.argument(Dtype::kF32);
  b.for_loop(b.begin(), b.end(), loop::kLanes, [&](loop::Value i) {
    const auto mask = b.lanes_below(b.end() - i);
    b.store(out, i, b.load_vector(x, i, mask) + b.load_vector(y, i, mask), mask);
  });
  return b.finish();
}

TEST(LlvmGenerator, AddsTwoBuffersWithinTheRangeOnly) {
  auto generator = make_llvm_generator();
  const loop::Kernel kernel = add_kernel();
  for (CpuLevel target : test::runnable_levels()) {
    const auto code = generator->load(kernel, generator->compile(kernel, target));
    EXPECT_GT(code->code_bytes(), 0u);
    std::vector<float> x(100), y(100), out(100, -1.f);
    std::iota(x.begin(), x.end(), 0.5f);
    std::iota(y.begin(), y.end(), 100.f);
    void* buffers[] = {x.data(), y.data(), out.data()};
    run_code(*code, buffers, nullptr, 3, 90);
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(out[i], i < 3 || i >= 90 ? -1.f : x[i] + y[i]) << name_of(target) << " at " << i;
    }
  }
}

TEST(LlvmGenerator, CallsThePartsOfAKernel) {
  const loop::Kernel add = add_kernel();
  // out = (x + y) + y, through two elements of scratch.
  const loop::Stage stages[] = {{&add, {0, 1, 3}}, {&add, {3, 1, 2}}};
  const Dtype arguments[] = {Dtype::kF32, Dtype::kF32, Dtype::kF32};
  const loop::Local locals[] = {{Dtype::kF32, 32}};
  const loop::Kernel kernel = loop::staged_kernel("joined", stages, arguments, locals);
  ASSERT_EQ(kernel.parts.size(), 1u);
  const int64_t params[] = {2, 1, 1, 1};
  for (CpuLevel target : test::runnable_levels()) {
    auto generator = make_llvm_generator();
    Ref<LoadedCode> part = generator->load(add, generator->compile(add, target));
    const std::string object = generator->compile(kernel, target);
    EXPECT_THROW(generator->load(kernel, object), InternalError);
    const auto code = generator->load(kernel, object, {part});
    part.reset();  // the caller's code keeps it alive
    std::vector<float> x(100), y(100), out(100, -1.f);
    std::iota(x.begin(), x.end(), 0.5f);
    std::iota(y.begin(), y.end(), 100.f);
    void* buffers[] = {x.data(), y.data(), out.data()};
    run_code(*code, buffers, params, 3, 90);
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(out[i], i < 3 || i >= 90 ? -1.f : x[i] + y[i] + y[i]) << name_of(target) << " at " << i;
    }
  }
}

TEST(LlvmGenerator, LargeScratchIsNotOnTheStack) {
  const loop::Kernel add = add_kernel();
  const Dtype arguments[] = {Dtype::kF32, Dtype::kF32, Dtype::kF32};
  for (const int64_t count : {int64_t{1} << 10, int64_t{1} << 20}) {
    // out = (x + y) + y, through all elements of the scratch.
    const loop::Stage stages[] = {{&add, {0, 1, 3}}, {&add, {3, 1, 2}}};
    const loop::Local locals[] = {{Dtype::kF32, count}};
    const loop::Kernel kernel = loop::staged_kernel("joined", stages, arguments, locals);
    const int64_t params[] = {count, 1, 1, 1};
    const auto elements = static_cast<size_t>(count);
    std::vector<float> x(elements, 1.5f), y(elements, 2.f), out(elements);
    void* buffers[] = {x.data(), y.data(), out.data()};
    for (CpuLevel target : test::runnable_levels()) {
      auto generator = make_llvm_generator();
      const Ref<LoadedCode> part = generator->load(add, generator->compile(add, target));
      const auto code = generator->load(kernel, generator->compile(kernel, target), {part});
      EXPECT_EQ(code->scratch_bytes(), count == 1 << 20 ? 4u << 20 : 0u);
      // The smallest stack that a thread may have.
      pthread_attr_t attributes;
      pthread_attr_init(&attributes);
      pthread_attr_setstacksize(&attributes, 64 << 10);
      const std::function<void()> run = [&] { run_code(*code, buffers, params, 0, count); };
      pthread_t thread;
      pthread_create(
          &thread, &attributes,
          [](void* work) -> void* {
            (*static_cast<const std::function<void()>*>(work))();
            return nullptr;
          },
          const_cast<std::function<void()>*>(&run));
      pthread_join(thread, nullptr);
      pthread_attr_destroy(&attributes);
      EXPECT_EQ(out, std::vector<float>(elements, 5.5f)) << name_of(target);
      std::ranges::fill(out, 0.f);
    }
  }
}

TEST(LlvmGenerator, ProducesTheSameBytesForTheSameKernel) {
  const loop::Kernel kernel = add_kernel();
  for (CpuLevel target : test::runnable_levels()) {
    auto first = make_llvm_generator(), second = make_llvm_generator();
    const std::string object = first->compile(kernel, target);
    EXPECT_EQ(object, first->compile(kernel, target));
    EXPECT_EQ(object, second->compile(kernel, target));
  }
}

TEST(LlvmGenerator, KernelsMayBeNamedLikeLibraryFunctions) {
  auto generator = make_llvm_generator();
  const loop::Kernel kernel = add_kernel("memcpy");
  const auto code = generator->load(kernel, generator->compile(kernel, host_level()));
  float x = 1, y = 2, out = 0;
  void* buffers[] = {&x, &y, &out};
  run_code(*code, buffers, nullptr, 0, 1);
  EXPECT_EQ(out, 3.f);
}

TEST(LlvmGenerator, LoadedCodeOutlivesItsGenerator) {
  auto generator = make_llvm_generator();
  const loop::Kernel kernel = add_kernel();
  auto code = generator->load(kernel, generator->compile(kernel, host_level()));
  generator.reset();
  float x = 1, y = 2, out = 0;
  void* buffers[] = {&x, &y, &out};
  run_code(*code, buffers, nullptr, 0, 1);
  EXPECT_EQ(out, 3.f);
}

TEST(LlvmGenerator, RejectsInvalidObjectCode) {
  auto generator = make_llvm_generator();
  const loop::Kernel kernel = add_kernel();
  EXPECT_THROW(generator->load(kernel, "no object"), InternalError);
  EXPECT_THROW(generator->load(kernel, ""), InternalError);
  const std::string object = generator->compile(kernel, host_level());
  EXPECT_THROW(generator->load(add_kernel("another"), object), InternalError);
  for (size_t bytes = 0; bytes < object.size(); ++bytes)
    EXPECT_THROW(generator->load(kernel, std::string_view(object).substr(0, bytes)), InternalError) << bytes;
}

TEST(LlvmGenerator, ChangedObjectCodeIsReadSafely) {
  const std::string object = make_llvm_generator()->compile(add_kernel(), host_level());
  size_t rejected = 0;
  for (size_t i = 0; i < object.size(); ++i)
    for (const int change : {0x01, 0x80, 0xFF}) {
      std::string changed = object;
      changed[i] = static_cast<char>(changed[i] ^ change);
      try {
        const ObjectFile read(changed);
        for (const ObjectFile::Reference& reference : read.references())
          EXPECT_LE(reference.offset + 4, read.sections()[reference.section].contents.size());
      } catch (const InternalError&) {
        ++rejected;
      }
    }
  EXPECT_GT(rejected, 100u);
}

TEST(LlvmGenerator, CompilesAndLoadsOnSeveralThreads) {
  auto generator = make_llvm_generator();
  std::vector<std::thread> threads;
  std::vector<float> results(8);
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int repeat = 0; repeat < 3; ++repeat) {
        const loop::Kernel kernel = add_kernel("add" + std::to_string(t));
        const auto code = generator->load(kernel, generator->compile(kernel, host_level()));
        float x = static_cast<float>(t), y = 10;
        void* buffers[] = {&x, &y, &results[t]};
        run_code(*code, buffers, nullptr, 0, 1);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (int t = 0; t < 8; ++t) EXPECT_EQ(results[t], t + 10.f);
}

/// Sets an environment variable until the end of the scope.
class VariableScope {
 public:
  explicit VariableScope(const char* name) : name_(name) { ::setenv(name, "1", 1); }
  VariableScope(const VariableScope&) = delete;
  VariableScope& operator=(const VariableScope&) = delete;
  ~VariableScope() { ::unsetenv(name_); }

 private:
  const char* name_;
};

TEST(LlvmGenerator, PerfFindsKernelsByName) {
  const VariableScope on("LUCID_PERF");
  auto generator = make_llvm_generator();
  const loop::Kernel kernel = add_kernel("seen_by_perf");
  const auto code = generator->load(kernel, generator->compile(kernel, host_level()));
  const std::string path = "/tmp/perf-" + std::to_string(::getpid()) + ".map";
  std::ifstream map(path);
  uintptr_t address = 0;
  size_t bytes = 0;
  std::string symbol;
  map >> std::hex >> address >> bytes >> symbol;
  EXPECT_EQ(address, reinterpret_cast<uintptr_t>(code->function()));
  EXPECT_EQ(bytes, code->code_bytes());
  EXPECT_EQ(symbol, "lucid_seen_by_perf");
  ::unlink(path.c_str());
}

TEST(LlvmGenerator, PerfMapIsNotWrittenThroughLinks) {
  const VariableScope on("LUCID_PERF");
  const std::string path = "/tmp/perf-" + std::to_string(::getpid()) + ".map";
  const std::string target = path + ".target", other = path + ".other";
  const auto size_after_load = [](const std::string& file) {
    auto generator = make_llvm_generator();
    const loop::Kernel kernel = add_kernel();
    generator->load(kernel, generator->compile(kernel, host_level()));
    return std::filesystem::file_size(file);
  };
  std::string logged;
  const LogScope scope(
      [&](std::string_view topic, std::string_view text) { logged += fmt::format("{}: {}", topic, text); });
  std::ofstream(target) << "mine\n";
  std::filesystem::create_symlink(target, path);
  EXPECT_EQ(size_after_load(target), 5u);
  EXPECT_NE(logged.find("perf: LUCID_PERF: cannot write " + path + ": it is a symbolic link"), std::string::npos)
      << logged;
  ::unlink(path.c_str());
  std::filesystem::create_hard_link(target, path);
  EXPECT_EQ(size_after_load(target), 5u);
  ::unlink(path.c_str());
  ::mkfifo(path.c_str(), 0600);
  EXPECT_EQ(size_after_load(target), 5u);  // and does not wait for a reader
  ::unlink(path.c_str());
  std::ofstream(path) << "mine\n";
  EXPECT_GT(size_after_load(path), 5u);
  ::unlink(path.c_str());
  ::unlink(target.c_str());
}

TEST(LlvmGenerator, GdbSeesKernelsWhileTheyAreLoaded) {
  const VariableScope on("LUCID_GDB");
  auto generator = make_llvm_generator();
  const loop::Kernel kernel = add_kernel();
  {
    const auto code = generator->load(kernel, generator->compile(kernel, host_level()));
    const auto* entry = __jit_debug_descriptor.first_entry;
    ASSERT_TRUE(entry);
    // The header of the section that contains the function, at offset 0, holds its address.
    bool placed = false;
    const auto* header = reinterpret_cast<const Elf64_Ehdr*>(entry->symfile_addr);
    const auto* sections = reinterpret_cast<const Elf64_Shdr*>(entry->symfile_addr + header->e_shoff);
    for (int i = 0; i < header->e_shnum; ++i) {
      placed |= sections[i].sh_addr == reinterpret_cast<uintptr_t>(code->function());
    }
    EXPECT_TRUE(placed);
  }
  EXPECT_FALSE(__jit_debug_descriptor.first_entry);
}

}  // namespace
}  // namespace lucid::codegen
