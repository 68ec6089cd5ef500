#include "runtime/kernel_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/options.h"
#include "loop/builder.h"
#include "loop/in_turn.h"

namespace lucid {
namespace {

namespace fs = std::filesystem;

/// Stands in for LLVM: the "object code" is the kernel's name between marks, and loading it checks them.
class FakeGenerator : public codegen::CodeGenerator {
 public:
  struct Controls {
    std::atomic<int> compiles{0};
    std::atomic<int> loads{0};
    std::atomic<int> failures_left{0};
    std::atomic<int> compile_milliseconds{0};
    std::latch* together = nullptr;  // every compile waits for it
    std::string version = "fake 1";
    size_t padding = 100;
    codegen::LoadedParts last_parts;  // of the last kernel that has some
  };

  class FakeCode : public codegen::LoadedCode {
   public:
    explicit FakeCode(std::string object) : object_(std::move(object)) { code_bytes_ = memory_bytes_ = object_.size(); }

   private:
    std::string object_;
  };

  explicit FakeGenerator(Controls* controls) : controls_(controls) {}

  std::string compile(const loop::Kernel& kernel, CpuLevel target) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(controls_->compile_milliseconds));
    if (controls_->together) controls_->together->arrive_and_wait();
    controls_->compiles.fetch_add(1);
    if (controls_->failures_left.fetch_sub(1) > 0) throw InternalError("cannot compile {}", kernel.name);
    return fmt::format("<{} {} {}>", kernel.name, name_of(target), std::string(controls_->padding, 'x'));
  }

  Ref<codegen::LoadedCode> load(const loop::Kernel& kernel, std::string_view object,
                                codegen::LoadedParts parts) override {
    controls_->loads.fetch_add(1);
    if (!parts.empty()) controls_->last_parts = std::move(parts);
    if (!object.starts_with("<" + kernel.name + " ")) throw InternalError("{} is no object code", object);
    return make_ref<FakeCode>(std::string(object));
  }

  std::string version() const override { return controls_->version; }

 private:
  Controls* controls_;
};

loop::Kernel kernel_named(const std::string& name) {
  loop::Builder b(name);
  const auto out = b.argument(Dtype::kF32);
  b.store(out, b.begin(), b.constant(Dtype::kF32, 1.0));
  return b.finish();
}

