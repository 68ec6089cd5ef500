#pragma once

#include <sys/sysinfo.h>

#include <cstring>

/// Replaces what the C library says: this machine seems to have 1 MiB, so results that would take seconds to fill are
/// refused as too large. The allocator compares with it.
extern "C" [[gnu::visibility("default")]] int sysinfo(struct sysinfo* info) noexcept {
  std::memset(info, 0, sizeof *info);
  info->totalram = 1ul << 20;
  info->mem_unit = 1;
  return 0;
}
