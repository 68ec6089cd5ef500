#pragma once

#include <string>

namespace lucid {

/// How many threads can run at once: the CPUs that the process is allowed on, or fewer if its control groups (v1 or v2)
/// limit its share of them. At least 1.
int usable_cpus();

/// The CPUs that the control groups of this process allow, rounded up; 0 means no limit. `root` stands before /proc and
/// /sys; it is empty except in tests.
int cgroup_cpu_limit(const std::string& root);

}  // namespace lucid
