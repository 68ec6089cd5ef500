#include "runtime/cpu_count.h"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>
#include <thread>

#include "base/split.h"

namespace lucid {
namespace {

std::optional<double> cpus_of(const std::string& quota, double period) {
  std::istringstream text(quota);
  double microseconds = 0;
  // "max" in version 2 and -1 in version 1 mean no limit.
  if (!(text >> microseconds) || microseconds <= 0 || period <= 0) return std::nullopt;
  return microseconds / period;
}

std::optional<double> read_v2(const std::string& directory) {
  std::ifstream file(directory + "/cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period)) return std::nullopt;
  return cpus_of(quota, period);
}

std::optional<double> read_v1(const std::string& directory) {
  std::ifstream quota_file(directory + "/cpu.cfs_quota_us"), period_file(directory + "/cpu.cfs_period_us");
  std::string quota;
  double period = 0;
  if (!(quota_file >> quota) || !(period_file >> period)) return std::nullopt;
  return cpus_of(quota, period);
}

/// The tightest limit from a group up to the mount: a parent's limit applies to its children. Inside a container the
/// path may not exist below the mount; then only the mount itself is read.
template <typename Read>
std::optional<double> tightest(const std::string& mount, std::string path, Read read) {
  std::optional<double> limit;
  for (;;) {
    if (const auto here = read(mount + path)) limit = std::min(limit.value_or(*here), *here);
    const size_t slash = path.find_last_of('/');
    if (slash == std::string::npos) return limit;
    path.erase(slash);
  }
}

bool lists_cpu(std::string_view controllers) { return std::ranges::count(split(controllers, ','), "cpu") > 0; }

}  // namespace

int cgroup_cpu_limit(const std::string& root) {
  std::ifstream groups(root + "/proc/self/cgroup");
  std::optional<double> limit;
  // A line is "hierarchy:controllers:path"; version 2 lists no controllers.
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    std::optional<double> found;
    if (controllers.empty()) {
      found = tightest(root + "/sys/fs/cgroup", path, read_v2);
    } else if (lists_cpu(controllers)) {
      found = tightest(root + "/sys/fs/cgroup/cpu", path, read_v1);
      if (!found) found = tightest(root + "/sys/fs/cgroup/" + controllers, path, read_v1);
    }
    if (found) limit = std::min(limit.value_or(*found), *found);
  }
  return limit ? std::max(1, static_cast<int>(std::ceil(std::min(*limit, 1e6)))) : 0;
}

int usable_cpus() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  // The call fails when the machine has more CPUs than the set can represent.
  const bool known = sched_getaffinity(0, sizeof allowed, &allowed) == 0;
  const int cpus = known ? CPU_COUNT(&allowed) : static_cast<int>(std::thread::hardware_concurrency());
  const int limit = cgroup_cpu_limit("");
  return std::max(1, limit > 0 ? std::min(cpus, limit) : cpus);
}

}  // namespace lucid
