#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include "base/log.h"
#include "base/options.h"
#include "runtime/kernel_cache.h"
#include "runtime/kernel_cache_support.h"

namespace lucid {
namespace {

TEST_F(KernelCacheTest, ASecondCacheReadsTheFilesOfTheFirst) {
  make_cache()->get(kernel_named("kept"), CpuLevel::kAvx2);
  auto second = make_cache();
  EXPECT_TRUE(second->get(kernel_named("kept"), CpuLevel::kAvx2));
  EXPECT_EQ(controls_.compiles, 1);
  EXPECT_EQ(second->stats().disk_hits, 1u);
  second->clear();
  EXPECT_TRUE(second->get(kernel_named("kept"), CpuLevel::kAvx2));
  EXPECT_EQ(second->stats().disk_hits, 2u);
}

TEST_F(KernelCacheTest, AnotherVersionOrTargetIsCompiledAgain) {
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

TEST_F(KernelCacheTest, FilesThatOthersMayHaveWrittenAreNotTrusted) {
  make_cache()->get(kernel_named("k"), CpuLevel::kAvx2);
  int compiles = 1;
  for (const mode_t mode : {0620u, 0602u, 0666u}) {
    ASSERT_EQ(::chmod(only_file().c_str(), mode), 0);
    EXPECT_TRUE(make_cache()->get(kernel_named("k"), CpuLevel::kAvx2));
    ASSERT_EQ(controls_.compiles, ++compiles) << mode;
    // It was replaced by a file of this user's.
    EXPECT_TRUE(make_cache()->get(kernel_named("k"), CpuLevel::kAvx2));
    ASSERT_EQ(controls_.compiles, compiles) << mode;
  }
  // Others may read it.
  ASSERT_EQ(::chmod(only_file().c_str(), 0644), 0);
  EXPECT_TRUE(make_cache()->get(kernel_named("k"), CpuLevel::kAvx2));
  EXPECT_EQ(controls_.compiles, compiles);
  // Only root can give a file to another user.
  if (::geteuid() != 0) return;
  ASSERT_EQ(::chown(only_file().c_str(), 12345, 12345), 0);
  EXPECT_TRUE(make_cache()->get(kernel_named("k"), CpuLevel::kAvx2));
  EXPECT_EQ(controls_.compiles, compiles + 1);
}

TEST_F(KernelCacheTest, AFileWithAFlippedBitIsCompiledAgainAndRepaired) {
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

TEST_F(KernelCacheTest, AFileOfAnotherLengthIsCompiledAgain) {
  controls_.padding = 10;
  make_cache()->get(kernel_named("k"), CpuLevel::kAvx2);
  const std::string path = only_file();
  const std::string good = read(path);
  std::vector<std::string> bad;
  for (size_t length = 0; length < good.size(); ++length) bad.push_back(good.substr(0, length));
  bad.push_back(good + "x");
  // The length field exceeds any file size.
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

TEST_F(KernelCacheTest, AFileOfAnotherKeyIsNotUsed) {
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

TEST_F(KernelCacheTest, DirectoriesAndPipesAreIgnored) {
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

TEST_F(KernelCacheTest, IntactObjectCodeThatDoesNotLoadIsCompiledAgainAndOverwritten) {
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
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "lucid: warning: compiled kernels are not stored on disk: " +
                                                          directory_ + " is writable for other users\n");
  EXPECT_TRUE(fs::is_empty(directory_));
}

TEST_F(KernelCacheTest, APathThatIsNotADirectoryDisablesTheDisk) {
  write(directory_, "a file");
  ::testing::internal::CaptureStderr();
  EXPECT_TRUE(make_cache()->get(kernel_named("a"), CpuLevel::kAvx2));
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("are not stored on disk"), std::string::npos);
  EXPECT_EQ(read(directory_), "a file");
}

// Like a full disk, a file size limit of 0 also applies to the superuser; permissions do not.
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

TEST_F(KernelCacheTest, RemovesTheOldestFilesBeyondTheLimit) {
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
  // Like os.closerange(), after which another directory gets the numbers.
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
  // The cache must not close the number either.
  for (const int number : taken) EXPECT_EQ(::close(number), 0);
}

TEST_F(KernelCacheTest, ARelativeDirectoryIsResolvedOnce) {
  const fs::path before = fs::current_path();
  fs::current_path(root_);
  KernelCache cache(std::make_unique<FakeGenerator>(&controls_), "kept");
  fs::current_path(before);
  EXPECT_TRUE(cache.get(kernel_named("a"), CpuLevel::kAvx2));
  EXPECT_TRUE(fs::exists(root_ + "/kept"));
  EXPECT_FALSE(fs::exists("kept"));
}

TEST_F(KernelCacheTest, WithoutADirectoryNothingIsStored) {
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
  // A directory of root; if this is root, a directory with another owner.
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
