#pragma once

#include <atomic>
#include <cstdint>

namespace lucid {

namespace fork_detail {
inline constinit std::atomic<uint32_t> g_fork_count = 0;
}

/// The number of forks between the process that loaded the library and this one. Work that a thread of an earlier
/// process had begun will never finish in this one.
inline uint32_t fork_count() { return fork_detail::g_fork_count.load(std::memory_order_relaxed); }

}  // namespace lucid
