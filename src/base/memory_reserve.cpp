#include "base/memory_reserve.h"

#include <cxxabi.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

#include "base/error.h"

namespace lucid {

namespace {

/// A failed allocation releases this much at a time: enough for malloc, which takes 1 MiB from the system if its heap
/// cannot grow, and not so much that other threads could take all of the reserve before its owner has used any.
constexpr size_t kPart = size_t{2} << 20;
constexpr size_t kCommitReserve = size_t{4} << 20;

/// Maximum stack use of LLVM below the frame that calls it; 36 KiB were measured.
constexpr size_t kStack = size_t{256} << 10;

constinit thread_local MemoryReserve* t_reserve = nullptr;

constinit thread_local int t_commits = 0;
/// Number of releases of the commit reserve that this thread has seen.
constinit thread_local uint64_t t_seen_releases = 0;
constinit std::atomic<char*> g_commit_reserve{nullptr};
constinit std::atomic<uint64_t> g_releases{0};

constinit std::atomic<std::new_handler> g_previous_handler{nullptr};

constinit thread_local bool t_can_throw = false;

void on_failed_new() {
  if (release_reserve()) return;
  prepare_to_throw();
  if (const std::new_handler previous = g_previous_handler.load(std::memory_order_acquire)) return previous();
  throw std::bad_alloc();
}

char* map(size_t bytes) {
  void* const data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return data == MAP_FAILED ? nullptr : static_cast<char*>(data);
}

bool acquire_commit_reserve() {
  if (g_commit_reserve.load(std::memory_order_relaxed)) return true;
  char* const made = map(kCommitReserve);
  if (!made) return false;
  char* expected = nullptr;
  if (!g_commit_reserve.compare_exchange_strong(expected, made)) ::munmap(made, kCommitReserve);
  return true;
}

/// Runs when the library is loaded. The handler is process-wide, but only acts on threads that hold a reserve or are in
/// a CommitScope. On other threads it has no effect.
[[gnu::constructor]] void install() {
  g_previous_handler.store(std::get_new_handler(), std::memory_order_release);
  std::set_new_handler(on_failed_new);
  acquire_commit_reserve();
  prepare_to_throw();
}

/// Whether malloc has a heap for this thread. Without one, the smallest blocks take whole pages, and LLVM allocates so
/// many that no reserve would suffice.
bool thread_has_heap() {
  constexpr size_t kSmall = 1100;  // larger than the blocks in malloc's per-thread cache
  void* const block = std::malloc(kSmall);
  const bool has_heap = block && malloc_usable_size(block) < 3000;
  std::free(block);
  return has_heap;
}

[[gnu::noinline]] void touch_stack(size_t bytes) {
  auto* const lowest = static_cast<volatile char*>(__builtin_alloca(bytes));
  *lowest = 0;
}

/// The main thread's stack grows on use, which counts against the limits; if it cannot grow, the process receives a
/// signal. Therefore grow it now, into address space that was just mapped and unmapped to check that it is available.
bool grow_stack() {
  if (::getpid() != static_cast<pid_t>(::syscall(SYS_gettid))) return true;  // other stacks are mapped as a whole
  static const char* lowest = nullptr;                                       // only the main thread gets here
  const char* const here = static_cast<const char*>(__builtin_frame_address(0));
  if (lowest && here - kStack >= lowest) return true;
  rlimit limit{};
  if (::getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < 4 * kStack) return true;
  char* const space = map(2 * kStack);
  if (!space) return false;
  ::munmap(space, 2 * kStack);
  touch_stack(kStack + 4096);
  lowest = here - kStack;
  return true;
}

}  // namespace

void prepare_to_throw() noexcept {
  if (t_can_throw) [[likely]]
    return;
  if (!has_some_memory())
    if (char* const reserve = g_commit_reserve.exchange(nullptr)) ::munmap(reserve, kCommitReserve);
  // Volatile, because the compiler would otherwise remove the call, whose result is unused.
  [[maybe_unused]] void* volatile const globals = abi::__cxa_get_globals();
  t_can_throw = true;
  acquire_commit_reserve();
}

bool has_some_memory() noexcept {
  void* volatile const block = std::malloc(4096);  // volatile, or the compiler would assume that it succeeds
  std::free(block);
  return block != nullptr;
}

MemoryReserve::MemoryReserve(size_t bytes, const char* purpose)
    : data_(thread_has_heap() && grow_stack() ? map(bytes) : nullptr), bytes_(bytes) {
  prepare_to_throw();  // always, because LLVM uses other thread-local objects of the C++ library
  if (!data_) throw MemoryError("{}: out of memory: {} MiB cannot be reserved", purpose, bytes >> 20);
  LUCID_CHECK(!t_reserve, "memory reserves do not nest");
  t_reserve = this;
}

MemoryReserve::~MemoryReserve() {
  t_reserve = nullptr;
  if (bytes_ > 0) ::munmap(data_, bytes_);
}

bool MemoryReserve::is_held() { return t_reserve != nullptr; }

CommitScope::CommitScope() {
  if (!g_commit_reserve.load(std::memory_order_relaxed)) [[unlikely]] {
    if (!acquire_commit_reserve()) {
      prepare_to_throw();
      throw MemoryError("out of memory: {} MiB cannot be reserved", kCommitReserve >> 20);
    }
  }
  ++t_commits;
}

CommitScope::~CommitScope() { --t_commits; }

bool CommitScope::is_active() { return t_commits > 0; }

bool release_reserve() noexcept {
  if (MemoryReserve* const reserve = t_reserve) {
    if (reserve->bytes_ == 0) return false;
    const size_t part = std::min(reserve->bytes_, kPart);
    reserve->bytes_ -= part;
    ::munmap(reserve->data_ + reserve->bytes_, part);
    return true;
  }
  if (t_commits == 0) return false;
  if (char* const reserve = g_commit_reserve.exchange(nullptr)) {
    ::munmap(reserve, kCommitReserve);
    t_seen_releases = g_releases.fetch_add(1) + 1;
    return true;
  }
  // Another thread may have released the reserve in the meantime, which may suffice.
  return std::exchange(t_seen_releases, g_releases.load()) != g_releases.load();
}

}  // namespace lucid

// The linker redirects this library's calls of malloc here (cmake/LucidLayers.cmake). LLVM checks the result of each,
// but only to terminate the process. The linker determines these names.
// NOLINTBEGIN(bugprone-reserved-identifier)
extern "C" {

void* __real_malloc(size_t bytes);
void* __real_calloc(size_t count, size_t size);
void* __real_realloc(void* data, size_t bytes);

void* __wrap_malloc(size_t bytes) {
  void* data = __real_malloc(bytes);
  while (!data && lucid::release_reserve()) data = __real_malloc(bytes);
  return data;
}

void* __wrap_calloc(size_t count, size_t size) {
  void* data = __real_calloc(count, size);
  while (!data && lucid::release_reserve()) data = __real_calloc(count, size);
  return data;
}

void* __wrap_realloc(void* data, size_t bytes) {
  void* moved = __real_realloc(data, bytes);
  // For zero bytes the result may be null although the call succeeded and freed the block.
  while (!moved && bytes > 0 && lucid::release_reserve()) moved = __real_realloc(data, bytes);
  return moved;
}
}
// NOLINTEND(bugprone-reserved-identifier)