class KernelCacheTest : public ::testing::Test {
 protected:
  KernelCacheTest() {
    std::string pattern = (fs::temp_directory_path() / "lucid_kernel_cache_XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    directory_ = root_ + "/cache";
  }
  ~KernelCacheTest() override {
    ::chmod(directory_.c_str(), 0700);
    fs::remove_all(root_);
  }

  std::unique_ptr<KernelCache> make_cache(uint64_t limit = ObjectStore::kDefaultLimit) {
    return std::make_unique<KernelCache>(std::make_unique<FakeGenerator>(&controls_), directory_, limit);
  }

  /// The one file of the store.
  std::string only_file() const {
    std::vector<std::string> files;
    for (const auto& entry : fs::directory_iterator(directory_)) files.push_back(entry.path().string());
    EXPECT_EQ(files.size(), 1u);
    return files.empty() ? "" : files[0];
  }

  static std::string read(const std::string& path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  static void write(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }

  std::string root_, directory_;
  FakeGenerator::Controls controls_;
};

TEST_F(KernelCacheTest, CompilesOnceForEachKernelAndTarget) {
  auto cache = make_cache();
  const auto a = kernel_named("a"), b = kernel_named("b");
  const auto first = cache->get(a, CpuLevel::kAvx2);
  EXPECT_EQ(cache->get(kernel_named("a"), CpuLevel::kAvx2), first);
  EXPECT_NE(cache->get(a, CpuLevel::kScalar), first);
  EXPECT_NE(cache->get(b, CpuLevel::kAvx2), first);
  EXPECT_EQ(controls_.compiles, 3);
  const auto stats = cache->stats();
  EXPECT_EQ(stats.hits, 1u);
  EXPECT_EQ(stats.misses, 3u);
  EXPECT_EQ(stats.compiles, 3u);
  EXPECT_EQ(stats.disk_hits, 0u);
}

TEST_F(KernelCacheTest, KernelsThatNobodyUsesLeaveBeyondTheLimit) {
  auto cache = make_cache();
  cache->set_limits({.entries = 16});
  const auto held = cache->get(kernel_named("held"), CpuLevel::kAvx2);
  for (int i = 0; i < 200; ++i) {
    cache->get(kernel_named("k" + std::to_string(i)), CpuLevel::kAvx2);
    cache->get(kernel_named("often"), CpuLevel::kAvx2);
    EXPECT_LE(cache->stats().entries, 16u);
  }
  // What others refer to stays, and so does what is asked for often.
  EXPECT_EQ(controls_.compiles, 202);
  EXPECT_EQ(cache->get(kernel_named("held"), CpuLevel::kAvx2), held);
  EXPECT_EQ(cache->stats().misses, 202u);
  // What left comes back from the disk.
  cache->get(kernel_named("k0"), CpuLevel::kAvx2);
  EXPECT_EQ(controls_.compiles, 202);
  EXPECT_EQ(cache->stats().disk_hits, 1u);
}

TEST_F(KernelCacheTest, TheLimitIsAlsoInBytes) {
  auto cache = make_cache();
  controls_.padding = 1000;
  cache->set_limits({.bytes = 10'000});
  for (int i = 0; i < 50; ++i) {
    cache->get(kernel_named("k" + std::to_string(i)), CpuLevel::kAvx2);
    EXPECT_LE(cache->stats().bytes, 10'000u);
  }
  cache->clear();
  EXPECT_EQ(cache->stats().bytes, 0u);
}

TEST_F(KernelCacheTest, KernelsInUseMayBeMoreThanTheLimit) {
  auto cache = make_cache();
  cache->set_limits({.entries = 16});
  std::vector<Ref<codegen::LoadedCode>> held;
  for (int i = 0; i < 100; ++i) held.push_back(cache->get(kernel_named("k" + std::to_string(i)), CpuLevel::kAvx2));
  for (int i = 0; i < 100; ++i) EXPECT_EQ(cache->get(kernel_named("k" + std::to_string(i)), CpuLevel::kAvx2), held[i]);
  EXPECT_EQ(controls_.compiles, 100);
  held.clear();
  for (int i = 0; i < 3; ++i) cache->get(kernel_named("new" + std::to_string(i)), CpuLevel::kAvx2);
  EXPECT_LE(cache->stats().entries, 16u);
}

TEST_F(KernelCacheTest, PartsAreTakenFromTheCache) {
  auto cache = make_cache();
  const auto a = kernel_named("a"), b = kernel_named("b");
  const auto part = cache->get(a, CpuLevel::kAvx2);
  const loop::Turn turns[] = {{&a, {0}}, {&b, {0}}, {&a, {0}}};
  const Dtype arguments[] = {Dtype::kF32};
  cache->get(loop::in_turn("joined", turns, arguments, {}), CpuLevel::kAvx2);
  EXPECT_EQ(controls_.compiles, 3);  // a, b and what calls them
  EXPECT_EQ(controls_.last_parts.size(), 2u);
  EXPECT_EQ(controls_.last_parts[0], part);
  EXPECT_EQ(cache->get(b, CpuLevel::kAvx2), controls_.last_parts[1]);
  EXPECT_EQ(controls_.compiles, 3);
}

TEST_F(KernelCacheTest, SixteenThreadsShareOneCompilation) {
  auto cache = make_cache();
  controls_.compile_milliseconds = 20;
  std::latch start(16);
  std::vector<Ref<codegen::LoadedCode>> codes(16);
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      codes[t] = cache->get(kernel_named("shared"), CpuLevel::kAvx2);
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(controls_.compiles, 1);
  for (const auto& code : codes) EXPECT_EQ(code, codes[0]);
  EXPECT_EQ(cache->stats().hits, 15u);
}

TEST_F(KernelCacheTest, ThreadsCompileDifferentKernelsAtTheSameTime) {
  auto cache = make_cache();
  std::latch together(8);  // nobody passes unless all eight compile at once
  controls_.together = &together;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] { cache->get(kernel_named("k" + std::to_string(t)), CpuLevel::kAvx2); });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(controls_.compiles, 8);
}

TEST_F(KernelCacheTest, AFailureReachesAllWhoWaitAndIsTriedAgainLater) {
  auto cache = make_cache();
  controls_.failures_left = 1;
  controls_.compile_milliseconds = 50;
  std::latch start(16);
  std::atomic<int> failures{0}, successes{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 16; ++t) {
    threads.emplace_back([&] {
      start.arrive_and_wait();
      try {
        cache->get(kernel_named("broken"), CpuLevel::kAvx2);
        successes.fetch_add(1);
      } catch (const InternalError& error) {
        EXPECT_STREQ(error.what(), "cannot compile broken");
        failures.fetch_add(1);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  // A thread that comes after the failure starts the second compilation, which succeeds.
  EXPECT_GE(failures, 1);
  EXPECT_EQ(failures + successes, 16);
  EXPECT_EQ(controls_.compiles, successes > 0 ? 2 : 1);
  EXPECT_TRUE(cache->get(kernel_named("broken"), CpuLevel::kAvx2));
  EXPECT_EQ(controls_.compiles, 2);
}

TEST_F(KernelCacheTest, ASecondCacheReadsWhatTheFirstLeftOnDisk) {
  make_cache()->get(kernel_named("kept"), CpuLevel::kAvx2);
  auto second = make_cache();
  EXPECT_TRUE(second->get(kernel_named("kept"), CpuLevel::kAvx2));
  EXPECT_EQ(controls_.compiles, 1);
  EXPECT_EQ(second->stats().disk_hits, 1u);
  second->clear();
  EXPECT_TRUE(second->get(kernel_named("kept"), CpuLevel::kAvx2));
  EXPECT_EQ(second->stats().disk_hits, 2u);
}

TEST_F(KernelCacheTest, AnotherVersionOrTargetCompilesAnew) {
  make_cache()->get(kernel_named("kept"), CpuLevel::kAvx2);
  make_cache()->get(kernel_named("kept"), CpuLevel::kAvx512);
  EXPECT_EQ(controls_.compiles, 2);
  controls_.version = "fake 2";
  make_cache()->get(kernel_named("kept"), CpuLevel::kAvx2);
  EXPECT_EQ(controls_.compiles, 3);
}

TEST_F(KernelCacheTest, TheDirectoryAndItsFilesAreForThisUserOnly) {
  make_cache()->get(kernel_named("kept"), CpuLevel::kAvx2);
  struct stat status{};
  ASSERT_EQ(::stat(directory_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  ASSERT_EQ(::stat(only_file().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
}

TEST_F(KernelCacheTest, AFlippedBitAnywhereMeansCompilingAnewAndIsRepaired) {
  controls_.padding = 10;
  make_cache()->get(kernel_named("k"), CpuLevel::kAvx2);
  const std::string path = only_file();
  const std::string good = read(path);
  int compiles = 1;
  for (size_t byte = 0; byte < good.size(); ++byte) {
    std::string bad = good;
    bad[byte] = static_cast<char>(bad[byte] ^ (1 << (byte % 8)));
    write(path, bad);
    EXPECT_TRUE(make_cache()->get(kernel_named("k"), CpuLevel::kAvx2));
    ASSERT_EQ(controls_.compiles, ++compiles) << "byte " << byte;
    ASSERT_EQ(read(path), good) << "byte " << byte;
  }
}

TEST_F(KernelCacheTest, AFileOfAnotherLengthMeansCompilingAnew) {
  controls_.padding = 10;
  make_cache()->get(kernel_named("k"), CpuLevel::kAvx2);
  const std::string path = only_file();
  const std::string good = read(path);
  std::vector<std::string> bad;
  for (size_t length = 0; length < good.size(); ++length) bad.push_back(good.substr(0, length));
  bad.push_back(good + "x");
  // The length field says more than any file can hold.
  std::string huge = good;
  for (size_t byte = 40; byte < 48; ++byte) huge[byte] = '\xff';
  bad.push_back(huge);
  int compiles = 1;
  for (const std::string& content : bad) {
    write(path, content);
    EXPECT_TRUE(make_cache()->get(kernel_named("k"), CpuLevel::kAvx2));
    ASSERT_EQ(controls_.compiles, ++compiles) << content.size() << " bytes";
  }
}

TEST_F(KernelCacheTest, AFileOfAnotherKeyIsNotTaken) {
  auto cache = make_cache();
  cache->get(kernel_named("a"), CpuLevel::kAvx2);
  cache->get(kernel_named("b"), CpuLevel::kAvx2);
  auto path = [&](const char* name) {
    return cache->store().path_of(cache->store_key(kernel_named(name), CpuLevel::kAvx2));
  };
  fs::copy_file(path("a"), path("b"), fs::copy_options::overwrite_existing);
  make_cache()->get(kernel_named("b"), CpuLevel::kAvx2);
  EXPECT_EQ(controls_.compiles, 3);
}

TEST_F(KernelCacheTest, WhatIsNoFileIsLeftAlone) {
  auto cache = make_cache();
  const std::string path = cache->store().path_of(cache->store_key(kernel_named("k"), CpuLevel::kAvx2));
  fs::create_directory(directory_);
  ::chmod(directory_.c_str(), 0700);
  fs::create_directory(path);
  EXPECT_TRUE(cache->get(kernel_named("k"), CpuLevel::kAvx2));
  EXPECT_TRUE(fs::is_directory(path));
  fs::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_TRUE(make_cache()->get(kernel_named("k"), CpuLevel::kAvx2));
  EXPECT_EQ(controls_.compiles, 2);
}

TEST_F(KernelCacheTest, IntactObjectCodeThatDoesNotLoadIsCompiledAnewAndOverwritten) {
  auto cache = make_cache();
  const std::string key = cache->store_key(kernel_named("k"), CpuLevel::kAvx2);
  cache->store().put(key, "something else");
  EXPECT_TRUE(cache->get(kernel_named("k"), CpuLevel::kAvx2));
  EXPECT_EQ(controls_.compiles, 1);
  EXPECT_TRUE(make_cache()->get(kernel_named("k"), CpuLevel::kAvx2));
  EXPECT_EQ(controls_.compiles, 1);
}

TEST_F(KernelCacheTest, ADirectoryThatOthersCanWriteToIsNotUsed) {
  fs::create_directory(directory_);
  ASSERT_EQ(::chmod(directory_.c_str(), 0777), 0);
  ::testing::internal::CaptureStderr();
  auto cache = make_cache();
  EXPECT_TRUE(cache->get(kernel_named("a"), CpuLevel::kAvx2));
  EXPECT_TRUE(cache->get(kernel_named("b"), CpuLevel::kAvx2));
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "lucid: warning: compiled kernels are not kept on disk: " + directory_ + " is writable for other users\n");
  EXPECT_TRUE(fs::is_empty(directory_));
}

TEST_F(KernelCacheTest, APathThatIsNoDirectoryTurnsTheDiskOff) {
  write(directory_, "a file");
  ::testing::internal::CaptureStderr();
  EXPECT_TRUE(make_cache()->get(kernel_named("a"), CpuLevel::kAvx2));
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("are not kept on disk"), std::string::npos);
  EXPECT_EQ(read(directory_), "a file");
}

// A limit of 0 on the size of files stops the superuser too, as a full disk does; permissions would not.
TEST_F(KernelCacheTest, ADirectoryThatCannotBeWrittenIsStillReadSilently) {
  make_cache()->get(kernel_named("a"), CpuLevel::kAvx2);
  ::testing::internal::CaptureStderr();
  const pid_t child = ::fork();
  if (child == 0) {
    ::chmod(directory_.c_str(), 0500);
    auto cache = make_cache();
    const bool read = static_cast<bool>(cache->get(kernel_named("a"), CpuLevel::kAvx2));
    rlimit none{0, 0};
    ::setrlimit(RLIMIT_FSIZE, &none);
    ::signal(SIGXFSZ, SIG_IGN);
    const bool compiled = static_cast<bool>(cache->get(kernel_named("b"), CpuLevel::kAvx2));
    const bool disk_hit = cache->stats().disk_hits == 1;
    ::_exit(read && compiled && disk_hit ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(fs::path(only_file()).extension(), ".kernel");
}

TEST_F(KernelCacheTest, TheOldestFilesGoWhenThereAreTooMany) {
  controls_.padding = 10000;
  auto cache = make_cache(/*limit=*/100000);
  for (int i = 0; i < 9; ++i) {
    const auto kernel = kernel_named("k" + std::to_string(i));
    cache->get(kernel, CpuLevel::kAvx2);
    const std::string path = cache->store().path_of(cache->store_key(kernel, CpuLevel::kAvx2));
    // From older to newer, except for the first, which is the newest.
    const auto age = std::chrono::hours(i == 0 ? 1 : 20 - i);
    fs::last_write_time(path, fs::file_time_type::clock::now() - age);
  }
  cache->get(kernel_named("k9"), CpuLevel::kAvx2);
  uint64_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(directory_)) bytes += entry.file_size();
  EXPECT_LE(bytes, 100000u);
  EXPECT_GT(bytes, 50000u);
  auto exists = [&](int i) {
    return fs::exists(cache->store().path_of(cache->store_key(kernel_named("k" + std::to_string(i)), CpuLevel::kAvx2)));
  };
  EXPECT_TRUE(exists(0));
  EXPECT_FALSE(exists(1));
  EXPECT_FALSE(exists(2));
  EXPECT_TRUE(exists(8));
  EXPECT_TRUE(exists(9));
}

TEST_F(KernelCacheTest, TwoCachesOnOneDirectoryDoNotDisturbEachOther) {
  auto first = make_cache(), second = make_cache();
  std::vector<std::thread> threads;
  for (KernelCache* cache : {first.get(), second.get()}) {
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([cache, t] {
        for (int i = 0; i < 20; ++i) {
          EXPECT_TRUE(cache->get(kernel_named("k" + std::to_string((i + t) % 10)), CpuLevel::kAvx2));
        }
      });
    }
  }
  for (auto& thread : threads) thread.join();
  EXPECT_GE(controls_.compiles, 10);
  EXPECT_LE(controls_.compiles, 20);
  int files = 0;
  for (const auto& entry : fs::directory_iterator(directory_)) {
    EXPECT_EQ(entry.path().extension(), ".kernel");
    ++files;
  }
  EXPECT_EQ(files, 10);
}

TEST_F(KernelCacheTest, AForkedChildDoesNotWaitForTheParentsCompilation) {
  auto cache = make_cache();
  controls_.compile_milliseconds = 300;
  std::thread compiling([&] { cache->get(kernel_named("slow"), CpuLevel::kAvx2); });
  while (cache->stats().misses == 0) std::this_thread::yield();
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    cache->after_fork_in_child();
    controls_.compile_milliseconds = 0;
    ::_exit(cache->get(kernel_named("slow"), CpuLevel::kAvx2) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  compiling.join();
}

TEST_F(KernelCacheTest, ADescriptorThatTheProgramClosedIsNotUsed) {
  auto cache = make_cache();
  cache->get(kernel_named("a"), CpuLevel::kAvx2);
  // As os.closerange() does; then another directory gets the numbers.
  const std::string other = root_ + "/other";
  fs::create_directory(other);
  std::vector<int> taken;
  for (int number = 3; number < 64; ++number) {
    struct stat named{}, wanted{};
    if (::fstat(number, &named) != 0 || ::stat(directory_.c_str(), &wanted) != 0) continue;
    if (named.st_dev != wanted.st_dev || named.st_ino != wanted.st_ino) continue;
    const int foreign = ::open(other.c_str(), O_RDONLY | O_DIRECTORY);
    ASSERT_GE(foreign, 0);
    ASSERT_EQ(::dup2(foreign, number), number);
    ::close(foreign);
    taken.push_back(number);
  }
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_TRUE(cache->get(kernel_named("b"), CpuLevel::kAvx2));
  EXPECT_TRUE(fs::is_empty(other));
  EXPECT_TRUE(fs::exists(cache->store().path_of(cache->store_key(kernel_named("b"), CpuLevel::kAvx2))));
  cache.reset();
  // The number is not ours to close either.
  for (const int number : taken) EXPECT_EQ(::close(number), 0);
}

TEST_F(KernelCacheTest, ARelativeDirectoryStaysWhereItWas) {
  const fs::path before = fs::current_path();
  fs::current_path(root_);
  KernelCache cache(std::make_unique<FakeGenerator>(&controls_), "kept");
  fs::current_path(before);
  EXPECT_TRUE(cache.get(kernel_named("a"), CpuLevel::kAvx2));
  EXPECT_TRUE(fs::exists(root_ + "/kept"));
  EXPECT_FALSE(fs::exists("kept"));
}

TEST_F(KernelCacheTest, WithoutADirectoryNothingIsKept) {
  KernelCache cache(std::make_unique<FakeGenerator>(&controls_), "");
  EXPECT_TRUE(cache.get(kernel_named("a"), CpuLevel::kAvx2));
  EXPECT_FALSE(fs::exists(directory_));
}

/// Sets or unsets a variable until the end of the scope.
class VariableScope {
 public:
  VariableScope(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) saved_ = old;
    value ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  VariableScope(const VariableScope&) = delete;
  VariableScope& operator=(const VariableScope&) = delete;
  ~VariableScope() { saved_ ? ::setenv(name_, saved_->c_str(), 1) : ::unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> saved_;
};

TEST(DefaultCacheDirectory, ComesFromOptionsThenTheUsersCacheThenHome) {
  const OptionsScope none{Options{}};
  const VariableScope disk("LUCID_DISK_CACHE", nullptr), own("LUCID_CACHE_DIR", nullptr), home("HOME", "/home/u");
  {
    const VariableScope cache("XDG_CACHE_HOME", "/caches");
    EXPECT_EQ(default_cache_directory(), "/caches/lucid");
    Options chosen;
    chosen.cache_dir = "/mine";
    const OptionsScope scope(chosen);
    EXPECT_EQ(default_cache_directory(), "/mine");
    const VariableScope off("LUCID_DISK_CACHE", "0");
    EXPECT_EQ(default_cache_directory(), "");
  }
  const VariableScope relative("XDG_CACHE_HOME", "caches");
  EXPECT_EQ(default_cache_directory(), "/home/u/.cache/lucid");
  {
    const VariableScope empty("LUCID_CACHE_DIR", "");
    EXPECT_EQ(default_cache_directory(), "");
  }
  const VariableScope nowhere("HOME", nullptr);
  EXPECT_EQ(default_cache_directory(), "");
}

TEST(DefaultCacheDirectory, IsNotInAnotherUsersHome) {
  Options logging;
  logging.log = "cache";
  const OptionsScope options(logging);
  std::string logged;
  const LogScope log([&](std::string_view, std::string_view text) { logged += text; });
  const VariableScope disk("LUCID_DISK_CACHE", nullptr), own("LUCID_CACHE_DIR", nullptr);
  // Root's, unless this is root: then a directory that is given away.
  std::string home = "/";
  if (::geteuid() == 0) {
    home = fs::temp_directory_path() / fmt::format("lucid_home_{}", ::getpid());
    fs::create_directory(home);
    ASSERT_EQ(::chown(home.c_str(), 1234, 1234), 0);
  }
  {
    const VariableScope no_cache("XDG_CACHE_HOME", nullptr), users("HOME", home.c_str());
    EXPECT_EQ(default_cache_directory(), "");
  }
  {
    const VariableScope cache("XDG_CACHE_HOME", home.c_str());
    EXPECT_EQ(default_cache_directory(), "");
  }
  EXPECT_NE(logged.find("belongs to another user"), std::string::npos) << logged;
  if (home != "/") fs::remove_all(home);
}

}  // namespace
}  // namespace lucid
