#pragma once

#include <string>

namespace lucid {

/// How many threads can run at once: the CPUs in the process's affinity mask, or fewer if its control groups (v1 or v2)
/// limit its share of them. At least 1.
int usable_cpus();

/// The CPUs that the control groups of this process allow, rounded up; 0 means no limit. `root` is a prefix for /proc
/// and /sys; it is empty except in tests.
int cgroup_cpu_limit(const std::string& root);

}  // namespace lucid
