#include "runtime/cpu_count.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace lucid {
namespace {

namespace fs = std::filesystem;

/// A directory with its own /proc and /sys.
class FakeSystem {
 public:
  FakeSystem() : root_(fs::temp_directory_path() / ("lucid_cpu_count_" + std::to_string(getpid()))) {}
  ~FakeSystem() { fs::remove_all(root_); }
  void write(const std::string& path, const std::string& text) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  int limit() const { return cgroup_cpu_limit(root_.string()); }

 private:
  fs::path root_;
};

TEST(CpuCount, NoControlGroupsMeanNoLimit) { EXPECT_EQ(FakeSystem().limit(), 0); }

TEST(CpuCount, ReadsVersion2AndRoundsUp) {
  FakeSystem system;
  system.write("proc/self/cgroup", "0::/user/job\n");
  system.write("sys/fs/cgroup/user/job/cpu.max", "150000 100000\n");
  EXPECT_EQ(system.limit(), 2);
  system.write("sys/fs/cgroup/user/job/cpu.max", "max 100000\n");
  EXPECT_EQ(system.limit(), 0);
  system.write("sys/fs/cgroup/user/job/cpu.max", "1000 100000\n");
  EXPECT_EQ(system.limit(), 1);
}

TEST(CpuCount, AParentsLimitApplies) {
  FakeSystem system;
  system.write("proc/self/cgroup", "0::/user/job\n");
  system.write("sys/fs/cgroup/user/job/cpu.max", "800000 100000\n");
  system.write("sys/fs/cgroup/user/cpu.max", "300000 100000\n");
  EXPECT_EQ(system.limit(), 3);
}

TEST(CpuCount, ReadsTheMountWhenThePathIsHiddenByAContainer) {
  FakeSystem system;
  system.write("proc/self/cgroup", "0::/../../outside\n");
  system.write("sys/fs/cgroup/cpu.max", "400000 100000\n");
  EXPECT_EQ(system.limit(), 4);
}

TEST(CpuCount, ReadsVersion1) {
  FakeSystem system;
  system.write("proc/self/cgroup", "12:memory:/job\n4:cpu,cpuacct:/job\n");
  system.write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "250000\n");
  system.write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(system.limit(), 3);
  system.write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(system.limit(), 0);
}

TEST(CpuCount, IgnoresOtherControllers) {
  FakeSystem system;
  system.write("proc/self/cgroup", "3:cpuset:/job\nnonsense\n");
  system.write("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "100000\n");
  system.write("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(system.limit(), 0);
}

TEST(CpuCount, FollowsTheAffinityOfTheThread) {
  std::thread([] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(usable_cpus(), 1);
  }).join();
  EXPECT_GE(usable_cpus(), 1);
}

}  // namespace
}  // namespace lucid
