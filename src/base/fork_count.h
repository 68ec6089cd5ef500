#pragma once

#include <atomic>
#include <cstdint>

namespace lucid {

namespace fork_detail {
inline constinit std::atomic<uint32_t> g_fork_count = 0;
}

/// How many forks lie between this process and the one that loaded the library. What a thread of an earlier process had
/// begun, nobody will end.
inline uint32_t fork_count() { return fork_detail::g_fork_count.load(std::memory_order_relaxed); }

}  // namespace lucid
